#include <cstdio>

#include "heddle/frontend/cli/files.h"
#include "heddle/frontend/cli/model.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {

int convert_command(const ConvertCommand& options) {
  check_extension("convert", options.output, {".heddle", ".hdb"});
  const Program program = read_model(options);
  write_program(options.output, program);
  if (options.json) {
    nlohmann::ordered_json json{{"output", options.output}};
    for (const Function& f : program.functions()) json["functions"].push_back(f.name);
    std::printf("%s\n", json.dump(2).c_str());
  }
  return 0;
}

}  // namespace heddle::cli
