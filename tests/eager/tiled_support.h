// What the tests of the tiled carrier share: carriers of tiny budgets, so that tensors of some
// hundred kilobytes take many tiles, and random elements.
#ifndef HEDDLE_TESTS_EAGER_TILED_SUPPORT_H_
#define HEDDLE_TESTS_EAGER_TILED_SUPPORT_H_

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "heddle/backends/tiled/carrier.h"
#include "heddle/frontend/heddle.h"

namespace heddle::testing {

/// 64 KiB: tiles of all operands of a step take 32 KiB, tensors above 4 KiB are files.
inline const Carrier& tiny_tiles() {
  static const Carrier& carrier = define_tiled_carrier("tiny_tiles", {.budget_bytes = 1 << 16});
  return carrier;
}

/// Whole numbers in integers, quarters in floats.
inline Tensor random_tensor(const Type& type, unsigned seed, std::string_view carrier,
                            double most = 8) {
  std::mt19937 bits(seed);
  std::uniform_int_distribution<int> quarters(static_cast<int>(-4 * most),
                                              static_cast<int>(4 * most));
  std::vector<double> all;
  for (std::int64_t i = 0; i < element_count(type); ++i) {
    const double x = quarters(bits) / 4.0;
    all.push_back(is_floating(type.dtype) ? x
                  : is_signed(type.dtype) ? std::trunc(x)
                                          : std::abs(std::trunc(x)));
  }
  return tensor(all, constant_extents(type.dims), {.dtype = type.dtype, .carrier = carrier});
}

using Calls = std::function<Tensor(const std::vector<Tensor>&)>;

/// Elements within atol + rtol |reference|; 0, 0: equal, NaN with NaN.
inline void expect_close(const Tensor& got, const Tensor& want, double rtol, double atol,
                         const std::string& what) {
  ASSERT_EQ(to_text(got.type()), to_text(want.type())) << what;
  const std::vector<double> g = elements(got), w = elements(want);
  int shown = 0;
  for (std::size_t i = 0; i < w.size() && shown < 4; ++i) {
    const bool both_nan = std::isnan(w[i]) && std::isnan(g[i]);
    if (both_nan || g[i] == w[i] || std::abs(g[i] - w[i]) <= atol + rtol * std::abs(w[i])) continue;
    ADD_FAILURE() << what << ": element " << i << " is " << g[i] << ", not " << w[i];
    ++shown;
  }
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_EAGER_TILED_SUPPORT_H_
