#include "heddle/runtime/device/opencl.h"

#include "heddle/runtime/core/core.h"
#include "heddle/runtime/device/modules.h"

extern "C" {
void* dlopen(const char* name, int flags);
void* dlsym(void* library, const char* name);
void* malloc(size_t bytes);
void free(void* pointer);
struct hd_mutex_storage {
  uint64_t words[8];  // at least a pthread_mutex_t of Linux and macOS
};
int pthread_mutex_lock(hd_mutex_storage* mutex);
int pthread_mutex_unlock(hd_mutex_storage* mutex);
}

namespace hdcore::opencl {
namespace {

// Numbers of the OpenCL 1.2 specification (CL/cl.h).
constexpr int kLazy = 1;  // RTLD_LAZY
constexpr uint64_t kGpu = 4, kAnyDevice = 0xFFFFFFFF, kReadWrite = 1;
constexpr uint32_t kTrue = 1, kBuildLog = 0x1183, kDeviceName = 0x102B, kPlatformName = 0x0902,
                   kFpConfig = 0x101B, kRoundedDivide = 1 << 7;
constexpr uint32_t kMemoryAlignment = 0x1019, kRegion = 0x1220;
constexpr int kOutOfMemory = -4;
// Of views, in bytes: what the devices of all vendors take.
constexpr uint64_t kAlignment = 512;

using Handle = void*;
// What is used of libOpenCL, by its own names.
#define HD_OPENCL_FUNCTIONS(F)                                                                     \
  F(clGetPlatformIDs, int, (uint32_t, Handle*, uint32_t*))                                         \
  F(clGetPlatformInfo, int, (Handle, uint32_t, size_t, void*, size_t*))                            \
  F(clGetDeviceIDs, int, (Handle, uint64_t, uint32_t, Handle*, uint32_t*))                         \
  F(clGetDeviceInfo, int, (Handle, uint32_t, size_t, void*, size_t*))                              \
  F(clCreateContext, Handle, (const void*, uint32_t, Handle*, void*, void*, int*))                 \
  F(clCreateCommandQueue, Handle, (Handle, Handle, uint64_t, int*))                                \
  F(clCreateBuffer, Handle, (Handle, uint64_t, size_t, void*, int*))                               \
  F(clCreateSubBuffer, Handle, (Handle, uint64_t, uint32_t, const void*, int*))                    \
  F(clReleaseMemObject, int, (Handle))                                                             \
  F(clEnqueueWriteBuffer, int,                                                                     \
    (Handle, Handle, uint32_t, size_t, size_t, const void*, uint32_t, const void*, void*))         \
  F(clEnqueueReadBuffer, int,                                                                      \
    (Handle, Handle, uint32_t, size_t, size_t, void*, uint32_t, const void*, void*))               \
  F(clEnqueueCopyBuffer, int,                                                                      \
    (Handle, Handle, Handle, size_t, size_t, size_t, uint32_t, const void*, void*))                \
  F(clCreateProgramWithSource, Handle, (Handle, uint32_t, const char**, const size_t*, int*))      \
  F(clBuildProgram, int, (Handle, uint32_t, const Handle*, const char*, void*, void*))             \
  F(clGetProgramBuildInfo, int, (Handle, Handle, uint32_t, size_t, void*, size_t*))                \
  F(clCreateKernel, Handle, (Handle, const char*, int*))                                           \
  F(clSetKernelArg, int, (Handle, uint32_t, size_t, const void*))                                  \
  F(clEnqueueNDRangeKernel, int,                                                                   \
    (Handle, Handle, uint32_t, const size_t*, const size_t*, const size_t*, uint32_t, const void*, \
     void*))                                                                                       \
  F(clFinish, int, (Handle))

struct OpenCl {
#define HD_FIELD(name, result, arguments) result(*name) arguments;
  HD_OPENCL_FUNCTIONS(HD_FIELD)
#undef HD_FIELD
};

// One program per shader text, one kernel object per launch of it, all kept for the process: so a
// launch looks them up and compiles nothing.
struct KernelEntry {
  const char* name;
  Handle kernel;
  KernelEntry* next;
};
struct Module {
  uint64_t hash, size;
  Handle program;
  KernelEntry* kernels;
  Module* next;
};

struct State {
  OpenCl cl;
  Handle context, device, queue;
  Module* modules;
  const char* options;
  uint64_t live;
  int first_error;
  bool ready;
  char name[256], words[1024], why[256];
};
State state;
#ifdef __APPLE__
constexpr uint64_t kFreeMutex = 0x32AAABA7;  // PTHREAD_MUTEX_INITIALIZER
#else
constexpr uint64_t kFreeMutex = 0;
#endif
hd_mutex_storage mutex = {{kFreeMutex}};
hd_mutex_storage run_mutex = {{kFreeMutex}};  // held by the run that has the device

struct Lock {
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

// The first failure is kept; the ones after it follow from it.
int fail(int error, const char* what, const char* name) {
  if (state.first_error != 0) return error;
  __atomic_store_n(&state.first_error, error, __ATOMIC_RELAXED);
  Text(state.words, sizeof state.words) << what << " " << name << ": OpenCL error " << error;
  return error;
}

bool load(const char*& missing) {
  void* library = dlopen("libOpenCL.so.1", kLazy);
  if (!library) library = dlopen("/System/Library/Frameworks/OpenCL.framework/OpenCL", kLazy);
  missing = "libOpenCL.so.1";
  if (!library) return false;
#define HD_LOAD(name, result, arguments)                                                  \
  state.cl.name = reinterpret_cast<result(*) arguments>(dlsym(library, missing = #name)); \
  if (!state.cl.name) return false;
  HD_OPENCL_FUNCTIONS(HD_LOAD)
#undef HD_LOAD
  return true;
}

bool find_device(uint64_t kind) {
  Handle platforms[16];
  uint32_t count = 0;
  if (state.cl.clGetPlatformIDs(16, platforms, &count) != 0) return false;
  for (uint32_t p = 0; p < count && p < 16; ++p) {
    uint32_t devices = 0;
    if (state.cl.clGetDeviceIDs(platforms[p], kind, 1, &state.device, &devices) != 0 || !devices) {
      continue;
    }
    char platform[100] = "", device[100] = "";
    state.cl.clGetPlatformInfo(platforms[p], kPlatformName, sizeof platform, platform, nullptr);
    state.cl.clGetDeviceInfo(state.device, kDeviceName, sizeof device, device, nullptr);
    Text(state.name, sizeof state.name) << platform << ": " << device;
    return true;
  }
  return false;
}

int connect() {
  const char* missing = nullptr;
  Text why(state.why, sizeof state.why);
  if (!load(missing)) {
    why << "no " << missing << " (install an OpenCL loader and driver, such as ocl-icd-libopencl1 "
        << "and pocl-opencl-icd)";
    return HD_NO_DEVICE;
  }
  if (!find_device(kGpu) && !find_device(kAnyDevice)) {
    why << "libOpenCL.so.1 knows no device (install a driver, such as pocl-opencl-icd)";
    return HD_NO_DEVICE;
  }
  int error = 0;
  state.context = state.cl.clCreateContext(nullptr, 1, &state.device, nullptr, nullptr, &error);
  if (!error) state.queue = state.cl.clCreateCommandQueue(state.context, state.device, 0, &error);
  if (error) {
    why << state.name << ": OpenCL error " << error;
    return HD_NO_DEVICE;
  }
  uint32_t alignment_bits = 0;
  state.cl.clGetDeviceInfo(state.device, kMemoryAlignment, sizeof alignment_bits, &alignment_bits,
                           nullptr);
  if (alignment_bits > 8 * kAlignment) {
    why << state.name << ": parts of its memory begin at multiples of " << alignment_bits / 8
        << " bytes; needed are at most " << kAlignment;
    return HD_NO_DEVICE;
  }
  uint64_t rounding = 0;
  state.cl.clGetDeviceInfo(state.device, kFpConfig, sizeof rounding, &rounding, nullptr);
  // Nothing that loosens IEEE arithmetic; the two numbers say that no array is a constant one.
  state.options = rounding & kRoundedDivide
                      ? "-D MAX_CONSTANT_BUFFER_SIZE=0 -D MAX_CONSTANT_ARGS=0 "
                        "-cl-fp32-correctly-rounded-divide-sqrt"
                      : "-D MAX_CONSTANT_BUFFER_SIZE=0 -D MAX_CONSTANT_ARGS=0";
  state.ready = true;
  return HD_OK;
}

Module* build(const char* text, uint64_t size, uint64_t hash) {
  int error = 0;
  const size_t length = size;
  Handle program = state.cl.clCreateProgramWithSource(state.context, 1, &text, &length, &error);
  if (error) return fail(error, "a program", "of shaders"), nullptr;
  error = state.cl.clBuildProgram(program, 1, &state.device, state.options, nullptr, nullptr);
  if (error) {
    fail(error, "building", "shaders");
    const size_t used = strlen(state.words);
    Text(state.words + used, sizeof state.words - used) << ": ";
    state.cl.clGetProgramBuildInfo(program, state.device, kBuildLog, sizeof state.words - used - 2,
                                   state.words + used + 2, nullptr);
    return nullptr;
  }
  auto* module = static_cast<Module*>(malloc(sizeof(Module)));
  if (!module) return fail(kOutOfMemory, "memory for", "shaders"), nullptr;
  *module = {hash, size, program, nullptr, state.modules};
  return state.modules = module;
}

// The name is copied: the library of kernels that it lies in may be closed before this process
// ends.
Handle kernel_of(Module& module, const char* name) {
  for (KernelEntry* k = module.kernels; k; k = k->next) {
    if (!strcmp(k->name, name)) return k->kernel;
  }
  int error = 0;
  Handle kernel = state.cl.clCreateKernel(module.program, name, &error);
  const size_t length = strlen(name) + 1;
  auto* entry = error ? nullptr : static_cast<KernelEntry*>(malloc(sizeof(KernelEntry) + length));
  if (!entry) return fail(error ? error : kOutOfMemory, "launch", name), nullptr;
  auto* own = static_cast<char*>(memcpy(entry + 1, name, length));
  *entry = {own, kernel, module.kernels};
  module.kernels = entry;
  return kernel;
}

// Arrays by their handles, numbers by value, the shared memory last.
int set_arguments(Handle kernel, const size_t* sizes, void** args, const int8_t* is_buffer,
                  int shared_bytes) {
  uint32_t i = 0;
  for (; sizes[i]; ++i) {
    const size_t size = is_buffer[i] ? sizeof(Handle) : sizes[i];
    const void* value = is_buffer[i] ? &static_cast<HalideBuffer*>(args[i])->device : args[i];
    if (const int error = state.cl.clSetKernelArg(kernel, i, size, value)) return error;
  }
  const size_t shared = shared_bytes > 0 ? size_t(shared_bytes) : 1;
  return state.cl.clSetKernelArg(kernel, i, shared, nullptr);
}

int open(char* why, size_t size) {
  const Lock lock;
  const int status = state.ready ? HD_OK : connect();
  if (status) Text(why, size) << state.why;
  return status;
}

Handle handle_of(hd_memory memory) { return reinterpret_cast<Handle>(memory); }

// A new memory or view, or 0.
hd_memory counted(Handle made, int error) {
  if (error) return 0;
  ++state.live;
  return reinterpret_cast<hd_memory>(made);
}
hd_memory allocate(uint64_t bytes) {
  const Lock lock;
  int error = 0;
  Handle made = state.cl.clCreateBuffer(state.context, kReadWrite, bytes, nullptr, &error);
  return counted(made, error);
}
hd_memory view(hd_memory memory, uint64_t offset, uint64_t bytes) {
  const Lock lock;
  const size_t region[] = {offset, bytes};
  int error = 0;
  Handle made = state.cl.clCreateSubBuffer(handle_of(memory), kReadWrite, kRegion, region, &error);
  return counted(made, error);
}
void release(hd_memory memory) {
  const Lock lock;
  state.cl.clReleaseMemObject(handle_of(memory));
  --state.live;
}

void begin() { pthread_mutex_lock(&run_mutex); }
void end() { pthread_mutex_unlock(&run_mutex); }

// What follows a failure would compute with what is not there.
template <class Call>
void unless_failed(const char* what, Call call) {
  const Lock lock;
  if (state.first_error) return;
  if (const int error = call()) fail(error, what, "an array");
}
void write(hd_memory to, uint64_t offset, const void* from, uint64_t bytes) {
  unless_failed("writing", [&] {
    return state.cl.clEnqueueWriteBuffer(state.queue, handle_of(to), 0, offset, bytes, from, 0,
                                         nullptr, nullptr);
  });
}
void read(hd_memory from, uint64_t offset, void* to, uint64_t bytes) {
  unless_failed("reading", [&] {
    return state.cl.clEnqueueReadBuffer(state.queue, handle_of(from), 0, offset, bytes, to, 0,
                                        nullptr, nullptr);
  });
}
void copy(hd_memory from, hd_memory to, uint64_t bytes) {
  unless_failed("copying", [&] {
    return state.cl.clEnqueueCopyBuffer(state.queue, handle_of(from), handle_of(to), 0, 0, bytes, 0,
                                        nullptr, nullptr);
  });
}

void fail_run(const char* what) {
  const Lock lock;
  fail(kOutOfMemory, "no", what);
}
int failed() { return __atomic_load_n(&state.first_error, __ATOMIC_RELAXED); }

int wait(char* why, size_t size) {
  const Lock lock;
  if (const int error = state.cl.clFinish(state.queue)) fail(error, "waiting for", "launches");
  if (!state.first_error) return HD_OK;
  Text(why, size) << state.words;
  __atomic_store_n(&state.first_error, 0, __ATOMIC_RELAXED);
  return HD_DEVICE_FAILED;
}

int load(void** module, const char* text, int size) {
  const Lock lock;
  if (*module) return HD_OK;
  *module = find_or_build(state.modules, text, size,
                          [](const char* all, uint64_t length, uint64_t hash) -> Module* {
                            return state.first_error ? nullptr : build(all, length, hash);
                          });
  return *module ? HD_OK : HD_DEVICE_FAILED;
}

int launch(void* module, const char* name, const int32_t blocks[3], const int32_t threads[3],
           int shared_bytes, const void* sizes, void** arguments, const int8_t* is_buffer) {
  const Lock lock;
  if (!module || state.first_error) return HD_DEVICE_FAILED;
  Handle kernel = kernel_of(*static_cast<Module*>(module), name);
  if (!kernel) return HD_DEVICE_FAILED;
  const int bad =
      set_arguments(kernel, static_cast<const size_t*>(sizes), arguments, is_buffer, shared_bytes);
  if (bad) return fail(bad, "arguments of", name);
  size_t all[3], block[3];
  for (int d = 0; d < 3; ++d) {
    block[d] = size_t(threads[d]);
    all[d] = size_t(blocks[d]) * block[d];
  }
  const int error = state.cl.clEnqueueNDRangeKernel(state.queue, kernel, 3, nullptr, all, block, 0,
                                                    nullptr, nullptr);
  return error ? fail(error, "launch", name) : HD_OK;
}

}  // namespace
}  // namespace hdcore::opencl

using namespace hdcore::opencl;  // NOLINT: the functions above, in a table

extern "C" {

const hd_device hd_opencl_device = {"opencl", kAlignment, open,   allocate, view,    release,
                                    begin,    end,        write,  read,     copy,    failed,
                                    wait,     load,       launch, fail_run, nullptr, nullptr};

const char* hd_opencl_device_name(void) { return state.name; }
uint64_t hd_opencl_live_memories(void) {
  const Lock lock;
  return state.live;
}

}  // extern "C"
