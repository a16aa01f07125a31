#include "heddle/runtime/device/metal.h"

#include "heddle/runtime/core/core.h"
#include "heddle/runtime/device/modules.h"

extern "C" {
void* dlopen(const char* name, int flags);
void* dlsym(void* library, const char* name);
void* malloc(size_t bytes);
void free(void* pointer);
int getpagesize(void);
int pthread_mutex_lock(void* mutex);
int pthread_mutex_unlock(void* mutex);
}

namespace hdcore::metal {
namespace {

#ifdef __APPLE__
constexpr uint64_t kFreeMutex = 0x32AAABA7;             // PTHREAD_MUTEX_INITIALIZER
void* const kEverywhere = reinterpret_cast<void*>(-2);  // RTLD_DEFAULT
#else
constexpr uint64_t kFreeMutex = 0;
void* const kEverywhere = nullptr;
#endif
constexpr int kLazy = 1;  // RTLD_LAZY

// Of views, in bytes: what setBuffer:offset: takes on any Mac is a multiple of 256.
constexpr uint64_t kAlignment = 512;
constexpr uint64_t kMostNumbers = 4096;  // bytes that setBytes: takes
constexpr uint64_t kFailedStatus = 5;    // MTLCommandBufferStatusError
constexpr uint64_t kCopyUnit = 4;        // of what a blit copies, in bytes
constexpr uint64_t kMemoryUnit = 16;     // of threadgroup memory

using Id = void*;
using Selector = void*;

// Of libobjc and Metal, by their own names.
struct Functions {
  Id (*objc_getClass)(const char*);
  Selector (*sel_registerName)(const char*);
  Id (*object_getClass)(Id);
  void* (*class_getMethodImplementation)(Id, Selector);
  void* (*objc_autoreleasePoolPush)();
  void (*objc_autoreleasePoolPop)(void*);
  Id (*MTLCreateSystemDefaultDevice)();
};

// A buffer, or a part of one.
struct Memory {
  Id buffer;
  uint64_t offset, bytes;
};

// One library per shader text, one pipeline per kernel of it, all kept for the process: so a launch
// looks them up and compiles nothing.
struct Pipeline {
  const char* name;
  Id state;
  uint64_t most_threads;
  Pipeline* next;
};
struct Module {
  uint64_t hash, size;
  Id library;
  Pipeline* pipelines;
  Module* next;
};

struct State {
  Functions functions;
  Id device, queue;
  Id commands, encoder;  // of the run, retained; null: nothing was asked for since the last wait
  Module* modules;
  uint64_t live;
  int failed;
  bool ready;
  char name[256], words[1024], why[256];
};
State state;
uint64_t mutex[8] = {kFreeMutex};      // at least a pthread_mutex_t
uint64_t run_mutex[8] = {kFreeMutex};  // held by the run that has the device

template <class R, class... A>
R call(Id object, const char* name, A... arguments) {
  const Functions& f = state.functions;
  const Selector selector = f.sel_registerName(name);
  const auto method = reinterpret_cast<R (*)(Id, Selector, A...)>(
      f.class_getMethodImplementation(f.object_getClass(object), selector));
  return method(object, selector, arguments...);
}
void drop(Id object) {
  if (object) call<void>(object, "release");
}
Id kept(Id object) { return object ? call<Id>(object, "retain") : nullptr; }

// The state for one thread at a time, and a place for what its calls leave behind.
struct Lock {
  Lock() {
    pthread_mutex_lock(mutex);
    pool = state.functions.objc_autoreleasePoolPush ? state.functions.objc_autoreleasePoolPush()
                                                    : nullptr;
  }
  ~Lock() {
    if (pool) state.functions.objc_autoreleasePoolPop(pool);
    pthread_mutex_unlock(mutex);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  void* pool;
};

const char* text_of(Id error) {
  Id words = error ? call<Id>(error, "localizedDescription") : nullptr;
  const char* text = words ? call<const char*>(words, "UTF8String") : nullptr;
  return text ? text : "no reason is given";
}

// The first failure is kept; the ones after it follow from it.
int fail(const char* what, const char* name, const char* why) {
  if (state.failed) return HD_DEVICE_FAILED;
  __atomic_store_n(&state.failed, 1, __ATOMIC_RELAXED);
  Text(state.words, sizeof state.words) << what << " " << name << ": " << why;
  return HD_DEVICE_FAILED;
}

template <class F>
bool find(F& function, const char* name, void* const (&libraries)[2]) {
  void* found = dlsym(kEverywhere, name);
  for (void* library : libraries) {
    if (!found && library) found = dlsym(library, name);
  }
  function = reinterpret_cast<F>(found);
  return found != nullptr;
}

bool find_functions() {
  Functions f = {};
  // A program without windows has a default GPU only when this is there.
  dlopen("/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics", kLazy);
  void* const libraries[] = {dlopen("/System/Library/Frameworks/Metal.framework/Metal", kLazy),
                             dlopen("/usr/lib/libobjc.A.dylib", kLazy)};
  if (!find(f.objc_getClass, "objc_getClass", libraries) ||
      !find(f.sel_registerName, "sel_registerName", libraries) ||
      !find(f.object_getClass, "object_getClass", libraries) ||
      !find(f.class_getMethodImplementation, "class_getMethodImplementation", libraries) ||
      !find(f.objc_autoreleasePoolPush, "objc_autoreleasePoolPush", libraries) ||
      !find(f.objc_autoreleasePoolPop, "objc_autoreleasePoolPop", libraries) ||
      !find(f.MTLCreateSystemDefaultDevice, "MTLCreateSystemDefaultDevice", libraries)) {
    return false;
  }
  state.functions = f;
  return true;
}

int connect() {
  Text why(state.why, sizeof state.why);
  void* pool = state.functions.objc_autoreleasePoolPush();
  if (!state.device) state.device = state.functions.MTLCreateSystemDefaultDevice();
  if (state.device && !state.queue) state.queue = call<Id>(state.device, "newCommandQueue");
  if (state.queue) {
    Id name = call<Id>(state.device, "name");
    Text(state.name, sizeof state.name) << call<const char*>(name, "UTF8String");
    state.ready = true;
  }
  state.functions.objc_autoreleasePoolPop(pool);
  if (!state.ready) why << "this system has no GPU that Metal knows";
  return state.ready ? HD_OK : HD_NO_DEVICE;
}

int open(char* why, size_t size) {
  pthread_mutex_lock(mutex);
  int status = HD_OK;
  if (!state.functions.MTLCreateSystemDefaultDevice && !find_functions()) {
    Text(state.why, sizeof state.why) << "there is no Metal on this system: macOS has it";
    status = HD_NO_DEVICE;
  }
  if (!status && !state.ready) status = connect();
  if (status) Text(why, size) << state.why;
  pthread_mutex_unlock(mutex);
  return status;
}

// ---- memory ----

Memory& memory_of(hd_memory memory) { return *reinterpret_cast<Memory*>(memory); }

hd_memory counted(Id buffer, uint64_t offset, uint64_t bytes) {
  auto* memory = buffer ? static_cast<Memory*>(malloc(sizeof(Memory))) : nullptr;
  if (!memory) {
    drop(buffer);
    return 0;
  }
  *memory = {buffer, offset, bytes};
  ++state.live;
  return reinterpret_cast<hd_memory>(memory);
}
hd_memory allocate(uint64_t bytes) {
  const Lock lock;
  // Options 0: storage that the host and the GPU share. There is room for whole units of a copy.
  const uint64_t length = (bytes + kCopyUnit - 1) / kCopyUnit * kCopyUnit;
  return counted(call<Id>(state.device, "newBufferWithLength:options:", length, uint64_t{0}), 0,
                 bytes);
}
hd_memory view(hd_memory memory, uint64_t offset, uint64_t bytes) {
  const Lock lock;
  const Memory& whole = memory_of(memory);
  return counted(kept(whole.buffer), whole.offset + offset, bytes);
}
// A buffer over whole pages of the host's: those that hold the bytes.
hd_memory map(const void* bytes, uint64_t size) {
  const Lock lock;
  const auto page = uint64_t(getpagesize());
  const uint64_t begin = reinterpret_cast<uintptr_t>(bytes), first = begin / page * page;
  const uint64_t length = (begin + size - first + page - 1) / page * page;
  if ((begin - first) % kAlignment) return 0;
  Id buffer = call<Id>(state.device, "newBufferWithBytesNoCopy:length:options:deallocator:",
                       reinterpret_cast<void*>(first), length, uint64_t{0}, Id{});
  return counted(buffer, begin - first, size);
}
hd_memory wrap(void* buffer, uint64_t offset, uint64_t bytes) {
  const Lock lock;
  const uint64_t length = call<uint64_t>(buffer, "length");
  return offset <= length && bytes <= length - offset ? counted(kept(buffer), offset, bytes) : 0;
}
void release(hd_memory memory) {
  const Lock lock;
  Memory* m = &memory_of(memory);
  drop(m->buffer);  // commands that use it keep it until they are done
  free(m);
  --state.live;
}
uint8_t* bytes_of(hd_memory memory) {
  const Memory& m = memory_of(memory);
  return call<uint8_t*>(m.buffer, "contents") + m.offset;
}

// ---- what a run asks for ----

void end_encoder() {
  if (!state.encoder) return;
  call<void>(state.encoder, "endEncoding");
  drop(state.encoder);
  state.encoder = nullptr;
}

// All that was asked for happens; then the host may look at memory.
void finish() {
  end_encoder();
  if (!state.commands) return;
  Id commands = state.commands;
  state.commands = nullptr;
  call<void>(commands, "commit");
  call<void>(commands, "waitUntilCompleted");
  if (call<uint64_t>(commands, "status") == kFailedStatus) {
    fail("the GPU", state.name, text_of(call<Id>(commands, "error")));
  }
  drop(commands);
}

Id commands() {
  if (!state.commands) state.commands = kept(call<Id>(state.queue, "commandBuffer"));
  return state.commands;
}
Id compute_encoder() {
  if (!state.encoder && commands()) {
    state.encoder = kept(call<Id>(state.commands, "computeCommandEncoder"));
  }
  return state.encoder;
}

void begin() { pthread_mutex_lock(run_mutex); }
void end() { pthread_mutex_unlock(run_mutex); }

void write(hd_memory to, uint64_t offset, const void* from, uint64_t bytes) {
  const Lock lock;
  if (state.failed) return;
  finish();  // nothing, at the begin of a run
  if (!state.failed) memcpy(bytes_of(to) + offset, from, bytes);
}
void read(hd_memory from, uint64_t offset, void* to, uint64_t bytes) {
  const Lock lock;
  if (state.failed) return;
  finish();
  if (!state.failed) memcpy(to, bytes_of(from) + offset, bytes);
}
void copy(hd_memory from, hd_memory to, uint64_t bytes) {
  const Lock lock;
  if (state.failed) return;
  end_encoder();
  Id encoder = commands() ? call<Id>(state.commands, "blitCommandEncoder") : nullptr;
  if (!encoder) return static_cast<void>(fail("copying", "an array", "no command buffer"));
  const Memory &source = memory_of(from), &target = memory_of(to);
  bytes = (bytes + kCopyUnit - 1) / kCopyUnit * kCopyUnit;  // views are further apart than that
  call<void>(encoder, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", source.buffer,
             source.offset, target.buffer, target.offset, bytes);
  call<void>(encoder, "endEncoding");
}

void fail_run(const char* what) {
  const Lock lock;
  fail("no", what, "the GPU gave none");
}
int failed() { return __atomic_load_n(&state.failed, __ATOMIC_RELAXED); }

int wait(char* why, size_t size) {
  const Lock lock;
  finish();
  if (!state.failed) return HD_OK;
  Text(why, size) << state.words;
  __atomic_store_n(&state.failed, 0, __ATOMIC_RELAXED);
  return HD_DEVICE_FAILED;
}

// ---- shaders ----

Module* build(const char* text, uint64_t size, uint64_t hash) {
  Id string = call<Id>(state.functions.objc_getClass("NSString"), "stringWithUTF8String:", text);
  Id options = call<Id>(state.functions.objc_getClass("MTLCompileOptions"), "new");
  call<void>(options, "setFastMathEnabled:", static_cast<signed char>(0));  // IEEE arithmetic
  Id error = nullptr;
  Id library = call<Id>(state.device, "newLibraryWithSource:options:error:", string, options,
                        static_cast<void*>(&error));
  drop(options);
  if (!library) return fail("building", "shaders", text_of(error)), nullptr;
  auto* module = static_cast<Module*>(malloc(sizeof(Module)));
  if (!module) return drop(library), fail("memory for", "shaders", "there is no room"), nullptr;
  *module = {hash, size, library, nullptr, state.modules};
  return state.modules = module;
}

int load(void** module, const char* text, int size) {
  const Lock lock;
  if (*module) return HD_OK;
  *module = find_or_build(state.modules, text, size,
                          [](const char* all, uint64_t length, uint64_t hash) -> Module* {
                            return state.failed ? nullptr : build(all, length, hash);
                          });
  return *module ? HD_OK : HD_DEVICE_FAILED;
}

Id new_pipeline(const Module& module, const char* name) {
  Id string = call<Id>(state.functions.objc_getClass("NSString"), "stringWithUTF8String:", name);
  Id function = call<Id>(module.library, "newFunctionWithName:", string);
  if (!function) return fail("launch", name, "the shaders have no function of this name"), nullptr;
  Id error = nullptr;
  Id pipeline = call<Id>(state.device, "newComputePipelineStateWithFunction:error:", function,
                         static_cast<void*>(&error));
  drop(function);
  if (!pipeline) fail("launch", name, text_of(error));
  return pipeline;
}

// The name is copied: the library of kernels that it lies in may be closed before this process
// ends.
const Pipeline* pipeline_of(Module& module, const char* name) {
  for (Pipeline* p = module.pipelines; p; p = p->next) {
    if (!strcmp(p->name, name)) return p;
  }
  Id made = new_pipeline(module, name);
  if (!made) return nullptr;
  const size_t length = strlen(name) + 1;
  auto* entry = static_cast<Pipeline*>(malloc(sizeof(Pipeline) + length));
  if (!entry) return drop(made), fail("launch", name, "there is no room"), nullptr;
  auto* own = static_cast<char*>(memcpy(entry + 1, name, length));
  *entry = {own, made, call<uint64_t>(made, "maxTotalThreadsPerThreadgroup"), module.pipelines};
  return module.pipelines = entry;
}

struct Kind {  // halide_type_t
  uint8_t code, bits;
  uint16_t lanes;
};

// Numbers in one struct, in their order and aligned as in C; then arrays, then the shared memory.
bool set_arguments(Id encoder, const Kind* kinds, void** arguments, const int8_t* is_buffer) {
  uint8_t numbers[kMostNumbers] = {};
  uint64_t used = 0, index = 0;
  for (uint32_t i = 0; kinds[i].bits; ++i) {
    if (is_buffer[i]) continue;
    const uint64_t size = (kinds[i].bits + 7u) / 8;
    used = (used + size - 1) / size * size;
    if (used + size > kMostNumbers) return false;
    memcpy(numbers + used, arguments[i], size);
    used += size;
  }
  if (used) {
    used = (used + 15) & ~uint64_t{15};  // at least the struct of the shader
    call<void>(encoder, "setBytes:length:atIndex:", static_cast<const void*>(numbers), used,
               index++);
  }
  for (uint32_t i = 0; kinds[i].bits; ++i) {
    if (!is_buffer[i]) continue;
    const Memory& m = memory_of(static_cast<HalideBuffer*>(arguments[i])->device);
    call<void>(encoder, "setBuffer:offset:atIndex:", m.buffer, m.offset, index++);
  }
  return true;
}

struct Size {  // MTLSize
  uint64_t width, height, depth;
};

int launch(void* module, const char* name, const int32_t blocks[3], const int32_t threads[3],
           int shared_bytes, const void* kinds, void** arguments, const int8_t* is_buffer) {
  const Lock lock;
  if (!module || state.failed) return HD_DEVICE_FAILED;
  const Pipeline* pipeline = pipeline_of(*static_cast<Module*>(module), name);
  if (!pipeline) return HD_DEVICE_FAILED;
  const Size groups = {uint64_t(blocks[0]), uint64_t(blocks[1]), uint64_t(blocks[2])};
  const Size group = {uint64_t(threads[0]), uint64_t(threads[1]), uint64_t(threads[2])};
  if (group.width * group.height * group.depth > pipeline->most_threads) {
    return fail("launch", name, "more threads in a block than this GPU takes");
  }
  Id encoder = compute_encoder();
  if (!encoder) return fail("launch", name, "no command buffer");
  call<void>(encoder, "setComputePipelineState:", pipeline->state);
  if (!set_arguments(encoder, static_cast<const Kind*>(kinds), arguments, is_buffer)) {
    return fail("launch", name, "too many numbers for one kernel");
  }
  // Shaders name it, with or without bytes in it.
  const uint64_t units = (uint64_t(shared_bytes) + kMemoryUnit - 1) / kMemoryUnit;
  call<void>(encoder, "setThreadgroupMemoryLength:atIndex:", (units ? units : 1) * kMemoryUnit,
             uint64_t{0});
  call<void>(encoder, "dispatchThreadgroups:threadsPerThreadgroup:", groups, group);
  return HD_OK;
}

constexpr hd_device kDevice = {"metal", kAlignment, open,   allocate, view, release,
                               begin,   end,        write,  read,     copy, failed,
                               wait,    load,       launch, fail_run, map,  wrap};

}  // namespace
}  // namespace hdcore::metal

extern "C" {

const hd_device hd_metal_device = hdcore::metal::kDevice;

const char* hd_metal_device_name(void) { return hdcore::metal::state.name; }
uint64_t hd_metal_live_memories(void) {
  const hdcore::metal::Lock lock;
  return hdcore::metal::state.live;
}

}  // extern "C"
