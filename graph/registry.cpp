// The table of built-in operations, in the order of ops.def. It is constant: nothing registers at
// start-up.
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

constexpr const Operation* kBuiltIns[] = {
#define HEDDLE_PRIMITIVE(name) &op_##name,
#define HEDDLE_COMPOSITE(name) &op_##name,
#include "heddle/graph/ops.def"
#undef HEDDLE_PRIMITIVE
#undef HEDDLE_COMPOSITE
};

}  // namespace

std::span<const Operation* const> built_in_operations() { return kBuiltIns; }

const Operation* find_operation(std::string_view name, int version) {
  for (const Operation* op : kBuiltIns) {
    if (op->name == name && op->version == version) return op;
  }
  return nullptr;
}

std::string versioned_name(const Operation& op) {
  return std::string(op.name) + (op.version > 1 ? "@" + std::to_string(op.version) : "");
}

}  // namespace heddle
