// The C header of an artifact, and the C source behind it: typed functions and tables.
#ifndef HEDDLE_BACKENDS_ARTIFACT_HEADER_H_
#define HEDDLE_BACKENDS_ARTIFACT_HEADER_H_

#include <string>

#include "heddle/runtime/tables.h"

namespace heddle {

/// <name>.h: C99 and C++.
std::string header_text(const ArtifactDescription& description);
/// The typed functions over the core; includes "<name>.h" and "abi.h".
std::string functions_source(const ArtifactDescription& description);
/// The tables as C, in the object `<name>_hd_tables`. Constants are `<name>_constant<i>`, made by
/// constants_source.
std::string tables_source(const hd_artifact& artifact);
/// Assembler text that takes the constants from files "constant<i>.bin".
std::string constants_source(const hd_artifact& artifact, bool mach_o);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_HEADER_H_
