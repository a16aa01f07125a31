// Symbols of object files, against the system's own tools, and files that are none.
#include "heddle/backends/artifact/object_file.h"

#include <gtest/gtest.h>

#include <random>

#include "heddle/backends/artifact/machine_tools.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/graph/error.h"
#include "heddle/schedule/target.h"

namespace heddle::testing {
namespace {

std::vector<std::byte> compiled(const std::string& source) {
  const TemporaryFolder folder;
  put_file(folder.path(), "a.c", std::string_view(source));
  run_tool({tool("cc"), "-c", "-O1", "-g0", "-fPIC", "-o", "a.o", "a.c"}, folder.path());
  return take_file(folder.path(), "a.o");
}

constexpr char kSource[] =
    "extern int outside(int);\n"
    "static int local(int x) { return outside(x) * 3; }\n"
    "int twice(int x) { return 2 * x; }\n"
    "__attribute__((weak)) int data = 7;\n"
    "int entry(int x) { return local(x) + twice(x) + data; }\n";

TEST(ObjectFile, SaysItsMachineAndItsGlobalNames) {
  const ObjectFile object("a.o", compiled(kSource));
  EXPECT_EQ(object.machine(), Target::host().triple);
  EXPECT_EQ(object.defined(), (std::vector<std::string>{"data", "entry", "twice"}));
  const std::vector<std::string> used = object.undefined();
  EXPECT_NE(std::find(used.begin(), used.end(), "outside"), used.end());
}

// The same program by the linker: the renamed object works, its hidden names are no others'.
TEST(ObjectFile, RenamedAndHiddenObjectsLink) {
  ObjectFile object("a.o", compiled(kSource));
  object.rename({{"entry", "a_much_longer_entry"}, {"outside", "o"}, {"twice", "mine_twice"}});
  object.hide_unless([](const std::string& name) { return name == "a_much_longer_entry"; });
  const TemporaryFolder folder;
  put_file(folder.path(), "a.o", object.bytes());
  put_file(
      folder.path(), "main.c",
      std::string_view("#include <stdio.h>\n"
                       "int o(int x) { return x + 1; }\n"
                       "int twice(int x) { return x; }\n"
                       "extern int a_much_longer_entry(int);\n"
                       "int main(void) { printf(\"%d\", a_much_longer_entry(4) + twice(0)); }\n"));
  run_tool({tool("cc"), "-o", "main", "main.c", "a.o"}, folder.path());
  EXPECT_EQ(run_tool({"./main"}, folder.path()), "30");
  run_tool({tool("cc"), "-shared", "-o", "a.so", "a.o"}, folder.path());
  const std::string seen = run_tool({"nm", "-D", "--defined-only", "-P", "a.so"}, folder.path());
  EXPECT_NE(seen.find("a_much_longer_entry"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("data"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("twice"), std::string::npos) << seen;
}

TEST(ObjectFile, RenamingTwiceAndToTheSameNameChangesNothingElse) {
  ObjectFile object("a.o", compiled(kSource));
  const std::vector<std::byte> before(object.bytes().begin(), object.bytes().end());
  object.rename({{"nobody", "x"}});
  EXPECT_TRUE(
      std::equal(before.begin(), before.end(), object.bytes().begin(), object.bytes().end()));
  object.rename({{"entry", "first"}});
  object.rename({{"first", "second"}});
  EXPECT_EQ(ObjectFile("b.o", {object.bytes().begin(), object.bytes().end()}).defined(),
            (std::vector<std::string>{"data", "second", "twice"}));
}

TEST(ObjectFile, PiecesOfAnObjectAreCompileErrorsOrKeepTheirNames) {
  const std::vector<std::byte> whole = compiled(kSource);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      ObjectFile("piece.o", {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
      FAIL() << "a piece of " << size << " of " << whole.size() << " bytes";  // sections come last
    } catch (const CompileError& error) {
      EXPECT_NE(std::string(error.what()).find("'piece.o' is no object file"), std::string::npos);
    }
  }
}

TEST(ObjectFile, DamagedObjectsNeverCrash) {
  const std::vector<std::byte> whole = compiled(kSource);
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> damaged = whole;
    for (int i = 0; i < 4; ++i) damaged[random() % whole.size()] = static_cast<std::byte>(random());
    try {
      ObjectFile object("damaged.o", damaged);
      object.rename({{"entry", "other"}, {"data", "more"}});
      object.hide_unless([](const std::string&) { return false; });
    } catch (const CompileError&) {
    }
  }
}

TEST(ObjectFile, LinkedFilesAndTextsAreRefused) {
  const auto refused = [](const std::string& name, std::vector<std::byte> bytes) {
    try {
      ObjectFile(name, std::move(bytes));
    } catch (const CompileError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto program = try_read_file("/proc/self/exe");
  EXPECT_NE(refused("test", *program).find("linked already"), std::string::npos);
  const std::string text = "int main(void) { return 0; }";
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_NE(refused("main.c", {bytes.begin(), bytes.end()}).find("neither ELF nor Mach-O"),
            std::string::npos);
}

TEST(MachineTools, MissingToolsOfAnotherMachineAreNamed) {
  setenv("HEDDLE_ZIG", "/no/such/zig", 1);
  try {
    tools_for("arm-64-osx");
    ADD_FAILURE();
  } catch (const NotAvailableError& error) {
    const std::string text = error.what();
    for (const char* part : {"/no/such/zig", "arm-64-osx", "ziglang", "HEDDLE_ZIG"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
  unsetenv("HEDDLE_ZIG");
}

}  // namespace
}  // namespace heddle::testing
