#include "heddle/backends/artifact/link.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "heddle/backends/artifact/embedded.h"
#include "heddle/backends/artifact/toolchain.h"

namespace heddle {

std::vector<std::byte> link_kernels(std::span<const KernelObject> objects) {
  const TemporaryFolder folder;
  std::vector<std::string> command = {tool("ld"),
                                      "-shared",
                                      "-Bsymbolic",
                                      "-z",
                                      "now",
                                      "-z",
                                      "noexecstack",
                                      "--build-id=none",
                                      "--hash-style=gnu",
                                      "--gc-sections",
                                      "--strip-all",
                                      "--version-script=exports",
                                      "-o",
                                      "kernels.so",
                                      "glue.o"};
  put_file(folder.path(), "glue.o", glue_object());
  std::string exports = "{ global:";
  std::set<std::string> known;
  for (const KernelObject& object : objects) {
    if (!known.insert(object.symbol).second) continue;
    const std::string name = absl::StrCat("kernel", known.size(), ".o");
    put_file(folder.path(), name, object.object);
    command.push_back(name);
    absl::StrAppend(&exports, " ", object.symbol, ";");
  }
  if (known.empty()) absl::StrAppend(&exports, " no_kernels;");
  put_file(folder.path(), "exports", exports + " local: *; };\n");
  run_tool(command, folder.path());
  return take_file(folder.path(), "kernels.so");
}

}  // namespace heddle
