// acme.swish_beta at once, traced, differentiated twice, and compiled: every way gives the same.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "acme.h"
#include "swish_kernel.h"

namespace hd = heddle;

namespace {

constexpr double kBeta = 1.5;
const std::vector<double> kX{-3, -0.5, 0, 0.25, 2, 7};

double swish(double x) { return x / (1 + std::exp(-kBeta * x)); }

void expect(const char* what, const std::vector<double>& got, double (*want)(double),
            double tolerance) {
  double worst = 0;
  for (std::size_t i = 0; i < kX.size(); ++i) {
    worst = std::fmax(worst, std::fabs(got[i] - want(kX[i])));
  }
  std::printf("%-44s largest error %.1e\n", what, worst);
  if (!(worst <= tolerance)) std::exit(1);
}

// By differences of the definition, in double.
double slope(double x) { return (swish(x + 1e-5) - swish(x - 1e-5)) / 2e-5; }
double curvature(double x) { return (swish(x + 1e-4) - 2 * swish(x) + swish(x - 1e-4)) / 1e-8; }

}  // namespace

int main() {
  acme::use_kernel_in_c();
  hd::Tensor x = hd::tensor(kX, {6});
  expect("at once, by the kernel in C", hd::elements(acme::swish_beta(x, kBeta)), swish, 1e-6);
  if (acme_swish_beta_calls() != 1) return 1;
  expect("at once, on the reference carrier",
         hd::elements(acme::swish_beta(hd::on(x, "reference"), kBeta)), swish, 1e-6);

  hd::require_gradient(x);
  hd::backward(hd::sum(acme::swish_beta(x, kBeta)));
  expect("its gradient", hd::elements(*hd::gradient(x)), slope, 1e-5);

  auto total = [](const hd::Tensor& t) { return hd::sum(acme::swish_beta(t, kBeta)); };
  const hd::Program p = hd::trace(total, {hd::f32({6})}, {.name = "total", .inputs = {"x"}});
  std::printf("\n%s\n", hd::to_text(p).c_str());
  bool linked = false;
  const std::unique_ptr<hd::Executable> compiled = hd::compile(p);
  for (const hd::Kernel& kernel : compiled->plan().kernels) {
    linked |= hd::kernel_symbol(kernel) == "acme_swish_beta_compiled";
  }
  std::printf("the compiled program %s the kernel in C\n", linked ? "calls" : "does NOT call");
  if (!linked) return 1;
  const hd::Program second = hd::hvp(p, "x");
  const auto run = [&](const hd::Program& program, const std::vector<hd::Literal>& arguments) {
    return hd::to_doubles(hd::compile(program)->run(program.entry().name, arguments)[0]);
  };
  const hd::Literal at = hd::to_literal(x), ones = hd::splat(hd::f32({6}), 1);
  expect("traced, differentiated, compiled", run(hd::grad(p, "x"), {at}), slope, 1e-5);
  expect("traced, differentiated twice, compiled", run(second, {at, ones}), curvature, 1e-4);
  return 0;
}
