#include "heddle/backends/artifact/core_object.h"

#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "heddle/backends/artifact/embedded.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

#if defined(__aarch64__)
constexpr char kHostMachine[] = "arm-64";
#else
constexpr char kHostMachine[] = "x86-64";
#endif
#ifdef __APPLE__
constexpr char kHostSystem[] = "osx";
#else
constexpr char kHostSystem[] = "linux";
#endif

std::vector<std::string> compile_command(const std::string& triple) {
  std::vector<std::string> command = {tool("c++"),
                                      "-std=c++20",
                                      "-O2",
                                      "-g0",
                                      "-fPIC",
                                      "-fno-exceptions",
                                      "-fno-rtti",
                                      "-fno-threadsafe-statics",
                                      "-ffp-contract=off",
                                      "-fvisibility=hidden",
                                      "-ffunction-sections",
                                      "-fdata-sections",
                                      "-fno-asynchronous-unwind-tables",
                                      "-ffreestanding"};
  for (const std::string& flag : target_flags(triple)) command.push_back(flag);
  if (absl::StartsWith(triple, "arm-64")) command.push_back("-mno-outline-atomics");
  return command;
}

std::vector<std::byte> compile(const std::string& triple, std::string_view source,
                               const std::string& name) {
  const TemporaryFolder folder;
  put_file(folder.path(), (name + ".cc"), source);
  std::vector<std::string> command = compile_command(triple);
  for (const char* argument : {"-c", "-o"}) command.push_back(argument);
  command.push_back(name + ".o");
  command.push_back(name + ".cc");
  run_tool(command, folder.path());
  return take_file(folder.path(), (name + ".o"));
}

std::string version_of(const std::string& compiler) {
  const TemporaryFolder folder;
  return run_tool({compiler, "--version"}, folder.path());
}

std::string key_of(const std::string& triple, std::string_view source) {
  const std::vector<std::string> command = compile_command(triple);
  static const std::string version = version_of(command[0]);
  const std::string text =
      absl::StrCat(absl::StrJoin(command, "\n"), "\n", version, "\n", std::string(source));
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof digest));
}

std::vector<std::byte> compile_cached(const std::string& triple, const Cached& cached,
                                      std::string_view source, const std::string& name) {
  const auto make = [&] { return compile(triple, source, name); };
  return cached ? cached(key_of(triple, source), make) : make();
}

}  // namespace

std::vector<std::string> target_flags(const std::string& triple) {
  if (triple == absl::StrCat(kHostMachine, "-", kHostSystem)) return {};
  throw NotImplementedError({.message = "artifacts for another machine are not written yet",
                             .found = triple,
                             .needed = absl::StrCat(kHostMachine, "-", kHostSystem)});
}

std::vector<std::byte> core_object(const std::string& triple, const Cached& cached) {
  return compile_cached(triple, cached, core_source(), "core");
}

std::vector<std::byte> glue_object_for(const std::string& triple, const Cached& cached) {
  return compile_cached(triple, cached, glue_source(), "glue");
}

}  // namespace heddle
