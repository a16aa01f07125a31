#include "heddle/backends/artifact/symbols.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "heddle/backends/artifact/toolchain.h"

namespace heddle {
namespace {

// There every C symbol begins with an underscore.
bool is_macho(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && bytes[0] == std::byte{0xcf} && bytes[1] == std::byte{0xfa};
}

}  // namespace

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
  const std::string underscore = is_macho(take_file(folder, objects[0])) ? "_" : "";
  for (const std::string& symbol : names) {
    const std::string bare = symbol.substr(underscore.size());
    if (absl::StartsWith(bare, prefix)) continue;
    absl::StrAppend(&map, symbol, " ", underscore, prefix, bare, "\n");
  }
  put_file(folder, "symbols.map", map);
  for (const std::string& object : objects) {
    run_tool({tool("objcopy"), "--redefine-syms=symbols.map", "--remove-section=.comment",
              "--strip-debug", object},
             folder);
  }
}

}  // namespace heddle
