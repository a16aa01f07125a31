// Libraries for macOS: programs link them here, with every symbol found in macOS's own library, and
// are signed. None is run: there is no Mac.
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_replace.h"
#include "cross/mach_o.h"
#include "cross/machines.h"
#include "heddle/backends/artifact/toolchain.h"

namespace heddle::testing {
namespace {

using Names = std::set<std::string>;
Names set_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

// What the core takes from the C library, all of it in libSystem since the first Mac with arm.
const Names kTaken = {"_abort",
                      "_clock_gettime",
                      "_fclose",
                      "_fopen",
                      "_fread",
                      "_free",
                      "_fseek",
                      "_ftell",
                      "_getenv",
                      "_memcmp",
                      "_memcpy",
                      "_memset",
                      "_memset_pattern16",
                      "_bzero",
                      "___bzero",
                      "_posix_memalign",
                      "_pthread_cond_broadcast",
                      "_pthread_cond_destroy",
                      "_pthread_cond_init",
                      "_pthread_cond_wait",
                      "_pthread_create",
                      "_pthread_join",
                      "_pthread_mutex_destroy",
                      "_pthread_mutex_init",
                      "_pthread_mutex_lock",
                      "_pthread_mutex_unlock",
                      "_strcmp",
                      "_strlen",
                      "_sysconf",
                      "dyld_stub_binder"};

// A program that has both.
std::string two_libraries(const std::string& a, const std::string& b) {
  return absl::StrReplaceAll(
      "#include \"$a.h\"\n#include \"$b.h\"\n"
      "int main(void) {\n"
      "  $a_t *a = $a_create(0);\n  $b_t *b = $b_create(0);\n"
      "  const int threads = $a_threads(a) + $b_threads(b);\n"
      "  $a_destroy(a);\n  $b_destroy(b);\n  return threads == 0;\n}\n",
      {{"$a", a}, {"$b", b}});
}

class Mac : public ::testing::TestWithParam<std::string> {
 protected:
  // The program or library `file`, good in every way that can be seen from here.
  MachO good(const std::string& file) {
    const MachO m = read_mach_o(read_file(folder() + "/" + file));
    EXPECT_EQ(m.is_arm, GetParam() == "arm-64-osx") << file;
    EXPECT_EQ(m.smallest_system, "11.0") << file;
    EXPECT_EQ(m.unresolved, std::vector<std::string>()) << file;
    EXPECT_EQ(m.bad_pages, 0) << file;
    if (m.is_arm) {
      EXPECT_GT(m.good_pages, 3) << file << ": Macs with arm run signed programs only";
    }
    return m;
  }
  const std::string& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST_P(Mac, ProgramsLinkEveryWayAndAreSigned) {
  const std::string& triple = GetParam();
  export_all("all", {triple}, folder());
  export_all("two", {triple}, folder());
  link_program(triple, main_source("all"), folder(), {"all.a"}, "static");
  EXPECT_EQ(set_of(good("static").libraries), Names{"/usr/lib/libSystem.B.dylib"});

  link_program(triple, main_source("all"), folder(), {"all.dylib", "-Wl,-rpath,@loader_path"},
               "shared");
  EXPECT_EQ(set_of(good("shared").libraries),
            (Names{"/usr/lib/libSystem.B.dylib", "@rpath/all.dylib"}));

  const MachO library = good("all.dylib");
  Names exported = set_of(library.exported);
  for (const char* own : {"___dso_handle", "__mh_dylib_header"}) exported.erase(own);
  EXPECT_EQ(exported, (Names{"_all_create", "_all_destroy", "_all_error", "_all_forces",
                             "_all_mixed", "_all_report", "_all_selftest", "_all_threads",
                             "_all_train_step", "_all_workspace_bytes", "_hd_artifact"}));
  Names more = set_of(library.imported);
  for (const std::string& name : kTaken) more.erase(name);
  EXPECT_EQ(more, Names());
}

TEST_P(Mac, TwoLibrariesInOneProgramShareNothing) {
  const std::string& triple = GetParam();
  export_all("all", {triple}, folder());
  export_all("two", {triple}, folder());
  link_program(triple, two_libraries("all", "two"), folder(), {"all.a", "two.a"}, "both");
  good("both");
}

TEST_P(Mac, ProgramsAndLibrariesAreTheSameBytesTwice) {
  const std::string& triple = GetParam();
  const TemporaryFolder other;
  const std::string there = other.path() + "/quite/another place";
  const std::vector<std::string> files = export_all("all", {triple}, folder());
  setenv("LC_ALL", "tr_TR.UTF-8", 1);
  export_all("all", {triple}, there);
  unsetenv("LC_ALL");
  link_program(triple, main_source("all"), folder(), {"all.a"}, "static");
  link_program(triple, main_source("all"), there, {"all.a"}, "static");
  for (const char* file : {"all.a", "all.dylib", "all.h", "all.json", "all.check", "static"}) {
    EXPECT_EQ(read_file(folder() + "/" + file), read_file(there + "/" + file)) << file;
  }
}

// Metal is found when the program runs: nothing but libSystem is linked.
TEST_P(Mac, LibrariesForMetalLinkTwoOfThemTooAndAreTheSameBytesTwice) {
  const std::string& triple = GetParam();
  const TemporaryFolder other;
  export_narrow("one", {triple + "-metal"}, folder());
  export_narrow("two", {triple + "-metal"}, folder());
  export_narrow("one", {triple + "-metal"}, other.path());
  for (const char* file : {"one.a", "one.dylib", "one.json", "one.check"}) {
    EXPECT_EQ(read_file(folder() + "/" + file), read_file(other.path() + "/" + file)) << file;
  }
  link_program(triple, two_libraries("one", "two"), folder(), {"one.a", "two.a"}, "both");
  EXPECT_EQ(set_of(good("both").libraries), Names{"/usr/lib/libSystem.B.dylib"});
  Names more = set_of(good("one.dylib").imported);
  for (const std::string& name : kTaken) more.erase(name);
  EXPECT_EQ(more, (Names{"_dlopen", "_dlsym", "_getpagesize", "_malloc"}));
  const std::vector<std::byte> archive = read_file(folder() + "/one.a");
  const std::string_view text(reinterpret_cast<const char*>(archive.data()), archive.size());
  EXPECT_NE(text.find("#include <metal_stdlib>"), std::string_view::npos);
}

INSTANTIATE_TEST_SUITE_P(, Mac, ::testing::Values("arm-64-osx", "x86-64-osx"),
                         [](const auto& chosen) {
                           return chosen.param == "arm-64-osx" ? "arm" : "x86";
                         });

}  // namespace
}  // namespace heddle::testing
