// A module of shaders, compiled for the CPU.
#ifndef HEDDLE_TESTS_SUPPORT_METAL_SHADER_H_
#define HEDDLE_TESTS_SUPPORT_METAL_SHADER_H_

#include <map>
#include <string>

#include "support/metal/blocks.h"

namespace heddle::testing::metal {

struct Shader {
  using Entry = void (*)(Index3 block, Index3 thread, void** arguments);
  Entry entry = nullptr;
  bool barriers = false;
};

class ShaderModule {
 public:
  /// Compiled modules are kept in HEDDLE_SHADER_CACHE by a hash of their text. `error`: why it
  /// could not be compiled.
  ShaderModule(const std::string& text, std::string& error);
  ~ShaderModule();
  ShaderModule(const ShaderModule&) = delete;
  ShaderModule& operator=(const ShaderModule&) = delete;

  const Shader* find(const std::string& name) const;

 private:
  void* library_ = nullptr;
  std::map<std::string, Shader> shaders_;
};

/// The library of a module, compiled unless it is kept; `error` as above.
std::string compiled(const std::string& text, std::string& error);

/// The shaders as C++: less attributes, with an entry each.
std::string as_cpp(const std::string& text);

}  // namespace heddle::testing::metal

#endif  // HEDDLE_TESTS_SUPPORT_METAL_SHADER_H_
