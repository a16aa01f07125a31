// The methods of the objects, by the names that Objective-C has for them.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

#include "support/metal/device.h"
#include "support/metal/objects.h"

namespace heddle::testing::metal {
namespace {

// What no Metal device takes.
constexpr std::uint64_t kMostThreads = 1024, kMostShared = 32768, kMostIndex = 30,
                        kMostNumbers = 4096, kOffsetUnit = 256, kSharedUnit = 16, kCopyUnit = 4,
                        kMostBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kCompleted = 4, kFailed = 5;

using Id = Object*;
using Selector = const void*;
struct Size {  // MTLSize
  std::uint64_t width, height, depth;
  std::uint64_t count() const { return width * height * depth; }
};

// By text, for the process and its end.
std::map<std::string, std::unique_ptr<ShaderModule>>& modules =
    *new std::map<std::string, std::unique_ptr<ShaderModule>>;
int launches = 0;

template <class T>
T& as(Id object) {
  return *dynamic_cast<T*>(object);
}

// ---- NSObject, NSString, NSError ----

Id object_retain(Id self, Selector) { return retain(self); }
void object_release(Id self, Selector) { release(self); }
Id string_class_with(Id, Selector, const char* text) { return autorelease(new Text(text)); }
const char* string_text(Id self, Selector) { return as<Text>(self).text.c_str(); }
Id error_description(Id self, Selector) { return autorelease(new Text(as<Error>(self).text)); }
Id options_class_new(Id, Selector) { return new CompileOptions; }
void options_set_fast_math(Id self, Selector, signed char fast) {
  as<CompileOptions>(self).fast_math = fast != 0;
}

// ---- MTLDevice, MTLLibrary, MTLBuffer ----

Id device_name(Id, Selector) { return autorelease(new Text("Metal on the CPU")); }
Id device_new_queue(Id, Selector) { return new Object("MTLCommandQueue"); }

Id device_new_buffer(Id, Selector, std::uint64_t bytes, std::uint64_t options) {
  std::string why;
  if (bytes == 0 || options != 0) add_fault("a buffer of no size, or not shared with the host");
  if (fails_now("newBufferWithLength:options:", why) || bytes > kMostBytes) return nullptr;
  return new Buffer(bytes);
}

Id device_new_buffer_over(Id, Selector, std::byte* start, std::uint64_t bytes,
                          std::uint64_t options, void* deallocator) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (bytes == 0 || options != 0 || deallocator != nullptr)
    add_fault("a buffer of no size, not shared with the host, or with a deallocator");
  if (bytes % page != 0 || reinterpret_cast<std::uintptr_t>(start) % page != 0)
    add_fault("a buffer over parts of pages");
  std::string why;
  if (fails_now("newBufferWithBytesNoCopy:length:options:deallocator:", why)) return nullptr;
  return new Buffer(start, bytes);
}
std::uint64_t buffer_length(Id self, Selector) { return as<Buffer>(self).bytes; }

Id fail_with(Id* error, const std::string& why) {
  *error = autorelease(new Error(why));
  return nullptr;
}
Id device_new_library(Id, Selector, Id source, Id options, Id* error) {
  std::string why;
  if (as<CompileOptions>(options).fast_math)
    add_fault("shaders with arithmetic that is not IEEE's");
  if (fails_now("newLibraryWithSource:options:error:", why)) return fail_with(error, why);
  auto& module = modules[as<Text>(source).text];
  if (!module) {
    module = std::make_unique<ShaderModule>(as<Text>(source).text, why);
    if (!why.empty()) {
      module.reset();
      return fail_with(error, why);
    }
  }
  return new Library(module.get());
}
Id device_new_pipeline(Id, Selector, Id function, Id* error) {
  std::string why;
  if (fails_now("newComputePipelineStateWithFunction:error:", why)) return fail_with(error, why);
  const auto& f = as<Function>(function);
  return new Pipeline(f.shader, f.name);
}
Id library_new_function(Id self, Selector, Id name) {
  const Shader* shader = as<Library>(self).module->find(as<Text>(name).text);
  return shader != nullptr ? new Function(shader, as<Text>(name).text) : nullptr;
}
std::uint64_t pipeline_most_threads(Id, Selector) { return kMostThreads; }
void* buffer_contents(Id self, Selector) {
  if (in_use(&as<Buffer>(self))) add_fault("the host looks at a buffer that commands use");
  return as<Buffer>(self).start;
}

// ---- MTLCommandQueue, MTLCommandBuffer ----

Id queue_commands(Id, Selector) { return autorelease(new Commands); }

template <const char* kKind>
Id commands_encoder(Id self, Selector) {
  auto& commands = as<Commands>(self);
  if (commands.committed || commands.open != nullptr) add_fault("an encoder that cannot begin now");
  return autorelease(new Encoder(kKind, commands));
}
constexpr char kCompute[] = "MTLComputeCommandEncoder", kBlit[] = "MTLBlitCommandEncoder";

void commands_commit(Id self, Selector) {
  auto& commands = as<Commands>(self);
  if (commands.committed || commands.open != nullptr)
    add_fault("commands that cannot be committed");
  commands.committed = true;
  count_commit();
  fails_now("commit", commands.failure);
}
void commands_wait(Id self, Selector) {
  auto& commands = as<Commands>(self);
  if (!commands.committed) add_fault("a wait for commands that were not committed");
  if (commands.failure.empty() && !commands.done) {
    for (const auto& work : commands.work) work();
  }
  commands.done = true;
}
std::uint64_t commands_status(Id self, Selector) {
  const auto& commands = as<Commands>(self);
  return !commands.failure.empty() ? kFailed : commands.done ? kCompleted : 0;
}
Id commands_error(Id self, Selector) { return autorelease(new Error(as<Commands>(self).failure)); }

// ---- encoders ----

void use(Commands& commands, Object* object) { commands.used.push_back(retain(object)); }

Encoder& open_encoder(Id self) {
  auto& encoder = as<Encoder>(self);
  if (encoder.ended) add_fault("an encoder that has ended is used");
  return encoder;
}
void encoder_end(Id self, Selector) {
  open_encoder(self).ended = true;
  as<Encoder>(self).commands.open = nullptr;
}

void blit_copy(Id self, Selector, Id from, std::uint64_t from_offset, Id to,
               std::uint64_t to_offset, std::uint64_t bytes) {
  Commands& commands = open_encoder(self).commands;
  auto &source = as<Buffer>(from), &target = as<Buffer>(to);
  if (from_offset + bytes > source.bytes || to_offset + bytes > target.bytes || bytes == 0 ||
      bytes % kCopyUnit != 0 || from_offset % kCopyUnit != 0 || to_offset % kCopyUnit != 0) {
    return add_fault("a copy that leaves its buffers, or not of whole units");
  }
  use(commands, from), use(commands, to);
  commands.work.emplace_back([&source, &target, from_offset, to_offset, bytes] {
    std::memcpy(target.start + to_offset, source.start + from_offset, bytes);
  });
}

void compute_set_pipeline(Id self, Selector, Id pipeline) {
  Encoder& encoder = open_encoder(self);
  encoder.pipeline = &as<Pipeline>(pipeline);
  encoder.places.clear();
  encoder.shared = 0;
  use(encoder.commands, pipeline);
}
void compute_set_bytes(Id self, Selector, const std::byte* bytes, std::uint64_t length,
                       std::uint64_t index) {
  Encoder& encoder = open_encoder(self);
  if (length == 0 || length > kMostNumbers || index > kMostIndex) add_fault("numbers of no size");
  encoder.numbers.assign(bytes, bytes + length);
  encoder.places[index] = {};
}
void compute_set_buffer(Id self, Selector, Id buffer, std::uint64_t offset, std::uint64_t index) {
  Encoder& encoder = open_encoder(self);
  if (index > kMostIndex || offset >= as<Buffer>(buffer).bytes || offset % kOffsetUnit != 0) {
    add_fault("a buffer at offset " + std::to_string(offset) + " of " +
              std::to_string(as<Buffer>(buffer).bytes) + ", place " + std::to_string(index));
  }
  encoder.places[index] = {&as<Buffer>(buffer), offset};
  use(encoder.commands, buffer);
}
void compute_set_shared(Id self, Selector, std::uint64_t bytes, std::uint64_t index) {
  Encoder& encoder = open_encoder(self);
  if (index != 0 || bytes == 0 || bytes % kSharedUnit != 0)
    add_fault("a block's memory that is not allowed");
  encoder.shared = bytes;
}

Index3 index_of(std::uint64_t i, const Size& size) {
  return {static_cast<unsigned>(i % size.width),
          static_cast<unsigned>(i / size.width % size.height),
          static_cast<unsigned>(i / size.width / size.height)};
}

// The arguments as a shader takes them: numbers, buffers, the block's memory.
struct Launch {
  const Pipeline* pipeline;
  std::vector<std::byte> numbers;
  std::vector<Encoder::Place> places;
  std::uint64_t shared;
  Size blocks, threads;

  void run() {
    const GuardedMemory block_memory(std::max<std::uint64_t>(shared, kSharedUnit));
    std::vector<void*> pointers;
    for (const Encoder::Place& p : places) {
      pointers.push_back(p.buffer != nullptr ? p.buffer->start + p.offset : numbers.data());
    }
    pointers.push_back(block_memory.start());
    ++launches;
    for (std::uint64_t b = 0; b < blocks.count(); ++b) {
      std::memset(block_memory.start(), 0xFF, shared);
      const bool together =
          run_block(static_cast<int>(threads.count()), pipeline->shader->barriers,
                    launches % 2 == 1, [&](int t) {
                      pipeline->shader->entry(index_of(b, blocks),
                                              index_of(static_cast<std::uint64_t>(t), threads),
                                              pointers.data());
                    });
      if (!together) return add_fault(pipeline->name + ": a barrier that not all arrive at");
    }
  }
};

void compute_dispatch(Id self, Selector, Size blocks, Size threads) {
  Encoder& encoder = open_encoder(self);
  if (encoder.pipeline == nullptr) return add_fault("a launch of nothing");
  if (encoder.shared == 0) add_fault("a block's memory was not set");
  if (threads.count() == 0 || blocks.count() == 0 || threads.count() > kMostThreads ||
      encoder.shared > kMostShared) {
    return add_fault(encoder.pipeline->name + ": " + std::to_string(blocks.count()) +
                     " blocks of " + std::to_string(threads.count()) + " threads, " +
                     std::to_string(encoder.shared) + " bytes shared");
  }
  Launch launch{encoder.pipeline, encoder.numbers, {}, encoder.shared, blocks, threads};
  for (const auto& [index, place] : encoder.places) {
    if (index != launch.places.size()) add_fault(encoder.pipeline->name + ": a place left out");
    launch.places.push_back(place);
  }
  encoder.commands.work.emplace_back([launch]() mutable { launch.run(); });
}

// ---- the runtime's side: classes, names, methods ----

template <class F>
void* method(F* function) {
  return reinterpret_cast<void*>(function);
}
const std::map<std::string, std::map<std::string, void*>>& methods() {
  using Methods = std::map<std::string, std::map<std::string, void*>>;
  static const Methods& all = *new Methods{
      {"class NSString", {{"stringWithUTF8String:", method(string_class_with)}}},
      {"class MTLCompileOptions", {{"new", method(options_class_new)}}},
      {"NSString", {{"UTF8String", method(string_text)}}},
      {"NSError", {{"localizedDescription", method(error_description)}}},
      {"MTLCompileOptions", {{"setFastMathEnabled:", method(options_set_fast_math)}}},
      {"MTLDevice",
       {{"name", method(device_name)},
        {"newCommandQueue", method(device_new_queue)},
        {"newBufferWithLength:options:", method(device_new_buffer)},
        {"newBufferWithBytesNoCopy:length:options:deallocator:", method(device_new_buffer_over)},
        {"newLibraryWithSource:options:error:", method(device_new_library)},
        {"newComputePipelineStateWithFunction:error:", method(device_new_pipeline)}}},
      {"MTLLibrary", {{"newFunctionWithName:", method(library_new_function)}}},
      {"MTLFunction", {}},
      {"MTLComputePipelineState",
       {{"maxTotalThreadsPerThreadgroup", method(pipeline_most_threads)}}},
      {"MTLBuffer", {{"contents", method(buffer_contents)}, {"length", method(buffer_length)}}},
      {"MTLCommandQueue", {{"commandBuffer", method(queue_commands)}}},
      {"MTLCommandBuffer",
       {{"computeCommandEncoder", method(commands_encoder<kCompute>)},
        {"blitCommandEncoder", method(commands_encoder<kBlit>)},
        {"commit", method(commands_commit)},
        {"waitUntilCompleted", method(commands_wait)},
        {"status", method(commands_status)},
        {"error", method(commands_error)}}},
      {kBlit,
       {{"copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", method(blit_copy)},
        {"endEncoding", method(encoder_end)}}},
      {kCompute,
       {{"setComputePipelineState:", method(compute_set_pipeline)},
        {"setBytes:length:atIndex:", method(compute_set_bytes)},
        {"setBuffer:offset:atIndex:", method(compute_set_buffer)},
        {"setThreadgroupMemoryLength:atIndex:", method(compute_set_shared)},
        {"dispatchThreadgroups:threadsPerThreadgroup:", method(compute_dispatch)},
        {"endEncoding", method(encoder_end)}}}};
  return all;
}

void* nothing(Id, Selector) { return nullptr; }

}  // namespace
}  // namespace heddle::testing::metal

namespace metal = heddle::testing::metal;

// ---- what runtime/device/metal.cc asks for ----

extern "C" {

void* objc_getClass(const char* name) {
  static auto& classes = *new std::map<std::string, std::unique_ptr<metal::Class>>;
  static auto& kinds = *new std::set<std::string>;
  const std::lock_guard lock(metal::mutex);
  const std::string kind = std::string("class ") + name;
  if (metal::methods().count(kind) == 0) return nullptr;
  auto& found = classes[kind];
  if (!found) found = std::make_unique<metal::Class>(kinds.insert(kind).first->c_str());
  return found.get();
}

const void* sel_registerName(const char* name) {
  static auto& names = *new std::set<std::string>;
  const std::lock_guard lock(metal::mutex);
  return &*names.insert(name).first;
}

// The class of an object is the name of its kind.
const void* object_getClass(const metal::Object* object) {
  const std::lock_guard lock(metal::mutex);
  static const char kGone[] = "released";
  if (!metal::is_alive(object)) {
    metal::add_fault("an object is used that is not there any more");
    return kGone;
  }
  return object->kind;
}

void* class_getMethodImplementation(const char* kind, const std::string* name) {
  const std::lock_guard lock(metal::mutex);
  metal::count_call(*name);
  if (*name == "retain") return metal::method(metal::object_retain);
  if (*name == "release") return metal::method(metal::object_release);
  const auto found = metal::methods().find(kind);
  if (found != metal::methods().end() && found->second.count(*name) > 0) {
    return found->second.at(*name);
  }
  if (std::string(kind) != "released") {
    metal::add_fault(std::string(kind) + " has no method " + *name);
  }
  return metal::method(metal::nothing);
}

// For C programs.
int metal_on_cpu_calls(const char* method) { return metal::take_calls(method); }
int metal_on_cpu_faults() {
  const std::vector<std::string> faults = metal::take_faults();
  for (const std::string& fault : faults) std::fprintf(stderr, "%s\n", fault.c_str());
  return static_cast<int>(faults.size());
}

void* MTLCreateSystemDefaultDevice() {
  const std::lock_guard lock(metal::mutex);
  return metal::is_absent() ? nullptr : new metal::Object("MTLDevice");
}

}  // extern "C"
