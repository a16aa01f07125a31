#include "heddle/backends/artifact/toolchain.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "heddle/backends/process.h"
#include "heddle/graph/error.h"

namespace heddle {

std::string tool(std::string_view name) {
  const std::string role = name == "c++" ? "cxx" : std::string(name);
  const char* value = std::getenv(absl::StrCat("HEDDLE_", absl::AsciiStrToUpper(role)).c_str());
  return value && *value ? value : std::string(name);
}

std::string run_tool(const std::vector<std::string>& arguments, const std::string& folder) {
  const ProcessResult result = run_process(arguments, folder + "/tool", 0, folder);
  if (result.succeeded()) return result.output_text;
  throw CompileError(
      {.message = absl::StrCat("'", absl::StrJoin(arguments, " "), "': ", result.how_it_ended(),
                               "\n", result.error_text),
       .needed =
           result.failure.empty() ? "" : "a C toolchain: packages gcc and binutils, or clang"});
}

std::vector<std::byte> take_file(const std::string& folder, const std::string& name) {
  std::optional<std::vector<std::byte>> bytes = try_read_file(folder + "/" + name);
  if (!bytes)
    throw RuntimeError(
        {.message = absl::StrCat("cannot read ", folder, "/", name, ": ", system_error())});
  return std::move(*bytes);
}

void put_file(const std::string& folder, const std::string& name,
              std::span<const std::byte> bytes) {
  if (try_write_file(folder + "/" + name, bytes)) return;
  throw RuntimeError(
      {.message = absl::StrCat("cannot write ", folder, "/", name, ": ", system_error())});
}

void put_file(const std::string& folder, const std::string& name, std::string_view text) {
  put_file(folder, name, std::as_bytes(std::span(text)));
}

}  // namespace heddle
