#include <cstdio>

#include "heddle/frontend/cli/files.h"
#include "heddle/frontend/cli/model.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/text.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {

int grad_command(const GradCommand& options) {
  if (!options.output.empty()) check_extension("grad", options.output, {".heddle", ".hdb"});
  const Program model = read_model(options);
  Program derived =
      options.value ? value_and_grad(model, options.wrt, {}) : grad(model, options.wrt, {});
  derived = dead_node_elimination(common_subexpression_elimination(canonicalize(derived)));
  const std::string text = to_text(derived);
  if (!options.output.empty()) {
    write_program(options.output, derived);
  } else if (!options.json) {
    std::printf("%s", text.c_str());
  }
  if (options.json) {
    nlohmann::ordered_json json{{"function", derived.entry().name}};
    for (const Output& o : derived.entry().outputs) {
      json["outputs"][o.name] = to_text(derived.entry().type(o.value));
    }
    if (options.output.empty()) json["program"] = text;
    std::printf("%s\n", json.dump(2).c_str());
  }
  return 0;
}

}  // namespace heddle::cli
