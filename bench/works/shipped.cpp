#include "bench/works/shipped.h"

#include "bench/works/models.h"
#include "bench/works/works.h"

namespace heddle::bench {
namespace {

Program mlp_with_weights() {
  const std::vector<Type> types = mlp_types();
  return trace(
      [&](const Tensor& x) {
        std::vector<Tensor> all{x};
        for (std::size_t i = 1; i < types.size(); ++i) {
          all.push_back(constant(uniform(types[i], 0.05, 1, "w" + std::to_string(i))));
        }
        return mlp(all);
      },
      std::vector<Type>{types[0]}, {.inputs = {"x"}, .outputs = {"logits"}});
}

Program named(const std::string& name) {
  for (const Work& work : works()) {
    if (work.name == name) return work.make();
  }
  throw ValueError({.message = "no work " + name});
}

}  // namespace

void export_works(const std::string& folder) {
  const auto write = [&](const std::string& name, const Program& program) {
    export_library({{"run", program}}, {.name = name, .folder = folder});
  };
  write("mlp", mlp_with_weights());
  write("sixteen", named("call/16_floats"));
  write("mlp_step", named("train/mlp_784_512_256_10"));
  write("transformer_step", named("train/transformer"));
}

}  // namespace heddle::bench
