// Kernels of packs inside compiled programs: the same choice as for calls, node by node.
#ifndef HEDDLE_BACKENDS_EXTERNAL_KERNELS_H_
#define HEDDLE_BACKENDS_EXTERNAL_KERNELS_H_

#include "heddle/schedule/external.h"
#include "heddle/schedule/target.h"

namespace heddle {

/// For programs compiled for `target`. A node is the call whose program it is (graph/node_call.h);
/// the carrier's candidates are asked in their order: the first of packs that takes it and has an
/// object, unless the carrier's own kernel comes before. Errors as choose_kernel; ValueError when
/// two objects have the same symbol. Targets of other machines have none.
ExternalKernels external_kernels(const Target& target);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EXTERNAL_KERNELS_H_
