#include "heddle/backends/artifact/machine_tools.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/backends/process.h"
#include "heddle/graph/error.h"
#include "heddle/schedule/target.h"

namespace heddle {
namespace {

// The oldest system that a library runs on: what glibc of 2018 has, the first macOS for arm.
std::string zig_target(const std::string& triple) {
  static const std::map<std::string, std::string> kTargets = {
      {"x86-64-linux", "x86_64-linux-gnu.2.28"},
      {"arm-64-linux", "aarch64-linux-gnu.2.28"},
      {"x86-64-osx", "x86_64-macos.11.0"},
      {"arm-64-osx", "aarch64-macos.11.0"}};
  return kTargets.at(triple);
}

void check_zig(const std::string& zig, const std::string& triple) {
  const TemporaryFolder folder;
  const ProcessResult result =
      run_process({zig, "version"}, folder.path() + "/zig", 0, folder.path());
  if (result.succeeded()) return;
  throw NotAvailableError(
      {.message = absl::StrCat("export: no compiler for ", triple),
       .field = "target",
       .found = absl::StrCat("'", zig, "' does not start: ", result.how_it_ended()),
       .needed = "zig: the Python package ziglang; HEDDLE_ZIG names its program"});
}

std::vector<std::string> zig_compiler(const std::string& zig, const char* language,
                                      const std::string& triple) {
  return {zig,
          language,
          "-target",
          zig_target(triple),
          "-mcpu=baseline",
          "-fno-sanitize=undefined",
          "-fno-stack-protector"};
}

}  // namespace

MachineTools tools_for(const std::string& triple) {
  MachineTools tools{.triple = triple, .mach_o = absl::EndsWith(triple, "-osx")};
  const std::string letters = "rcsD";  // D: no times, owners and modes
  if (triple == Target::host().triple) {
    tools.cc = {tool("cc")};
    tools.cxx = {tool("c++")};
    tools.archive = {tool("ar"), letters};
    return tools;
  }
  const std::string zig = tool("zig");
  check_zig(zig, triple);
  tools.cc = zig_compiler(zig, "cc", triple);
  tools.cxx = zig_compiler(zig, "c++", triple);
  tools.archive = {zig, "ar", tools.mach_o ? "--format=darwin" : "--format=gnu", letters};
  return tools;
}

std::vector<std::string> link_command(const MachineTools& tools, const std::string& name,
                                      const std::vector<std::string>& objects) {
  const std::string file = name + tools.shared_extension();
  std::vector<std::string> command = tools.cc;
  if (tools.mach_o) {
    command.insert(command.end(), {"-dynamiclib", "-install_name", "@rpath/" + file, "-s",
                                   "-Wl,-dead_strip", "-o", file});
  } else {
    command.insert(command.end(),
                   {"-shared", "-s", "-Wl,--gc-sections", "-Wl,--build-id=none",
                    "-Wl,-z,noexecstack", absl::StrCat("-Wl,-soname=", file), "-o", file});
  }
  command.insert(command.end(), objects.begin(), objects.end());
  for (const char* library : {"-lpthread", "-lm"}) command.emplace_back(library);
  return command;
}

}  // namespace heddle
