#include "heddle/frontend/eager.h"

#include "heddle/backends/eager/executor.h"
#include "heddle/backends/eager/transfer.h"
#include "heddle/graph/extents.h"

namespace heddle {
namespace {

Type checked_type(const char* what, DType dtype, const std::vector<std::int64_t>& extents,
                  Location where) {
  const auto number = static_cast<unsigned>(dtype);
  if (number < static_cast<unsigned>(DType::boolean) ||
      number > static_cast<unsigned>(DType::f64)) {
    throw TypeError({.message = std::string(what) + ": no such dtype",
                     .field = "dtype",
                     .found = std::to_string(number),
                     .where = where});
  }
  Type type{dtype, {extents.begin(), extents.end()}};
  check_extents(type, "", what, where);
  return type;
}

std::string kind_text(const Tensor& t) {
  if (t.empty()) return "an empty tensor";
  return (traced(t) != nullptr ? "a traced tensor " : "a constant ") + to_text(t.type());
}
// Instead of a tensor that cannot be written.
std::string advice(const Tensor& t) {
  if (t.empty()) return "a tensor made by hd::tensor, hd::full or hd::empty";
  if (traced(t) == nullptr) return "a copy on a carrier: hd::on(it, \"cpu\")";
  return "a new value: in a trace nothing is changed in place (hd::where, "
         "hd::dynamic_update_slice, hd::scatter_add)";
}

CarrierStorage& writable(const Tensor& t, const char* what, Location where) {
  CarrierStorage* storage = t.empty() ? nullptr : carrier_storage(t);
  if (storage == nullptr) {
    throw ValueError({.message = std::string(what) + ": not a concrete tensor of a carrier",
                      .found = kind_text(t),
                      .needed = advice(t),
                      .where = where});
  }
  if (storage->released()) {
    throw ReleasedError({.message = std::string(what) + ": this tensor was released",
                         .found = to_text(t.type()),
                         .where = where});
  }
  return *storage;
}

void check_range(const Tensor& t, const char* what, std::int64_t first, std::int64_t count,
                 Location where) {
  const std::int64_t all = element_count(t.type());
  if (first >= 0 && count >= 0 && first <= all && count <= all - first) return;
  throw ValueError(
      {.message = std::string(what) + ": not so many elements",
       .found = std::to_string(count) + " from number " + std::to_string(first) + " on",
       .needed = "some of the " + std::to_string(all) + " of " + to_text(t.type()),
       .where = where});
}

// What fails below knows the medium; here it is known what for.
template <class F>
auto named(const char* what, Location where, F f) {
  return with_context({.operation = what, .where = where}, f);
}

Literal converted(std::span<const double> elements, const Dims& dims, DType dtype) {
  return convert(make_literal<double>(dims, elements), dtype);
}

}  // namespace

Tensor tensor(const Literal& literal, std::string_view carrier, std::source_location where) {
  return named("tensor", where,
               [&] { return copied(make_tensor(literal), find_carrier(carrier, {})); });
}
Tensor tensor(std::span<const double> elements, const std::vector<std::int64_t>& extents,
              const TensorOptions& options, std::source_location where) {
  const Type type = checked_type("tensor", options.dtype, extents, where);
  if (element_count(type) != static_cast<std::int64_t>(elements.size())) {
    throw ValueError({.message = "tensor: the extents want another number of elements",
                      .found = std::to_string(elements.size()),
                      .needed = std::to_string(element_count(type)) + " for " + to_text(type.dims),
                      .where = where});
  }
  return tensor(converted(elements, type.dims, options.dtype), options.carrier, where);
}
Tensor tensor(std::initializer_list<double> elements, const std::vector<std::int64_t>& extents,
              const TensorOptions& options, std::source_location where) {
  return tensor(std::span<const double>(elements.begin(), elements.size()), extents, options,
                where);
}
Tensor tensor(double element, const TensorOptions& options, std::source_location where) {
  return tensor({element}, {}, options, where);
}
Tensor full(const std::vector<std::int64_t>& extents, double element, const TensorOptions& options,
            std::source_location where) {
  const Type type = checked_type("full", options.dtype, extents, where);
  return named("full", where,
               [&] { return filled(type, element, find_carrier(options.carrier, {})); });
}
Tensor zeros(const std::vector<std::int64_t>& extents, const TensorOptions& options,
             std::source_location where) {
  return full(extents, 0, options, where);
}
Tensor empty(const std::vector<std::int64_t>& extents, const TensorOptions& options,
             std::source_location where) {
  const Type type = checked_type("empty", options.dtype, extents, where);
  return named("empty", where, [&] { return new_tensor(type, find_carrier(options.carrier, {})); });
}

Tensor on(const Tensor& t, std::string_view carrier, std::source_location where) {
  return named("on", where, [&] { return copied(t, find_carrier(carrier, {})); });
}

std::vector<double> elements(const Tensor& t, std::source_location where) {
  return named("elements", where, [&] { return to_doubles(to_literal(t, {})); });
}
std::vector<double> elements(const Tensor& t, std::int64_t first, std::int64_t count,
                             std::source_location where) {
  check_range(t, "elements", first, count, where);
  const Type type{t.type().dtype, {Dim(count)}};
  std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
  named("elements", where, [&] { read_elements(t, first, bytes); });
  return to_doubles(literal_from_bytes(type, std::move(bytes)));
}

double item(const Tensor& t, std::source_location where) {
  const std::vector<double> all =
      named("item", where, [&] { return to_doubles(to_literal(t, {})); });
  if (all.size() == 1) return all[0];
  throw ValueError({.message = "item: a tensor of one element is needed",
                    .found = to_text(t.type()),
                    .where = where});
}

void assign(const Tensor& t, const Tensor& source, std::source_location where) {
  CarrierStorage& storage = writable(t, "assign", where);
  if (source.type() != t.type()) {
    throw ValueError({.message = "assign: the elements have another type",
                      .found = to_text(source.type()),
                      .needed = to_text(t.type()),
                      .where = where});
  }
  named("assign", where, [&] { overwrite(storage, 0, source); });
}
void assign(const Tensor& t, std::int64_t first, std::span<const double> elements,
            std::source_location where) {
  CarrierStorage& storage = writable(t, "assign", where);
  const auto count = static_cast<std::int64_t>(elements.size());
  check_range(t, "assign", first, count, where);
  const Tensor source = make_tensor(converted(elements, {Dim(count)}, t.type().dtype));
  named("assign", where, [&] { overwrite(storage, first, source); });
}

void release(const Tensor& t, std::source_location where) {
  CarrierStorage& storage = writable(t, "release", where);
  named("release", where, [&] { storage.release(); });
}

}  // namespace heddle
