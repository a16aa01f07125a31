// What a call costs beside its work: sixteen floats.
#include "bench/compare.h"
#include "heddle/frontend/heddle.h"

namespace heddle::bench {
namespace {

const bool registered = [] {
  const Type sixteen = f32({16});
  auto ours = std::make_shared<Bound>(
      trace([](const Tensor& a, const Tensor& x, const Tensor& b) { return a * x + b; },
            {sixteen, sixteen, sixteen}),
      1);
  add("call/16_floats/heddle", [ours] { (*ours)(); });
  return true;
}();

}  // namespace
}  // namespace heddle::bench
