// What the machine can do at most: fused multiplications and additions, and reading memory. Other
// rates are fractions of these. Compiled with -O3 -march=native -ffp-contract=fast.
#include <thread>
#include <vector>

#include "bench/compare.h"

namespace heddle::bench {
namespace {

#ifdef __AVX512F__
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif
typedef float Lanes __attribute__((vector_size(4 * kLanes)));

// As many sums as hide the latency, none waiting for another.
constexpr int kSums = 10, kSteps = 200000;

void multiply_and_add() {
  Lanes sums[kSums] = {}, a, b;
  for (int i = 0; i < kLanes; ++i) a[i] = 1.0001f, b[i] = 1e-7f;
  benchmark::DoNotOptimize(a);
  benchmark::DoNotOptimize(b);
  for (int s = 0; s < kSteps; ++s) {
    for (Lanes& sum : sums) sum = sum * a + b;
  }
  for (Lanes& sum : sums) benchmark::DoNotOptimize(sum);
}

void read_all(const float* data, std::size_t count) {
  Lanes sums[4] = {};
  for (std::size_t i = 0; i < count; i += 4 * kLanes) {
    for (std::size_t s = 0; s < 4; ++s) {
      Lanes x;
      __builtin_memcpy(&x, data + i + s * kLanes, sizeof x);
      sums[s] += x;
    }
  }
  for (Lanes& sum : sums) benchmark::DoNotOptimize(sum);
}

template <class F>
void side_by_side(int threads, F&& work) {
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back([&work, t] { work(t); });
  work(0);
  for (std::thread& t : others) t.join();
}

const bool registered = [] {
  for (int threads : {1, 2}) {
    const std::string suffix = "/threads:" + std::to_string(threads) + "/machine";
    add(
        "machine/fused_multiplications" + suffix,
        [=] { side_by_side(threads, [](int) { multiply_and_add(); }); },
        2.0 * kLanes * kSums * kSteps * threads);
    constexpr std::size_t kShare = std::size_t{1} << 25;  // 128 MB a thread: beyond any cache
    add(
        "machine/memory" + suffix,
        [=, data = std::make_shared<std::vector<float>>()] {
          data->resize(kShare * static_cast<std::size_t>(threads), 1.0f);
          side_by_side(threads, [&](int t) {
            read_all(data->data() + static_cast<std::size_t>(t) * kShare, kShare);
          });
        },
        0, 4.0 * static_cast<double>(kShare) * threads);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::bench
