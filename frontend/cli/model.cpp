#include "heddle/frontend/cli/model.h"

#include <algorithm>

#include "heddle/frontend/cli/print.h"
#include "heddle/graph/binary.h"

namespace heddle::cli {

Program read_model(const Common& options) {
  const Program program = read_program(options.file, {});
  if (options.function.empty()) return program;
  const Function& chosen = program.at(options.function);
  // Callees stay before their callers only if the chosen one moves alone: it is copied to the front
  // by name.
  std::vector<Function> functions{chosen};
  for (const Function& f : program.functions()) {
    if (f.name != chosen.name) functions.push_back(f);
  }
  return Program(std::move(functions));
}

CompileOptions compile_options(const Running& options) {
  CompileOptions compile;
  compile.target = parse_target(options.target);
  compile.threads = options.threads;
  compile.jobs = options.jobs;
  compile.progress = progress_bar();
  compile.observer = environment_observer();
  return compile;
}

}  // namespace heddle::cli
