// Elementary functions on arrays in the first and second cache.
#include "bench/works/works.h"
#include "heddle/frontend/heddle.h"

namespace heddle::bench {
namespace {

using Of = Tensor (*)(const Tensor& x);

struct Unary {
  const char* name;
  Of call;
  double low, high;
};

const Unary kUnary[] = {{"exp", [](const Tensor& x) { return exp(x); }, -20, 20},
                        {"expm1", [](const Tensor& x) { return expm1(x); }, -5, 5},
                        {"log", [](const Tensor& x) { return log(x); }, 0.001, 100},
                        {"log1p", [](const Tensor& x) { return log1p(x); }, -0.9, 10},
                        {"erf", [](const Tensor& x) { return erf(x); }, -4, 4},
                        {"tanh", [](const Tensor& x) { return tanh(x); }, -5, 5},
                        {"logistic", [](const Tensor& x) { return logistic(x); }, -20, 20},
                        {"sin", [](const Tensor& x) { return sin(x); }, -10, 10},
                        {"cos", [](const Tensor& x) { return cos(x); }, -10, 10}};

}  // namespace

std::vector<Work> math_works() {
  std::vector<Work> all;
  for (std::int64_t count : {4096, 32768}) {
    const Type type = f32({count});
    const std::string size = "/" + std::to_string(count);
    for (const Unary& f : kUnary) {
      all.push_back({.name = std::string("math/") + f.name + size,
                     .make = [=] { return trace(f.call, std::vector<Type>{type}); },
                     .inputs = [=] { return std::vector{between(type, f.low, f.high, "x")}; },
                     .alone = true});
    }
    all.push_back({.name = "math/pow" + size,
                   .make =
                       [=] {
                         return trace([](const Tensor& x, const Tensor& y) { return pow(x, y); },
                                      {type, type});
                       },
                   .inputs =
                       [=] {
                         return std::vector{between(type, 0.1, 10, "x"), between(type, -5, 5, "y")};
                       },
                   .alone = true});
  }
  return all;
}

}  // namespace heddle::bench
