#include "heddle/backends/artifact/symbols.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "heddle/backends/artifact/toolchain.h"

namespace heddle {
std::vector<std::string> defined_symbols(const std::string& file, const std::string& folder) {
  const std::string printed = run_tool({tool("nm"), "-g", "--defined-only", "-P", file}, folder);
  std::set<std::string> names;
  for (const auto& line : absl::StrSplit(printed, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> fields = absl::StrSplit(line, ' ');
    if (fields.size() >= 2) names.insert(fields[0]);  // else an archive member's title
  }
  return {names.begin(), names.end()};
}

void add_prefix(const std::string& name, std::span<const std::string> objects,
                const std::string& folder) {
  std::set<std::string> names;
  for (const std::string& object : objects) {
    for (std::string& symbol : defined_symbols(object, folder)) names.insert(std::move(symbol));
  }
  std::string map;
  const std::string prefix = name + "_";
  for (const std::string& symbol : names) {
    if (absl::StartsWith(symbol, prefix)) continue;
    absl::StrAppend(&map, symbol, " ", prefix, symbol, "\n");
  }
  put_file(folder, "symbols.map", map);
  for (const std::string& object : objects) {
    run_tool({tool("objcopy"), "--redefine-syms=symbols.map", "--remove-section=.comment",
              "--strip-debug", object},
             folder);
  }
}

}  // namespace heddle
