// The runtime's core, compiled for a target.
#ifndef HEDDLE_BACKENDS_ARTIFACT_CORE_OBJECT_H_
#define HEDDLE_BACKENDS_ARTIFACT_CORE_OBJECT_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace heddle {

/// Returns what is kept under `key`, or what `make` makes, kept from then on. The compiler's disk
/// cache has this form.
using Cached = std::function<std::vector<std::byte>(
    const std::string& key, const std::function<std::vector<std::byte>()>& make)>;

/// Flags for the compilers that make objects for `triple` ("x86-64-linux", "arm-64-osx"): none for
/// this machine. NotImplementedError for another one.
std::vector<std::string> target_flags(const std::string& triple);

/// Core and glue in one object each, compiled by the host's C++ compiler at first use per compiler
/// and target.
std::vector<std::byte> core_object(const std::string& triple, const Cached& cached);
std::vector<std::byte> glue_object_for(const std::string& triple, const Cached& cached);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_CORE_OBJECT_H_
