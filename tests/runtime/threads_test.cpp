// Parallel loops: any number of threads gives the same bits, errors stop the loop, other people's
// pools work.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "runtime/handmade.h"

namespace heddle::testing {
namespace {

constexpr int kRows = 37, kColumns = 50;

int row(void*, int y, uint8_t* closure) {
  void** argv = *reinterpret_cast<void***>(closure);
  const float* in = floats(argv, 1) + y * kColumns;
  float sum = 0;
  for (int x = 0; x < kColumns; ++x) sum += std::sin(in[x]) / (1.0f + static_cast<float>(x));
  floats(argv, 2)[y] = sum;
  return 0;
}

int rows(void** argv) {
  void* c = context(argv);
  return services(c).do_par_for(c, row, 0, kRows, reinterpret_cast<uint8_t*>(&argv));
}

ArtifactDescription sums(hd_kernel_fn run = rows) {
  FunctionDescription f;
  f.buffers = {argument(0, {kRows, kColumns}), argument(1, {kRows})};
  f.steps = {kernel_step(0, {0}, {1})};
  return one_function("f", {{"x", DType::f32, {kRows, kColumns}}}, {{"y", DType::f32, {kRows}}}, f,
                      {kernel("rows", run)});
}

std::vector<float> run_sums(const ArtifactTables& tables, const hd_options& o) {
  Instance instance(tables, &o);
  EXPECT_EQ(instance.status, HD_OK) << hd_error(nullptr);
  std::vector<float> x(kRows * kColumns), y(kRows);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i);
  for (int repeat = 0; repeat < 200; ++repeat) {
    y.assign(kRows, -1);
    EXPECT_EQ(instance.run(x.data(), y.data()), HD_OK) << instance.error();
  }
  return y;
}

TEST(Threads, AnyNumberGivesTheSameBits) {
  const ArtifactTables tables(sums());
  hd_options o = options();
  o.threads = 1;
  const std::vector<float> one = run_sums(tables, o);
  for (int threads : {2, 3, 8, 1000, 0}) {
    o.threads = threads;
    const std::vector<float> many = run_sums(tables, o);
    EXPECT_EQ(std::memcmp(one.data(), many.data(), kRows * sizeof(float)), 0) << threads;
  }
}

TEST(Threads, LargeNumbersAreCut) {
  const ArtifactTables tables(sums());
  hd_options o = options();
  o.threads = 1000;
  Instance instance(tables, &o);
  EXPECT_GE(hd_threads(instance.handle), 8);
  EXPECT_LE(hd_threads(instance.handle), std::max(8u, 2 * std::thread::hardware_concurrency()));
  EXPECT_EQ(hd_workspace_bytes(&tables.artifact(), 1000),
            hd_workspace_bytes(&tables.artifact(), hd_threads(instance.handle)));
}

TEST(Threads, CallersParallelForReplacesThePool) {
  const ArtifactTables tables(sums());
  static std::atomic<int> calls;
  calls = 0;
  hd_options o = options();
  o.threads = 1;
  const std::vector<float> expected = run_sums(tables, o);
  o.threads = 3;
  o.parallel_for = [](void*, int n, void (*task)(void*, int), void* c) {
    ++calls;
    std::vector<std::thread> threads;
    for (int i = 0; i < n; ++i) threads.emplace_back(task, c, i);
    for (std::thread& t : threads) t.join();
  };
  EXPECT_EQ(run_sums(tables, o), expected);
  EXPECT_EQ(calls, 200);
}

TEST(Threads, InstancesOnTwoThreadsShareAPool) {
  const ArtifactTables tables(sums());
  hd_options o = options();
  o.threads = 1;
  const std::vector<float> expected = run_sums(tables, o);
  hd_pool* pool = hd_pool_create(3);
  ASSERT_NE(pool, nullptr);
  o.threads = 0;
  o.pool = pool;
  std::vector<float> a, b;
  std::thread other([&] { a = run_sums(tables, o); });
  b = run_sums(tables, o);
  other.join();
  hd_pool_destroy(pool);
  EXPECT_EQ(a, expected);
  EXPECT_EQ(b, expected);
}

#if defined(__x86_64__)
int doubled_row(void*, int y, uint8_t* closure) {
  void** argv = *reinterpret_cast<void***>(closure);
  const volatile float* in = floats(argv, 1) + y * kColumns;
  floats(argv, 2)[y] = in[0] + in[0];
  return 0;
}

int doubled_rows(void** argv) {
  void* c = context(argv);
  return services(c).do_par_for(c, doubled_row, 0, kRows, reinterpret_cast<uint8_t*>(&argv));
}

// In steps that say so, on every thread of theirs; and the caller's arithmetic is as it was.
TEST(Threads, DenormalsAreZerosWhereAStepSaysSo) {
  constexpr float kDenormal = 1e-39f;
  for (const bool zeros : {false, true}) {
    ArtifactDescription d = sums(doubled_rows);
    d.plans[0].functions[0].steps[0].flags = zeros ? HD_DENORMALS_AS_ZEROS : 0;
    const ArtifactTables tables(d);
    std::vector<float> x(kRows * kColumns, kDenormal), y(kRows, -1);
    for (int threads : {1, 3}) {
      for (const bool own : {false, true}) {
        hd_options o = options();
        o.threads = threads;
        if (own) {
          o.parallel_for = [](void*, int n, void (*task)(void*, int), void* c) {
            for (int i = 0; i < n; ++i) std::thread(task, c, i).join();
          };
        }
        Instance instance(tables, &o);
        ASSERT_EQ(instance.run(x.data(), y.data()), HD_OK) << instance.error();
        EXPECT_EQ(y, std::vector<float>(kRows, zeros ? 0.0f : 2 * kDenormal)) << threads << own;
        const volatile float mine = kDenormal;
        EXPECT_EQ(mine + mine, 2 * kDenormal);
      }
    }
  }
}
#endif

int failing(void** argv) {
  void* c = context(argv);
  return services(c).do_par_for(
      c, [](void*, int i, uint8_t*) { return i == 11 ? -3 : 0; }, 0, kRows, nullptr);
}

TEST(Threads, FailedTaskFailsTheRunEvenIfTheKernelIgnoresIt) {
  const auto ignoring = [](void** argv) { return failing(argv) * 0; };
  for (hd_kernel_fn run :
       {static_cast<hd_kernel_fn>(failing), static_cast<hd_kernel_fn>(ignoring)}) {
    const ArtifactTables tables(sums(run));
    for (int threads : {1, 2}) {
      hd_options o = options();
      o.threads = threads;
      Instance instance(tables, &o);
      std::vector<float> x(kRows * kColumns), y(kRows);
      EXPECT_EQ(instance.run(x.data(), y.data()), HD_KERNEL_FAILED);
    }
  }
}

TEST(Threads, CancelStopsAParallelLoop) {
  static int32_t cancel;
  cancel = 0;
  const auto run = [](void** argv) {
    void* c = context(argv);
    return services(c).do_par_for(
        c,
        [](void*, int i, uint8_t*) {
          if (i == 3) __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
          return 0;
        },
        0, 1 << 30, nullptr);
  };
  const ArtifactTables tables(sums(run));
  hd_options o = options();
  o.cancel = &cancel;
  Instance instance(tables, &o);
  std::vector<float> x(kRows * kColumns), y(kRows);
  EXPECT_EQ(instance.run(x.data(), y.data()), HD_CANCELLED);
}

int nested(void** argv) {
  void* c = context(argv);
  const auto outer = [](void* task_context, int i, uint8_t* closure) {
    const auto inner = [](void*, int j, uint8_t* counters) {
      __atomic_fetch_add(reinterpret_cast<int32_t*>(counters) + j, 1, __ATOMIC_RELAXED);
      return 0;
    };
    return services(task_context).do_par_for(task_context, inner, i, 2, closure);
  };
  return services(c).do_par_for(c, outer, 0, kRows - 1, buffer(argv, 2).host);
}

TEST(Threads, LoopInsideATaskRuns) {
  const ArtifactTables tables(sums(nested));
  hd_options o = options();
  o.threads = 2;
  Instance instance(tables, &o);
  std::vector<float> x(kRows * kColumns);
  std::vector<int32_t> y(kRows);
  ASSERT_EQ(instance.run(x.data(), y.data()), HD_OK);
  EXPECT_EQ(y[0], 1);
  for (int i = 1; i < kRows - 1; ++i) EXPECT_EQ(y[static_cast<size_t>(i)], 2);
}

}  // namespace
}  // namespace heddle::testing
