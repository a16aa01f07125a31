// Surface halves that many records share: overloads, dtype plans and bodies.
#ifndef HEDDLE_GRAPH_OPS_SURFACE_H_
#define HEDDLE_GRAPH_OPS_SURFACE_H_

#include "heddle/graph/operation.h"

namespace heddle::ops {

// Dtype plans follow 000's table of promotion (requirements 2A.3, line by line in
// tests/ops/promotion_table_test.cpp) and go on to thirteen dtypes by promote(). Other than there:
// - add, sub, mul, reduce_sum and matmul of integers wrap: checked results cost a second pass and a
//   word of fault, so that they are operations of their own (composites/checked.cpp), which are
//   000's;
// - neg, abs, sign, max, min, rem and the comparisons take integers: index arithmetic needs them;
//   logical_not takes bool and the bits of integers: a float has no truth value;
// - exp2, sin and cos convert integers, as exp and tanh do there: a function of real numbers that
//   converts for one of its kind converts for all. (Roots, logarithms, erf and roundings refuse.)
// - reductions and contractions other than sums are not SEQUENTIAL (graph/dtype_plan.h).

// Dtype plans: what the operands are converted to. Weak scalars never widen a float; with an
// integer tensor a whole weak scalar keeps the dtype (OverflowError when it does not fit), any
// other gives f32.
DtypePlan plan_keep(Bound);           ///< the operands' common dtype, any
DtypePlan plan_number(Bound);         ///< the operands' common dtype; bool is a TypeError
DtypePlan plan_floating(Bound);       ///< integers and bool become f32
DtypePlan plan_floats_only(Bound);    ///< integers are a TypeError
DtypePlan plan_predicate(Bound);      ///< plan_floats_only; the output is bool
DtypePlan plan_integer(Bound);        ///< integers only
DtypePlan plan_bits(Bound);           ///< bool and integers; floats are a TypeError
DtypePlan plan_compare(Bound);        ///< the operands' common dtype; the output is bool
DtypePlan plan_contract(Bound);       ///< plan_number, accumulating
DtypePlan plan_extremum(Bound);       ///< plan_number, keeping an extreme
DtypePlan plan_select(Bound);         ///< a bool predicate, then the common dtype of the choices
DtypePlan plan_convert(Bound);        ///< the output is the option `to`
DtypePlan plan_gather(Bound);         ///< indices (operand 1) become i32; the rest as plan_keep
DtypePlan plan_cross_entropy(Bound);  ///< logits as plan_floating, labels become i32
DtypePlan plan_sum(Bound);            ///< as the first tensor's; bool becomes i32
DtypePlan plan_index(Bound);          ///< as the first tensor's; the output is i32
DtypePlan plan_bool(Bound);           ///< bool only

DtypePlan plan_pow(Bound);  ///< integers stay only under a whole weak exponent >= 0, else f32

/// Converts the operands as planned, broadcasts them (right-aligned) and applies the operation with
/// the call's options as its attributes.
Function body_elementwise(Bound, const DtypePlan&);
/// pow; a small whole weak exponent becomes multiplications.
Function body_pow(Bound, const DtypePlan&);
/// Converts the operands as planned and applies the operation with the call's options.
Function body_direct(Bound, const DtypePlan&);
/// With other attributes than the call's options.
Function body_direct(Bound, const DtypePlan&, Attributes attributes);
/// Reductions: options axes (default: all; negative ones count from the end) and keepdims.
Function body_reduce(Bound, const DtypePlan&);
/// gather, scatter, take_along_axis: negative indices count from the end.
Function body_gather(Bound, const DtypePlan&);
Function body_reshape(Bound, const DtypePlan&);    ///< one extent may be -1
Function body_broadcast(Bound, const DtypePlan&);  ///< without `axes`: right-aligned
Function body_transpose(Bound, const DtypePlan&);  ///< without `permutation`: reversed
Function body_slice(Bound, const DtypePlan&);      ///< ranges as NumPy reads them
Function body_axes(Bound, const DtypePlan&);       ///< `axes` in any order, negative ones too
/// Operations with an option `axis`, which may be negative; other options pass.
Function body_axis(Bound, const DtypePlan&);
/// The axes that option `field` names, ascending. ValueError (step 15): out of range, twice.
std::vector<std::int64_t> axes_in(Bound, const char* field, std::vector<std::int64_t> axes,
                                  std::size_t rank);
/// With other options than the call's.
Function body_axis(Bound, const DtypePlan&, const Attributes& options);

inline constexpr OperandKind kWeak = OperandKind::weak_scalar;
inline constexpr OperandSpec kX[] = {{"x"}};
inline constexpr OperandSpec kXY[] = {{"x"}, {"y"}};
inline constexpr OperandSpec kXWeakY[] = {{"x"}, {"y", kWeak}};
inline constexpr OperandSpec kWeakXY[] = {{"x", kWeak}, {"y"}};

inline constexpr OperationSchema kUnary[] = {{.operands = kX}};
inline constexpr OperationSchema kBinary[] = {
    {.operands = kXY}, {.operands = kXWeakY}, {.operands = kWeakXY}};
inline constexpr OptionSpec kAxis[] = {{"axis", OptionKind::integer}};
inline constexpr OperationSchema kAlongAxis[] = {{.operands = kX, .options = kAxis}};

inline Attribute false_option() { return false; }
inline constexpr OptionSpec kAxesKeep[] = {{"axes", OptionKind::integers},
                                           {"keepdims", OptionKind::flag, false_option}};
inline constexpr OptionSpec kKeep[] = {{"keepdims", OptionKind::flag, false_option}};
inline constexpr OperationSchema kReduction[] = {{.operands = kX, .options = kAxesKeep},
                                                 {.operands = kX, .options = kKeep}};

constexpr Surface surface_unary(DtypePlan (*plan)(Bound)) {
  return {.overloads = kUnary, .plan = plan, .body = body_elementwise};
}
constexpr Surface surface_binary(DtypePlan (*plan)(Bound)) {
  return {.overloads = kBinary, .plan = plan, .body = body_elementwise};
}
constexpr Surface surface_reduce(DtypePlan (*plan)(Bound)) {
  return {.overloads = kReduction, .plan = plan, .body = body_reduce};
}
constexpr Surface surface_axis(DtypePlan (*plan)(Bound)) {
  return {.overloads = kAlongAxis, .plan = plan, .body = body_axis};
}

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_OPS_SURFACE_H_
