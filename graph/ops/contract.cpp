// dot_general: products summed over shared axes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/record.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary
using emit::Axes;

bool contains(const Axes& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}
/// Axes of one operand that stay: neither batch nor contracted, in order.
Axes free_axes(std::size_t rank, const Axes& batch, const Axes& contract) {
  Axes free;
  for (std::int64_t a : emit::all_axes(rank)) {
    if (!contains(batch, a) && !contains(contract, a)) free.push_back(a);
  }
  return free;
}

// Axes of one side: in range, each at most once over both lists.
void check_side(At at, std::size_t operand, const char* name, const Axes& batch,
                const Axes& contract) {
  const std::size_t rank = at.operands[operand].rank();
  Axes all = batch;
  all.insert(all.end(), contract.begin(), contract.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    check_axis(at, name, all[i], rank);
    if (std::count(all.begin(), all.end(), all[i]) > 1) {
      operation_error<ValueError>(at, "an axis is named twice", absl::StrCat("attributes.", name),
                                  std::to_string(all[i]));
    }
  }
}
void check_pairs(At at, const char* what, const Axes& lhs, const Axes& rhs) {
  if (lhs.size() != rhs.size()) {
    operation_error<ValueError>(
        at, absl::StrCat(what, " axes come in pairs"), absl::StrCat("attributes.rhs_", what),
        absl::StrCat(rhs.size(), " axes"), absl::StrCat(lhs.size(), " as on the left"));
  }
  for (std::size_t i = 0; i < lhs.size(); ++i) {
    const Dim& l = at.operands[0].dims[static_cast<std::size_t>(lhs[i])];
    const Dim& r = at.operands[1].dims[static_cast<std::size_t>(rhs[i])];
    if (l == r) continue;
    operation_error<ValueError>(
        at,
        absl::StrCat(what, " extents differ: axis ", lhs[i], " of ", to_text(at.operands[0]),
                     " is ", to_text(l), ", axis ", rhs[i], " of ", to_text(at.operands[1]), " is ",
                     to_text(r)),
        "operands[1].dims", to_text(at.operands[1]));
  }
}

Types infer_dot(At at) {
  check_operand_count(at, 2);
  check_kind(at, 0, kNumber);
  check_same_dtype(at, 1);
  const auto a = at.attributes.as<DotAttributes>();
  check_side(at, 0, "lhs_contract", a.lhs_batch, a.lhs_contract);
  check_side(at, 1, "rhs_contract", a.rhs_batch, a.rhs_contract);
  check_pairs(at, "batch", a.lhs_batch, a.rhs_batch);
  check_pairs(at, "contract", a.lhs_contract, a.rhs_contract);
  const Type &x = at.operands[0], &y = at.operands[1];
  Dims dims;
  for (std::int64_t b : a.lhs_batch) dims.push_back(x.dims[static_cast<std::size_t>(b)]);
  for (std::int64_t f : free_axes(x.rank(), a.lhs_batch, a.lhs_contract)) {
    dims.push_back(x.dims[static_cast<std::size_t>(f)]);
  }
  for (std::int64_t f : free_axes(y.rank(), a.rhs_batch, a.rhs_contract)) {
    dims.push_back(y.dims[static_cast<std::size_t>(f)]);
  }
  return {{x.dtype, dims}};
}

/// An operand's elements as [batch][free][contract], and the three counts.
template <class C>
struct Panel {
  std::size_t batch = 1, free = 1, contract = 1;
  std::vector<C> elements;
};
template <class T, class C>
Panel<C> panel_of(const Literal& x, const Axes& batch, const Axes& contract) {
  Panel<C> p;
  const Axes extents = extents_of(x), strides = strides_of(extents);
  Axes order, permuted;
  const auto take = [&](const Axes& axes, std::size_t& count) {
    for (std::int64_t a : axes) {
      order.push_back(a);
      permuted.push_back(extents[static_cast<std::size_t>(a)]);
      count *= static_cast<std::size_t>(permuted.back());
    }
  };
  take(batch, p.batch);
  take(free_axes(extents.size(), batch, contract), p.free);
  take(contract, p.contract);
  const std::span<const T> from = view<T>(x);
  p.elements.resize(from.size());
  for_each_index(permuted, [&](std::size_t i, const Axes& index) {
    std::int64_t offset = 0;
    for (std::size_t a = 0; a < order.size(); ++a) {
      offset += index[a] * strides[static_cast<std::size_t>(order[a])];
    }
    p.elements[i] = static_cast<C>(computed(from[static_cast<std::size_t>(offset)]));
  });
  return p;
}

template <class C>
std::vector<C> products(const Panel<C>& x, const Panel<C>& y) {
  std::vector<C> sums(x.batch * x.free * y.free, C(0));
  for (std::size_t b = 0, out = 0; b < x.batch; ++b) {
    for (std::size_t m = 0; m < x.free; ++m) {
      const C* row = x.elements.data() + (b * x.free + m) * x.contract;
      for (std::size_t n = 0; n < y.free; ++n, ++out) {
        const C* column = y.elements.data() + (b * y.free + n) * y.contract;
        C sum = 0;
        for (std::size_t k = 0; k < x.contract; ++k) sum += row[k] * column[k];
        sums[out] = sum;
      }
    }
  }
  return sums;
}

Literals evaluate_dot(At at, Inputs in) {
  const auto a = at.attributes.as<DotAttributes>();
  const Type type = infer_dot(at)[0];
  return {dispatch_kinds<kNumber>(type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    using C = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
    const auto sums = products(panel_of<T, C>(in[0], a.lhs_batch, a.lhs_contract),
                               panel_of<T, C>(in[1], a.rhs_batch, a.rhs_contract));
    return generate<T>(type, [&](std::size_t i) { return convert_element<T>(sums[i]); });
  })};
}

/// The axes of one operand by what becomes of them.
struct Side {
  Axes batch, contract, free;
};

/// The contracted axes of `mine` in the order in which those of `theirs` come out once they are
/// free.
Axes paired(const Side& mine, const Side& theirs) {
  Axes sorted = theirs.contract, result;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t a : sorted) {
    const auto at = std::find(theirs.contract.begin(), theirs.contract.end(), a);
    result.push_back(mine.contract[static_cast<std::size_t>(at - theirs.contract.begin())]);
  }
  return result;
}
Axes joined(const Axes& a, const Axes& b, const Axes& c) {
  Axes all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}
Axes range(std::size_t start, std::size_t count) {
  Axes axes;
  for (std::size_t i = 0; i < count; ++i) axes.push_back(static_cast<std::int64_t>(start + i));
  return axes;
}

// The cotangent of one operand contracts ct with the other operand over the other's free axes. The
// order of the two factors is the one that needs no transpose, where there is one.
ValueId cotangent_of(Builder& b, ValueId ct, const Side& mine, ValueId other, const Side& theirs,
                     bool mine_is_lhs) {
  const std::size_t batches = mine.batch.size();
  const Axes ct_batch = range(0, batches);
  const Axes ct_contract =
      range(batches + (mine_is_lhs ? mine.free.size() : 0), theirs.free.size());
  const Axes contracted = paired(mine, theirs);
  Axes axes = joined(mine.batch, contracted, mine.free);  // of mine, as they come out
  ValueId product;
  if (std::is_sorted(axes.begin(), axes.end())) {
    product = emit::dot_general(b, other, ct, {theirs.batch, ct_batch, theirs.free, ct_contract});
  } else {
    axes = joined(mine.batch, mine.free, contracted);
    product = emit::dot_general(b, ct, other, {ct_batch, theirs.batch, ct_contract, theirs.free});
  }
  Axes permutation(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    permutation[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  }
  return emit::transpose(b, product, permutation);
}

MaybeValues dot_transpose(TransposeContext& c, std::span<const MaybeValue> ct) {
  const auto a = c.node.attributes.as<DotAttributes>();
  const Side lhs{a.lhs_batch, a.lhs_contract,
                 free_axes(c.type(0).rank(), a.lhs_batch, a.lhs_contract)};
  const Side rhs{a.rhs_batch, a.rhs_contract,
                 free_axes(c.type(1).rank(), a.rhs_batch, a.rhs_contract)};
  if (c.is_linear(0)) {
    return {cotangent_of(c.build, *ct[0], lhs, c.residual(1), rhs, true), std::nullopt};
  }
  return {std::nullopt, cotangent_of(c.build, *ct[0], rhs, c.residual(0), lhs, false)};
}

std::vector<Workload> dot_rows() {
  std::vector<Workload> result;
  const auto row = [&](DType dtype, Dims x, Dims y, DotAttributes a) {
    result.push_back({.operands = {type_of(dtype, std::move(x)), type_of(dtype, std::move(y))},
                      .attributes = Attributes::of(a),
                      .low = is_signed(dtype) ? -2.0 : 0.0,
                      .high = 2,
                      .order = is_floating(dtype) ? 2 : 0});
  };
  const DotAttributes nn{{}, {}, {1}, {0}}, nt{{}, {}, {1}, {1}}, tn{{}, {}, {0}, {0}},
      tt{{}, {}, {0}, {1}};
  row(DType::f32, {7, 13}, {13, 5}, nn);
  row(DType::f32, {7, 13}, {5, 13}, nt);
  row(DType::f32, {13, 7}, {13, 5}, tn);
  row(DType::f32, {13, 7}, {5, 13}, tt);
  row(DType::f32, {2, 3, 4}, {2, 4, 5}, {{0}, {0}, {2}, {1}});
  row(DType::f32, {3, 2, 4}, {4, 3, 2}, {{1}, {2}, {0, 2}, {1, 0}});
  row(DType::f32, {6}, {6}, {{}, {}, {0}, {0}});
  row(DType::f32, {3}, {4}, {});
  row(DType::f32, {}, {4}, {});
  row(DType::f32, {1, 17}, {17, 1}, nn);
  row(DType::f32, {3, 0}, {0, 2}, nn);
  row(DType::f32, {0, 3}, {3, 2}, nn);
  for (DType d : kAllDTypes) {
    if (d != DType::boolean && d != DType::f32) row(d, {2, 3}, {3, 4}, nn);
  }
  return result;
}

std::pair<std::int64_t, std::int64_t> roofline(At at, const Bindings& symbols) {
  const auto a = at.attributes.as<DotAttributes>();
  const Type result = infer_dot(at)[0];
  const auto bytes = [&](const Type& t) {
    return evaluate(element_count(t.dims), symbols) * static_cast<std::int64_t>(size_of(t.dtype));
  };
  std::int64_t depth = 1;
  for (std::int64_t k : a.lhs_contract) {
    depth *= evaluate(at.operands[0].dims[static_cast<std::size_t>(k)], symbols);
  }
  return {2 * depth * evaluate(element_count(result.dims), symbols),
          bytes(at.operands[0]) + bytes(at.operands[1]) + bytes(result)};
}

constexpr OptionSpec kAxesOptions[] = {{"lhs_batch", OptionKind::integers},
                                       {"rhs_batch", OptionKind::integers},
                                       {"lhs_contract", OptionKind::integers},
                                       {"rhs_contract", OptionKind::integers}};
constexpr OperationSchema kSchemas[] = {{.operands = kXY, .options = kAxesOptions}};

}  // namespace

constinit const Operation op_dot_general = define_op(
    {.name = "dot_general",
     .strict = {.roles = kMultilinear,
                .pattern = Pattern::contract,
                .traits = kFusable,
                .infer = infer_dot,
                .evaluate = evaluate_dot,
                .transpose = dot_transpose,
                .workloads = dot_rows,
                .rtol = 1e-5,
                .atol = 1e-5,
                .roofline = roofline,
                .text = "The sum of products over paired contracted axes, for each index of the "
                        "paired batch axes. Result axes: batch, x's free ones, y's free ones. "
                        "Integers wrap; floats are added in a fixed order in their own precision "
                        "or a wider one (the reference: in double, rounded once).\nC1 both have "
                        "one integer or floating dtype.\nC2 axes are in range, each named at most "
                        "once.\nC3 batch and contracted axes come in pairs of equal extent.\nA sum "
                        "over nothing is 0."},
     .surface = {.overloads = kSchemas, .plan = plan_contract, .body = body_direct}});

}  // namespace heddle
