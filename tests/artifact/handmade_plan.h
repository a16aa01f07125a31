// Plans and kernels made by hand: the kernels are C, compiled by the system's compiler, and stand
// for the worker's objects.
#ifndef HEDDLE_TESTS_ARTIFACT_HANDMADE_PLAN_H_
#define HEDDLE_TESTS_ARTIFACT_HANDMADE_PLAN_H_

#include <string>
#include <vector>

#include "heddle/backends/artifact/describe.h"
#include "heddle/backends/artifact/toolchain.h"

namespace heddle::testing {

/// What a kernel's source can use: F(i) is port i as floats, N(i) its number of elements.
inline constexpr char kKernelBegin[] = R"(
#include <stdint.h>
#include <stddef.h>
typedef struct { int32_t min, extent, stride; uint32_t flags; } dim_t;
typedef struct { uint64_t device; const void *interface; uint8_t *host; uint64_t flags; uint8_t code, bits; uint16_t lanes;
                 int32_t dimensions; dim_t *dim; void *padding; } buffer_t;
extern int halide_do_par_for(void *context, int (*task)(void *, int, uint8_t *), int first, int count, uint8_t *closure);
extern void *halide_malloc(void *context, size_t bytes);
extern void halide_free(void *context, void *pointer);
#define B(i) ((buffer_t *)argv[1 + (i)])
#define F(i) ((float *)B(i)->host)
#define CONTEXT (*(void **)argv[0])
static inline int64_t count(const buffer_t *b) { int64_t n = 1; for (int i = 0; i < b->dimensions; ++i) n *= b->dim[i].extent; return n; }
#define N(i) count(B(i))
)";

/// Compiles `body` as `int symbol(void **argv) { body }`; `before` holds functions it uses.
inline KernelObject compile_kernel(const std::string& symbol, const std::string& body,
                                   const std::string& before = "") {
  const TemporaryFolder folder;
  put_file(folder.path(), "kernel.c",
           std::string_view(kKernelBegin + before + "\nint " + symbol + "(void **argv) {\n" + body +
                            "\n  return 0;\n}\n"));
  run_tool({tool("cc"), "-std=c11", "-O1", "-fPIC", "-ffp-contract=off", "-c", "-o", "kernel.o",
            "kernel.c"},
           folder.path());
  return {take_file(folder.path(), "kernel.o"), symbol, 0, 0};
}

inline Type f32(std::vector<std::int64_t> dims) {
  Type type{DType::f32, {}};
  for (std::int64_t d : dims) type.dims.push_back(d);
  return type;
}

inline Buffer buffer(Space space, std::uint32_t index, const Type& type, std::int64_t offset = 0) {
  Dims strides(type.dims.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * type.dims[i];
  return {space, index, offset, type, strides};
}

inline Step kernel_step(std::uint32_t kernel, std::vector<std::uint32_t> buffers,
                        std::string label) {
  return {KernelStep{kernel, std::move(buffers)}, 0, {}, std::move(label), 100, 200};
}

inline Kernel kernel_with_ports(std::size_t in, std::size_t out) {
  Kernel k;
  k.in.resize(in);
  k.out.resize(out);
  k.recipe = Map{};
  return k;
}

inline Target this_machine() { return {"x86-64-linux", {}, "cpu"}; }

/// A line: predict(x, params{w, b}) and a step that fits it in place. Kernels: a parallel loop with
/// scratch, an update, and a constant.
struct Line {
  Plan plan;
  std::vector<KernelObject> objects;
  CompiledPlan compiled() const { return {&plan, objects}; }
};

inline Line make_line(float rate = 0.5f) {
  Line line;
  const Type x = f32({8}), scalar = f32({});
  FunctionPlan predict{"predict",
                       {{"x", x}, {"params.w", scalar}, {"params.b", scalar}},
                       {{"y", x}},
                       {buffer(Space::argument, 0, x), buffer(Space::argument, 1, scalar),
                        buffer(Space::argument, 2, scalar), buffer(Space::argument, 3, x)},
                       {kernel_step(0, {0, 1, 2, 3}, "mul+add")},
                       0};
  FunctionPlan step{
      "step",
      {{"x", x}, {"t", x}, {"params.w", scalar, true}, {"params.b", scalar, true}},
      {{"loss", scalar}, {"params.w", scalar, false, 2}, {"params.b", scalar, false, 3}},
      {buffer(Space::argument, 0, x), buffer(Space::argument, 1, x),
       buffer(Space::argument, 2, scalar), buffer(Space::argument, 3, scalar),
       buffer(Space::arena, 0, x), buffer(Space::constant, 0, scalar),
       buffer(Space::argument, 4, scalar), buffer(Space::argument, 5, scalar),
       buffer(Space::argument, 6, scalar)},
      {kernel_step(0, {0, 2, 3, 4}, "mul+add"),
       kernel_step(1, {0, 1, 4, 2, 3, 5, 6, 7, 8}, "loss+update")},
      64};
  line.plan = {this_machine(),
               {predict, step},
               {kernel_with_ports(3, 1), kernel_with_ports(6, 3)},
               {make_literal<float>({}, {rate})}};
  KernelObject predict_kernel = compile_kernel("hd_k1", R"(
  void *closure[] = {argv, halide_malloc(CONTEXT, 100)};
  int status = halide_do_par_for(CONTEXT, task, 0, (int)N(0), (uint8_t *)closure);
  halide_free(CONTEXT, closure[1]);
  if (status) return status;)",
                                               R"(int task(void *context, int i, uint8_t *closure) {
  void **argv = *(void ***)closure;
  float *tile = (float *)halide_malloc(context, 64);
  tile[0] = F(0)[i] * F(1)[0];
  F(3)[i] = tile[0] + F(2)[0];
  halide_free(context, tile);
  return 0;
})");
  predict_kernel.scratch_once = 128;
  predict_kernel.scratch_task = 64;
  line.objects = {predict_kernel, compile_kernel("hd_k2", R"(
  float loss = 0, dw = 0, db = 0;
  const float n = (float)N(0);
  for (int i = 0; i < N(0); ++i) {
    const float e = F(2)[i] - F(1)[i];
    loss += e * e / n;
    dw += 2 * e * F(0)[i] / n;
    db += 2 * e / n;
  }
  F(6)[0] = loss;
  F(7)[0] = F(3)[0] - F(5)[0] * dw;
  F(8)[0] = F(4)[0] - F(5)[0] * db;)")};
  return line;
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_ARTIFACT_HANDMADE_PLAN_H_
