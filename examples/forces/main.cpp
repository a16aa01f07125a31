// Sixty-four Lennard-Jones particles: relaxes a shaken cube by gradient descent, with the
// library's energy and gradient, and checks the gradient and the Hessian product against finite
// differences.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lj.h"

namespace {

constexpr int kSide = 4, kParticles = kSide * kSide * kSide, kCoordinates = 3 * kParticles;
using Vector = std::vector<float>;

// The library fails only when it is used wrongly, so an error ends the program.
void expect_ok(lj_t* lj, int status) {
  if (status == 0) return;
  std::fprintf(stderr, "forces: %s\n", lj_error(lj));
  std::exit(1);
}

double energy_and_gradient(lj_t* lj, const Vector& r, Vector& gradient) {
  float energy = 0;
  expect_ok(lj, lj_energy_and_gradient(lj, r.data(), &energy, gradient.data()));
  return energy;
}

double energy(lj_t* lj, const Vector& r) {
  float e = 0;
  expect_ok(lj, lj_energy(lj, r.data(), &e));
  return e;
}

double dot(const Vector& a, const Vector& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += static_cast<double>(a[i]) * b[i];
  return total;
}

Vector along(const Vector& r, const Vector& d, double step) {
  Vector moved(r.size());
  for (std::size_t i = 0; i < r.size(); ++i) moved[i] = static_cast<float>(r[i] + step * d[i]);
  return moved;
}

Vector shaken_cube() {
  Vector r;
  unsigned state = 12345;
  auto shake = [&] {
    state = state * 1664525u + 1013904223u;
    return 0.05f * (static_cast<float>(state >> 8) / 8388608.0f - 1.0f);
  };
  for (int p = 0; p < kParticles; ++p) {
    const std::array<int, 3> cell = {p % kSide, p / kSide % kSide, p / (kSide * kSide)};
    for (int c : cell) r.push_back(1.12f * static_cast<float>(c) + shake());
  }
  return r;
}

// Central differences of f32 energies: good to about 1e-3.
void check_derivatives(lj_t* lj, const Vector& r) {
  Vector gradient(kCoordinates), v(kCoordinates), product(kCoordinates), plus(kCoordinates),
      minus(kCoordinates);
  energy_and_gradient(lj, r, gradient);
  for (int i = 0; i < kCoordinates; ++i)
    v[static_cast<std::size_t>(i)] = static_cast<float>(std::sin(i + 1.0));
  const double h = 1e-3;
  const double difference = (energy(lj, along(r, v, h)) - energy(lj, along(r, v, -h))) / (2 * h);
  std::printf("slope along v: gradient %.4f, finite difference %.4f\n", dot(gradient, v),
              difference);
  expect_ok(lj, lj_hessian_product(lj, r.data(), v.data(), product.data()));
  energy_and_gradient(lj, along(r, v, h), plus);
  energy_and_gradient(lj, along(r, v, -h), minus);
  const double curvature = (dot(plus, v) - dot(minus, v)) / (2 * h);
  std::printf("curvature along v: Hessian product %.3f, finite difference %.3f\n", dot(product, v),
              curvature);
}

void relax(lj_t* lj, Vector& r) {
  Vector gradient(kCoordinates);
  double e = energy_and_gradient(lj, r, gradient), step = 1e-3;
  for (int i = 0; i <= 200; ++i) {
    if (i % 40 == 0)
      std::printf("step %3d  energy %10.4f  |force| %9.4f\n", i, e,
                  std::sqrt(dot(gradient, gradient)));
    const Vector moved = along(r, gradient, -step);
    const double next = energy(lj, moved);
    step = next < e ? step * 1.2 : step * 0.5;
    if (next >= e) continue;
    r = moved;
    e = energy_and_gradient(lj, r, gradient);
  }
}

}  // namespace

int main() {
  lj_t* lj = lj_create(nullptr);
  if (lj == nullptr) {
    std::fprintf(stderr, "forces: %s\n", lj_error(nullptr));
    return 1;
  }
  Vector r = shaken_cube();
  check_derivatives(lj, r);
  relax(lj, r);
  lj_destroy(lj);
  return 0;
}
