// The order of a fibre's elements: they become unsigned numbers in the same order, which the
// runtime sorts (runtime/core/argsort.h). On devices by counting how many elements come before
// each.
#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/fibres.h"
#include "heddle/graph/op_attributes.h"

namespace heddle::halide {
namespace {

// Unsigned numbers in the order of the elements. No number's key is 0 or the greatest one, which
// are for NaN.
Expr key_of(Expr x, const ArgsortAttributes& a) {
  if (x.type().is_bool()) x = Halide::cast<std::uint8_t>(x);
  const Halide::Type bits = Halide::UInt(x.type().bits());
  const Expr sign = Halide::Internal::make_one(bits) << (bits.bits() - 1);
  Expr key = x;
  if (x.type().is_int()) key = Halide::reinterpret(bits, x) ^ sign;
  if (x.type().is_float()) {
    const Expr zero = Halide::Internal::make_zero(x.type());
    const Expr b = bits_of(select(equal(x, zero), zero, x));  // -0 is +0
    key = select((b & sign) != Halide::Internal::make_zero(bits), ~b, b | sign);
  }
  if (a.descending) key = ~key;
  if (!x.type().is_float()) return key;
  return select(not_a_number(x), a.nan_first ? bits.min() : bits.max(), key);
}

}  // namespace

void FibreStage::make_sort() {
  const auto a = node_.attributes.as<ArgsortAttributes>();
  const Extent n = axes_.length();
  Func keys("keys" + name_);
  keys(axes_.arguments(i_)) = key_of(element(i_), a);
  if (b_.kernel.target.on_device()) {
    hold(keys);
    const Func order = make_counted_order(keys);
    return b_.elements.stage(v_, [=, axes = axes_](const Index& index) {
      return Expr(order(axes.arguments_at(index, index[axes.axis])));
    });
  }
  const int lanes = std::max(1, b_.vector * 32 / keys.type().bits());
  if (!n.below(lanes)) keys.vectorize(i_, lanes, tail(n, lanes));
  // Loops are short beside the sort: one form of them will do.
  for (const Var& v : keys.args()) keys.partition(v, Halide::Partition::Never);
  hold(keys);
  const Func order = call_argsort(keys);
  b_.elements.stage(v_, [=, axes = axes_](const Index& index) {
    return Expr(order(axes.arguments_at(index, index[axes.axis]))[0]);
  });
}

Func FibreStage::call_argsort(const Func& keys) {
  std::vector<Var> arguments;
  for (const Expr& e : axes_.arguments(i_)) {
    arguments.emplace_back(e.as<Halide::Internal::Variable>()->name);
  }
  Func order("order" + name_);
  const Expr length = constant(axes_.length()),
             count = constant(b_.elements.extents(v_)[axes_.axis]);
  // The second result is room for the sort.
  order.define_extern("hd_argsort", {keys, length, count}, {Halide::Int(32), Halide::Int(32)},
                      arguments, Halide::NameMangling::C);
  hold(order);
  sorted_ = {keys, order};
  return order;
}

}  // namespace heddle::halide
