// Compiled shaders, kept for the process: one module per text.
#ifndef HEDDLE_RUNTIME_DEVICE_MODULES_H_
#define HEDDLE_RUNTIME_DEVICE_MODULES_H_

#include "heddle/runtime/core/core.h"

namespace hdcore {

/// The one of the list that was built from this text (`size` with its zero at the end), else what
/// `build(text, length, hash)` makes of it: null when it fails. A module has `hash`, `size`,
/// `next`.
template <class Module, class Build>
Module* find_or_build(Module* modules, const char* text, int size, Build build) {
  const auto length = uint64_t(size) - 1;
  const uint64_t hash = hash_bytes(kHashStart, text, length);
  for (Module* m = modules; m; m = m->next) {
    if (m->hash == hash && m->size == length) return m;
  }
  return build(text, length, hash);
}

}  // namespace hdcore

#endif  // HEDDLE_RUNTIME_DEVICE_MODULES_H_
