#include "heddle/graph/attribute_names.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "absl/strings/str_join.h"

namespace heddle {
namespace {

std::vector<std::string> names_in_rows(const Operation& op) {
  std::set<std::string> names;
  for (const Workload& row : op.strict.workloads()) {
    for (const auto& [name, value] : row.attributes.entries()) names.insert(name);
  }
  return {names.begin(), names.end()};
}

}  // namespace

const std::vector<std::string>& attribute_names(const Operation& op) {
  static std::mutex mutex;
  static auto* const known = new std::map<const Operation*, std::vector<std::string>>;
  {
    const std::lock_guard lock(mutex);
    const auto found = known->find(&op);
    if (found != known->end()) return found->second;
  }
  std::vector<std::string> names = names_in_rows(op);
  const std::lock_guard lock(mutex);
  return known->try_emplace(&op, std::move(names)).first->second;
}

void check_attribute_names(At at) {
  if (at.attributes.empty()) return;
  const std::vector<std::string>& names = attribute_names(at.op);
  for (const auto& [name, value] : at.attributes.entries()) {
    if (std::binary_search(names.begin(), names.end(), name)) continue;
    if (at.op.strict.workloads().empty()) return;  // it checks them itself
    operation_error<TypeError>(
        at, "unknown attribute", "attributes." + name, decimal_text(value),
        names.empty() ? "no attributes" : "one of " + absl::StrJoin(names, ", "));
  }
}

}  // namespace heddle
