// Gradients of extensions that give a callback instead of rules.
#ifndef HEDDLE_BACKENDS_EAGER_CALLBACK_H_
#define HEDDLE_BACKENDS_EAGER_CALLBACK_H_

#include "heddle/backends/eager/record.h"
#include "heddle/graph/definition.h"

namespace heddle {

bool has_callback(const RecordedCall& call);
/// Calls it with one cotangent per result; gives one gradient per entry of `call.wrt`. What comes
/// back is checked: its number (ValueError), then entry by entry that it is a tensor and its dtype
/// (TypeError), its shape (ValueError).
MaybeTensors run_callback(const RecordedCall& call, std::span<const std::optional<Tensor>> given);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_CALLBACK_H_
