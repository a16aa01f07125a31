// The table of built-in operations, in the order of ops.def, is constant: nothing registers at
// start-up.
#include "heddle/graph/registry.h"

#include <map>
#include <mutex>
#include <shared_mutex>

namespace heddle {
namespace {

constexpr const Operation* kBuiltIns[] = {
#define HEDDLE_PRIMITIVE(name) &op_##name,
#define HEDDLE_COMPOSITE(name) &op_##name,
#include "heddle/graph/ops.def"
#undef HEDDLE_PRIMITIVE
#undef HEDDLE_COMPOSITE
};

struct Extensions {
  std::shared_mutex mutex;
  std::map<std::string_view, const Operation*> by_name;
};
// Never destroyed: definitions outlive everything.
Extensions& extensions() {
  static Extensions* const all = new Extensions;
  return *all;
}

}  // namespace

std::span<const Operation* const> built_in_operations() { return kBuiltIns; }

const Operation* find_built_in(std::string_view name) {
  for (const Operation* op : kBuiltIns) {
    if (op->name == name) return op;
  }
  return nullptr;
}

bool add_extension(const Operation& op) {
  Extensions& all = extensions();
  const std::unique_lock lock(all.mutex);
  return all.by_name.emplace(op.name, &op).second;
}

const Operation* find_operation(std::string_view name, int version) {
  for (const Operation* op : kBuiltIns) {
    if (op->name == name && op->version == version) return op;
  }
  Extensions& all = extensions();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_name.find(name);
  return found != all.by_name.end() && found->second->version == version ? found->second : nullptr;
}

std::string versioned_name(const Operation& op) {
  return std::string(op.name) + (op.version > 1 ? "@" + std::to_string(op.version) : "");
}

}  // namespace heddle
