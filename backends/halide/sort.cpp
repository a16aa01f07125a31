// The order of a fibre's elements, without a comparison that branches: short fibres by counting how
// many elements come before each (a compare of vectors), long ones digit by digit, the lowest
// first. Both keep equal elements in order.
#include "heddle/backends/halide/exact.h"
#include "heddle/backends/halide/fibres.h"
#include "heddle/graph/op_attributes.h"

namespace heddle::halide {
namespace {

constexpr std::int64_t kMostCounted = 128;  // n^2 / 8 compares against about 16 n + 2000 steps
constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;

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
  const int bits = keys.type().bits(), lanes = std::max(1, b_.vector * 32 / bits);
  if (!n.below(lanes)) keys.vectorize(i_, lanes, tail(n, lanes));
  hold(keys);
  // Of a length that is known when the kernel runs, it holds both and enters one.
  std::optional<Func> counted, by_digits;
  if (!n.is_constant() || n.at_most(kMostCounted)) counted = make_ranks(keys);
  if (!n.at_most(kMostCounted)) {
    for (int pass = 0; pass * kDigitBits < bits; ++pass) {
      by_digits = make_radix_pass(keys, by_digits, pass);
    }
  }
  b_.elements.stage(v_, [=, axes = axes_](const Index& index) -> Expr {
    const Expr& place = index[axes.axis];
    const auto read = [&](const Func& order, const Expr& at) {
      return Expr(order(axes.arguments_at(index, at)));
    };
    if (!by_digits) return read(*counted, place);
    const Expr digits = read(*by_digits, place + kDigits);
    if (!counted) return digits;
    return select(constant(n) <= constant(kMostCounted), read(*counted, place), digits);
  });
}

Func FibreStage::make_ranks(const Func& keys) {
  const Extent n = axes_.length();
  Func rank("rank" + name_), order("order" + name_);
  RDom r(0, constant(n), "r" + name_), q(0, constant(n), "q" + name_);
  const Expr mine = keys(axes_.arguments(i_)), other = keys(axes_.arguments(r));
  rank(axes_.arguments(i_)) = 0;
  rank(axes_.arguments(i_)) +=
      Halide::cast<std::int32_t>(other < mine || (other == mine && r < i_));
  // One vector at a time where nothing is known of the length: less code.
  const int lanes = b_.vector, width = n.is_constant() ? 4 * lanes : lanes;
  if (!n.below(lanes)) rank.vectorize(i_, lanes, tail(n, lanes));
  if (!n.below(width)) {
    Var ii("ii");
    rank.update()
        .split(i_, i_, ii, width, tail(n, width))
        .reorder(ii, r, i_)
        .vectorize(ii, lanes)
        .unroll(ii);
  } else if (!n.below(lanes)) {
    rank.update().reorder(i_, r).vectorize(i_, lanes, tail(n, lanes));
  }
  order(axes_.arguments(i_)) = 0;
  const Expr place = clamp(rank(axes_.arguments(q)), 0, constant(n - 1));
  order(axes_.arguments(place)) = Expr(q);
  hold(rank), hold(order);
  return order;
}

// One stable pass over a digit. Its Func holds where the next element of each digit goes, and
// behind that the elements in order: both change with each step.
Func FibreStage::make_radix_pass(const Func& keys, std::optional<Func> before, int pass) {
  const Extent n = axes_.length();
  const std::string name = std::to_string(pass) + "_" + name_;
  Func counts("counts" + name), starts("starts" + name), sorted("sorted" + name);
  const auto digit = [&](const Expr& i) {
    const Expr key = keys(axes_.arguments(i));
    return Halide::cast<std::int32_t>(Halide::cast<std::uint8_t>(key >> (pass * kDigitBits)));
  };
  RDom all(0, constant(n), "a" + name), next(1, kDigits - 1, "n" + name),
      step(0, constant(n), "s" + name);
  counts(axes_.arguments(i_)) = 0;
  counts(axes_.arguments(digit(all))) += 1;
  starts(axes_.arguments(i_)) = 0;
  starts(axes_.arguments(next)) =
      starts(axes_.arguments(next - 1)) + counts(axes_.arguments(next - 1));
  sorted(axes_.arguments(i_)) =
      select(i_ < kDigits, starts(axes_.arguments(clamp(i_, 0, kDigits - 1))), 0);
  Expr from = step;
  if (before) {
    from = clamp((*before)(axes_.arguments(kDigits + step)), 0, constant(n - 1));
  }
  const Expr d = digit(from), place = sorted(axes_.arguments(d));
  const Expr slot = kDigits + clamp(place, 0, constant(n - 1));
  sorted(axes_.arguments(Halide::scatter(d, slot))) = Halide::gather(place + 1, from);
  sorted.vectorize(i_, b_.vector, Halide::TailStrategy::GuardWithIf);
  hold(counts), hold(starts), hold(sorted);
  return sorted;
}

}  // namespace heddle::halide
