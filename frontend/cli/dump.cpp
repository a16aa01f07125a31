#include <algorithm>
#include <cstdio>

#include "absl/strings/str_join.h"
#include "heddle/backends/lower.h"
#include "heddle/frontend/cli/model.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {

int dump_command(const DumpCommand& options) {
  const std::vector<std::string> stages = stage_names();
  if (options.stage != "all" &&
      std::find(stages.begin(), stages.end(), options.stage) == stages.end()) {
    throw ValueError({.message = "dump: unknown stage",
                      .found = "'" + options.stage + "'",
                      .needed = absl::StrJoin(stages, ", ") + " or all"});
  }
  nlohmann::ordered_json json;
  lower(read_model(options), parse_target(options.target),
        [&](std::string_view stage, double, const std::function<std::string()>& text) {
          if (options.stage != "all" && options.stage != stage) return;
          if (options.json) {
            json[std::string(stage)] = text();
          } else {
            std::printf("%s%s",
                        options.stage == "all" ? ("==== " + std::string(stage) + "\n").c_str() : "",
                        text().c_str());
          }
        });
  if (options.json) std::printf("%s\n", json.dump(2).c_str());
  return 0;
}

}  // namespace heddle::cli
