// Exported libraries of programs that are written in C++: what a C program makes of their dtypes.
#include "artifact/programs.h"
#include "heddle/frontend/heddle.h"

namespace heddle {
namespace {

TEST(Export, f64_f16_bf16_and_i8_arguments_from_c) {
  const TemporaryFolder folder;
  const Program f = trace(
      [](const Tensor& x, const Tensor& h, const Tensor& n) {
        return std::vector<Tensor>{x * x + convert(h, DType::f64), h * h, n * n,
                                   convert(h, DType::bf16)};
      },
      {f64({4}), Type{DType::f16, {4}}, Type{DType::i8, {4}}},
      {.name = "f", .inputs = {"x", "h", "n"}, .outputs = {"y", "g", "m", "b"}});
  export_library({{"f", f}}, {.name = "mixed", .folder = folder.path()});
  const std::string printed = testing::run_c(folder, R"(
#include <stdio.h>
#include "mixed.h"
int main(void) {
  mixed_t *mixed = mixed_create(NULL);
  const double x[4] = {1, 2, 3, 1e100};
  const uint16_t h[4] = {0x3c00, 0x3800, 0xc000, 0x7bff};
  const int8_t n[4] = {2, -3, 100, -128};
  double y[4];
  uint16_t g[4], b[4];
  int8_t m[4];
  if (mixed_f(mixed, x, h, n, y, g, m, b)) { printf("%s\n", mixed_error(mixed)); return 1; }
  for (int i = 0; i < 4; ++i) printf("%g %04x %d %04x\n", y[i], g[i], m[i], b[i]);
  printf("%d\n", mixed_selftest(mixed, "mixed.check"));
  mixed_destroy(mixed);
  return 0;
}
)",
                                             {"mixed.a"});
  EXPECT_EQ(printed,
            "2 3c00 4 3f80\n"
            "4.5 3400 9 3f00\n"
            "7 4400 16 c000\n"
            "1e+200 7c00 0 4780\n"
            "0\n");
}

// Checked arithmetic: a status of its own, and no argument of its own.
TEST(Export, overflow_is_a_status_in_c) {
  const TemporaryFolder folder;
  const Program f =
      trace([](const Tensor& x, const Tensor& y) { return checked::add(checked::mul(x, y), y); },
            {i32({2}), i32({2})}, {.name = "f", .inputs = {"x", "y"}, .outputs = {"z"}});
  export_library({{"f", f}}, {.name = "exact", .folder = folder.path()});
  const std::string printed = testing::run_c(folder, R"(
#include <stdio.h>
#include "exact.h"
int main(void) {
  exact_t *exact = exact_create(NULL);
  const int32_t x[2] = {3, -4}, y[2] = {5, 6}, large[2] = {65536, 1 << 30};
  int32_t z[2];
  printf("%d", exact_f(exact, x, y, z));
  printf(" %d %d\n", z[0], z[1]);
  printf("%d\n", exact_f(exact, large, large, z) == EXACT_FAULT);
  printf("%d", exact_f(exact, x, y, z));
  printf(" %d %d\n", z[0], z[1]);
  printf("%d\n", exact_selftest(exact, "exact.check"));
  exact_destroy(exact);
  return 0;
}
)",
                                             {"exact.a"});
  EXPECT_EQ(printed, "0 20 -18\n1\n0 20 -18\n0\n");
}

}  // namespace
}  // namespace heddle
