#include "heddle/frontend/cli/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_join.h"
#include "heddle/graph/binary.h"
#include "heddle/graph/error.h"
#include "heddle/graph/text.h"

namespace heddle::cli {

void write_text_file(const std::string& path, std::string_view text) {
  const bool replace = !std::filesystem::exists(std::filesystem::symlink_status(path)) ||
                       std::filesystem::is_regular_file(std::filesystem::symlink_status(path));
  const std::string beside = replace ? path + ".tmp" + std::to_string(getpid()) : path;
  std::FILE* file = std::fopen(beside.c_str(), "wb");
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) good &= std::fclose(file) == 0;
  if (good && (!replace || std::rename(beside.c_str(), path.c_str()) == 0)) return;
  const std::string reason = std::strerror(errno);
  if (replace) std::remove(beside.c_str());
  throw RuntimeError({.message = "cannot write '" + path + "': " + reason});
}

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
  if (!path.ends_with(".hdb")) return write_text_file(path, to_text(program));
  const std::vector<std::byte> bytes = to_binary(program);
  write_text_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace heddle::cli
