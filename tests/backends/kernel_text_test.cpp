// What a kernel is told while it runs: nothing of dtypes and devices. (tests/kernel_loops.py reads
// the sources of kernels; this reads the kernels that are made.)
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "heddle/backends/lower.h"
#include "ops/support.h"

namespace heddle {
namespace {

std::set<std::string> kernel_texts(const Operation& op, const Workload& row) {
  std::set<std::string> texts;
  const Program program = ops_test::program_of(op, row.operands, row.attributes);
  for (const Kernel& k : lower(program, Target::host()).plan.kernels) texts.insert(to_text(k));
  return texts;
}

std::string dtype_names() {
  std::string names;
  for (const DType d : kAllDTypes) names += (names.empty() ? "" : "|") + std::string(name_of(d));
  return names;
}

// req C13, req C6: every value has its dtype in the text, and so has every argument: a kernel is of
// one combination of dtypes and one target, and nothing is left to ask in its loops.
TEST(KernelText, FixesEveryDtypeAndTheTarget) {
  const std::string dtype = "(" + dtype_names() + ")\\[";
  const std::regex value("  (%\\d+(, %\\d+)*) = .* : (" + dtype + ".*\\]|\\(.*\\))");
  const std::regex head("func @kernel\\(((x\\d+: " + dtype + "[^:]*\\])(, )?)*\\) -> \\(.*\\) \\{");
  const std::regex target("  target \"[a-z0-9_-]+\"");
  std::size_t read = 0;
  for (const Operation* op : built_in_operations()) {
    if (op == &op_constant) continue;
    for (const Workload& row : op->strict.workloads()) {
      for (const std::string& text : kernel_texts(*op, row)) {
        ++read;
        std::istringstream lines(text);
        std::string line;
        std::getline(lines, line);
        EXPECT_TRUE(std::regex_match(line, head)) << line;
        bool body = true;
        while (std::getline(lines, line)) {
          if (line.starts_with("  return")) body = false;
          if (body) {
            EXPECT_TRUE(std::regex_match(line, value)) << line;
          }
          if (line.starts_with("  target")) {
            EXPECT_TRUE(std::regex_match(line, target)) << line;
          }
        }
      }
    }
  }
  EXPECT_GT(read, 300u);
}

// req C13: another dtype is another kernel.
TEST(KernelText, ADtypeIsAKernelOfItsOwn) {
  std::set<std::string> all;
  std::size_t rows = 0;
  for (const DType d : kAllDTypes) {
    if (d == DType::boolean) continue;
    const Workload row{.operands = {{d, {64}}, {d, {64}}}, .attributes = {}};
    for (const std::string& text : kernel_texts(op_mul, row)) all.insert(text);
    ++rows;
  }
  EXPECT_EQ(all.size(), rows);
}

}  // namespace
}  // namespace heddle
