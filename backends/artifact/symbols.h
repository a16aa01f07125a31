// Gives every global name of an artifact the artifact's prefix, so that two of them, or one and a
// program that uses Halide itself, share nothing when they are linked together.
#ifndef HEDDLE_BACKENDS_ARTIFACT_SYMBOLS_H_
#define HEDDLE_BACKENDS_ARTIFACT_SYMBOLS_H_

#include <span>
#include <string>
#include <vector>

namespace heddle {

/// Global symbols that an object or archive defines, sorted.
std::vector<std::string> defined_symbols(const std::string& file, const std::string& folder);

/// Renames every symbol that one of the objects defines, in all of them, to "<name>_<symbol>",
/// unless it begins with
/// "<name>_" already. Drops the compilers' comments.
void add_prefix(const std::string& name, std::span<const std::string> objects,
                const std::string& folder);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_SYMBOLS_H_
