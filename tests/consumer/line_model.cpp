#include <heddle/heddle.h>

namespace hd = heddle;

int main(int argc, char** argv) {
  return hd::library_main(argc, argv, "line", [](hd::Library& library) {
    auto fit = [](const hd::Tensor& x, const hd::Tensor& y, const hd::Tensor& w) {
      const hd::Tensor miss = w * x - y;
      return hd::mean(miss * miss);
    };
    const hd::Type five = hd::f32({5});
    const hd::Program loss =
        hd::trace(fit, {five, five, hd::f32({})},
                  {.name = "loss", .inputs = {"x", "y", "w"}, .outputs = {"loss"}});
    library.add("loss", loss);
    library.add("slope", hd::grad(loss, "w"));
  });
}
