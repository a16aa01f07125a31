// What a person writes by hand for the small works: a yardstick beside the peers. Compiled with
// -O3 -march=native -ffast-math.
#include "bench/compare.h"

namespace heddle::bench {
namespace {

// Coordinates apart from each other, and the whole square of pairs, so that the inner loop has no
// branch and is vectorised.
template <class T>
class LennardJones {
 public:
  static constexpr int kCount = 256;

  LennardJones() {
    for (int i = 0; i < kCount; ++i) {
      x_[i] = T(i % 7), y_[i] = T(i / 7 % 7), z_[i] = T(i / 49) + T(0.1) * T(i % 3);
    }
  }

  T energy() {
    T total = 0;
    for (int i = 0; i < kCount; ++i) {
      T e = 0;
      for (int j = 0; j < kCount; ++j) {
        const T s6 = inverse_sixth(i, j).second;
        e += s6 * s6 - s6;
      }
      total += 2 * e;
    }
    return total;
  }

  T energy_and_forces() {
    T total = 0;
    for (int i = 0; i < kCount; ++i) {
      T e = 0, fx = 0, fy = 0, fz = 0;
      for (int j = 0; j < kCount; ++j) {
        const auto [inverse, s6] = inverse_sixth(i, j);
        e += s6 * s6 - s6;
        const T g = (48 * s6 * s6 - 24 * s6) * inverse;
        fx += g * (x_[i] - x_[j]), fy += g * (y_[i] - y_[j]), fz += g * (z_[i] - z_[j]);
      }
      total += 2 * e;
      force_[3 * i] = fx, force_[3 * i + 1] = fy, force_[3 * i + 2] = fz;
    }
    return total;
  }

 private:
  std::pair<T, T> inverse_sixth(int i, int j) const {
    const T dx = x_[i] - x_[j], dy = y_[i] - y_[j], dz = z_[i] - z_[j];
    const T inverse = j == i ? T(0) : 1 / (dx * dx + dy * dy + dz * dz);
    return {inverse, inverse * inverse * inverse};
  }

  T x_[kCount], y_[kCount], z_[kCount], force_[3 * kCount];
};

template <class T>
void add_lennard_jones(const std::string& name) {
  auto system = std::make_shared<LennardJones<T>>();
  add(name + "/threads:1/hand_written", [system] { benchmark::DoNotOptimize(system->energy()); });
  add(name + "_forces/threads:1/hand_written",
      [system] { benchmark::DoNotOptimize(system->energy_and_forces()); });
}

const bool registered = [] {
  add_lennard_jones<float>("sim/lennard_jones_f32");
  add_lennard_jones<double>("sim/lennard_jones_f64");
  return true;
}();

}  // namespace
}  // namespace heddle::bench
