// Ahead of time: programs become one library and one C header.
//
//   export_library({{"energy", energy}, {"gradient", grad(energy, "r")}}, {.name = "lj", .targets =
//   {"host"}});
//
// writes lj.a, lj.so, lj.h, lj.json (signatures, kernels, memory) and lj.check (seeded inputs with
// expected values, which lj_selftest() runs on the machine the library ships to). With targets of
// several machines the first one's files lie in the folder itself, those of each further one in a
// folder of its name in it: arm-64-osx/lj.a, arm-64-osx/lj.dylib ...
#ifndef HEDDLE_FRONTEND_EXPORT_H_
#define HEDDLE_FRONTEND_EXPORT_H_

#include <functional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "heddle/backends/compile.h"

namespace heddle {

/// Function name in C -> program (its entry function).
using NamedProgram = std::pair<std::string, Program>;

struct ExportOptions {
  std::string name;  ///< of the library: a C identifier
  /// parse_target; several feature sets of one machine share one library, which takes the best that
  /// the CPU has when an instance is made.
  std::vector<std::string> targets{"host"};
  std::string folder = ".";  ///< made if missing
  int jobs = 0;
  CompileProgress progress{};
  StageObserver observer{};
};

/// Paths of the files written; of one machine none is written unless all can be. Errors have the
/// caller's place: ValueError for a bad name or target, NotAvailableError for a carrier without
/// artifacts or a machine whose tools are not there (zig makes those of other machines),
/// CompileError from compiling.
std::vector<std::string> export_library(const std::vector<NamedProgram>& functions,
                                        const ExportOptions& options,
                                        Location where = std::source_location::current());

/// What a model's program adds functions to; see library_main.
class Library {
 public:
  /// ValueError when the name is taken or no C identifier.
  void add(const std::string& name, Program program,
           Location where = std::source_location::current());
  const std::vector<NamedProgram>& functions() const { return functions_; }

 private:
  std::vector<NamedProgram> functions_;
};

/// The main program of a model's source: traces by calling `define`, then exports by the command
/// line
/// (`model --output FOLDER --target host ... [--jobs N] [--program]`); heddle_add_library of
/// CMake runs it. Errors go to stderr, the result is the exit code.
int library_main(int argc, char** argv, const std::string& name,
                 const std::function<void(Library&)>& define);

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_EXPORT_H_
