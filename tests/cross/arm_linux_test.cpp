// Libraries for Linux on arm, run on this machine by qemu: the host's values, and the self-test.
#include <gtest/gtest.h>

#include <cmath>

#include "cross/machines.h"
#include "heddle/backends/artifact/selftest.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/runtime/core/abi.h"

namespace heddle::testing {
namespace {

constexpr char kNoQemu[] = "packages qemu-user and libc6-arm64-cross are not installed";

// One export for this machine and for arm, and what their programs print.
class ArmLinux : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_run_arm()) GTEST_SKIP() << kNoQemu;
    export_all("all", {"host", "arm-64-linux"}, folder());
    put_file(folder(), "main.c", std::string_view(main_source("all")));
    run_tool({tool("cc"), "-std=c11", "-o", "main", "main.c", "all.a", "-lpthread", "-lm"},
             folder());
    host_ = run_tool({"./main", "all.check"}, folder());
  }
  void expect_the_hosts(const std::string& printed) const {
    const std::vector<double> expected = numbers_of(host_), found = numbers_of(printed);
    ASSERT_EQ(found.size(), 50u + 1 + 48 + 4 * 64 + 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 2e-5 * std::fabs(expected[i]) + 1e-6) << "number " << i;
    }
    for (const char* line : {"selftest 0\n", "all.train_step: ok", "all.forces: ok",
                             "; 1 gradient, ", "all.mixed: ok, 5 outputs"}) {
      EXPECT_NE(printed.find(line), std::string::npos) << printed.substr(printed.find("selftest"));
    }
  }
  const std::string& folder() const { return folder_.path(); }
  std::string arm() const { return folder() + "/arm-64-linux"; }

 private:
  TemporaryFolder folder_;
  std::string host_;
};

TEST_F(ArmLinux, LibrariesGiveTheHostsValuesAndPassTheirSelftest) {
  link_program("arm-64-linux", main_source("all"), arm(), {"all.a"}, "static");
  expect_the_hosts(run_arm({"./static", "all.check"}, arm()));
  link_program("arm-64-linux", main_source("all"), arm(), {"all.so", "-Wl,-rpath,."}, "shared");
  expect_the_hosts(run_arm({"./shared", "all.check"}, arm()));
}

// What `heddle verify arm-64-linux/all.a --run-by "qemu-aarch64 ..."` does.
TEST_F(ArmLinux, SelftestsRunByTheMachinesEmulator) {
  const std::vector<std::string> qemu = {HEDDLE_QEMU_ARM, "-L", HEDDLE_ARM_ROOT};
  for (const char* file : {"/all.a", "/all.so"}) {
    const SelftestResult result =
        selftest_linked({arm() + file, "all", "arm-64-linux"}, arm() + "/all.check", qemu);
    EXPECT_EQ(result.status, HD_OK) << result.report;
    EXPECT_NE(result.report.find("all.forces: ok"), std::string::npos) << result.report;
    EXPECT_NE(result.report.find("; 1 gradient, largest error "), std::string::npos);
  }
  // A library of another program under this check file.
  export_all("other", {"arm-64-linux"}, folder() + "/other");
  const SelftestResult result = selftest_linked(
      {folder() + "/other/other.a", "other", "arm-64-linux"}, arm() + "/none.check", qemu);
  EXPECT_EQ(result.status, HD_BAD_FILE) << result.report;
}

}  // namespace
}  // namespace heddle::testing
