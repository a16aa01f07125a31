// The same kernels on numbers that some machines are a hundred times slower with.
#include <cmath>
#include <limits>

#include "bench/works/works.h"
#include "heddle/frontend/heddle.h"

namespace heddle::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Kind {
  const char* name;
  double value;  ///< what every element of the first input is, times a number in [1, 2)
};

const Kind kKinds[] = {{"denormals", 1e-40}, {"infinities", kInfinity}, {"nan", std::nan("")}};

struct Kernel1 {
  const char* name;
  std::function<Program()> make;
};

Program product() {
  return trace([](const Tensor& x, const Tensor& y) { return matmul(x, y); },
               {f32({512, 512}), f32({512, 512})});
}
Program softmaxes() {
  return trace([](const Tensor& x) { return softmax(x); }, std::vector<Type>{f32({1024, 1024})});
}
Program normalised() {
  const Type row = f32({1024});
  return trace(
      [](const Tensor& x, const Tensor& g, const Tensor& b) { return layer_norm(x, g, b); },
      {f32({1024, 1024}), row, row});
}
Program chain() {
  return trace(
      [](const Tensor& x, const Tensor& y) {
        Tensor t = x;
        for (int i = 0; i < 4; ++i) t = maximum(t * y + x, y) - 0.5 * t;
        return t;
      },
      {f32({1024, 1024}), f32({1024, 1024})});
}
// Every exponential and sum of a row is denormal, or nearly.
Program exponentials() {
  return trace([](const Tensor& x) { return exp(x - 95) + logistic(x - 95); },
               std::vector<Type>{f32({1024, 1024})});
}

std::vector<Literal> inputs(const Program& program, const Kind& kind) {
  const Function& f = program.entry();
  std::vector<Literal> all;
  for (const Input& in : f.inputs) {
    const bool first = all.empty();
    all.push_back(
        between(f.type(in.value), first ? kind.value : -1, first ? 2 * kind.value : 1, in.name));
  }
  return all;
}

}  // namespace

std::vector<Work> special_works() {
  std::vector<Work> all;
  for (const Kernel1& k : {Kernel1{"gemm_512", product},
                           {"softmax", softmaxes},
                           {"layer_norm", normalised},
                           {"chain_12", chain},
                           {"exp_logistic", exponentials}}) {
    for (const Kind& kind : kKinds) {
      all.push_back({.name = std::string("special/") + k.name + "/" + kind.name,
                     .make = k.make,
                     .inputs = [=] { return inputs(k.make(), kind); },
                     .alone = true,
                     .beside = "usual_inputs"});
    }
  }
  return all;
}

}  // namespace heddle::bench
