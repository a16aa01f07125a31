// What a device's launch may ask for, checked on the final statement: the code generator accepts
// more than devices do.
#ifndef HEDDLE_BACKENDS_HALIDE_GPU_LIMITS_H_
#define HEDDLE_BACKENDS_HALIDE_GPU_LIMITS_H_

#include <Halide.h>

#include <cstdint>
#include <set>
#include <string>

namespace heddle::halide::gpu {

inline constexpr std::int64_t kMostThreads = 256;  ///< of a block
inline constexpr std::int64_t kMostShared = 32 * 1024;
inline constexpr std::size_t kMostBuffers = 30;  ///< of a launch, its constants counted
inline constexpr int kMostLanes = 4;

/// A pass that changes nothing and throws CompileError, which names the launch and the number.
class Limits final : public Halide::Internal::IRMutator {
 public:
  /// wide: 64-bit numbers are allowed.
  Limits(std::string carrier, bool wide) : carrier_(std::move(carrier)), wide_(wide) {}

  int launches() const { return launches_; }
  std::int64_t threads() const { return threads_; }         ///< of the largest block
  std::int64_t shared_bytes() const { return shared_; }     ///< of the block that has most
  std::int64_t device_bytes() const { return allocated_; }  ///< of arrays between launches

 protected:
  using Halide::Internal::IRMutator::mutate;
  using Halide::Internal::IRMutator::visit;
  Halide::Expr mutate(const Halide::Expr& e) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override;
  Halide::Expr visit(const Halide::Internal::Load* op) override;

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& found,
                         const std::string& needed) const;
  void check(std::int64_t found, std::int64_t most, const std::string& what) const;
  Halide::Internal::Stmt visit_launch(const Halide::Internal::For* op);
  void touch(const std::string& buffer);

  const std::string carrier_;
  const bool wide_;
  std::string launch_;                   ///< "" between launches
  std::set<std::string> own_, buffers_;  ///< of the launch: its shared and register arrays; others
  std::int64_t own_threads_ = 1, own_shared_ = 0;
  int launches_ = 0;
  std::int64_t threads_ = 0, shared_ = 0, allocated_ = 0;
};

}  // namespace heddle::halide::gpu

#endif  // HEDDLE_BACKENDS_HALIDE_GPU_LIMITS_H_
