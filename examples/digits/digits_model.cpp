// The model: 64 pixels -> 128 -> 64 -> 10 digits. Traced, differentiated and compiled when the
// example is built; what comes out is digits.a (or .so) and digits.h, which main.c links.
#include <heddle/heddle.h>

namespace hd = heddle;

namespace {

constexpr int kPixels = 64, kDigits = 10, kBatch = 32, kHeldOut = 360;

hd::Tensor logits(const hd::Params& params, const hd::Tensor& x) {
  const hd::Tensor h1 = hd::relu(hd::nn::linear(params, "layer1", x));
  const hd::Tensor h2 = hd::relu(hd::nn::linear(params, "layer2", h1));
  return hd::nn::linear(params, "layer3", h2);
}

hd::Tensor loss(const hd::Params& params, const hd::Tensor& x, const hd::Tensor& y) {
  return hd::cross_entropy(logits(params, x), y);
}

std::vector<hd::Tensor> predict(const hd::Params& params, const hd::Tensor& x) {
  return {hd::argmax(logits(params, x))};
}

void define(hd::Library& library) {
  hd::Params params;
  hd::nn::init_linear(params, "layer1", kPixels, 128, 1);
  hd::nn::init_linear(params, "layer2", 128, 64, 1);
  hd::nn::init_linear(params, "layer3", 64, kDigits, 1);

  const hd::Type x = hd::f32({kBatch, kPixels}), y = hd::i32({kBatch});
  library.add("train_step",
              hd::train_step(loss, params, hd::optim::adam(2e-3), {x, y}, {.inputs = {"x", "y"}}));
  library.add("predict", hd::trace(predict, params, {hd::f32({kHeldOut, kPixels})},
                                   {.name = "predict", .inputs = {"x"}, .outputs = {"digit"}}));
}

}  // namespace

int main(int argc, char** argv) { return hd::library_main(argc, argv, "digits", define); }
