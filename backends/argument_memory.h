// Memory for the arguments of one function of an artifact: for runs that are timed.
#ifndef HEDDLE_BACKENDS_ARGUMENT_MEMORY_H_
#define HEDDLE_BACKENDS_ARGUMENT_MEMORY_H_

#include <span>
#include <vector>

#include "heddle/graph/literal.h"
#include "heddle/runtime/core/abi.h"

namespace heddle {

/// Each argument aligned to 64 bytes, the inputs (one literal each, in order) where they lie in it.
class ArgumentMemory {
 public:
  ArgumentMemory() = default;
  ArgumentMemory(const hd_signature& signature, std::span<const Literal> inputs);
  /// As hd_run takes them.
  std::span<void* const> pointers() const { return pointers_; }

 private:
  std::vector<std::vector<std::byte>> storage_;
  std::vector<void*> pointers_;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARGUMENT_MEMORY_H_
