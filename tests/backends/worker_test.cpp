// The compile worker: what fails, what is cached, and equal bytes from everywhere.
#include "heddle/backends/worker.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "backends/cases.h"
#include "heddle/backends/file.h"

namespace heddle::testing {
namespace {

namespace fs = std::filesystem;

Kernel scaled(double factor, std::int64_t n = 100) {
  Builder b("scaled");
  b.output("y", emit::mul(b, emit::exp(b, b.input("x", f32({n}))), factor));
  return kernel_of(b.finish(), RecipeKind::map);
}

Kernel product(std::int64_t n) {
  Builder b("product");
  const ValueId x = b.input("x", f32({n, n})), y = b.input("y", f32({n, n}));
  b.output("z", emit::dot_general(b, x, y, {{}, {}, {1}, {0}}));
  return kernel_of(b.finish(), RecipeKind::contract);
}

// A program in place of the worker.
std::string script(const TemporaryFolder& folder, const std::string& name,
                   const std::string& text) {
  const std::string path = folder.path() + "/" + name;
  const std::string all = "#!/bin/sh\n" + text + "\n";
  EXPECT_TRUE(try_write_file(path, std::as_bytes(std::span(all))));
  ::chmod(path.c_str(), 0700);
  return path;
}

std::string message_of(const std::string& worker, int most_seconds = 60) {
  WorkerOptions options;
  options.worker = worker;
  options.most_seconds = most_seconds;
  options.jobs = 1;
  try {
    compile_kernels(std::vector<Kernel>{scaled(2)}, Cache(), options);
  } catch (const CompileError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Worker, NamesTheKernelItsOperationsAndWhatHappened) {
  const TemporaryFolder folder;
  const std::string kernel = kernel_symbol(scaled(2));
  for (const auto& [text, words] :
       {std::pair<std::string, std::string>{"echo no such thing >&2; exit 1", "no such thing"},
        {"kill -9 $$", "signal 9"},
        {"exit 0", "no object"},
        {"touch $2; exit 0", "no facts"}}) {
    const std::string said = message_of(script(folder, "worker", text));
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_NE(said.find(kernel), std::string::npos) << said;
    EXPECT_NE(said.find("map: exp+mul"), std::string::npos) << said;
  }
  const std::string slow = message_of(script(folder, "slow", "sleep 30"), 1);
  EXPECT_NE(slow.find("too long"), std::string::npos) << slow;
}

TEST(Worker, LeavesNothingBehind) {
  const TemporaryFolder folder;
  const std::string bad = script(folder, "worker", "echo half > $2; kill -9 $$");
  const std::string scratch = folder.path() + "/scratch";
  fs::create_directory(scratch);
  const char* old = std::getenv("TMPDIR");
  const std::string before = old != nullptr ? old : "";
  ::setenv("TMPDIR", scratch.c_str(), 1);
  const Cache cache(folder.path() + "/cache");
  WorkerOptions options;
  options.worker = bad;
  EXPECT_THROW(compile_kernels(std::vector<Kernel>{scaled(2), scaled(3)}, cache, options),
               CompileError);
  EXPECT_TRUE(fs::is_empty(scratch));
  EXPECT_TRUE(cache.list().empty());
  if (before.empty()) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", before.c_str(), 1);
  }
}

TEST(Worker, SaysWhereItLooked) {
  ::setenv("HEDDLE_KERNELC", "/nowhere/heddle-kernelc", 1);
  EXPECT_THROW(compile_kernels(std::vector<Kernel>{scaled(2)}, Cache(), {}), NotAvailableError);
  ::unsetenv("HEDDLE_KERNELC");
}

TEST(Worker, RefusesWhatItCannotCompileInOneLine) {
  Builder b("deep");
  b.output("y", emit::add(b, b.input("x", f32({2, 3, 2, 3, 2, 3, 2, 3, 2})), 1));
  const Kernel kernel = kernel_of(b.finish(), RecipeKind::map);
  try {
    compile_kernels(std::vector<Kernel>{kernel}, Cache(), {});
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_NE(std::string(e.what()).find("rank at most 8"), std::string::npos) << e.what();
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
  }
}

TEST(Worker, EqualKernelsAreCompiledOnceAndThenCached) {
  const TemporaryFolder folder;
  const Cache cache(folder.path() + "/cache");
  const std::vector<Kernel> kernels{scaled(2), scaled(3), scaled(2), product(20)};
  std::vector<std::string> seen;
  WorkerOptions options;
  int total = 0;
  options.progress = [&](int, int all, std::string_view what) {
    seen.emplace_back(what);
    total = all;
  };
  const auto first = compile_kernels(kernels, cache, options);
  EXPECT_EQ(total, 3);
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(first[0].symbol, first[2].symbol);
  EXPECT_EQ(cache.list().size(), 3u);
  // From the cache: a worker that would fail is not asked. (The same identity: the same file.)
  const auto again = compile_kernels(kernels, cache, {});
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_TRUE(again[i].object == first[i].object);
    EXPECT_EQ(again[i].symbol, first[i].symbol);
    EXPECT_EQ(again[i].scratch_once, first[i].scratch_once);
    EXPECT_EQ(again[i].scratch_task, first[i].scratch_task);
  }
  // Another worker's objects are not taken.
  options.worker = script(folder, "other", "exit 1");
  EXPECT_THROW(compile_kernels(kernels, cache, options), CompileError);
}

TEST(Worker, ADamagedEntryIsCompiledAgain) {  // K1
  const TemporaryFolder folder;
  const Cache cache(folder.path() + "/cache");
  const std::vector<Kernel> kernels{scaled(2)};
  const auto first = compile_kernels(kernels, cache, {});
  const std::string name = cache.list()[0].name;
  const std::string file = cache.folder() + "/" + name.substr(0, 2) + "/" + name;
  auto bytes = *try_read_file(file);
  bytes[bytes.size() / 2] ^= std::byte{4};
  ASSERT_TRUE(try_write_file(file, bytes));
  ::testing::internal::CaptureStderr();
  const auto again = compile_kernels(kernels, cache, {});
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("damaged"), std::string::npos);
  EXPECT_TRUE(again[0].object == first[0].object);
  EXPECT_EQ(cache.verify(false)[0].intact, true);
}

TEST(Worker, BytesDoNotDependOnFolderLocaleJobsOrOrder) {
  const std::vector<Kernel> kernels{scaled(2), product(40), product(300)};
  const std::vector<Kernel> other_order{kernels[2], kernels[1], kernels[0]};
  WorkerOptions one, many;
  one.jobs = 1;
  many.jobs = 4;
  const auto first = compile_kernels(kernels, Cache(), one);
  const TemporaryFolder folder;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  ::setenv("LC_ALL", "tr_TR.UTF-8", 1);
  ::setenv("HL_DEBUG_CODEGEN", "0", 1);
  const auto second = compile_kernels(other_order, Cache(), many);
  ::unsetenv("TMPDIR");
  ::unsetenv("LC_ALL");
  ::unsetenv("HL_DEBUG_CODEGEN");
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_TRUE(first[i].object == second[kernels.size() - 1 - i].object) << i;
  }
}

}  // namespace
}  // namespace heddle::testing
