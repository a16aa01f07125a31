#include "heddle/backends/artifact/core_object.h"

#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "heddle/backends/artifact/embedded.h"
#include "heddle/backends/artifact/toolchain.h"

namespace heddle {
namespace {

std::vector<std::string> compile_command(const MachineTools& tools) {
  std::vector<std::string> command = tools.cxx;
  for (const char* flag : {"-std=c++20", "-O2", "-g0", "-fPIC", "-fno-exceptions", "-fno-rtti",
                           "-fno-threadsafe-statics", "-ffp-contract=off", "-fvisibility=hidden",
                           "-ffunction-sections", "-fdata-sections",
                           "-fno-asynchronous-unwind-tables", "-ffreestanding", "-fno-ident"}) {
    command.emplace_back(flag);
  }
  if (absl::StartsWith(tools.triple, "arm-64")) command.emplace_back("-mno-outline-atomics");
  return command;
}

std::vector<std::byte> compile(const MachineTools& tools, std::string_view source,
                               const std::string& name) {
  const TemporaryFolder folder;
  put_file(folder.path(), (name + ".cc"), source);
  std::vector<std::string> command = compile_command(tools);
  for (const char* argument : {"-c", "-o"}) command.push_back(argument);
  command.push_back(name + ".o");
  command.push_back(name + ".cc");
  run_tool(command, folder.path());
  return take_file(folder.path(), (name + ".o"));
}

std::string version_of(const std::vector<std::string>& compiler) {
  const TemporaryFolder folder;
  std::vector<std::string> command = compiler;
  command.emplace_back("--version");
  return run_tool(command, folder.path());
}

std::string key_of(const MachineTools& tools, std::string_view source) {
  const std::vector<std::string> command = compile_command(tools);
  const std::string version = version_of(tools.cxx);
  const std::string text =
      absl::StrCat(absl::StrJoin(command, "\n"), "\n", version, "\n", std::string(source));
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof digest));
}

std::vector<std::byte> compile_cached(const MachineTools& tools, const Cached& cached,
                                      std::string_view source, const std::string& name) {
  const auto make = [&] { return compile(tools, source, name); };
  return cached ? cached(key_of(tools, source), make) : make();
}

}  // namespace

std::vector<std::byte> core_object(const MachineTools& tools, const Cached& cached) {
  return compile_cached(tools, cached, core_source(), "core");
}

std::vector<std::byte> device_object(const MachineTools& tools, const std::string& device,
                                     const Cached& cached) {
  return compile_cached(tools, cached, device == "metal" ? metal_source() : opencl_source(),
                        device);
}

std::vector<std::byte> glue_object_for(const MachineTools& tools, const Cached& cached) {
  return compile_cached(tools, cached, glue_source(), "glue");
}

}  // namespace heddle
