#include "heddle/frontend/cli/files.h"

#include <filesystem>

#include "absl/strings/str_join.h"
#include "heddle/graph/binary.h"
#include "heddle/graph/error.h"
#include "heddle/graph/text.h"
#include "heddle/runtime/whole_file.h"

namespace heddle::cli {
namespace {

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  if (const auto reason = write_whole_file(path, bytes)) {
    throw RuntimeError({.message = "cannot write '" + path + "': " + *reason});
  }
}

}  // namespace

void check_extension(const char* command, const std::string& path,
                     const std::vector<std::string>& extensions) {
  for (const std::string& extension : extensions) {
    if (path.ends_with(extension)) return;
  }
  std::error_code error;
  const bool is_other =
      std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
  if (is_other) return;
  throw ValueError({.message = std::string(command) + ": unknown kind of file",
                    .field = "--output",
                    .found = "'" + path + "'",
                    .needed = "a name that ends with " + absl::StrJoin(extensions, " or ")});
}

void write_program(const std::string& path, const Program& program) {
  if (path.ends_with(".hdb")) return write_file(path, to_binary(program));
  const std::string text = to_text(program);
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace heddle::cli
