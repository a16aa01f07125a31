// The self-test of a written library, through the library's own core: what name_selftest says.
#ifndef HEDDLE_BACKENDS_ARTIFACT_SELFTEST_H_
#define HEDDLE_BACKENDS_ARTIFACT_SELFTEST_H_

#include <string>
#include <vector>

#include "heddle/runtime/core/abi.h"

namespace heddle {

/// A library on disk, with name.h beside it.
struct WrittenLibrary {
  std::string path;    ///< "out/mlp.so"
  std::string name;    ///< "mlp"
  std::string triple;  ///< of its machine
};

struct SelftestResult {
  int status;          ///< HD_OK, HD_SELFTEST_FAILED ...: core/abi.h
  std::string report;  ///< a line per function, or why it did not run
};

/// Loads a shared library into this process. StatusError when it cannot be loaded or is no library
/// of ours. `options`: of its instance; null: the defaults.
SelftestResult selftest_loaded(const WrittenLibrary& library, const std::string& check_file,
                               const hd_options* options = nullptr);

/// Links a C program with the library, by its machine's tools, and runs it: on this machine, or by
/// the command `run_by` ("qemu-aarch64 -L /usr/aarch64-linux-gnu", or one that copies it to a
/// device). NotAvailableError when there are no tools; CompileError when it does not link, or ends
/// without a result.
SelftestResult selftest_linked(const WrittenLibrary& library, const std::string& check_file,
                               const std::vector<std::string>& run_by);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_SELFTEST_H_
