// What a selected kernel builds: once per identity, shared by calls, bounded.
#include "heddle/backends/built_kernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "heddle/backends/select.h"
#include "heddle/graph/operation.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;

KernelRequest rows(std::int64_t extent, DType dtype = DType::f32) {
  return {.operation = &op_add,
          .interface = "rows",
          .plan = {.operation = "add", .operands = {}, .compute = dtype, .output = dtype},
          .operands = {{dtype, {extent}}},
          .options = {}};
}

struct Counts {
  int refusals = 0, identities = 0, builds = 0;
};
// Serves rows up to `most`; one thing is built per width of the rows' elements.
KernelEntry entry(const std::string& id, std::int64_t most, Counts& counts) {
  KernelEntry e{.id = id, .operation = &op_add};
  e.interface = "rows";
  e.refusal = [&counts, most](const KernelRequest& r) {
    ++counts.refusals;
    return r.operands[0].dims[0].constant() <= most ? "" : std::string("too long");
  };
  e.entry_for = [&counts, id](const KernelRequest& r) {
    ++counts.identities;
    const std::string identity = std::to_string(size_of(r.operands[0].dtype));
    return KernelBuild{identity, [&counts, id, identity]() -> std::shared_ptr<const void> {
                         ++counts.builds;
                         return std::make_shared<const std::string>(id + " " + identity);
                       }};
  };
  return e;
}
std::string built(KernelTable& table, const KernelRequest& request) {
  return *static_cast<const std::string*>(table.kernel_for(request, {}).get());
}

// B2.2 B2.4, 2B.6: asked once per distinct call, built once per identity.
TEST(BuiltKernels, OnePerKernelAndIdentity) {
  Counts few, many;
  KernelTable table;
  KernelEntry small = entry("small", 8, few), large = entry("large", 100, many);
  small.preferred_over = {"large"};
  table.add(small);
  table.add(large);
  table.seal();
  for (int round = 0; round < 3; ++round) {
    for (const std::int64_t extent : {4, 5, 6}) {
      EXPECT_EQ(built(table, rows(extent)), "small 4");
    }
    EXPECT_EQ(built(table, rows(50)), "large 4");
    EXPECT_EQ(built(table, rows(4, DType::f64)), "small 8");
    EXPECT_EQ(built(table, rows(4, DType::i32)), "small 4");
  }
  EXPECT_EQ(few.identities, 5) << "three extents, two more dtypes";
  EXPECT_EQ(few.builds, 2);
  EXPECT_EQ(many.builds, 1);
  EXPECT_EQ(few.refusals, 6) << "of each distinct call once";
  EXPECT_EQ(table.kernel_for(rows(4), {}), table.kernel_for(rows(5), {})) << "the very same";
  EXPECT_EQ(table.built_statistics().entries, 3u);
}

TEST(BuiltKernels, ErrorsAreTypedAndLeaveNothing) {  // B2.4, 2B.6
  Counts counts;
  KernelTable table;
  KernelEntry silent = entry("silent", 8, counts), throwing = silent, empty = silent;
  silent.entry_for = nullptr;
  throwing.id = "throwing";
  throwing.interface = "throwing";
  bool fails = true;
  throwing.entry_for = [&](const KernelRequest&) {
    return KernelBuild{"k", [&]() -> std::shared_ptr<const void> {
                         if (fails) throw CompileError({.message = "no compiler today"});
                         return std::make_shared<const std::string>("made");
                       }};
  };
  empty.id = empty.interface = "empty";
  empty.entry_for = [](const KernelRequest&) { return KernelBuild{"k", nullptr}; };
  for (const KernelEntry& e : {silent, throwing, empty}) table.add(e);
  table.seal();
  EXPECT_NE(expect_error<TypeError>([&] {
              built(table, rows(4));
            }).find("[add] kernel 'silent' says nothing of what it builds"),
            std::string::npos);
  KernelRequest request = rows(4);
  request.interface = "throwing";
  expect_error<CompileError>([&] { built(table, request); });
  EXPECT_EQ(table.built_statistics().entries, 0u);
  fails = false;
  EXPECT_EQ(built(table, request), "made");
  request.interface = "empty";
  expect_error<TypeError>([&] { built(table, request); });
  request.interface = "nobody's";
  expect_error<NotAvailableError>([&] { built(table, request); });
  request.interface = "rows";
  request.operands = {{DType::f32, {9}}};
  EXPECT_NE(expect_error<ValueError>([&] { built(table, request); }).find("silent: too long"),
            std::string::npos);
}

// The second cache against its definition, and its bound, over random identities.
TEST(BuiltKernels, AreBounded) {
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  BuiltKernels kernels;
  std::map<std::string, std::weak_ptr<const void>> last;
  for (int i = 0; i < 4000; ++i) {
    const std::string kernel = "k" + std::to_string(random() % 3),
                      identity = std::to_string(random() % 200), key = kernel + "/" + identity;
    bool made = false;
    const auto thing = kernels.get(kernel, {identity,
                                            [&]() -> std::shared_ptr<const void> {
                                              made = true;
                                              return std::make_shared<const std::string>(key);
                                            },
                                            std::size_t{1} << 18});
    EXPECT_EQ(*static_cast<const std::string*>(thing.get()), key);
    if (!made) {
      EXPECT_EQ(last[key].lock(), thing) << "shared while it is kept";
    }
    last[key] = thing;
    EXPECT_LE(kernels.statistics().entries, 256u);
    EXPECT_LE(kernels.statistics().bytes, std::size_t{256} << 20);
  }
  EXPECT_GT(kernels.statistics().evictions, 0u);
}

TEST(BuiltKernels, OneBuildForManyThreads) {
  BuiltKernels kernels;
  std::atomic<int> builds = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        kernels.get("k", {std::to_string(i % 10), [&]() -> std::shared_ptr<const void> {
                            ++builds;
                            return std::make_shared<const int>(1);
                          }});
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(builds, 10);
}

}  // namespace
}  // namespace heddle
