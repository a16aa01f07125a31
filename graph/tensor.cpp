#include "heddle/graph/tensor.h"

#include <algorithm>

namespace heddle {
namespace {
// Its address says "host memory".
constexpr char kHost = 0;
}  // namespace

bool Storage::read(std::size_t offset, std::span<std::byte> into) const {
  const std::byte* elements = host();
  if (elements != nullptr) std::copy_n(elements + offset, into.size(), into.begin());
  return elements != nullptr;
}

const void* TraceStorage::carrier() const { return builder_.lock().get(); }

const void* LiteralStorage::carrier() const { return &kHost; }
const void* host_carrier() { return &kHost; }

const TraceStorage* traced(const Tensor& tensor) {
  return dynamic_cast<const TraceStorage*>(tensor.storage().get());
}

const LiteralStorage* concrete(const Tensor& tensor) {
  return dynamic_cast<const LiteralStorage*>(tensor.storage().get());
}

Tensor make_tensor(Literal literal) {
  Type type = literal.type;
  return {std::move(type), std::make_shared<LiteralStorage>(std::move(literal))};
}

Tensor::operator bool() const {
  if (const TraceStorage* storage = traced(*this)) {
    Location made;
    if (const auto builder = storage->builder()) {
      const Node* node = builder->definition(storage->value());
      if (node != nullptr) made = node->where;
    }
    throw ValueError({.message = "a traced tensor has no value to branch on: use hd::where, or "
                                 "decide outside the trace",
                      .found = to_text(type_),
                      .where = made});
  }
  if (empty() || !type_.dims.empty()) {
    throw ValueError({.message = "only a concrete scalar is true or false",
                      .found = empty() ? "an empty tensor" : to_text(type_)});
  }
  return element_as_double(to_literal(*this, {}), 0) != 0;
}

Literal to_literal(const Tensor& tensor, Location where) {
  if (const LiteralStorage* storage = concrete(tensor)) return storage->literal();
  if (tensor.empty() || traced(tensor) != nullptr) {
    throw ValueError(
        {.message = "only a concrete tensor has elements",
         .found = tensor.empty() ? "an empty tensor" : "a traced tensor " + to_text(tensor.type()),
         .needed = "a concrete tensor: a program's values come when it is run",
         .where = where});
  }
  if (tensor.storage()->released()) {
    throw ReleasedError(
        {.message = "this tensor was released", .found = to_text(tensor.type()), .where = where});
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(tensor.type())));
  const bool found =
      with_context({.where = where}, [&] { return tensor.storage()->read(0, bytes); });
  if (!found) {
    throw NotAvailableError({.message = "the elements are not in host memory",
                             .found = to_text(tensor.type()),
                             .where = where});
  }
  return literal_from_bytes(tensor.type(), std::move(bytes));
}

}  // namespace heddle
