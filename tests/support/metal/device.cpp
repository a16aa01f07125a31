#include "support/metal/device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "support/kernel_buffer.h"
#include "support/metal/shader.h"

namespace heddle::testing::metal {
namespace {

// What no Metal device takes.
constexpr int kMostThreads = 1024, kMostShared = 32768, kMostBuffers = 30;

// Ends where a page begins that nobody may touch.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    mapped_ = (bytes + page - 1) / page * page + page;
    base_ = static_cast<std::byte*>(
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(base_ + mapped_ - page, page, PROT_NONE);
    start_ = base_ + mapped_ - page - (bytes + 3) / 4 * 4;  // numbers are aligned
    std::memset(base_, 0xFF, mapped_ - page);
  }
  ~GuardedMemory() { ::munmap(base_, mapped_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  std::byte* start() const { return start_; }

 private:
  std::byte *base_, *start_;
  std::size_t mapped_;
};

std::recursive_mutex mutex;
std::map<std::uint64_t, std::unique_ptr<GuardedMemory>> memories;
std::vector<std::string> faults;
std::vector<Launch> launches;
std::map<std::string, std::unique_ptr<ShaderModule>> modules;  // by text
const char kInterface = 0;

int fail(const std::string& what) {
  faults.push_back(what);
  return -1;
}

std::size_t bytes_of(const Buffer& b) {
  std::int64_t last = 0;
  for (int d = 0; d < b.dimensions; ++d) {
    last += std::int64_t{b.dim[d].extent - 1} * b.dim[d].stride;
  }
  return static_cast<std::size_t>((last + 1) * ((b.type.bits + 7) / 8));
}

Index3 index_of(int i, int x, int y) {
  return {static_cast<unsigned>(i % x), static_cast<unsigned>(i / x % y),
          static_cast<unsigned>(i / x / y)};
}

// The arguments as a shader takes them: numbers in one struct first, then arrays.
struct Arguments {
  std::vector<std::byte> numbers = std::vector<std::byte>(4096);
  std::vector<void*> pointers;
  int buffers = 0;
};
bool collect(Arguments& a, const BufferType* types, void** args, const std::int8_t* is_buffer,
             const std::string& name) {
  std::size_t used = 0;
  for (int i = 0; types[i].bits != 0; ++i) {
    if (is_buffer[i]) continue;
    const std::size_t size = (types[i].bits + 7) / 8;
    used = (used + size - 1) / size * size;
    std::memcpy(&a.numbers[used], args[i], size);
    used += size;
  }
  if (used > 0) a.pointers.push_back(a.numbers.data());
  for (int i = 0; types[i].bits != 0; ++i) {
    if (!is_buffer[i]) continue;
    ++a.buffers;
    const auto& buffer = *static_cast<const Buffer*>(args[i]);
    const auto found = memories.find(buffer.device);
    if (found == memories.end()) {
      fail(name + ": argument " + std::to_string(i) + " is no memory of the device");
      return false;
    }
    a.pointers.push_back(found->second->start());
  }
  return true;
}

}  // namespace

std::uint64_t allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex);
  if (bytes == 0) {
    fail("memory of no size");
    return 0;
  }
  auto memory = std::make_unique<GuardedMemory>(bytes);
  const auto handle = reinterpret_cast<std::uint64_t>(memory->start());
  memories[handle] = std::move(memory);
  return handle;
}
void release(std::uint64_t memory) {
  const std::lock_guard lock(mutex);
  if (memories.erase(memory) == 0) fail("memory released twice");
}
std::byte* contents(std::uint64_t memory) { return reinterpret_cast<std::byte*>(memory); }
const void* device_interface() { return &kInterface; }
std::size_t live_allocations() { return memories.size(); }
std::vector<Launch> take_launches() { return std::exchange(launches, {}); }
std::vector<std::string> take_faults() { return std::exchange(faults, {}); }

}  // namespace heddle::testing::metal

// ---- what kernels call ----

using heddle::testing::Buffer;
using heddle::testing::BufferType;
namespace metal = heddle::testing::metal;

extern "C" {

const void* halide_metal_device_interface() { return metal::device_interface(); }

int halide_metal_initialize_kernels(void*, void** state, const char* text, int size) {
  const std::lock_guard lock(metal::mutex);
  const std::string shaders(text, static_cast<std::size_t>(size) - 1);
  auto& module = metal::modules[shaders];
  if (!module) {
    std::string error;
    module = std::make_unique<metal::ShaderModule>(shaders, error);
    if (!error.empty()) {
      module.reset();
      return metal::fail("a shader does not compile: " + error);
    }
  }
  *state = module.get();
  return 0;
}

void halide_metal_finalize_kernels(void*, void*) {}

int halide_device_malloc(void*, Buffer* buffer, const void* interface) {
  if (interface != metal::device_interface()) return metal::fail("memory of another device");
  if (buffer->device != 0) return 0;
  buffer->device = metal::allocate(metal::bytes_of(*buffer));
  buffer->interface = interface;
  return 0;
}

int halide_device_free(void*, Buffer* buffer) {
  if (buffer->device != 0) metal::release(buffer->device);
  buffer->device = 0;
  buffer->interface = nullptr;
  return 0;
}

void halide_device_free_as_destructor(void* context, void* buffer) {
  halide_device_free(context, static_cast<Buffer*>(buffer));
}

// Arrays between launches have no memory on the host, which is asked for all the same.
void* halide_malloc(void*, std::size_t bytes) {
  if (bytes != 0) metal::fail("memory of the host for a kernel");
  return nullptr;
}
void halide_free(void*, void*) {}

int halide_copy_to_device(void* context, Buffer* buffer, const void* interface) {
  if (buffer->device == 0) halide_device_malloc(context, buffer, interface);
  if (buffer->flags & Buffer::kHostDirty) {
    std::memcpy(metal::contents(buffer->device), buffer->host, metal::bytes_of(*buffer));
    buffer->flags &= ~Buffer::kHostDirty;
  }
  return 0;
}

int halide_metal_run(void*, void* state, const char* name, int blocks_x, int blocks_y, int blocks_z,
                     int threads_x, int threads_y, int threads_z, int shared_bytes,
                     const BufferType* types, void** args, const std::int8_t* is_buffer) {
  const std::lock_guard lock(metal::mutex);
  // Kernels do not look at what these functions return.
  if (state == nullptr) return metal::fail(std::string("a launch of nothing: ") + name);
  const metal::Shader* shader = static_cast<metal::ShaderModule*>(state)->find(name);
  if (shader == nullptr) return metal::fail(std::string("no shader ") + name);
  metal::Arguments arguments;
  if (!metal::collect(arguments, types, args, is_buffer, name)) return -1;
  const int threads = threads_x * threads_y * threads_z, blocks = blocks_x * blocks_y * blocks_z;
  if (threads < 1 || blocks < 1 || threads > metal::kMostThreads ||
      shared_bytes > metal::kMostShared || arguments.buffers > metal::kMostBuffers) {
    return metal::fail(std::string(name) + ": " + std::to_string(blocks) + " blocks of " +
                       std::to_string(threads) + " threads, " + std::to_string(shared_bytes) +
                       " bytes shared, " + std::to_string(arguments.buffers) + " buffers");
  }
  const metal::GuardedMemory shared(static_cast<std::size_t>(std::max(shared_bytes, 16)));
  arguments.pointers.push_back(shared.start());
  for (int b = 0; b < blocks; ++b) {
    std::memset(shared.start(), 0xFF, static_cast<std::size_t>(shared_bytes));
    const metal::Index3 block = metal::index_of(b, blocks_x, blocks_y);
    const bool together =
        metal::run_block(threads, shader->barriers, metal::launches.size() % 2 == 1, [&](int t) {
          shader->entry(block, metal::index_of(t, threads_x, threads_y), arguments.pointers.data());
        });
    if (!together) return metal::fail(std::string(name) + ": a barrier that not all arrive at");
  }
  metal::launches.push_back(
      {name, static_cast<std::size_t>(blocks), threads, shared_bytes, arguments.buffers});
  return 0;
}

}  // extern "C"
