#include "heddle/frontend/common_calls.h"

#include "heddle/graph/call.h"

namespace heddle {
namespace {

bool is_common(const Type& t) {
  return t.dtype == DType::f32 || t.dtype == DType::i32 || t.dtype == DType::boolean;
}

// The row's attributes that the schema has as options.
Attributes options_of(const OperationSchema& schema, const Attributes& attributes) {
  std::vector<Attributes::Entry> entries;
  for (const OptionSpec& o : schema.options) {
    const Attribute* value = attributes.find(o.name);
    if (value != nullptr) entries.push_back({std::string(o.name), *value});
  }
  return Attributes(std::move(entries));
}

// Resolution reads types only, so any elements will do; a row that a caller could not write so is
// left out.
void add_call(const Operation& op, const OperationSchema& schema, const Workload& row,
              std::vector<Function>& calls) {
  std::vector<Operand> operands;
  for (const Type& t : row.operands) operands.emplace_back(make_tensor(splat(t, 0)));
  try {
    BoundOperationCall bound = bind(op, operands, options_of(schema, row.attributes), {});
    DtypePlan dtypes = plan(bound);
    calls.push_back(resolve(std::move(bound), std::move(dtypes)).body);
  } catch (const Error&) {
  }
}

}  // namespace

std::vector<Function> common_calls() {
  std::vector<Function> calls;
  for (const Operation* op : built_in_operations()) {
    if (op->surface.overloads.empty()) continue;
    for (const Workload& row : op->strict.workloads()) {
      bool common = true;
      for (const Type& t : row.operands) common &= is_common(t) && element_count(t) > 0;
      if (common) add_call(*op, op->surface.overloads[0], row, calls);
    }
  }
  return calls;
}

}  // namespace heddle
