// A call from entry to outputs: steps, donation, copies, hooks, cancelling, faults.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "runtime/handmade.h"

namespace heddle::testing {
namespace {

int add_one(void** argv) {
  const float* in = floats(argv, 1);
  float* out = floats(argv, 2);
  for (int64_t i = 0; i < elements(buffer(argv, 2)); ++i) out[i] = in[i] + 1;
  return 0;
}

int twice(void** argv) {
  const float* in = floats(argv, 1);
  float* out = floats(argv, 2);
  for (int64_t i = 0; i < elements(buffer(argv, 2)); ++i) out[i] = in[i] * 2;
  return 0;
}

int square_root(void** argv) {
  for (int64_t i = 0; i < elements(buffer(argv, 2)); ++i)
    floats(argv, 2)[i] = std::sqrt(floats(argv, 1)[i]);
  return 0;
}

int fail_with_seven(void**) { return 7; }

// y = 2 (x + 1), through the arena.
ArtifactDescription two_steps() {
  return two_kernels(kernel("add_one", add_one), kernel("twice", twice));
}

TEST(Run, StepsRunInOrderThroughTheArena) {
  const ArtifactTables tables(two_steps());
  Instance instance(tables);
  ASSERT_EQ(instance.status, HD_OK) << hd_error(nullptr);
  float x[16], y[16] = {};
  for (int i = 0; i < 16; ++i) x[i] = static_cast<float>(i);
  ASSERT_EQ(instance.run(x, y), HD_OK) << instance.error();
  for (int i = 0; i < 16; ++i) EXPECT_EQ(y[i], 2 * (x[i] + 1));
}

TEST(Run, DonatedInputIsUpdatedInPlace) {
  FunctionDescription f;
  f.buffers = {argument(0, {3}), argument(1, {3})};
  f.steps = {kernel_step(0, {0}, {1})};
  const ArtifactTables tables(one_function("step", {{"w", DType::f32, {3}, true}},
                                           {{"w", DType::f32, {3}, false, 0}}, f,
                                           {kernel("k", add_one)}));
  EXPECT_EQ(tables.artifact().signatures[0].n_arguments, 1u);
  Instance instance(tables);
  float w[3] = {1, 2, 3};
  ASSERT_EQ(instance.run(w), HD_OK) << instance.error();
  EXPECT_EQ(w[2], 4);
  const int64_t shape[] = {3};
  const hd_tensor in = {w, shape, nullptr, HD_F32, 1, 0},
                  out = {nullptr, shape, nullptr, HD_F32, 1, 0};
  const hd_tensor tensors[] = {in, out};
  ASSERT_EQ(hd_run_tensors(instance.handle, 0, tensors, 2), HD_OK) << instance.error();
  EXPECT_EQ(w[2], 5);
  float other[3];
  const hd_tensor wrong[] = {in, {other, shape, nullptr, HD_F32, 1, 0}};
  EXPECT_EQ(hd_run_tensors(instance.handle, 0, wrong, 2), HD_INVALID);
  EXPECT_EQ(
      instance.error(),
      "mlp.step: output 'w' replaces the donated argument 'w': pass the same storage, or null");
}

TEST(Run, TreeIsOnePointer) {
  SignatureDescription s{
      "step", "", {{"params", 24, HD_IN | HD_OUT, 4}, {"x", 8, HD_IN, 4}}, {}, {}};
  s.inputs = {{"params.a", DType::f32, {4}, true, -1, 0, 0},
              {"params.b", DType::f32, {2}, true, -1, 0, 16},
              {"x", DType::f32, {2}, false, -1, 1, 0}};
  s.outputs = {{"params.b", DType::f32, {2}, false, 1, 0, 16}};
  FunctionDescription f;
  f.buffers = {argument(2, {2}), argument(3, {2})};
  f.steps = {kernel_step(0, {0}, {1})};
  const ArtifactTables tables({"t", {s}, {{"", {f}, {kernel("k", twice)}, 0, nullptr}}, {}, -1});
  Instance instance(tables);
  float params[6] = {1, 2, 3, 4, 5, 6};
  const float x[2] = {10, 20};
  ASSERT_EQ(instance.run(params, x), HD_OK) << instance.error() << hd_error(nullptr);
  EXPECT_EQ(params[3], 4);
  EXPECT_EQ(params[4], 20);
  EXPECT_EQ(params[5], 40);
}

TEST(Run, CopyFollowsStrides) {
  FunctionDescription f;
  BufferDescription transposed = argument(0, {3, 2});
  transposed.strides = {1, 3};
  f.buffers = {transposed, argument(1, {3, 2})};
  StepDescription copy = kernel_step(0, {0}, {1});
  copy.kind = HD_STEP_COPY;
  f.steps = {copy};
  const ArtifactTables tables(
      one_function("t", {{"x", DType::f32, {2, 3}}}, {{"y", DType::f32, {3, 2}}}, f, {}));
  Instance instance(tables);
  const float x[6] = {0, 1, 2, 3, 4, 5};
  float y[6];
  ASSERT_EQ(instance.run(x, y), HD_OK) << instance.error() << hd_error(nullptr);
  const float expected[6] = {0, 3, 1, 4, 2, 5};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(y[i], expected[i]) << i;
}

int fill_prepared(void** argv) {
  for (int64_t i = 0; i < elements(buffer(argv, 1)); ++i) floats(argv, 1)[i] = 100;
  return 0;
}
int add_both(void** argv) {
  for (int64_t i = 0; i < elements(buffer(argv, 3)); ++i)
    floats(argv, 3)[i] = floats(argv, 1)[i] + floats(argv, 2)[i];
  return 0;
}

TEST(Run, PrepareRunsOncePerInstance) {
  SignatureDescription f{"f", "", {}, {{"x", DType::f32, {2}}}, {{"y", DType::f32, {2}}}};
  assign_arguments(f);
  SignatureDescription prepare{
      "prepare", "", {{"prepared", 8, HD_OUT, 4}}, {}, {{"p", DType::f32, {2}}}};
  FunctionDescription body, prepare_body;
  body.buffers = {argument(0, {2}), argument(1, {2}), {HD_PREPARED, 0, 0, DType::f32, {2}, {}}};
  body.steps = {kernel_step(1, {0, 2}, {1})};
  prepare_body.buffers = {argument(0, {2})};
  prepare_body.steps = {kernel_step(0, {}, {0})};
  PlanDescription plan{
      "", {body, prepare_body}, {kernel("p", fill_prepared), kernel("a", add_both)}, 8, nullptr};
  const ArtifactTables tables({"mlp", {f, prepare}, {plan}, {}, 1});
  Instance instance(tables);
  ASSERT_EQ(instance.status, HD_OK) << hd_error(nullptr);
  const float x[2] = {1, 2};
  float y[2];
  ASSERT_EQ(instance.run(x, y), HD_OK) << instance.error();
  EXPECT_EQ(y[1], 102);
  EXPECT_EQ(hd_find_function(&tables.artifact(), "prepare"), -1);
  EXPECT_EQ(instance.run_function(1, y), HD_INVALID);
}

TEST(Run, HookSeesEachStepTwice) {
  const ArtifactTables tables(two_steps());
  std::vector<std::string> seen;
  hd_options o = options();
  o.step_user = &seen;
  o.step_hook = [](void* user, const hd_step_event* e) {
    static_cast<std::vector<std::string>*>(user)->push_back(
        std::to_string(e->step) + (e->end ? " end " : " begin ") + e->kernel + " " + e->source +
        " " + std::to_string(e->flops));
  };
  Instance instance(tables, &o);
  float x[16] = {}, y[16];
  ASSERT_EQ(instance.run(x, y), HD_OK);
  const std::vector<std::string> expected = {
      "0 begin add_one add model.cpp:3 10", "0 end add_one add model.cpp:3 10",
      "1 begin twice mul model.cpp:4 10", "1 end twice mul model.cpp:4 10"};
  EXPECT_EQ(seen, expected);
}

TEST(Run, CancelFlagStopsBeforeTheNextStep) {
  const ArtifactTables tables(two_steps());
  static int32_t cancel;
  cancel = 0;
  hd_options o = options();
  o.cancel = &cancel;
  o.step_hook = [](void*, const hd_step_event* e) { cancel = static_cast<int32_t>(e->end); };
  Instance instance(tables, &o);
  float x[16] = {}, y[16] = {};
  EXPECT_EQ(instance.run(x, y), HD_CANCELLED);
  EXPECT_EQ(instance.error(), "mlp.f: step 1 (twice: mul model.cpp:4): cancelled");
  EXPECT_EQ(y[0], 0);
}

TEST(Run, SecondConcurrentCallIsBusy) {
  const ArtifactTables tables(two_steps());
  struct Nested {
    hd_instance* instance = nullptr;
    int status = -1;
  } nested;
  hd_options o = options();
  o.step_user = &nested;
  o.step_hook = [](void* user, const hd_step_event*) {
    Nested& n = *static_cast<Nested*>(user);
    float x[16], y[16];
    void* arguments[] = {x, y};
    std::thread([&] { n.status = hd_run(n.instance, 0, arguments, 2); }).join();
  };
  Instance instance(tables, &o);
  nested.instance = instance.handle;
  float x[16] = {}, y[16];
  EXPECT_EQ(instance.run(x, y), HD_OK);
  EXPECT_EQ(nested.status, HD_BUSY);
}

TEST(Run, CheckNanNamesTheFirstStep) {
  ArtifactDescription d = two_steps();
  d.plans[0].kernels[0].run = square_root;
  const ArtifactTables tables(d);
  hd_options o = options();
  o.flags = HD_CHECK_NAN;
  Instance instance(tables, &o);
  float x[16] = {}, y[16];
  EXPECT_EQ(instance.run(x, y), HD_OK);
  x[7] = -1;
  EXPECT_EQ(instance.run(x, y), HD_NONFINITE);
  EXPECT_EQ(instance.error(),
            "mlp.f: step 0 (add_one: add model.cpp:3) made a value that is nan in its output 0, "
            "f32[4,4]");
}

TEST(Run, KernelErrorNamesTheStep) {
  ArtifactDescription d = two_steps();
  d.plans[0].kernels[1].run = fail_with_seven;
  const ArtifactTables tables(d);
  Instance instance(tables);
  float x[16] = {}, y[16];
  EXPECT_EQ(instance.run(x, y), HD_KERNEL_FAILED);
  EXPECT_EQ(instance.error(), "mlp.f: step 1 (twice: mul model.cpp:4): the kernel returned 7");
}

int set_fault(void** argv) {
  *reinterpret_cast<int32_t*>(buffer(argv, 2).host) = floats(argv, 1)[0] > 5;
  return 0;
}

TEST(Run, FaultOutputEndsTheRun) {
  FunctionDescription f;
  f.buffers = {argument(0, {1}), argument(1, {}, DType::i32)};
  f.steps = {kernel_step(0, {0}, {1}, "add model.cpp:9")};
  f.steps[0].fault = 1;
  const ArtifactTables tables(one_function(
      "f", {{"x", DType::f32, {1}}}, {{"fault", DType::i32, {}}}, f, {kernel("k", set_fault)}));
  Instance instance(tables);
  ASSERT_EQ(instance.status, HD_OK) << hd_error(nullptr);
  float x = 1;
  int32_t fault;
  EXPECT_EQ(instance.run(&x, &fault), HD_OK);
  x = 6;
  EXPECT_EQ(instance.run(&x, &fault), HD_FAULT);
  EXPECT_EQ(instance.error(), "mlp.f: step 0 (k: add model.cpp:9): a checked operation overflowed");
}

TEST(Run, ControlStepsAreRefusedByName) {
  const char* const names[] = {"call", "cond", "while", "scan"};
  for (int kind = HD_STEP_CALL; kind <= HD_STEP_SCAN; ++kind) {
    ArtifactDescription d = two_steps();
    d.plans[0].functions[0].steps[1].kind = static_cast<uint16_t>(kind);
    const ArtifactTables tables(d);
    Instance instance(tables);
    float x[16] = {}, y[16];
    EXPECT_EQ(instance.run(x, y), HD_UNSUPPORTED);
    EXPECT_EQ(instance.error(),
              std::string("mlp.f: step 1 (") + names[kind - HD_STEP_CALL] +
                  ": mul model.cpp:4): steps of this kind are not supported by this runtime");
  }
}

TEST(Run, EmptyOutputsReachNoKernel) {
  FunctionDescription f;
  f.buffers = {argument(0, {0, 3}), argument(1, {0, 3})};
  f.steps = {kernel_step(0, {0}, {1})};
  const ArtifactTables tables(one_function("f", {{"x", DType::f32, {0, 3}}},
                                           {{"y", DType::f32, {0, 3}}}, f,
                                           {kernel("k", fail_with_seven)}));
  Instance instance(tables);
  EXPECT_EQ(instance.run(static_cast<float*>(nullptr), static_cast<float*>(nullptr)), HD_OK)
      << instance.error();
}

}  // namespace
}  // namespace heddle::testing
