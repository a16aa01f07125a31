// The tools that make a library for a machine: the system's own for this one, zig for all others
// (it is clang, its linkers and every libc's headers and symbols in one program).
#ifndef HEDDLE_BACKENDS_ARTIFACT_MACHINE_TOOLS_H_
#define HEDDLE_BACKENDS_ARTIFACT_MACHINE_TOOLS_H_

#include <string>
#include <vector>

namespace heddle {

/// Beginnings of command lines: a program and the arguments that say for what machine.
struct MachineTools {
  std::string triple;                         ///< Target::triple
  std::vector<std::string> cc, cxx, archive;  ///< archive: with its letters, before the file's name
  bool mach_o = false;
  const char* shared_extension() const { return mach_o ? ".dylib" : ".so"; }
};

/// NotAvailableError names the tool, the machine and what to install when another machine's tools
/// do not start.
MachineTools tools_for(const std::string& triple);

/// The command that links `objects` into the shared library `name` + shared_extension(), exporting
/// what is not hidden.
std::vector<std::string> link_command(const MachineTools& tools, const std::string& name,
                                      const std::vector<std::string>& objects);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_MACHINE_TOOLS_H_
