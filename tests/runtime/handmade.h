// Hand-made artifacts whose kernels are C++ functions: what the runtime's tests run.
#ifndef HEDDLE_TESTS_RUNTIME_HANDMADE_H_
#define HEDDLE_TESTS_RUNTIME_HANDMADE_H_

#include <string>
#include <vector>

#include "heddle/runtime/core/abi.h"
#include "heddle/runtime/tables.h"

namespace heddle::testing {

// Halide 21's structs, as kernels see them.
struct Dimension {
  int32_t min, extent, stride;
  uint32_t flags;
};
struct Buffer {
  uint64_t device;
  const void* device_interface;
  uint8_t* host;
  uint64_t flags;
  uint8_t code, bits;
  uint16_t lanes;
  int32_t dimensions;
  Dimension* dim;
  void* padding;
};

inline Buffer& buffer(void** argv, int i) { return *static_cast<Buffer*>(argv[i]); }
inline float* floats(void** argv, int i) { return reinterpret_cast<float*>(buffer(argv, i).host); }
inline void* context(void** argv) { return *static_cast<void**>(argv[0]); }
inline const hd_services& services(void* context) {
  return *static_cast<hd_context*>(context)->services;
}
inline int64_t elements(const Buffer& b) {
  int64_t n = 1;
  for (int i = 0; i < b.dimensions; ++i) n *= b.dim[i].extent;
  return n;
}

inline BufferDescription argument(uint32_t tensor, std::vector<int64_t> dims,
                                  DType dtype = DType::f32) {
  return {HD_ARGUMENT, tensor, 0, dtype, std::move(dims), {}};
}
inline BufferDescription arena(uint64_t offset, std::vector<int64_t> dims,
                               DType dtype = DType::f32) {
  return {HD_ARENA, 0, offset, dtype, std::move(dims), {}};
}
inline StepDescription kernel_step(uint32_t kernel, std::vector<uint32_t> in,
                                   std::vector<uint32_t> out, std::string source = "") {
  StepDescription s;
  s.kernel = kernel;
  s.inputs = std::move(in);
  s.outputs = std::move(out);
  s.source = std::move(source);
  return s;
}
inline KernelDescription kernel(std::string name, hd_kernel_fn run, uint64_t once = 0,
                                uint64_t task = 0) {
  return {std::move(name), run, 10, 20, once, task};
}

/// One function of f32 tensors with one plan.
inline ArtifactDescription one_function(std::string name, std::vector<TensorDescription> in,
                                        std::vector<TensorDescription> out,
                                        FunctionDescription body,
                                        std::vector<KernelDescription> kernels) {
  SignatureDescription s{std::move(name), "", {}, std::move(in), std::move(out)};
  assign_arguments(s);
  PlanDescription plan{"", {std::move(body)}, std::move(kernels), 0, nullptr};
  return {"mlp", {std::move(s)}, {std::move(plan)}, {}, -1};
}

/// y = second(first(x)), through the arena.
inline ArtifactDescription two_kernels(KernelDescription first, KernelDescription second) {
  FunctionDescription f;
  f.buffers = {argument(0, {4, 4}), argument(1, {4, 4}), arena(0, {4, 4})};
  f.steps = {kernel_step(0, {0}, {2}, "add model.cpp:3"),
             kernel_step(1, {2}, {1}, "mul model.cpp:4")};
  f.arena_bytes = 64;
  return one_function("f", {{"x", DType::f32, {4, 4}}}, {{"y", DType::f32, {4, 4}}}, f,
                      {std::move(first), std::move(second)});
}

/// An instance that is destroyed at the end of the scope.
struct Instance {
  explicit Instance(const ArtifactTables& tables, const hd_options* options = nullptr) {
    status = hd_create(&tables.artifact(), options, &handle);
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance() { hd_destroy(handle); }
  template <class... T>
  int run(T*... pointers) {
    return run_function(0, pointers...);
  }
  template <class... T>
  int run_function(uint32_t function, T*... pointers) {
    void* arguments[] = {const_cast<void*>(static_cast<const void*>(pointers))...};
    return hd_run(handle, function, arguments, sizeof...(pointers));
  }
  std::string error() const { return hd_error(handle); }
  hd_instance* handle = nullptr;
  int status;
};

inline hd_options options() {
  hd_options o = {};
  o.size = sizeof o;
  return o;
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_RUNTIME_HANDMADE_H_
