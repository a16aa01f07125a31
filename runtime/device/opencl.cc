#include "heddle/runtime/device/opencl.h"

#include "heddle/runtime/core/core.h"

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
constexpr int kOutOfMemory = -4;

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
  F(clReleaseMemObject, int, (Handle))                                                             \
  F(clEnqueueWriteBuffer, int,                                                                     \
    (Handle, Handle, uint32_t, size_t, size_t, const void*, uint32_t, const void*, void*))         \
  F(clEnqueueReadBuffer, int,                                                                      \
    (Handle, Handle, uint32_t, size_t, size_t, void*, uint32_t, const void*, void*))               \
  F(clCreateProgramWithSource, Handle, (Handle, uint32_t, const char**, const size_t*, int*))      \
  F(clBuildProgram, int, (Handle, uint32_t, const Handle*, const char*, void*, void*))             \
  F(clGetProgramBuildInfo, int, (Handle, Handle, uint32_t, size_t, void*, size_t*))                \
  F(clCreateKernel, Handle, (Handle, const char*, int*))                                           \
  F(clSetKernelArg, int, (Handle, uint32_t, size_t, const void*))                                  \
  F(clEnqueueNDRangeKernel, int,                                                                   \
    (Handle, Handle, uint32_t, const size_t*, const size_t*, const size_t*, uint32_t, const void*, \
     void*))                                                                                       \
  F(clFinish, int, (Handle))

struct Library {
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
  Library cl;
  Handle context, device, queue;
  Module* modules;
  const char* options;
  uint64_t live;
  int first_error;
  bool ready;
  char name[256], words[1024], why[256];
};
State state;
hd_mutex_storage mutex;  // all zero is a mutex that nobody holds, on Linux

struct Lock {
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};
const char kInterface = 0;

// The first failure is kept; the ones after it follow from it.
int fail(int error, const char* what, const char* name) {
  if (state.first_error != 0) return error;
  state.first_error = error;
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
    return HD_UNSUPPORTED;
  }
  if (!find_device(kGpu) && !find_device(kAnyDevice)) {
    why << "libOpenCL.so.1 knows no device (install a driver, such as pocl-opencl-icd)";
    return HD_UNSUPPORTED;
  }
  int error = 0;
  state.context = state.cl.clCreateContext(nullptr, 1, &state.device, nullptr, nullptr, &error);
  if (!error) state.queue = state.cl.clCreateCommandQueue(state.context, state.device, 0, &error);
  if (error) {
    why << state.name << ": OpenCL error " << error;
    return HD_UNSUPPORTED;
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

uint64_t bytes_of(const HalideBuffer& b) {
  int64_t last = 0;
  for (int d = 0; d < b.dimensions; ++d) last += int64_t{b.dim[d].extent - 1} * b.dim[d].stride;
  return uint64_t(last + 1) * uint64_t((b.bits + 7) / 8);
}

}  // namespace

int open(char* why, size_t size) {
  const Lock lock;
  const int status = state.ready ? HD_OK : connect();
  if (status) Text(why, size) << state.why;
  return status;
}
const char* device_name() { return state.name; }

uint64_t allocate(uint64_t bytes) {
  const Lock lock;
  int error = 0;
  Handle memory = state.cl.clCreateBuffer(state.context, kReadWrite, bytes, nullptr, &error);
  if (error) return 0;
  ++state.live;
  return reinterpret_cast<uint64_t>(memory);
}
void release(uint64_t memory) {
  const Lock lock;
  state.cl.clReleaseMemObject(reinterpret_cast<Handle>(memory));
  --state.live;
}
int write(uint64_t memory, uint64_t offset, const void* from, uint64_t bytes) {
  const Lock lock;
  return state.cl.clEnqueueWriteBuffer(state.queue, reinterpret_cast<Handle>(memory), kTrue, offset,
                                       bytes, from, 0, nullptr, nullptr);
}
int read(uint64_t memory, uint64_t offset, void* to, uint64_t bytes) {
  const Lock lock;
  return state.cl.clEnqueueReadBuffer(state.queue, reinterpret_cast<Handle>(memory), kTrue, offset,
                                      bytes, to, 0, nullptr, nullptr);
}
int finish() {
  const Lock lock;
  if (const int error = state.cl.clFinish(state.queue)) fail(error, "waiting for", "launches");
  const int first = state.first_error;
  state.first_error = 0;
  return first;
}
const char* error_text() { return state.words; }
const void* device_interface() { return &kInterface; }
uint64_t live_allocations() {
  const Lock lock;
  return state.live;
}

}  // namespace hdcore::opencl

// ---- what kernels call: Halide 21's names and layouts ----

using namespace hdcore::opencl;  // NOLINT: the functions above, under the names kernels know

extern "C" {

const void* halide_opencl_device_interface() { return device_interface(); }

int halide_opencl_initialize_kernels(void*, void** module, const char* text, int size) {
  const Lock lock;
  if (*module) return HD_OK;
  const auto length = uint64_t(size) - 1;  // it ends with a zero
  const uint64_t hash = hdcore::hash_bytes(hdcore::kHashStart, text, length);
  for (Module* m = state.modules; m; m = m->next) {
    if (m->hash == hash && m->size == length) return *module = m, HD_OK;
  }
  *module = build(text, length, hash);
  return *module ? HD_OK : HD_KERNEL_FAILED;
}

void halide_opencl_finalize_kernels(void*, void*) {}

int halide_opencl_run(void*, void* module, const char* name, int blocks_x, int blocks_y,
                      int blocks_z, int threads_x, int threads_y, int threads_z, int shared_bytes,
                      const size_t* sizes, void** args, const int8_t* is_buffer) {
  const Lock lock;
  // What follows a failure would compute with what is not there.
  if (!module || state.first_error) return HD_KERNEL_FAILED;
  Handle kernel = kernel_of(*static_cast<Module*>(module), name);
  if (!kernel) return HD_KERNEL_FAILED;
  const int bad = set_arguments(kernel, sizes, args, is_buffer, shared_bytes);
  if (bad) return fail(bad, "arguments of", name);
  const size_t threads[] = {size_t(threads_x), size_t(threads_y), size_t(threads_z)};
  const size_t all[] = {threads[0] * size_t(blocks_x), threads[1] * size_t(blocks_y),
                        threads[2] * size_t(blocks_z)};
  const int error = state.cl.clEnqueueNDRangeKernel(state.queue, kernel, 3, nullptr, all, threads,
                                                    0, nullptr, nullptr);
  return error ? fail(error, "launch", name) : HD_OK;
}

int halide_device_malloc(void*, hdcore::HalideBuffer* buffer, const void* interface) {
  if (buffer->device) return HD_OK;
  buffer->device = allocate(bytes_of(*buffer));
  buffer->device_interface = interface;
  if (buffer->device) return HD_OK;
  const Lock lock;
  return fail(kOutOfMemory, "device memory for", "an array between launches");
}

int halide_device_free(void*, hdcore::HalideBuffer* buffer) {
  if (buffer->device) release(buffer->device);
  buffer->device = 0;
  buffer->device_interface = nullptr;
  return HD_OK;
}
void halide_device_free_as_destructor(void* context, void* buffer) {
  halide_device_free(context, static_cast<hdcore::HalideBuffer*>(buffer));
}

// Arguments are in device memory already.
int halide_copy_to_device(void* context, hdcore::HalideBuffer* buffer, const void* interface) {
  return halide_device_malloc(context, buffer, interface);
}

}  // extern "C"
