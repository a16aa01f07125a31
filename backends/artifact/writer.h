// Writes a compiled program as a library that stands on its own: name.a and name.so (on macOS
// name.dylib), name.h, name.json, name.check. It may be for another machine than this one.
#ifndef HEDDLE_BACKENDS_ARTIFACT_WRITER_H_
#define HEDDLE_BACKENDS_ARTIFACT_WRITER_H_

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heddle/backends/artifact/core_object.h"
#include "heddle/backends/artifact/describe.h"
#include "heddle/runtime/check_file.h"

namespace heddle {

struct WriteOptions {
  std::string name;               ///< an identifier of C: the prefix of every name
  std::filesystem::path folder;   ///< made when it is not there
  bool static_library = true;     ///< name.a; `cc main.c name.a -lpthread -lm` is all
  bool shared_library = false;    ///< name.so or name.dylib; exports hd_artifact and name_*
  std::vector<CheckCase> checks;  ///< name.check; none: no file
  Cached cached;                  ///< keeps the compiled core; empty: compiled each time
};

/// The files written, in the order of the head of this file. The same plans and objects give the
/// same bytes, whatever the folder, the locale and the time. Files appear whole or not at all
/// (written beside, then renamed). All plans are for one machine. CompileError: a tool failed;
/// RuntimeError: the folder cannot be written; ValueError: a name is no good.
std::vector<std::filesystem::path> write_artifact(std::span<const CompiledPlan> plans,
                                                  const WriteOptions& options);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_WRITER_H_
