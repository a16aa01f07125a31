// Reductions on a device: by one thread, or by the threads of a block.
#ifndef HEDDLE_BACKENDS_HALIDE_GPU_FOLD_H_
#define HEDDLE_BACKENDS_HALIDE_GPU_FOLD_H_

#include <string>
#include <vector>

#include "heddle/backends/halide/loops.h"

namespace heddle::halide::gpu {

/// The whole reduction of the common index `kept`, one element after another: a Func over
/// `arguments`, to be computed at a thread, whose registers hold it.
Func fold_in_thread(const JointLoop& loop, const std::string& name,
                    const std::vector<Expr>& arguments, const Index& kept);

/// One block for each common index: kLanes threads take every kLanes-th element, then the partial
/// states become one as a tree, in shared memory.
class BlockFold {
 public:
  static constexpr int kLanes = 64;

  /// Over the row-major positions [begin, begin + count) of the reduced extents that lie below
  /// their product. `outer`: the result's variables, innermost first.
  BlockFold(const JointLoop& loop, std::string name, std::vector<Var> outer, const Index& kept,
            const Expr& begin, const Extent& count);

  Func result() const { return funcs_.back(); }
  /// In the block of `consumer` at `block`.
  void compute_at(Func consumer, Var block);
  /// As an array of its own; there is an outer variable.
  void launch();

 private:
  std::vector<Expr> with(const Expr& lane) const;
  void add(const std::string& name, const std::vector<Expr>& arguments, const State& state);
  void place(Func consumer, Var block);

  std::vector<Var> outer_;
  Var u_{"u"};
  Func acc_;
  std::vector<Func> funcs_;  ///< 64 states, 32, ... one
};

}  // namespace heddle::halide::gpu

#endif  // HEDDLE_BACKENDS_HALIDE_GPU_FOLD_H_
