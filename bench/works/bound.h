// A compiled program bound to its own data, ready to be called again and again.
#ifndef HEDDLE_BENCH_WORKS_BOUND_H_
#define HEDDLE_BENCH_WORKS_BOUND_H_

#include <memory>
#include <span>
#include <vector>

#include "heddle/backends/argument_memory.h"
#include "heddle/backends/compile.h"
#include "heddle/graph/program.h"

namespace heddle::bench {

class Bound {
 public:
  Bound(const Program& program, int threads, std::span<const Literal> inputs);
  void operator()();
  /// Of one call, as its plan counts them; bytes: what kernels read and write.
  double flops() const { return flops_; }
  double bytes() const { return bytes_; }
  /// The bytes of all arguments, results among them, one behind the other.
  std::vector<std::byte> memory() const;

 private:
  std::unique_ptr<Executable> executable_;
  ArgumentMemory arguments_;
  double flops_ = 0, bytes_ = 0;
};

}  // namespace heddle::bench

#endif  // HEDDLE_BENCH_WORKS_BOUND_H_
