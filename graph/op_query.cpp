#include "heddle/graph/op_query.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle {
namespace {

std::string text(std::string_view s) { return std::string(s); }

std::size_t result_count(const Operation& op, const Workload& row) {
  const Literal* none = nullptr;
  return op.strict.infer({op, row.operands, row.attributes, none}).size();
}

}  // namespace

std::optional<OpSchema> find_schema(std::string_view name) {
  const Operation* op = find_operation(name);
  if (op == nullptr) return std::nullopt;
  OpSchema schema{.name = op->name,
                  .variadic = op->strict.variadic,
                  .traits = op->strict.traits,
                  .decomposes = op->strict.decompose != nullptr};
  schema.inputs = op->strict.variadic ? 0 : op->strict.roles.size();
  schema.min_variadic = op->strict.variadic ? 1 : 0;
  if (op->strict.workloads == nullptr) return schema;
  const std::vector<Workload> rows = op->strict.workloads();
  if (rows.empty() || op == &op_constant) return schema;
  schema.outputs = result_count(*op, rows[0]);
  for (const auto& [attribute, value] : rows[0].attributes.entries()) {
    schema.attributes.emplace_back(attribute, kind_of(value));
  }
  return schema;
}

bool OpQuery::op_registered(std::string_view name) const { return find_operation(name) != nullptr; }

std::optional<std::string> OpQuery::check_schema(std::string_view name, std::size_t inputs,
                                                 std::size_t outputs,
                                                 const Attributes& attributes) const {
  const std::optional<OpSchema> schema = find_schema(name);
  if (!schema) return absl::StrCat("operation '", text(name), "' is not registered");
  const bool enough =
      schema->variadic ? inputs >= schema->min_input_count() : inputs == schema->min_input_count();
  if (!enough) {
    return absl::StrCat(text(name), " has ", inputs, " inputs, its schema ",
                        schema->variadic ? "at least " : "", schema->min_input_count());
  }
  if (outputs != schema->outputs) {
    return absl::StrCat(text(name), " has ", outputs, " outputs, its schema ", schema->outputs);
  }
  for (const auto& [attribute, kind] : schema->attributes) {
    const Attribute* value = attributes.find(attribute);
    if (value == nullptr) {
      return absl::StrCat(text(name), " lacks attribute '", attribute, "'");
    }
    if (kind_of(*value) != kind) {
      return absl::StrCat("attribute '", attribute, "' of ", text(name), " is ",
                          text(kind_of(*value)), ", its schema says ", text(kind));
    }
  }
  for (const auto& [attribute, value] : attributes.entries()) {
    const auto& declared = schema->attributes;
    const bool known = std::any_of(declared.begin(), declared.end(),
                                   [&](const auto& entry) { return entry.first == attribute; });
    if (!known) {
      return absl::StrCat("attribute '", attribute, "' of ", text(name), " is not in its schema");
    }
  }
  return std::nullopt;
}

}  // namespace heddle
