#include "heddle/backends/eager/transfer.h"

#include <algorithm>

namespace heddle {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;  // a multiple of every element

// piece(offset, size), one after the other.
template <class F>
void for_each_piece(std::size_t bytes, F piece) {
  for (std::size_t at = 0; at < bytes; at += kPiece) piece(at, std::min(kPiece, bytes - at));
}

std::size_t offset_of(const Tensor& t, std::int64_t element) {
  return static_cast<std::size_t>(element) * size_of(t.type().dtype);
}

void read_bytes(const Tensor& t, std::size_t offset, std::span<std::byte> into) {
  if (t.storage()->read(offset, into)) return;
  throw NotAvailableError(
      {.message = "the elements are not to be had", .found = to_text(t.type())});
}

void copy_elements(const Tensor& source, CarrierStorage& to, std::size_t offset) {
  const auto bytes = static_cast<std::size_t>(byte_count(source.type()));
  if (const std::byte* elements = source.storage()->host()) {
    return to.write(offset, {elements, bytes});
  }
  std::vector<std::byte> buffer(std::min(bytes, kPiece));
  for_each_piece(bytes, [&](std::size_t at, std::size_t size) {
    const std::span<std::byte> piece(buffer.data(), size);
    read_bytes(source, at, piece);
    to.write(offset + at, piece);
  });
}

void check_concrete(const Tensor& t) {
  if (t.empty() || traced(t) != nullptr) {
    throw ValueError(
        {.message = "only a concrete tensor has elements",
         .found = t.empty() ? "an empty tensor" : "a traced tensor " + to_text(t.type()),
         .needed = "a concrete tensor: a program's values come when it is run"});
  }
  if (t.storage()->released()) {
    throw ReleasedError({.message = "this tensor was released", .found = to_text(t.type())});
  }
}

}  // namespace

Tensor copied(const Tensor& tensor, const Carrier& carrier) {
  check_concrete(tensor);
  Tensor result = new_tensor(tensor.type(), carrier);
  copy_elements(tensor, *carrier_storage(result), 0);
  return result;
}

Tensor on_carrier(const Tensor& tensor, const Carrier& carrier) {
  const bool there = tensor.storage()->carrier() == &carrier || concrete(tensor) != nullptr;
  return there ? Tensor(tensor.type(), tensor.storage()) : copied(tensor, carrier);
}

void read_elements(const Tensor& tensor, std::int64_t first, std::span<std::byte> into) {
  check_concrete(tensor);
  read_bytes(tensor, offset_of(tensor, first), into);
}

Tensor filled(const Type& type, double element, const Carrier& carrier) {
  Tensor result = new_tensor(type, carrier);
  const auto bytes = static_cast<std::size_t>(byte_count(type));
  const std::size_t size = size_of(type.dtype);
  const Literal one = splat(
      {type.dtype, {Dim(static_cast<std::int64_t>(std::min(bytes, kPiece) / size))}}, element, {});
  for_each_piece(bytes, [&](std::size_t at, std::size_t piece) {
    carrier_storage(result)->write(at, {one.bytes->data(), piece});
  });
  return result;
}

void overwrite(CarrierStorage& storage, std::int64_t first, const Tensor& source) {
  check_concrete(source);
  const bool cannot_fail = storage.host() != nullptr && source.storage()->host() != nullptr;
  const std::unique_ptr<StorageSnapshot> before = cannot_fail ? nullptr : storage.snapshot();
  try {
    copy_elements(source, storage, offset_of(source, first));
  } catch (...) {
    if (before != nullptr) before->restore();
    throw;
  }
  storage.changed();
}

}  // namespace heddle
