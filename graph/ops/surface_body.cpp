// Bodies: the strict micro-program of one call (steps 15 to 17).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "heddle/graph/call.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/surface.h"
#include "heddle/graph/scalar_convert.h"

namespace heddle::ops {
namespace {

using emit::Axes;

std::string operand_name(Bound call, std::size_t i) {
  const auto& specs = call.schema->operands;
  std::string name(specs[std::min(i, specs.size() - 1)].name);
  if (call.schema->variadic && i + 1 >= specs.size()) name += std::to_string(i);
  return name;
}

[[noreturn]] void shape_error(Bound call, std::string message, std::string field, std::string found,
                              std::string needed = "") {
  throw ValueError({.message = std::move(message),
                    .step = 15,
                    .operation = std::string(call.op->name),
                    .field = std::move(field),
                    .found = std::move(found),
                    .needed = std::move(needed),
                    .where = call.where});
}

/// A weak scalar in the dtype the plan gives it, exactly as convert would.
Literal weak_literal(const Operand& operand, DType dtype) {
  return dispatch_dtype(dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    T value{};
    if (const auto* whole = std::get_if<std::int64_t>(&operand)) {
      value = convert_element<T>(*whole);
    } else if (const auto* truth = std::get_if<bool>(&operand)) {
      value = convert_element<T>(*truth);
    } else {
      value = convert_element<T>(std::get<double>(operand));
    }
    return make_literal<T>({}, {value});
  });
}

/// As planned. What is planned as i32 and is wider are indices: what i32 cannot hold lies outside
/// of any extent, and stays there.
ValueId converted(Builder& b, ValueId x, DType to) {
  const DType from = b.type(x).dtype;
  const bool wide = from == DType::i64 || from == DType::u64 || from == DType::u32;
  if (to != DType::i32 || !wide) return emit::convert(b, x, to);
  using Limits = std::numeric_limits<std::int32_t>;
  x = emit::min(b, x, emit::fill_like(b, Limits::max(), x));
  if (from == DType::i64) x = emit::max(b, x, emit::fill_like(b, Limits::min(), x));
  return emit::convert(b, x, to);
}

struct Body;
/// Runs `f`. Its errors are about converted operands: they get the types that the caller gave.
template <class F>
Values as_given(const Body& body, F f);

/// A body under construction: the tensor operands are its inputs, in order; weak scalars are
/// constants. `values` holds all operands, converted as planned.
struct Body {
  Bound call;
  Builder b;
  Values values;

  Body(Bound c, const DtypePlan& plan) : call(c), b(c.op->name) {
    b.set_location(c.where);
    std::vector<MaybeValue> inputs;
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
      const Tensor* t = std::get_if<Tensor>(&c.operands[i]);
      inputs.push_back(t ? MaybeValue(b.input(operand_name(c, i), t->type())) : std::nullopt);
    }
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
      const DType to = plan.operands[i].convert_to;
      values.push_back(inputs[i] ? converted(b, *inputs[i], to)
                                 : b.constant(weak_literal(c.operands[i], to)));
    }
  }
  const Dims& dims(std::size_t operand = 0) const { return b.type(values[operand]).dims; }
  std::size_t rank(std::size_t operand = 0) const { return dims(operand).size(); }
  Function result(ValueId v) {
    b.output("result", v);
    return b.finish();
  }
  Function apply(Attributes attributes) {
    const Values results =
        as_given(*this, [&] { return b.add(*call.op, values, std::move(attributes)); });
    for (std::size_t r = 0; r < results.size(); ++r) {
      b.output(r == 0 ? "result" : absl::StrCat("result", r), results[r]);
    }
    return b.finish();
  }
};

std::string operand_types(const Body& body) {
  std::string text;
  for (std::size_t i = 0; i < body.values.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&body.call.operands[i]);
    if (t == nullptr) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", operand_name(body.call, i), " is ",
                    to_text(t->type()));
  }
  return text;
}

template <class F>
Values as_given(const Body& body, F f) {
  try {
    return f();
  } catch (const Error& e) {
    ErrorDetail detail = e.detail();
    bool converted = false;
    for (std::size_t i = 0; i < body.values.size(); ++i) {
      const Tensor* t = std::get_if<Tensor>(&body.call.operands[i]);
      const Type& type = body.b.type(body.values[i]);
      if (t == nullptr || t->type() == type) continue;
      converted = true;
      const bool is_named = detail.field.starts_with(absl::StrCat("operands[", i, "]"));
      if (is_named && detail.found == to_text(type)) detail.found = to_text(t->type());
    }
    if (!converted) throw;
    absl::StrAppend(&detail.message, " (", operand_types(body), ")");
    e.rethrow_with(std::move(detail));
  }
}

Dims common_dims(const Body& body) {
  Dims dims;
  for (std::size_t i = 0; i < body.values.size(); ++i) {
    try {
      dims = broadcast_dims(dims, body.dims(i));
    } catch (const ValueError&) {
      shape_error(body.call,
                  "shapes do not broadcast: " + operand_types(body) +
                      "; aligned at the right, extents must be equal or 1",
                  "", "");
    }
  }
  return dims;
}

/// Right-aligned.
ValueId broadcast_to(Builder& b, ValueId v, const Dims& dims) {
  const std::size_t rank = b.type(v).rank();
  Axes axes(rank);
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(dims.size() - rank));
  return emit::broadcast_in_dim(b, v, dims, axes);
}

/// The one place where negative axes turn round.
std::int64_t axis_in(Bound call, const char* field, std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis >= -r && axis < r) return axis < 0 ? axis + r : axis;
  shape_error(call, "axis out of range", absl::StrCat("options.", field), std::to_string(axis),
              absl::StrCat(-r, " <= axis < ", r, " (the rank is ", r, ")"));
}

}  // namespace

Axes axes_in(Bound call, const char* field, Axes axes, std::size_t rank) {
  const Attribute given = axes;
  for (std::int64_t& a : axes) a = axis_in(call, field, a, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    shape_error(call, "an axis is named twice", absl::StrCat("options.", field), to_text(given));
  }
  return axes;
}

Function body_elementwise(Bound call, const DtypePlan& plan) {
  Body body(call, plan);
  const Dims dims = common_dims(body);
  for (ValueId& v : body.values) v = broadcast_to(body.b, v, dims);
  return body.apply(call.options);
}

Function body_direct(Bound call, const DtypePlan& plan) {
  return body_direct(call, plan, call.options);
}
Function body_direct(Bound call, const DtypePlan& plan, Attributes attributes) {
  return Body(call, plan).apply(std::move(attributes));
}

// x^n by squaring, for the small whole exponents people write.
Function body_pow(Bound call, const DtypePlan& plan) {
  constexpr double kMostMultiplied = 64;
  double exponent = -1;
  if (const auto* whole = std::get_if<std::int64_t>(&call.operands[1])) {
    exponent = static_cast<double>(*whole);
  }
  if (const auto* number = std::get_if<double>(&call.operands[1])) exponent = *number;
  const bool small =
      exponent >= 0 && exponent <= kMostMultiplied && std::floor(exponent) == exponent;
  if (!small || !std::holds_alternative<Tensor>(call.operands[0])) {
    return body_elementwise(call, plan);
  }
  Builder b(call.op->name);
  b.set_location(call.where);
  const ValueId x = b.input(operand_name(call, 0), call.tensor(0).type());
  ValueId square = emit::convert(b, x, plan.compute);
  MaybeValue product;
  for (auto n = static_cast<int>(exponent); n != 0; n /= 2) {
    if (n % 2) product = product ? emit::mul(b, *product, square) : square;
    if (n > 1) square = emit::mul(b, square, square);
  }
  b.output("result", product ? *product : emit::fill_like(b, 1, square));
  return b.finish();
}

Function body_reduce(Bound call, const DtypePlan& plan) {
  Body body(call, plan);
  const Attribute* given = call.options.find("axes");
  Axes axes = given ? std::get<Axes>(*given) : emit::all_axes(body.rank());
  axes = axes_in(call, "axes", std::move(axes), body.rank());
  Dims kept = body.dims();
  for (std::int64_t a : axes) kept[static_cast<std::size_t>(a)] = 1;
  const ValueId reduced = body.b.emit(*call.op, body.values, Attributes::of(AxesAttributes{axes}));
  return body.result(call.options.get<bool>("keepdims") ? emit::reshape(body.b, reduced, kept)
                                                        : reduced);
}

Function body_axis(Bound call, const DtypePlan& plan) {
  return body_axis(call, plan, call.options);
}

Function body_axis(Bound call, const DtypePlan& plan, const Attributes& given) {
  Body body(call, plan);
  std::vector<Attributes::Entry> options = given.entries();
  for (auto& [name, value] : options) {
    if (name == "axis") value = axis_in(call, "axis", std::get<std::int64_t>(value), body.rank());
  }
  return body.apply(Attributes(std::move(options)));
}

Function body_axes(Bound call, const DtypePlan& plan) {
  Body body(call, plan);
  return body.apply(Attributes::of(
      AxesAttributes{axes_in(call, "axes", call.options.get<Axes>("axes"), body.rank())}));
}

Function body_reshape(Bound call, const DtypePlan& plan) {
  Body body(call, plan);
  Dims dims = call.options.get<Dims>("dims");
  const auto rest = std::find(dims.begin(), dims.end(), Dim(-1));
  if (rest == dims.end()) return body.apply(Attributes::of(ReshapeAttributes{dims}));
  const std::string found = to_text(dims);
  *rest = 1;
  if (std::count(dims.begin(), dims.end(), Dim(-1)) > 0) {
    shape_error(call, "only one extent may be -1", "options.dims", found);
  }
  const std::int64_t others = element_count(dims).constant();
  const std::int64_t all = element_count(body.dims()).constant();
  if (others == 0 || all % others != 0) {
    shape_error(call, "no extent fits for -1", "options.dims", found,
                absl::StrCat(all, " elements, as ", operand_types(body)));
  }
  *rest = all / others;
  return body.apply(Attributes::of(ReshapeAttributes{dims}));
}

Function body_broadcast(Bound call, const DtypePlan& plan) {
  Body body(call, plan);
  const Dims dims = call.options.get<Dims>("dims");
  if (const Attribute* axes = call.options.find("axes")) {
    return body.apply(Attributes::of(BroadcastAttributes{dims, std::get<Axes>(*axes)}));
  }
  if (body.rank() > dims.size()) {
    shape_error(call, "a broadcast does not remove axes: " + operand_types(body), "options.dims",
                to_text(dims));
  }
  Axes axes(body.rank());
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(dims.size() - body.rank()));
  return body.apply(Attributes::of(BroadcastAttributes{dims, axes}));
}

Function body_transpose(Bound call, const DtypePlan& plan) {
  Body body(call, plan);
  Axes permutation = emit::all_axes(body.rank());
  std::reverse(permutation.begin(), permutation.end());
  if (const Attribute* given = call.options.find("permutation")) {
    permutation = std::get<Axes>(*given);
    for (std::int64_t& a : permutation) a = axis_in(call, "permutation", a, body.rank());
  }
  return body.apply(Attributes::of(TransposeAttributes{permutation}));
}

Function body_slice(Bound call, const DtypePlan& plan) {
  Body body(call, plan);
  auto a = call.options.as<SliceAttributes>();
  if (a.starts.size() != body.rank() || a.limits.size() != body.rank()) {
    return body.apply(Attributes::of(a));  // inference says what is missing
  }
  for (std::size_t i = 0; i < body.rank(); ++i) {
    const std::int64_t extent = body.dims()[i].constant();
    for (std::int64_t* bound : {&a.starts[i], &a.limits[i]}) {
      if (*bound < 0) *bound += extent;
      *bound = std::clamp<std::int64_t>(*bound, 0, extent);
    }
    a.limits[i] = std::max(a.limits[i], a.starts[i]);
  }
  return body.apply(Attributes::of(a));
}

Function body_gather(Bound call, const DtypePlan& plan) {
  Body body(call, plan);
  Builder& b = body.b;
  auto a = call.options.as<GatherAttributes>();
  a.axis = axis_in(call, "axis", a.axis, body.rank());
  // A negative index counts from the end: here, once, for every indexing operation.
  const auto extent = static_cast<double>(body.dims()[static_cast<std::size_t>(a.axis)].constant());
  const ValueId indices = body.values[1];
  const ValueId negative = emit::compare(b, "lt", indices, 0);
  const ValueId turned = emit::add(b, indices, extent);
  body.values[1] = emit::select(b, negative, turned, indices);
  return body.apply(Attributes::of(a));
}

}  // namespace heddle::ops
