// The system's compiler, linker and object tools, run as programs.
#ifndef HEDDLE_BACKENDS_ARTIFACT_TOOLCHAIN_H_
#define HEDDLE_BACKENDS_ARTIFACT_TOOLCHAIN_H_

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// A folder of its own, removed with everything in it at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Programs by role, each with the environment variable that replaces it: HEDDLE_CC (cc),
/// HEDDLE_CXX (c++), HEDDLE_LD (ld), HEDDLE_AR (ar), HEDDLE_NM (nm), HEDDLE_OBJCOPY (objcopy).
std::string tool(std::string_view name);

/// Runs a program in `folder` with LC_ALL=C and returns what it printed. CompileError with its
/// error text when it is missing or fails. File names in `arguments` are relative to `folder`, so
/// that results do not depend on where it is.
std::string run_tool(const std::vector<std::string>& arguments,
                     const std::filesystem::path& folder);

std::vector<std::byte> read_file(const std::filesystem::path& path);
/// RuntimeError when the file cannot be written in full.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_TOOLCHAIN_H_
