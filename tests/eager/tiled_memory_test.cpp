// The tiled carrier at its limits: memory, disks that are full or gone, files that are cut, and
// what it refuses. What needs limits of the process runs in a child: the same test
// once more.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "eager/extension_support.h"
#include "eager/tiled_support.h"
#include "heddle/graph/emit.h"
#include "support/expect_error.h"
#include "support/run_again.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

// Whether this process is the child that a test starts to run itself.
bool is_child() { return std::getenv("HEDDLE_TEST_CHILD") != nullptr; }

// Memory ------------------------------------------------------------------------------------------

constexpr std::size_t kBudget = std::size_t{4} << 20;

// "VmRSS": what is in memory now, "VmHWM": the most since the last reset.
std::size_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field + ":", 0) == 0) return std::stoul(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}
// How far memory rises above what it is now.
template <class F>
std::size_t rise(F f) {
  std::ofstream("/proc/self/clear_refs") << "5";
  const std::size_t before = status_bytes("VmRSS");
  f();
  return status_bytes("VmHWM") - before;
}

// A tensor of rows whose elements are their row's number mod 8, written piece by piece.
Tensor rows_of(std::int64_t rows, std::int64_t columns, std::string_view carrier) {
  Tensor x = empty({rows, columns}, {.carrier = carrier});
  std::vector<double> row(static_cast<std::size_t>(columns));
  for (std::int64_t r = 0; r < rows; ++r) {
    std::fill(row.begin(), row.end(), static_cast<double>(r % 8));
    assign(x, r * columns, row);
  }
  return x;
}

// The six and their gradients on [rows, columns], with values that are known.
void all_six(std::int64_t rows, std::int64_t columns, std::string_view carrier) {
  Tensor x = rows_of(rows, columns, carrier);
  Tensor bias = full({columns}, 1, {.carrier = carrier});
  Tensor w = full({columns, 64}, 0.5, {.carrier = carrier});
  require_gradient(x);
  require_gradient(bias);
  require_gradient(w);
  const Tensor a = x + bias;      // row r: r%8 + 1
  const Tensor m = relu(a * x);   // (r%8 + 1) r%8
  const Tensor p = matmul(m, w);  // [rows, 64]
  const Tensor total = sum(p, {0, 1});
  const auto n = static_cast<double>(rows), c = static_cast<double>(columns);
  EXPECT_EQ(item(total), n / 8 * 168 * c * 0.5 * 64);  // sum of (k+1) k for k < 8: 168
  EXPECT_EQ(elements(p, 0, 1)[0], 0);
  EXPECT_EQ(elements(p, 64 * 7, 1)[0], 56 * c * 0.5);
  backward(total);
  // d total / d x = 32 (2 r%8 + 1), but 0 where m is 0
  EXPECT_EQ(elements(*gradient(x), 3 * columns, 2), (Elements{32 * 7, 32 * 7}));
  EXPECT_EQ(elements(*gradient(x), 0, 1), (Elements{0}));
  EXPECT_EQ(elements(*gradient(bias), columns - 1, 1), (Elements{n / 8 * 28 * 32}));
  EXPECT_EQ(elements(*gradient(w), 0, 1), (Elements{n / 8 * 168}));
}

// x, a, m and the gradient of x are 64 MiB each, sixteen times the budget.
TEST(TiledMemory, PeakIsASmallMultipleOfTheBudget) {  // A10.7
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer keeps memory of its own";
#endif
  if (!is_child()) {
    EXPECT_EQ(run_again("HEDDLE_TEST_CHILD=1"), 0);
    return;
  }
  define_tiled_carrier("four_mebibytes", {.budget_bytes = kBudget});
  all_six(64, 1024, "four_mebibytes");  // kernels, threads, libraries
  const std::size_t tiled = rise([] { all_six(16384, 1024, "four_mebibytes"); });
  EXPECT_LT(tiled, 2 * kBudget) << "bytes: " << tiled;
  RecordProperty("tiled", static_cast<int>(tiled));
  const std::size_t dense = rise([] { all_six(16384, 1024, "cpu"); });
  EXPECT_GT(dense, 48 * kBudget) << "the measure measures";
}
TEST(TiledMemory, SmallTensorsAreInMemoryAndLargeOnesAreFiles) {
  auto files = [] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      count += std::filesystem::read_symlink(entry, gone).string().find("(deleted)") !=
               std::string::npos;
    }
    return count;
  };
  const int before = files();
  {
    const Tensor small = zeros({1024}, {.carrier = tiny_tiles().name});
    EXPECT_EQ(files(), before);
    const Tensor large = zeros({1025}, {.carrier = tiny_tiles().name});
    EXPECT_EQ(files(), before + 1) << "a file without a name";
  }
  EXPECT_EQ(files(), before);
}

// Disks -------------------------------------------------------------------------------------------

// A folder of its own, empty when it goes.
struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "heddle-tiled-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove(path); }
  std::string path;
};

void expect_words(const std::string& text, std::vector<std::string> words) {
  for (const std::string& w : words)
    EXPECT_NE(text.find(w), std::string::npos) << w << ": " << text;
}

TEST(TiledDisk, AFolderThatIsGone) {
  Tensor x;
  std::string folder;
  {
    const Folder own;
    folder = own.path;
    define_tiled_carrier("gone", {.budget_bytes = 1 << 16, .folder = folder});
    x = full({8192}, 2, {.carrier = "gone"});
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << "files have no name";
  }
  require_gradient(x);
  const std::string text = expect_error<RuntimeError>([&] { x* x; });
  expect_words(text, {"[mul]", folder, "32768 bytes", "tiled_memory_test.cpp"});
  EXPECT_EQ(item(sum(x, {0})), 16384) << "small results need no file; x is as it was";
  EXPECT_EQ(x.storage()->version(), 0u);
  const std::string making =
      expect_error<RuntimeError>([&] { zeros({8192}, {.carrier = "gone"}); });
  expect_words(making, {"[full]", folder, "32768 bytes"});
  // So does a gradient that finds no room: no leaf has changed.
  const Tensor total = sum(x, {0});
  const std::string backwards = expect_error<RuntimeError>([&] { backward(total); });
  expect_words(backwards, {"[reduce_sum_vjp]", folder, "32768 bytes"});
  EXPECT_FALSE(gradient(x).has_value());
}

TEST(TiledDisk, AFullDiskLeavesNothing) {
  if (!is_child()) {
    EXPECT_EQ(run_again("HEDDLE_TEST_CHILD=1"), 0);
    return;
  }
  std::signal(SIGXFSZ, SIG_IGN);
  const Folder folder;
  define_tiled_carrier("full_disk", {.budget_bytes = 1 << 16, .folder = folder.path});
  constexpr std::int64_t kCount = 1 << 18;  // 1 MiB
  const Tensor x = full({kCount}, 2, {.carrier = "full_disk"});
  const Tensor column = full({4, 1}, 1, {.carrier = "full_disk"});
  const Tensor other = full({kCount}, 3, {.carrier = "cpu"});
  EXPECT_EQ(elements(x * x, kCount - 1, 1), Elements{4});
  const rlimit limit{1 << 20, 1 << 20};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(elements(x * x, kCount - 1, 1), Elements{4}) << "as much as there is";
  const std::string text = expect_error<RuntimeError>([&] { x + column; });
  expect_words(text, {"[add]", folder.path, "4194304 bytes", "File too large"});
  EXPECT_EQ(elements(x, kCount - 1, 1), Elements{2});
  EXPECT_EQ(x.storage()->version(), 0u);
  // A disk that is full in the middle of a write: what was overwritten comes back.
  const rlimit half{1 << 19, 1 << 20};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &half), 0);
  const std::string writing = expect_error<RuntimeError>([&] { assign(x, other); });
  expect_words(writing, {"[assign]", folder.path, "1048576 bytes"});
  EXPECT_EQ(elements(x), Elements(kCount, 2.0));
  EXPECT_EQ(x.storage()->version(), 0u);
}
TEST(TiledDisk, AFileThatIsCut) {
  const Folder folder;
  define_tiled_carrier("cut", {.budget_bytes = 1 << 16, .folder = folder.path});
  const Tensor x = full({65536}, 2, {.carrier = "cut"});
  int cut = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone).string().rfind(folder.path, 0) != 0) continue;
    cut += ::truncate(entry.path().c_str(), 1000) == 0;
  }
  ASSERT_EQ(cut, 1);
  const std::string text = expect_error<RuntimeError>([&] { sum(x, {0}); });
  expect_words(text, {"[reduce_sum]", "cannot read", folder.path, "262144 bytes"});
}

// Refusals ----------------------------------------------------------------------------------------

TEST(TiledRefuses, WhatHasNoFormOnTiles) {  // A10.3
  const Tensor x = zeros({8192}, {.carrier = tiny_tiles().name});
  auto refusal = [](auto call) {
    try {
      call();
    } catch (const UnsupportedOperationPlan& e) {
      EXPECT_EQ(e.detail().step, 23);
      return std::string(e.what());
    }
    ADD_FAILURE() << "no error";
    return std::string();
  };
  expect_words(refusal([&] { cumsum(x, 0); }), {"[cumsum]", "tiny_tiles", "no form on tiles"});
  expect_words(refusal([&] { sort(x, 0); }), {"[sort]", "no form on tiles"});
  const OperationDefinition& d = define_unary(
      "tiled_reference", {.vjp = kNonDifferentiable, .reference = [](const Invocation& inv) {
                            return ReferenceResults(inv.call.tensor(0));
                          }});
  expect_words(refusal([&] { d({x}); }), {"acme.tiled_reference"});
}

TEST(TiledRefuses, SequentialPlans) {  // ruling 28
  const OperationDefinition& d =
      define_unary("sequential",
                   {.vjp = kByDecomposition,
                    .decompose =
                        [](const NodeContext& at) {
                          Builder b("sequential");
                          b.output("y", emit::neg(b, b.input("x0", at.operands[0])));
                          return b.finish();
                        }},
                   [](Bound call) {
                     DtypePlan plan = uniform_plan(call, DType::f32);
                     plan.accumulation = Accumulation::sequential;
                     return Invocation(call, plan, {{call.tensor(0).type()}});
                   });
  const Tensor x = zeros({8192}, {.carrier = tiny_tiles().name});
  const std::string text = expect_error<UnsupportedOperationPlan>([&] { d({x}); });
  expect_words(text, {"acme.sequential", "order"});
}

TEST(TiledRefuses, BadOptions) {
  expect_error<ValueError>([] { define_tiled_carrier("nothing", {.budget_bytes = 1000}); });
  expect_error<ValueError>([] { define_tiled_carrier("tiled"); });
  expect_error<TypeError>([] {
    register_kernel_pack({.name = "acme",
                          .version = 1,
                          .carrier = tiled_carrier(),
                          .patterns = {{op_tanh, kAnyPlan, "k", host_kernel(double_floats)}}});
  });
}

// An extension by its decomposition; the default carrier by its name.
TEST(Tiled, RunsExtensionsByDecomposition) {  // A5.7
  const OperationDefinition& d = define_unary(
      "tiled_square", {.vjp = kByDecomposition, .decompose = [](const NodeContext& at) {
                         Builder b("square");
                         const ValueId x = b.input("x0", at.operands[0]);
                         b.output("y", emit::mul(b, x, x));
                         return b.finish();
                       }});
  Tensor x = full({30001}, 3, {.carrier = "tiled"});
  require_gradient(x);
  const Tensor y = d({x});
  EXPECT_EQ(y.storage()->carrier(), &tiled_carrier());
  EXPECT_EQ(elements(y, 30000, 1), Elements{9});
  backward(y, {.cotangent = full({30001}, 1, {.carrier = "tiled"})});
  EXPECT_EQ(elements(*gradient(x), 30000, 1), Elements{6});
}

}  // namespace
}  // namespace heddle
