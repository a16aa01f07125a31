#include "heddle/frontend/common_calls.h"

#include "heddle/graph/call.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"

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

// The convolutions of the usual networks: 3x3 and 1x1 at strides 1 and 2, the first layers' 5x5 and
// 7x7. Their taps and padding are numbers in a kernel, so each is one.
void add_convolutions(std::vector<Function>& calls) {
  struct Form {
    std::int64_t taps, stride, padding;
  };
  for (const Form& f : {Form{3, 1, 1}, Form{3, 2, 1}, Form{3, 1, 0}, Form{1, 1, 0}, Form{1, 2, 0},
                        Form{5, 1, 2}, Form{7, 2, 3}}) {
    const std::vector<std::int64_t> strides(2, f.stride), padding(2, f.padding), none(2, 1);
    // An image whose last axis is long enough for vectors, as images are.
    const Workload row{
        .operands = {{DType::f32, {2, 8, 32, 32}}, {DType::f32, {16, 8, f.taps, f.taps}}},
        .attributes = Attributes::of(ConvAttributes{strides, padding, padding, none, none})};
    add_call(op_conv_general, op_conv_general.surface.overloads[0], row, calls);
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
  add_convolutions(calls);
  return calls;
}

}  // namespace heddle
