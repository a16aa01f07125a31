// The core for C++: instances and loaded artifacts that clean up after themselves and throw
// StatusError.
#ifndef HEDDLE_RUNTIME_RUNTIME_HPP_
#define HEDDLE_RUNTIME_RUNTIME_HPP_

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "heddle/runtime/core/abi.h"
#include "heddle/runtime/shared_object.h"
#include "heddle/runtime/status.h"

namespace heddle {

/// Options with `size` set and everything else at its default.
inline hd_options default_options() {
  hd_options options{};
  options.size = sizeof options;
  return options;
}

/// The threads that instances of this process share, one per CPU; made at first use, there until
/// the process ends. Null when they cannot be made: an instance then makes its own.
hd_pool* process_pool();

/// An hd_instance. One call at a time; several instances may run side by side. The artifact's
/// tables must outlive it.
class Instance {
 public:
  explicit Instance(const hd_artifact& artifact, const hd_options* options = nullptr);

  /// One tensor per input, then per output.
  void run(std::string_view function, std::span<const hd_tensor> tensors);
  void run(std::uint32_t function, std::span<const hd_tensor> tensors);
  /// One pointer per hd_argument; see hd_run for what is checked.
  void run(std::uint32_t function, std::span<void* const> arguments);
  /// The report; StatusError with it when a result is wrong or the file is.
  std::string selftest(const std::string& check_file);

  std::uint32_t find(
      std::string_view function) const;  ///< StatusError (HD_INVALID) lists the functions there are
  int threads() const { return hd_threads(handle_.get()); }
  hd_instance* handle() const { return handle_.get(); }

 private:
  void check(int status) const;
  struct Destroy {
    void operator()(hd_instance* instance) const { hd_destroy(instance); }
  };
  std::unique_ptr<hd_instance, Destroy> handle_;
};

/// A shared artifact from a file, and an instance of it.
class LoadedArtifact {
 public:
  explicit LoadedArtifact(const std::string& path, const hd_options* options = nullptr);
  const hd_artifact& artifact() const { return *artifact_; }
  Instance& instance() { return instance_; }

 private:
  SharedObject object_;
  const hd_artifact* artifact_;
  Instance instance_;
};

}  // namespace heddle

#endif  // HEDDLE_RUNTIME_RUNTIME_HPP_
