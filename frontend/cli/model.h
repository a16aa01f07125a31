// Reading a model and choosing its function, for every command.
#ifndef HEDDLE_FRONTEND_CLI_MODEL_H_
#define HEDDLE_FRONTEND_CLI_MODEL_H_

#include "heddle/backends/compile.h"
#include "heddle/frontend/cli/commands.h"
#include "heddle/graph/program.h"

namespace heddle::cli {

/// The model with the chosen function first. ValueError when there is no such function.
Program read_model(const Common& options);
CompileOptions compile_options(const Running& options);

}  // namespace heddle::cli

#endif  // HEDDLE_FRONTEND_CLI_MODEL_H_
