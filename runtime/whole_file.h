// Files read and written whole. Failures are answers: the caller's error says what the file was
// for.
#ifndef HEDDLE_RUNTIME_WHOLE_FILE_H_
#define HEDDLE_RUNTIME_WHOLE_FILE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle {

/// All bytes, of a pipe too; else nothing, and the system's words for it in `reason`.
std::optional<std::vector<std::byte>> read_whole_file(const std::string& path, std::string& reason);
/// Writes beside `path` and renames: the file is there whole or as it was. What is no plain file (a
/// link, a pipe, a device) is written to, never replaced. Gives the reason why not, or nothing.
std::optional<std::string> write_whole_file(const std::string& path,
                                            std::span<const std::byte> bytes);

}  // namespace heddle

#endif  // HEDDLE_RUNTIME_WHOLE_FILE_H_
