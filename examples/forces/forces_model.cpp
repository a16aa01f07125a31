// Lennard-Jones particles: energy, forces and the Hessian-vector product of one traced energy
// function.
#include <heddle/heddle.h>

namespace hd = heddle;

namespace {

constexpr int kParticles = 64;

// Reduced units (epsilon = sigma = 1): E = sum over pairs of 4 (r^-12 - r^-6). Lennard-Jones, Proc.
// Phys. Soc. 43, 461 (1931). r: f32[N,3] -> f32[].
hd::Tensor energy(const hd::Tensor& r) {
  const std::int64_t n = kParticles;
  const hd::Tensor difference = hd::reshape(r, {n, 1, 3}) - hd::reshape(r, {1, n, 3});
  const hd::Tensor squared = hd::sum(difference * difference, {2});
  const hd::Tensor apart =
      hd::not_equal(hd::iota(hd::i32({n, n}), 0), hd::iota(hd::i32({n, n}), 1));
  // A particle has no distance to itself: 1 keeps the division finite there, and `where` drops it.
  const hd::Tensor inverse = 1.0 / hd::where(apart, squared, 1.0);
  const hd::Tensor sixth = inverse * inverse * inverse;
  return 0.5 * hd::sum(hd::where(apart, 4.0 * (sixth * sixth - sixth), 0.0));
}

void define(hd::Library& library) {
  const hd::Program program = hd::trace(energy, {hd::f32({kParticles, 3})},
                                        {.name = "energy", .inputs = {"r"}, .outputs = {"energy"}});
  library.add("energy", program);
  library.add("energy_and_gradient", hd::value_and_grad(program, "r"));
  library.add("hessian_product", hd::hvp(program, "r"));
}

}  // namespace

int main(int argc, char** argv) { return hd::library_main(argc, argv, "lj", define); }
