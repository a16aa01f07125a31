// Compiled with -O3 -march=native.
#include "bench/math_peers.h"

#ifdef __AVX2__
#include <immintrin.h>
#include <sleef.h>

namespace heddle::bench {
namespace {

#ifdef __AVX512F__
using Lanes = __m512;
constexpr std::size_t kLanes = 16;
Lanes load(const float* p) { return _mm512_loadu_ps(p); }
void store(float* p, Lanes x) { _mm512_storeu_ps(p, x); }
Lanes all(float x) { return _mm512_set1_ps(x); }
#define SLEEF(name, bound) Sleef_##name##f16_##bound##avx512f
#define MVEC(name) _ZGVeN16v_##name##f
#define MVEC2(name) _ZGVeN16vv_##name##f
#else
using Lanes = __m256;
constexpr std::size_t kLanes = 8;
Lanes load(const float* p) { return _mm256_loadu_ps(p); }
void store(float* p, Lanes x) { _mm256_storeu_ps(p, x); }
Lanes all(float x) { return _mm256_set1_ps(x); }
#define SLEEF(name, bound) Sleef_##name##f8_##bound##avx2
#define MVEC(name) _ZGVdN8v_##name##f
#define MVEC2(name) _ZGVdN8vv_##name##f
#endif

extern "C" {
Lanes MVEC(exp)(Lanes);
Lanes MVEC(expm1)(Lanes);
Lanes MVEC(log)(Lanes);
Lanes MVEC(log1p)(Lanes);
Lanes MVEC(erf)(Lanes);
Lanes MVEC(tanh)(Lanes);
Lanes MVEC(sin)(Lanes);
Lanes MVEC(cos)(Lanes);
Lanes MVEC2(pow)(Lanes, Lanes);
}

template <auto f>
void of_one(const float* x, const float*, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes) store(out + i, f(load(x + i)));
}
template <auto f>
void of_two(const float* x, const float* y, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes) store(out + i, f(load(x + i), load(y + i)));
}
// 1 / (1 + exp(-x)), by their exp.
template <auto exp>
void logistic(const float* x, const float*, float* out, std::size_t count) {
  const Lanes one = all(1.f);
  for (std::size_t i = 0; i < count; i += kLanes) {
    store(out + i, one / (one + exp(-load(x + i))));
  }
}

}  // namespace

std::vector<MathPeer> math_peers() {
  return {{"exp", "sleef_u10", of_one<SLEEF(exp, u10)>},
          {"exp", "libmvec", of_one<MVEC(exp)>},
          {"expm1", "sleef_u10", of_one<SLEEF(expm1, u10)>},
          {"expm1", "libmvec", of_one<MVEC(expm1)>},
          {"log", "sleef_u10", of_one<SLEEF(log, u10)>},
          {"log", "sleef_u35", of_one<SLEEF(log, u35)>},
          {"log", "libmvec", of_one<MVEC(log)>},
          {"log1p", "sleef_u10", of_one<SLEEF(log1p, u10)>},
          {"log1p", "libmvec", of_one<MVEC(log1p)>},
          {"erf", "sleef_u10", of_one<SLEEF(erf, u10)>},
          {"erf", "libmvec", of_one<MVEC(erf)>},
          {"tanh", "sleef_u10", of_one<SLEEF(tanh, u10)>},
          {"tanh", "sleef_u35", of_one<SLEEF(tanh, u35)>},
          {"tanh", "libmvec", of_one<MVEC(tanh)>},
          {"logistic", "sleef_u10", logistic<SLEEF(exp, u10)>},
          {"logistic", "libmvec", logistic<MVEC(exp)>},
          {"pow", "sleef_u10", of_two<SLEEF(pow, u10)>},
          {"pow", "libmvec", of_two<MVEC2(pow)>},
          {"sin", "sleef_u10", of_one<SLEEF(sin, u10)>},
          {"sin", "sleef_u35", of_one<SLEEF(sin, u35)>},
          {"sin", "libmvec", of_one<MVEC(sin)>},
          {"cos", "sleef_u10", of_one<SLEEF(cos, u10)>},
          {"cos", "sleef_u35", of_one<SLEEF(cos, u35)>},
          {"cos", "libmvec", of_one<MVEC(cos)>}};
}

}  // namespace heddle::bench
#else
namespace heddle::bench {
std::vector<MathPeer> math_peers() { return {}; }
}  // namespace heddle::bench
#endif
