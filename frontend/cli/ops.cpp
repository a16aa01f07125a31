#include <cstdio>

#include "absl/strings/str_join.h"
#include "heddle/frontend/cli/commands.h"
#include "heddle/frontend/cli/print.h"
#include "heddle/graph/attribute_names.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {
namespace {

std::string_view role_name(Role role) {
  constexpr std::string_view kNames[] = {"no_grad", "linear", "multilinear", "smooth"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string heading(const Operation& op) {
  const std::vector<std::string> names = attribute_names(op);
  return versioned_name(op) + (names.empty() ? "" : " {" + absl::StrJoin(names, ", ") + "}");
}

nlohmann::ordered_json describe(const Operation& op) {
  nlohmann::ordered_json roles = nlohmann::ordered_json::array();
  for (Role r : op.strict.roles) roles.push_back(std::string(role_name(r)));
  return {{"name", std::string(op.name)},
          {"version", op.version},
          {"kind", op.strict.decompose ? "composite" : "primitive"},
          {"roles", roles},
          {"attributes", attribute_names(op)},
          {"variadic", op.strict.variadic},
          {"text", std::string(op.strict.text)}};
}

}  // namespace

int ops_command(const OpsCommand& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::vector<Row> rows;
  for (const Operation* op : built_in_operations()) {
    if (!options.name.empty() && op->name != options.name) continue;
    json.push_back(describe(*op));
    rows.push_back({heading(*op), std::string(op->strict.text)});
  }
  if (rows.empty()) throw ValueError({.message = "ops: no operation '" + options.name + "'"});
  std::printf("%s", options.json ? (json.dump(2) + "\n").c_str() : table(rows).c_str());
  return 0;
}

}  // namespace heddle::cli
