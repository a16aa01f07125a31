// The description of an artifact that tools read.
#ifndef HEDDLE_BACKENDS_ARTIFACT_JSON_H_
#define HEDDLE_BACKENDS_ARTIFACT_JSON_H_

#include <span>
#include <string>

#include "heddle/backends/artifact/describe.h"

namespace heddle {

/// Signatures, memory, and per plan and kernel: operations, work, recipe, scratch, uses.
std::string artifact_json(const hd_artifact& artifact, std::span<const CompiledPlan> plans);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_JSON_H_
