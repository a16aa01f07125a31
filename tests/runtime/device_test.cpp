// Plans with a device: what is sent, launched and fetched, in which order, and what becomes of
// failures.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/handmade.h"
#include "runtime/queued_device.h"

namespace heddle::testing {
namespace {

using queued::launch;
using Calls = std::vector<std::string>;

ArtifactDescription on_device(ArtifactDescription d) {
  d.plans[0].device = &queued::device;
  return d;
}

// y = 2 (x + 1), through the arena.
ArtifactDescription two_steps() {
  return on_device(
      two_kernels(kernel("k0", launch<queued::kAddOne>), kernel("k1", launch<queued::kTwice>)));
}

class Device : public ::testing::Test {
 protected:
  void SetUp() override { queued::reset(); }
  void TearDown() override {
    EXPECT_EQ(queued::live_memories(), 0);
    EXPECT_EQ(queued::faults(), Calls{});
  }
};

TEST_F(Device, ARunSendsLaunchesFetchesAndWaitsOnce) {
  const ArtifactTables tables(two_steps());
  Instance instance(tables);
  ASSERT_EQ(instance.status, HD_OK) << hd_error(nullptr);
  queued::take_calls();
  float x[16], y[16] = {};
  for (int i = 0; i < 16; ++i) x[i] = static_cast<float>(i);
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(instance.run(x, y), HD_OK) << instance.error();
    for (int i = 0; i < 16; ++i) EXPECT_EQ(y[i], 2 * (x[i] + 1));
    EXPECT_EQ(queued::take_calls(), (Calls{"write", "add_one", "twice", "read", "wait"}));
  }
}

TEST_F(Device, TheWorkspaceIsTheHostsPartAndTheDevicesIsKnown) {
  const ArtifactTables tables(two_steps());
  const hd_plan& plan = tables.artifact().plans[0];
  EXPECT_EQ(hd_plan_workspace_bytes(&plan, 1), 0u);
  // arena, x, y, and a line behind them
  EXPECT_EQ(hd_device_bytes(&tables.artifact(), &plan, 0), 4 * queued::kAlignment);
  EXPECT_EQ(hd_device_bytes(&tables.artifact(), &plan, HD_DEVICE_TENSORS), 2 * queued::kAlignment);
  Instance instance(tables);
  EXPECT_EQ(hd_threads(instance.handle), 1);
}

TEST_F(Device, DonatedTensorsGoForthAndBack) {
  FunctionDescription f;
  f.buffers = {argument(0, {3}), argument(1, {3})};
  f.steps = {kernel_step(0, {0}, {1})};
  const ArtifactTables tables(on_device(one_function("step", {{"w", DType::f32, {3}, true}},
                                                     {{"w", DType::f32, {3}, false, 0}}, f,
                                                     {kernel("k", launch<queued::kAddOne>)})));
  Instance instance(tables);
  float w[3] = {1, 2, 3};
  ASSERT_EQ(instance.run(w), HD_OK) << instance.error();
  EXPECT_EQ(w[2], 4);
  const int64_t shape[] = {3};
  const hd_tensor tensors[] = {{w, shape, nullptr, HD_F32, 1, 0},
                               {nullptr, shape, nullptr, HD_F32, 1, 0}};
  ASSERT_EQ(hd_run_tensors(instance.handle, 0, tensors, 2), HD_OK) << instance.error();
  EXPECT_EQ(w[2], 5);
}

TEST_F(Device, TensorsThatAreThereStayThere) {
  const hd_memory x = queued::device.allocate(64), y = queued::device.allocate(64);
  {
    const ArtifactTables tables(two_steps());
    Instance instance(tables);
    queued::device.begin();
    const std::vector<float> ones(16, 1.0f);
    char why[100];
    queued::device.write(x, 0, ones.data(), 64);
    EXPECT_EQ(queued::device.wait(why, sizeof why), HD_OK);
    queued::device.end();
    queued::take_calls();
    const int64_t shape[] = {4, 4};
    const hd_tensor there[] = {{nullptr, shape, nullptr, HD_F32, 2, x},
                               {nullptr, shape, nullptr, HD_F32, 2, y}};
    ASSERT_EQ(hd_run_tensors(instance.handle, 0, there, 2), HD_OK) << instance.error();
    EXPECT_EQ(queued::take_calls(), (Calls{"add_one", "twice", "wait"}));
    float got[16] = {};
    const hd_tensor mixed[] = {there[1], {got, shape, nullptr, HD_F32, 2, 0}};
    ASSERT_EQ(hd_run_tensors(instance.handle, 0, mixed, 2), HD_OK) << instance.error();
    EXPECT_EQ(got[7], 10);
    const hd_tensor same[] = {there[0], there[0]};
    EXPECT_EQ(hd_run_tensors(instance.handle, 0, same, 2), HD_OVERLAP);
    EXPECT_EQ(instance.error(), "mlp.f: argument 'y' is written and overlaps argument 'x'");
  }
  queued::device.release(x);
  queued::device.release(y);
}

TEST_F(Device, NoRoomIsMadeForTensorsThatAreThereAlways) {
  const ArtifactTables tables(two_steps());
  hd_options o = options();
  o.flags = HD_DEVICE_TENSORS;
  Instance instance(tables, &o);
  ASSERT_EQ(instance.status, HD_OK) << hd_error(nullptr);
  EXPECT_EQ(queued::live_memories(), 2);  // the block, a view of the arena
  float x[16] = {}, y[16];
  EXPECT_EQ(instance.run(x, y), HD_INVALID);
  EXPECT_EQ(instance.error(),
            "mlp.f: argument 'x' is in host memory; this instance takes tensors that are on its "
            "device");
  const int64_t shape[] = {4, 4};
  const hd_tensor tensors[] = {{x, shape, nullptr, HD_F32, 2, 0},
                               {y, shape, nullptr, HD_F32, 2, 0}};
  EXPECT_EQ(hd_run_tensors(instance.handle, 0, tensors, 2), HD_INVALID);
}

TEST_F(Device, ConstantsAreSentOnceAndCopiesStayThere) {
  static const float constant[2] = {5, 6};
  FunctionDescription f;
  f.buffers = {argument(0, {2}), argument(1, {2}), {HD_CONSTANT, 1, 0, DType::f32, {2}, {}}};
  StepDescription copy = kernel_step(0, {2}, {1});
  copy.kind = HD_STEP_COPY;
  f.steps = {kernel_step(0, {2}, {0}), copy};
  ArtifactDescription d =
      on_device(one_function("f", {}, {{"a", DType::f32, {2}}, {"b", DType::f32, {2}}}, f,
                             {kernel("k", launch<queued::kTwice>)}));
  d.constants = {{constant, 8}, {constant, 8}};  // nobody reads the first
  const ArtifactTables tables(d);
  Instance instance(tables);
  const Calls made = queued::take_calls();
  EXPECT_EQ(std::count(made.begin(), made.end(), "write"), 1);
  float a[2], b[2];
  ASSERT_EQ(instance.run(a, b), HD_OK) << instance.error();
  EXPECT_EQ(a[1], 12);
  EXPECT_EQ(b[0], 5);
  EXPECT_EQ(queued::take_calls(), (Calls{"twice", "copy", "read", "read", "wait"}));
}

TEST_F(Device, WhatPrepareMakesStaysThere) {
  static const float constant[2] = {1, 2};
  SignatureDescription f{"f", "", {}, {}, {{"y", DType::f32, {2}}}};
  assign_arguments(f);
  SignatureDescription prepare{
      "prepare", "", {{"prepared", 8, HD_OUT, 4}}, {}, {{"p", DType::f32, {2}}}};
  FunctionDescription body, prepare_body;
  body.buffers = {argument(0, {2}), {HD_PREPARED, 0, 0, DType::f32, {2}, {}}};
  body.steps = {kernel_step(0, {1}, {0})};
  prepare_body.buffers = {argument(0, {2}), {HD_CONSTANT, 0, 0, DType::f32, {2}, {}}};
  prepare_body.steps = {kernel_step(0, {1}, {0})};
  PlanDescription plan{
      "", {body, prepare_body}, {kernel("k", launch<queued::kTwice>)}, 8, &queued::device};
  const ArtifactTables tables({"mlp", {f, prepare}, {plan}, {{constant, 8}}, 1});
  Instance instance(tables);
  ASSERT_EQ(instance.status, HD_OK) << hd_error(nullptr);
  float y[2];
  ASSERT_EQ(instance.run(y), HD_OK) << instance.error();
  EXPECT_EQ(y[1], 8);
}

TEST_F(Device, EmptyTensorsAreNotSent) {
  FunctionDescription f;
  f.buffers = {argument(0, {0, 3}), argument(1, {0, 3})};
  f.steps = {kernel_step(0, {0}, {1})};
  const ArtifactTables tables(
      on_device(one_function("f", {{"x", DType::f32, {0, 3}}}, {{"y", DType::f32, {0, 3}}}, f,
                             {kernel("k", launch<queued::kTwice>)})));
  Instance instance(tables);
  queued::take_calls();
  EXPECT_EQ(instance.run(static_cast<float*>(nullptr), static_cast<float*>(nullptr)), HD_OK)
      << instance.error();
  EXPECT_EQ(queued::take_calls(), Calls{"wait"});
}

// z = root(x) and a flag that is not 0 when an x is above 100; then the flag's memory is reused.
ArtifactDescription with_flag() {
  FunctionDescription f;
  f.buffers = {argument(0, {4}), argument(1, {4}), arena(0, {}, DType::i32), arena(0, {4})};
  f.steps = {kernel_step(0, {0}, {2}, "add_checked model.cpp:7"), kernel_step(1, {0}, {3}),
             kernel_step(2, {3}, {1}, "sqrt model.cpp:8")};
  f.steps[0].fault = 1;
  f.arena_bytes = 64;
  return on_device(
      one_function("f", {{"x", DType::f32, {4}}}, {{"z", DType::f32, {4}}}, f,
                   {kernel("big", launch<queued::kIsBig>), kernel("one", launch<queued::kAddOne>),
                    kernel("root", launch<queued::kRoot>)}));
}

TEST_F(Device, FlagsAreReadBeforeTheirMemoryIsReused) {
  const ArtifactTables tables(with_flag());
  Instance instance(tables);
  queued::take_calls();
  float x[4] = {3, 8, 15, 24}, z[4];
  ASSERT_EQ(instance.run(x, z), HD_OK) << instance.error();
  EXPECT_EQ(z[1], 3);
  EXPECT_EQ(queued::take_calls(),
            (Calls{"write", "is_big", "read", "add_one", "root", "read", "wait"}));
  x[2] = 1000;
  EXPECT_EQ(instance.run(x, z), HD_FAULT);
  EXPECT_EQ(instance.error(),
            "mlp.f: step 0 (big: add_checked model.cpp:7): a checked operation overflowed");
}

TEST_F(Device, NanAndHooksWaitForEachStep) {
  const ArtifactTables tables(with_flag());
  hd_options o = options();
  o.flags = HD_CHECK_NAN;
  static int events;
  events = 0;
  o.step_hook = [](void*, const hd_step_event*) { ++events; };
  Instance instance(tables, &o);
  queued::take_calls();
  float x[4] = {3, 8, -15, 24}, z[4];
  EXPECT_EQ(instance.run(x, z), HD_NONFINITE);
  EXPECT_EQ(instance.error(),
            "mlp.f: step 2 (root: sqrt model.cpp:8) made a value that is nan in its output 0, "
            "f32[4]");
  EXPECT_EQ(events, 6);
  const Calls calls = queued::take_calls();
  EXPECT_GE(std::count(calls.begin(), calls.end(), "wait"), 5);
}

TEST_F(Device, AnAbsentDeviceSaysWhatToInstall) {
  queued::reset(-1, true);
  const ArtifactTables tables(two_steps());
  Instance instance(tables);
  EXPECT_EQ(instance.status, HD_NO_DEVICE);
  EXPECT_STREQ(hd_error(nullptr), "mlp: queued: install one");
}

// Every call that can fail, in create and in a run: one status, nothing leaks, and the instance
// runs again.
TEST_F(Device, AFailureAnywhereIsToldOnceAndTheInstanceStaysUsable) {
  static const float constant[4] = {5, 6, 7, 8};
  ArtifactDescription d = with_flag();
  d.plans[0].functions[0].buffers.push_back({HD_CONSTANT, 0, 0, DType::f32, {4}, {}});
  d.plans[0].functions[0].steps.push_back(kernel_step(1, {4}, {3}));
  d.constants = {{constant, 16}};
  const ArtifactTables tables(d);
  int created = 0, failures = 0;
  for (int at = 0;; ++at) {
    EXPECT_EQ(queued::live_memories(), 0) << at;
    EXPECT_EQ(queued::faults(), Calls{}) << at;
    queued::reset(at);
    Instance instance(tables);
    if (instance.status != HD_OK) {
      EXPECT_EQ(instance.status, HD_DEVICE_FAILED) << at;
      EXPECT_EQ(std::string(hd_error(nullptr)).substr(0, 5), "mlp: ") << at;
      ++failures;
    } else {
      if (created == 0) created = queued::fallible_calls();
      float x[4] = {3, 8, 15, 24}, z[4] = {};
      const int status = instance.run(x, z);
      if (status != HD_OK) {
        EXPECT_EQ(status, HD_DEVICE_FAILED) << at;
        EXPECT_NE(instance.error().find(" on queued: "), std::string::npos) << instance.error();
        ++failures;
        ASSERT_EQ(instance.run(x, z), HD_OK) << instance.error();
      }
      EXPECT_EQ(z[3], 5);
      if (status == HD_OK) break;
    }
  }
  EXPECT_GE(created, 8);
  EXPECT_GE(failures, created + 8);
}

TEST_F(Device, AFailedLaunchIsItsStep) {
  const ArtifactTables tables(two_steps());
  const int made = [&] {
    const Instance instance(tables);
    return queued::fallible_calls();
  }();
  queued::reset(made + 2);  // behind write and add_one
  Instance instance(tables);
  float x[16] = {}, y[16];
  EXPECT_EQ(instance.run(x, y), HD_DEVICE_FAILED);
  EXPECT_EQ(instance.error(), "mlp.f: step 1 (k1: mul model.cpp:4) -> f32[4,4] on queued: twice broke");
}

// y = 2 (x + 1) through arrays of the kernel's own, freed in another order than they were taken.
int through_arrays(void** argv) {
  const auto* c = *static_cast<hd_context**>(argv[0]);
  const hd_services& services = *c->services;
  hd_kernel_buffer between = *static_cast<hd_kernel_buffer*>(argv[1]);
  void* context = *static_cast<void**>(argv[0]);
  const hd_memory first = services.take_array(context, 100);
  between.device = services.take_array(context, 64);
  if (first != 0) services.give_array(context, first);
  if (between.device == 0) return 0;
  void *one[] = {argv[0], argv[1], &between}, *two[] = {argv[0], &between, argv[2]};
  launch<queued::kAddOne>(one);
  launch<queued::kTwice>(two);
  services.give_array(context, between.device);
  return 0;
}

TEST_F(Device, ArraysBetweenLaunchesAreInTheBlock) {
  ArtifactDescription d = two_steps();
  FunctionDescription& f = d.plans[0].functions[0];
  f.buffers.pop_back();
  f.steps = {kernel_step(0, {0}, {1}), kernel_step(0, {0}, {1})};
  f.arena_bytes = 0;
  d.plans[0].kernels = {kernel("k", through_arrays)};
  for (const std::uint64_t announced : {2 * queued::kAlignment, queued::kAlignment}) {
    d.plans[0].kernels[0].device_bytes = announced;
    const ArtifactTables tables(d);
    Instance instance(tables);
    ASSERT_EQ(instance.status, HD_OK) << hd_error(nullptr);
    const int live = queued::live_memories();
    queued::take_calls();
    float x[16] = {3}, y[16];
    const int status = instance.run(x, y);
    EXPECT_EQ(queued::live_memories(), live);
    const Calls calls = queued::take_calls();
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "allocate"), 0);
    if (announced == 2 * queued::kAlignment) {
      EXPECT_EQ(status, HD_OK) << instance.error();
      EXPECT_EQ(y[0], 8);
    } else {
      EXPECT_EQ(status, HD_DEVICE_FAILED);
      EXPECT_EQ(instance.error(),
                "mlp.f: step 0 (k) -> f32[4,4] on queued: no memory for an array between launches");
    }
  }
}

TEST_F(Device, PartsThatAViewCannotBeOfAreRefused) {
  ArtifactDescription d = two_steps();
  d.plans[0].functions[0].buffers[2].offset = 64;
  d.plans[0].functions[0].arena_bytes = 128;
  const ArtifactTables tables(d);
  Instance instance(tables);
  EXPECT_EQ(instance.status, HD_BAD_ARTIFACT);
  EXPECT_STREQ(hd_error(nullptr),
               "mlp.f: the tables are wrong: buffer 2: byte: found 64, needed a multiple of 256");
}

}  // namespace
}  // namespace heddle::testing
