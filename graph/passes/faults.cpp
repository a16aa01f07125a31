#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"

namespace heddle {
namespace {

constexpr std::string_view kFault = "@fault";  // a builder takes no such name: nobody can give it

bool can_fault(const Function& f) {
  for (const Node& node : f.nodes) {
    if (node.op == &op_narrow) return true;
  }
  return false;
}

// Whether some element of x (i64) does not fit an i32.
ValueId leaves_i32(Builder& b, ValueId x, ValueId narrow) {
  const ValueId differs = emit::compare(b, "ne", emit::convert(b, narrow, DType::i64), x);
  const emit::Axes axes = emit::all_axes(b.type(x).rank());
  return axes.empty() ? differs : emit::reduce_any(b, differs, axes);
}

Function lower_function(const Function& f, const Program* callees) {
  Builder b(f.name, callees);
  Values names(f.types.size());
  MaybeValue fault;
  for (const Input& in : f.inputs) {
    names[in.value.index] = b.input(in.name, f.type(in.value), in.donate);
  }
  for (const Node& node : f.nodes) {
    Values operands;
    for (ValueId o : node.operands) operands.push_back(names[o.index]);
    if (node.literal) {
      names[node.results[0].index] = b.constant(*node.literal, node.where);
    } else if (node.op == &op_narrow) {
      b.set_location(node.where);
      const ValueId narrow = emit::convert(b, operands[0], DType::i32);
      const ValueId own = leaves_i32(b, operands[0], narrow);
      fault = fault ? emit::logical_or(b, *fault, own) : own;
      names[node.results[0].index] = narrow;
    } else {
      const Values results = b.add(*node.op, operands, node.attributes, node.where);
      for (std::size_t r = 0; r < results.size(); ++r) names[node.results[r].index] = results[r];
    }
  }
  for (const Output& out : f.outputs) b.output(out.name, names[out.value.index]);
  const ValueId flag = emit::convert(b, *fault, DType::i32);
  Function result = b.finish();
  result.outputs.push_back({std::string(kFault), flag});
  return result;
}

}  // namespace

Program lower_faults(const Program& program) {
  std::vector<Function> functions;
  bool any = false;
  for (const Function& f : program.functions()) {
    any |= can_fault(f);
    functions.push_back(can_fault(f) ? lower_function(f, &program) : f);
  }
  return any ? Program(std::move(functions)) : program;
}

bool has_fault_output(const Function& function) {
  return !function.outputs.empty() && function.outputs.back().name == kFault &&
         function.type(function.outputs.back().value) == Type{DType::i32, {}};
}

}  // namespace heddle
