// The library `swish`: value, gradient and Hessian-vector product of a sum of acme.swish_beta. The
// kernel in C is in it.
#include "acme.h"

namespace hd = heddle;

int main(int argc, char** argv) {
  acme::use_kernel_in_c();
  return hd::library_main(argc, argv, "swish", [](hd::Library& library) {
    auto total = [](const hd::Tensor& x) { return hd::sum(acme::swish_beta(x, 1.5)); };
    const hd::Program p =
        hd::trace(total, {hd::f32({6})}, {.name = "total", .inputs = {"x"}, .outputs = {"y"}});
    library.add("total", p);
    library.add("slope", hd::grad(p, "x"));
    library.add("curvature", hd::hvp(p, "x"));
  });
}
