#include "heddle/frontend/eager.h"

#include <algorithm>

#include "heddle/backends/eager/executor.h"
#include "heddle/backends/eager/storage.h"

namespace heddle {
namespace {

Dims dims_of(const std::vector<std::int64_t>& extents) { return {extents.begin(), extents.end()}; }

HostStorage& writable(const Tensor& t, const char* what, Location where) {
  HostStorage* storage = t.empty() ? nullptr : host_storage(t);
  if (storage == nullptr) {
    throw ValueError({.message = std::string(what) + ": not a concrete tensor of a carrier",
                      .found = t.empty() ? "an empty tensor" : to_text(t.type()),
                      .where = where});
  }
  if (storage->released()) {
    throw ReleasedError({.message = std::string(what) + ": this tensor was released",
                         .found = to_text(t.type()),
                         .where = where});
  }
  return *storage;
}

}  // namespace

Tensor tensor(const Literal& literal, std::string_view carrier) {
  Tensor result = new_tensor(literal.type, find_carrier(carrier));
  std::copy(literal.bytes->begin(), literal.bytes->end(), host_storage(result)->data());
  return result;
}
Tensor tensor(std::span<const double> elements, const std::vector<std::int64_t>& extents,
              const TensorOptions& options) {
  const Type type{DType::f64, dims_of(extents)};
  if (element_count(type) != static_cast<std::int64_t>(elements.size())) {
    throw ValueError(
        {.message = "tensor: the extents want another number of elements",
         .found = std::to_string(elements.size()),
         .needed = std::to_string(element_count(type)) + " for " + to_text(type.dims)});
  }
  return tensor(convert(make_literal<double>(type.dims, elements), options.dtype), options.carrier);
}
Tensor tensor(std::initializer_list<double> elements, const std::vector<std::int64_t>& extents,
              const TensorOptions& options) {
  return tensor(std::span<const double>(elements.begin(), elements.size()), extents, options);
}
Tensor tensor(double element, const TensorOptions& options) {
  return tensor({element}, {}, options);
}
Tensor full(const std::vector<std::int64_t>& extents, double element,
            const TensorOptions& options) {
  return tensor(splat({options.dtype, dims_of(extents)}, element), options.carrier);
}
Tensor zeros(const std::vector<std::int64_t>& extents, const TensorOptions& options) {
  return full(extents, 0, options);
}

Tensor on(const Tensor& t, std::string_view carrier) { return tensor(to_literal(t), carrier); }

std::vector<double> elements(const Tensor& t) { return to_doubles(to_literal(t)); }

double item(const Tensor& t) {
  const std::vector<double> all = elements(t);
  if (all.size() == 1) return all[0];
  throw ValueError(
      {.message = "item: a tensor of one element is needed", .found = to_text(t.type())});
}

void assign(const Tensor& t, const Tensor& source, std::source_location where) {
  HostStorage& storage = writable(t, "assign", where);
  if (source.type() != t.type()) {
    throw ValueError({.message = "assign: the elements have another type",
                      .found = to_text(source.type()),
                      .needed = to_text(t.type()),
                      .where = where});
  }
  const Literal elements = to_literal(source);
  std::copy(elements.bytes->begin(), elements.bytes->end(), storage.data());
  storage.changed();
}

void release(const Tensor& t) { writable(t, "release", {}).release(); }

}  // namespace heddle
