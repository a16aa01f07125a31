// A shared object loaded into this process: the kernels of a compiled program, or an exported
// artifact.
#ifndef HEDDLE_RUNTIME_SHARED_OBJECT_H_
#define HEDDLE_RUNTIME_SHARED_OBJECT_H_

#include <cstddef>
#include <span>
#include <string>

namespace heddle {

/// Owns the handle; symbols stay valid as long as it lives. StatusError (HD_BAD_FILE) names the
/// path and the reason.
class SharedObject {
 public:
  SharedObject() = default;
  /// Refuses files that are shorter than their own headers say, which the system's loader would
  /// crash on.
  static SharedObject open(const std::string& path);
  /// From memory, without a name in any file system.
  static SharedObject from_bytes(std::span<const std::byte> bytes);
  ~SharedObject();
  SharedObject(SharedObject&& other) noexcept;
  SharedObject& operator=(SharedObject&& other) noexcept;

  /// Null when there is none.
  void* find(const std::string& symbol) const;
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  explicit SharedObject(void* handle, int file = -1) : handle_(handle), file_(file) {}
  void* handle_ = nullptr;
  int file_ =
      -1;  ///< of an object from memory: the loader knows it by this number, so it stays open
};

}  // namespace heddle

#endif  // HEDDLE_RUNTIME_SHARED_OBJECT_H_
