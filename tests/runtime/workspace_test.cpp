// Memory: the workspace is exact, scratch is a stack, a run allocates nothing.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "runtime/handmade.h"

namespace heddle::testing {
namespace {

// A kernel like those with packing: one panel by the caller, a tile per task, freed in nested
// order.
constexpr uint64_t kPanel = 1000, kTile = 200;

int fill_tile(void* task_context, int index, uint8_t* closure) {
  float* out = *reinterpret_cast<float**>(closure);
  void* tile = services(task_context).allocate(task_context, kTile);
  std::memset(tile, index, kTile);
  out[index] = static_cast<float>(static_cast<uint8_t*>(tile)[kTile - 1]);
  services(task_context).release(task_context, tile);
  return 0;
}

int packed(void** argv) {
  void* c = context(argv);
  void* panel = services(c).allocate(c, kPanel);
  std::memset(panel, 1, kPanel);
  float* out = floats(argv, 2);
  const int status =
      services(c).do_par_for(c, fill_tile, 0, static_cast<int>(elements(buffer(argv, 2))),
                             reinterpret_cast<uint8_t*>(&out));
  services(c).release(c, panel);
  return status;
}

int touch(void** argv) {
  std::memset(buffer(argv, 2).host, 3, 4 * static_cast<size_t>(elements(buffer(argv, 2))));
  return 0;
}

ArtifactDescription with_scratch() {
  FunctionDescription f;
  f.buffers = {argument(0, {64}), argument(1, {64}), arena(0, {64}), arena(256, {60})};
  f.steps = {kernel_step(1, {0}, {2}), kernel_step(1, {0}, {3}), kernel_step(0, {2}, {1})};
  f.arena_bytes = 256 + 240;
  return one_function("f", {{"x", DType::f32, {64}}}, {{"y", DType::f32, {64}}}, f,
                      {kernel("packed", packed, 1024, 256), kernel("touch", touch)});
}

// `bytes` of memory, a page without access before and after.
struct Guarded {
  explicit Guarded(size_t bytes) : page(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    size = (bytes + page - 1) / page * page;
    base = static_cast<uint8_t*>(
        mmap(nullptr, size + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base, page, PROT_NONE);
    mprotect(base + page + size, page, PROT_NONE);
  }
  ~Guarded() { munmap(base, size + 2 * page); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  uint8_t* at_start() const { return base + page; }
  uint8_t* at_end(size_t bytes) const { return base + page + size - bytes; }
  size_t page, size;
  uint8_t* base;
};

TEST(Workspace, IsTheSumOfItsParts) {
  const ArtifactTables tables(with_scratch());
  const hd_plan& plan = tables.artifact().plans[0];
  EXPECT_EQ(hd_plan_workspace_bytes(&plan, 1), 512u + (1024 + 128) + (256 + 128));
  EXPECT_EQ(hd_plan_workspace_bytes(&plan, 3), 512u + (1024 + 128) + 3 * (256 + 128));
  EXPECT_EQ(hd_workspace_bytes(&tables.artifact(), 2), hd_plan_workspace_bytes(&plan, 2));
}

TEST(Workspace, ExactlySoManyBytesBetweenTwoForbiddenPages) {
  const ArtifactTables tables(with_scratch());
  for (int threads : {1, 2}) {
    const size_t bytes = hd_workspace_bytes(&tables.artifact(), threads);
    ASSERT_EQ(bytes % 64, 0u);
    const Guarded memory(bytes);
    for (uint8_t* workspace : {memory.at_start(), memory.at_end(bytes)}) {
      std::memset(workspace, 0xa5, bytes);
      hd_options o = options();
      o.threads = threads;
      o.workspace = workspace;
      o.workspace_bytes = bytes;
      Instance instance(tables, &o);
      ASSERT_EQ(instance.status, HD_OK) << hd_error(nullptr);
      float x[64] = {}, y[64] = {};
      for (int run = 0; run < 20; ++run) ASSERT_EQ(instance.run(x, y), HD_OK) << instance.error();
      for (int i = 0; i < 64; ++i) EXPECT_EQ(y[i], static_cast<float>(i));
    }
  }
}

TEST(Workspace, HighWaterMarkIsNearlyAllOfIt) {
  const ArtifactTables tables(with_scratch());
  const size_t bytes = hd_workspace_bytes(&tables.artifact(), 1);
  alignas(64) static uint8_t workspace[8192];
  ASSERT_LE(bytes, sizeof workspace);
  std::memset(workspace, 0xa5, sizeof workspace);
  hd_options o = options();
  o.threads = 1;
  o.workspace = workspace;
  o.workspace_bytes = bytes;
  Instance instance(tables, &o);
  float x[64] = {}, y[64];
  ASSERT_EQ(instance.run(x, y), HD_OK);
  size_t last = 0;
  for (size_t i = 0; i < sizeof workspace; ++i) {
    if (workspace[i] != 0xa5) last = i;
  }
  EXPECT_LT(last, bytes);
  EXPECT_GE(static_cast<double>(last), 0.9 * static_cast<double>(bytes));
}

TEST(Workspace, OneLineLessIsRefusedWithBothNumbers) {
  const ArtifactTables tables(with_scratch());
  alignas(64) static uint8_t workspace[8192];
  hd_options o = options();
  o.threads = 1;
  o.workspace = workspace;
  o.workspace_bytes = hd_workspace_bytes(&tables.artifact(), 1) - 64;
  Instance small(tables, &o);
  EXPECT_EQ(small.status, HD_INVALID);
  EXPECT_STREQ(hd_error(nullptr),
               "mlp: the workspace has 1984 bytes; 2048 are needed for 1 thread");
  o.workspace = workspace + 8;
  o.workspace_bytes = 4096;
  Instance misaligned(tables, &o);
  EXPECT_EQ(misaligned.status, HD_INVALID);
  EXPECT_STREQ(hd_error(nullptr), "mlp: the workspace is not aligned to 64 bytes");
}

TEST(Workspace, MoreScratchThanAnnouncedFailsTheRunAndNothingElse) {
  ArtifactDescription d = with_scratch();
  d.plans[0].kernels[0].scratch_once = 512;
  const ArtifactTables tables(d);
  Instance instance(tables);
  float x[64] = {}, y[64];
  EXPECT_EQ(instance.run(x, y), HD_KERNEL_FAILED);
  EXPECT_EQ(instance.error(),
            "mlp.f: step 2 (packed): the kernel asked for more scratch than announced, or reported "
            "an error");
}

int nested(void** argv) {
  void* c = context(argv);
  const hd_services& s = services(c);
  uint8_t* a = static_cast<uint8_t*>(s.allocate(c, 100));
  uint8_t* b = static_cast<uint8_t*>(s.allocate(c, 64));
  s.release(c, a);  // early: its place stays taken until b goes
  uint8_t* third = static_cast<uint8_t*>(s.allocate(c, 1));
  s.release(c, third);
  s.release(c, b);
  uint8_t* again = static_cast<uint8_t*>(s.allocate(c, 256));
  s.release(c, again);
  s.release(c, nullptr);
  float* out = floats(argv, 2);
  out[0] = static_cast<float>(b - a);
  out[1] = static_cast<float>(third - b);
  out[2] = static_cast<float>(again - a);
  return 0;
}

TEST(Workspace, ScratchIsAStack) {
  FunctionDescription f;
  f.buffers = {argument(0, {3}), argument(1, {3})};
  f.steps = {kernel_step(0, {0}, {1})};
  const ArtifactTables tables(one_function("f", {{"x", DType::f32, {3}}}, {{"y", DType::f32, {3}}},
                                           f, {kernel("nested", nested, 256)}));
  Instance instance(tables);
  float x[3] = {}, y[3];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(instance.run(x, y), HD_OK) << instance.error();
    EXPECT_EQ(y[0], 128);
    EXPECT_EQ(y[1], 64);
    EXPECT_EQ(y[2], 0);
  }
}

struct Ledger {
  size_t live = 0, calls = 0;
};

TEST(Workspace, OwnAllocatorGetsEveryByteBack) {
  const ArtifactTables tables(with_scratch());
  Ledger ledger;
  hd_options o = options();
  o.threads = 2;
  o.allocator_user = &ledger;
  o.allocate = [](void* user, size_t bytes, size_t alignment) {
    Ledger& l = *static_cast<Ledger*>(user);
    l.live += bytes;
    ++l.calls;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  };
  o.release = [](void* user, void* pointer, size_t bytes) {
    static_cast<Ledger*>(user)->live -= bytes;
    std::free(pointer);
  };
  {
    Instance instance(tables, &o);
    ASSERT_EQ(instance.status, HD_OK);
    const size_t calls = ledger.calls;
    EXPECT_GE(calls, 2u);
    float x[64] = {}, y[64];
    ASSERT_EQ(instance.run(x, y), HD_OK);
    EXPECT_EQ(ledger.calls, calls);
  }
  EXPECT_EQ(ledger.live, 0u);
}

TEST(Workspace, NoMemoryIsAStatus) {
  const ArtifactTables tables(with_scratch());
  for (int allowed = 0; allowed < 3; ++allowed) {
    static int left;
    left = allowed;
    hd_options o = options();
    o.threads = 2;
    o.allocate = [](void*, size_t bytes, size_t alignment) -> void* {
      return left-- > 0
                 ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                 : nullptr;
    };
    o.release = [](void*, void* pointer, size_t) { std::free(pointer); };
    Instance instance(tables, &o);
    EXPECT_EQ(instance.status, HD_NO_MEMORY) << allowed;
    EXPECT_NE(std::string(hd_error(nullptr)).find("mlp: no memory for"), std::string::npos)
        << hd_error(nullptr);
  }
}

uintptr_t arena_at;
int remember_arena(void** argv) {
  arena_at = reinterpret_cast<uintptr_t>(buffer(argv, 2).host);
  return 0;
}

// The kernel's flags for the mapping that holds an address; "none" without transparent huge pages.
std::string flags_at(uintptr_t address) {
  if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) return "none";
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      inside = begin <= address && address < end;
    if (inside && line.starts_with("VmFlags:")) return line;
  }
  return "not mapped";
}

TEST(Workspace, ALargeOneBeginsAtAHugePageAndAsksForThem) {
  constexpr int64_t kCount = 5 << 18;  // 5 MB
  FunctionDescription f;
  f.buffers = {argument(0, {64}), argument(1, {64}), arena(0, {kCount})};
  f.steps = {kernel_step(0, {0}, {2}), kernel_step(1, {2}, {1})};
  f.arena_bytes = 4 * kCount;
  const ArtifactTables tables(
      one_function("f", {{"x", DType::f32, {64}}}, {{"y", DType::f32, {64}}}, f,
                   {kernel("arena", remember_arena), kernel("touch", touch)}));
  Instance instance(tables);
  float x[64] = {}, y[64] = {};
  ASSERT_EQ(instance.run(x, y), HD_OK) << instance.error();
  EXPECT_EQ(arena_at % (2 << 20), 0u);
  const std::string flags = flags_at(arena_at);
  EXPECT_TRUE(flags == "none" || flags.find(" hg") != std::string::npos) << flags;
}

}  // namespace
}  // namespace heddle::testing
