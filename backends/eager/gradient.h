// Gradients of concrete tensors: calls are recorded as they run, and gone through backwards. What
// is emitted is each operation's own rule: the same linearize and transpose that programs use.
#ifndef HEDDLE_BACKENDS_EAGER_GRADIENT_H_
#define HEDDLE_BACKENDS_EAGER_GRADIENT_H_

#include <optional>
#include <source_location>
#include <span>
#include <vector>

#include "heddle/graph/tensor.h"

namespace heddle {

/// Whether calls of this thread are recorded; true at its start.
bool gradients_enabled();
/// Sets it while it lives, and puts the old value back.
class GradientMode {
 public:
  explicit GradientMode(bool enabled);
  ~GradientMode();
  GradientMode(const GradientMode&) = delete;
  GradientMode& operator=(const GradientMode&) = delete;

 private:
  bool before_;
};

/// Marks a concrete floating tensor as one whose gradient is wanted; copies of the handle share it.
/// TypeError for another dtype, ReleasedError for a released one, ValueError for a tensor that a
/// recorded call made.
Tensor& require_gradient(Tensor& tensor,
                         std::source_location where = std::source_location::current());
/// A gradient flows into the tensor: it is marked, or a recorded call made it.
bool requires_gradient(const Tensor& tensor);
/// The sum of all gradients that backward() has left at a marked tensor; nothing before the first.
std::optional<Tensor> gradient(const Tensor& tensor);
void clear_gradient(const Tensor& tensor);
/// The same elements (and storage) without a past.
Tensor detach(const Tensor& tensor);

struct BackwardOptions {
  std::optional<Tensor> cotangent{};  ///< default: 1, for a tensor of one element
  bool retain_graph = false;          ///< keep what was saved for another pass
};
/// Adds d(tensor) / d(leaf) to the gradient of every marked tensor that it depends on. ValueError:
/// no past, a traced tensor, more than one element without a cotangent, a cotangent of another type
/// or on another carrier.
/// GraphFreedError: a second pass without retain_graph. SavedVersionError: a tensor whose value the
/// pass needs was changed after its call. When it throws, no gradient has changed.
void backward(const Tensor& tensor, const BackwardOptions& options = {},
              std::source_location where = std::source_location::current());
/// The gradients alone, one per input, nothing for an input that `tensor` does not depend on;
/// leaves keep theirs.
std::vector<std::optional<Tensor>> gradients(
    const Tensor& tensor, std::span<const Tensor> inputs, const BackwardOptions& options = {},
    std::source_location where = std::source_location::current());

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_GRADIENT_H_
