// The system's compiler, linker and object tools, run as programs.
#ifndef HEDDLE_BACKENDS_ARTIFACT_TOOLCHAIN_H_
#define HEDDLE_BACKENDS_ARTIFACT_TOOLCHAIN_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/backends/file.h"

namespace heddle {

/// Programs by role, each with the environment variable that replaces it: HEDDLE_CC (cc),
/// HEDDLE_CXX (c++), HEDDLE_LD (ld), HEDDLE_AR (ar), HEDDLE_ZIG (zig).
std::string tool(std::string_view name);

/// Runs a program in `folder` and returns what it printed. CompileError with its error text when it
/// is missing or fails. File names in `arguments` are relative to `folder`, so that results do not
/// depend on where it is.
std::string run_tool(const std::vector<std::string>& arguments, const std::string& folder);

/// A file of `folder`; RuntimeError when it cannot be read.
std::vector<std::byte> take_file(const std::string& folder, const std::string& name);
/// RuntimeError when it cannot be written in full.
void put_file(const std::string& folder, const std::string& name, std::span<const std::byte> bytes);
void put_file(const std::string& folder, const std::string& name, std::string_view text);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_TOOLCHAIN_H_
