#include <cstdio>
#include <filesystem>

#include "heddle/frontend/cli/model.h"
#include "heddle/frontend/cli/print.h"
#include "heddle/frontend/export.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {

int compile_command(const CompileCommand& options) {
  const Program model = read_model(options);
  const std::filesystem::path output(options.output);
  std::vector<NamedProgram> functions;
  for (const Function& f : model.functions()) {
    if (options.function.empty() || f.name == options.function)
      functions.push_back({f.name, Program({f})});
  }
  const std::vector<std::string> files =
      export_library(functions,
                     {.name = output.filename().string(),
                      .targets = options.targets,
                      .folder = output.has_parent_path() ? output.parent_path().string() : ".",
                      .jobs = options.jobs,
                      .progress = progress_bar(),
                      .observer = environment_observer()},
                     {});
  if (options.json) {
    std::printf("%s\n", nlohmann::ordered_json{{"files", files}}.dump(2).c_str());
  } else {
    for (const std::string& file : files) std::printf("%s\n", file.c_str());
  }
  return 0;
}

}  // namespace heddle::cli
