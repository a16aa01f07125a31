// The order of numbers along a fibre (runtime/core/argsort.h) beside std::stable_sort.
#include "heddle/runtime/core/argsort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace {

// Keys of few values have equal ones; of many, all digits.
template <class Key>
std::vector<Key> random_keys(std::mt19937_64& random, std::size_t n, bool few) {
  std::vector<Key> keys(n);
  for (Key& k : keys) k = static_cast<Key>(few ? random() % 5 : random());
  return keys;
}

template <class Key>
void expect_stable_order(const std::vector<Key>& keys, std::size_t count) {
  const std::size_t n = keys.size();
  std::vector<std::int32_t> order(n), spare(n), expected(n);
  hdkernel::sort_fibre(keys.data(), static_cast<std::int64_t>(n), static_cast<std::int64_t>(count),
                       order.data(), spare.data());
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(), [&](std::int32_t a, std::int32_t b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  order.resize(count), expected.resize(count);
  EXPECT_EQ(order, expected) << n << " keys of " << sizeof(Key) << " bytes, " << count << " places";
}

template <class Key>
void check(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (std::size_t n : {1, 2, 7, 31, 32, 33, 100, 257, 1000}) {
    for (bool few : {false, true}) {
      const auto keys = random_keys<Key>(random, n, few);
      for (std::size_t count : {std::size_t{1}, std::size_t{5}, n / 2, n - 1, n}) {
        if (count > 0 && count <= n) expect_stable_order(keys, count);
      }
    }
  }
}

TEST(Argsort, IsTheStableOrderOfKeysOfEverySize) {
  check<std::uint8_t>(1);
  check<std::uint16_t>(2);
  check<std::uint32_t>(3);
  check<std::uint64_t>(4);
}

TEST(Argsort, SkipsDigitsThatAllKeysShare) {
  expect_stable_order(std::vector<std::uint32_t>(500, 7), 500);
  std::vector<std::uint32_t> keys(300);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(i % 3) << 16;
  expect_stable_order(keys, 300);
  expect_stable_order(keys, 150);
}

}  // namespace
