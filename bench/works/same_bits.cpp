#include "bench/works/same_bits.h"

#include "bench/works/bound.h"

namespace heddle::bench {

bool has_same_bits(const Work& work) {
  const Program program = work.make();
  const std::vector<Literal> inputs = inputs_of(work, program);
  const auto result = [&](int threads) {
    Bound bound(program, threads, inputs);
    bound();
    bound();  // a training step goes on from what it left
    return bound.memory();
  };
  const std::vector<std::byte> one = result(1);
  return result(2) == one && result(4) == one;
}

}  // namespace heddle::bench
