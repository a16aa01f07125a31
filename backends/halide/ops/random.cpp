// Philox 4x32-10, as the reference has it (graph/ops/random.cpp).
#include "heddle/backends/halide/elements.h"
#include "heddle/backends/halide/exact.h"

namespace heddle::halide {
namespace {

Expr word(std::uint32_t v) { return Expr(v); }

struct Product {
  Expr high, low;
};
Product product_of(std::uint32_t constant, const Expr& x, bool wide_numbers) {
  if (!wide_numbers) return {mul_high(word(constant), x), word(constant) * x};
  const Expr wide = Halide::cast<std::uint64_t>(x) * Halide::cast<std::uint64_t>(word(constant));
  return {Halide::cast<std::uint32_t>(wide >> 32), Halide::cast<std::uint32_t>(wide)};
}

using Block = std::vector<Expr>;

Block philox(Block c, Expr k0, Expr k1, bool wide) {
  for (int round = 0; round < 10; ++round) {
    const Product p0 = product_of(0xD2511F53u, c[0], wide),
                  p1 = product_of(0xCD9E8D57u, c[2], wide);
    c = {p1.high ^ c[1] ^ k0, p1.low, p0.high ^ c[3] ^ k1, p0.low};
    k0 = k0 + word(0x9E3779B9u), k1 = k1 + word(0xBB67AE85u);
  }
  return c;
}

}  // namespace

Expr lower_rng_bits(const Element& e) {
  const Expr position = flatten(e.index, e.extents());
  Block counter;
  Expr carry = Halide::cast<std::uint32_t>(position / 4);  // below 2^32: only it can carry
  for (int w = 0; w < 4; ++w) {
    const Expr old = e.operand(1, {constant(w)}), sum = old + carry;
    counter.push_back(sum);
    carry = select(sum < old, word(1), word(0));
  }
  const Block words =
      philox(counter, e.operand(0, {constant(0)}), e.operand(0, {constant(1)}), e.values.wide());
  const Expr which = position % 4;
  return select(which < 2, select(which == 0, words[0], words[1]),
                select(which == 2, words[2], words[3]));
}

}  // namespace heddle::halide
