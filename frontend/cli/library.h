// Libraries that were compiled before, as commands take them instead of a model.
#ifndef HEDDLE_FRONTEND_CLI_LIBRARY_H_
#define HEDDLE_FRONTEND_CLI_LIBRARY_H_

#include <string>

#include "heddle/backends/artifact/selftest.h"
#include "heddle/frontend/cli/commands.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {

/// By the end of its name: .a, .so or .dylib.
bool is_library(const std::string& path);

/// What name.json, which lies beside it, says; ParseError when it cannot be read.
struct LibraryDescription {
  WrittenLibrary library;
  nlohmann::ordered_json json;
};
LibraryDescription read_library(const std::string& path);

int verify_library(const VerifyCommand& options);
int inspect_library(const InspectCommand& options);

}  // namespace heddle::cli

#endif  // HEDDLE_FRONTEND_CLI_LIBRARY_H_
