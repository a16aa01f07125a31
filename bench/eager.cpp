// Concrete calls: what one costs beside its work, and a chain whose work is large.
#include "bench/compare.h"
#include "heddle/frontend/heddle.h"

namespace heddle::bench {
namespace {

std::vector<double> ramp(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(0.001 * static_cast<double>(i % 1000));
  return values;
}

Tensor chain(const Tensor& x, const Tensor& y) { return relu(tanh((x + y) * x) - y); }

const bool registered = [] {
  add("eager/call_16_floats/heddle", [x = tensor(ramp(16), {16}), y = tensor(ramp(16), {16})] {
    const GradientMode off(false);
    const Tensor z = x + y;
  });
  Tensor marked = tensor(ramp(16), {16});
  require_gradient(marked);
  add("eager/call_16_floats_recorded/heddle",
      [x = marked, y = tensor(ramp(16), {16})] { const Tensor z = x * y; });
  add("eager/backward_16_floats/heddle", [x = marked, y = tensor(ramp(16), {16})] {
    const Tensor z = x * y;
    backward(z, {.cotangent = y});
    clear_gradient(x);
  });
  constexpr std::int64_t kSide = 1024;
  add("eager/chain_1024x1024/threads:2/heddle", [x = tensor(ramp(kSide * kSide), {kSide, kSide}),
                                                 y = tensor(ramp(kSide * kSide), {kSide, kSide})] {
    const GradientMode off(false);
    const Tensor z = chain(x, y);
  });
  return true;
}();

}  // namespace
}  // namespace heddle::bench
