// The elementary functions of SLEEF and of glibc's libmvec, at the vector width of this machine.
#ifndef HEDDLE_BENCH_MATH_PEERS_H_
#define HEDDLE_BENCH_MATH_PEERS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::bench {

struct MathPeer {
  std::string function, who;
  /// out = f(x), or f(x, y), of `count` elements, a multiple of 16.
  void (*run)(const float* x, const float* y, float* out, std::size_t count);
};
/// None on a machine without AVX2.
std::vector<MathPeer> math_peers();

}  // namespace heddle::bench

#endif  // HEDDLE_BENCH_MATH_PEERS_H_
