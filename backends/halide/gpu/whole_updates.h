// Several arrays updated together, some in place: every value exists before the first is stored.
#ifndef HEDDLE_BACKENDS_HALIDE_GPU_WHOLE_UPDATES_H_
#define HEDDLE_BACKENDS_HALIDE_GPU_WHOLE_UPDATES_H_

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

namespace heddle::halide::gpu {

/// A pass over the final statement. Halide stores the elements of a Tuple one by one, each computed
/// from memory again, which an output before it may have overwritten by then.
class WholeUpdates final : public Halide::Internal::IRMutator {
 public:
  /// Names of output buffers, and a number that those of one Tuple share.
  explicit WholeUpdates(std::map<std::string, std::size_t> tuple_of)
      : tuple_of_(std::move(tuple_of)) {}

 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Block* op) override;

 private:
  /// Different elements of one Tuple.
  bool is_one_update(const std::vector<const Halide::Internal::Store*>& stores) const;

  const std::map<std::string, std::size_t> tuple_of_;
};

}  // namespace heddle::halide::gpu

#endif  // HEDDLE_BACKENDS_HALIDE_GPU_WHOLE_UPDATES_H_
