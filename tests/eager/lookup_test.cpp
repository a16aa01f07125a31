// Finding a resolved call again allocates nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>

#include "heddle/frontend/heddle.h"
#include "heddle/graph/resolution_cache.h"

namespace {
thread_local std::size_t allocations = 0;
}  // namespace

// Not inlined: g++ 12 would see malloc paired with delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace heddle {
namespace {

TEST(Lookup, AllocatesNothing) {
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2});
  softmax(x * 2.0, 1);
  const Operand operands[] = {x, 2.0};
  const void* carrier = x.storage()->carrier();
  const std::size_t before = allocations;
  const auto product = resolution_cache().find(op_mul, operands, {}, carrier);
  EXPECT_EQ(allocations, before);
  ASSERT_NE(product, nullptr);
  const Attributes options({{"axis", std::int64_t{1}}});
  const std::size_t then = allocations;
  const auto rows = resolution_cache().find(op_softmax, {operands, 1}, options, carrier);
  EXPECT_EQ(allocations, then);
  EXPECT_NE(rows, nullptr);
  const std::string made(100, 'x');
  EXPECT_GT(allocations, then) << "the counter counts";
}

}  // namespace
}  // namespace heddle
