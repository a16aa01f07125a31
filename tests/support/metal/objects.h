// The objects behind a Metal device that is none, and their lives.
#ifndef HEDDLE_TESTS_SUPPORT_METAL_OBJECTS_H_
#define HEDDLE_TESTS_SUPPORT_METAL_OBJECTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support/metal/guarded_memory.h"
#include "support/metal/shader.h"

namespace heddle::testing::metal {

/// One owner when made; gone when the last one releases it.
struct Object {
  explicit Object(const char* kind);
  virtual ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  const char* kind;
  int references = 1;
};

/// A class: what `objc_getClass` gives.
struct Class : Object {
  explicit Class(const char* k) : Object(k) {}
};
struct Text : Object {
  explicit Text(std::string t) : Object("NSString"), text(std::move(t)) {}
  std::string text;
};
struct Error : Object {
  explicit Error(std::string t) : Object("NSError"), text(std::move(t)) {}
  std::string text;
};
struct CompileOptions : Object {
  CompileOptions() : Object("MTLCompileOptions") {}
  bool fast_math = true;
};
struct Buffer : Object {
  explicit Buffer(std::uint64_t n)
      : Object("MTLBuffer"),
        own(std::make_unique<GuardedMemory>(n)),
        start(own->start()),
        bytes(n) {}
  /// Over memory of the host.
  Buffer(std::byte* from, std::uint64_t n) : Object("MTLBuffer"), start(from), bytes(n) {}
  const std::unique_ptr<GuardedMemory> own;
  std::byte* const start;
  const std::uint64_t bytes;
};
struct Library : Object {
  explicit Library(ShaderModule* m) : Object("MTLLibrary"), module(m) {}
  ShaderModule* module;
};
struct Function : Object {
  Function(const Shader* s, std::string n) : Object("MTLFunction"), shader(s), name(std::move(n)) {}
  const Shader* shader;
  std::string name;
};
struct Pipeline : Object {
  Pipeline(const Shader* s, std::string n)
      : Object("MTLComputePipelineState"), shader(s), name(std::move(n)) {}
  const Shader* shader;
  std::string name;
};
struct Encoder;
/// What is asked for, done when it is waited for. Keeps what it uses.
struct Commands : Object {
  Commands() : Object("MTLCommandBuffer") {}
  ~Commands() override;
  std::vector<std::function<void()>> work;
  std::vector<Object*> used;
  Encoder* open = nullptr;
  bool committed = false, done = false;
  std::string failure;
};
struct Encoder : Object {
  Encoder(const char* kind, Commands& c);
  ~Encoder() override;
  Commands& commands;
  bool ended = false;
  Pipeline* pipeline = nullptr;
  std::vector<std::byte> numbers;
  struct Place {
    Buffer* buffer = nullptr;  // null: the numbers
    std::uint64_t offset = 0;
  };
  std::map<std::uint64_t, Place> places;
  std::uint64_t shared = 0;
};

extern std::recursive_mutex mutex;
void add_fault(const std::string& what);
Object* retain(Object* object);
void release(Object* object);
/// Released when the pool that is in place now ends.
Object* autorelease(Object* object);
bool is_alive(const void* object);
/// True once after fail_next(method), which gives the reason.
bool fails_now(const std::string& method, std::string& why);
bool is_absent();
void count_commit();
void count_call(const std::string& method);
/// Whether commands that are not done use it.
bool in_use(const Buffer* buffer);

}  // namespace heddle::testing::metal

#endif  // HEDDLE_TESTS_SUPPORT_METAL_OBJECTS_H_
