#include "bench/works/shipped.h"

#include "bench/works/models.h"
#include "bench/works/works.h"

namespace heddle::bench {
namespace {

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
  write("mlp", trace_frozen(mlp, mlp_types(), 0.05));
  write("sixteen", named("call/16_floats"));
  write("mlp_step", named("train/mlp_784_512_256_10"));
  write("transformer_step", named("train/transformer"));
}

}  // namespace heddle::bench
