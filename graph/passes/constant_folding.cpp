#include <algorithm>

#include "heddle/graph/interpret.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/passes/rewrite.h"

namespace heddle {
namespace {

constexpr std::int64_t kLargestFolded = 64 * 1024;  // bytes

bool is_static(const Type& type) {
  for (const Dim& d : type.dims) {
    if (!d.is_constant()) return false;
  }
  return true;
}

// A broadcast or iota is cheaper to compute where it is read than to load.
bool worth_folding(const Node& node) {
  return node.op != &op_constant && node.op->strict.pattern != Pattern::broadcast &&
         !(node.op->strict.traits & kHasSideEffect);
}

// So are bytes that are made wide, and products take them as they are.
bool widens_bytes(const Node& node, const Type& from, const Type& to) {
  constexpr std::int64_t kFew = 256;  // bytes
  return node.op == &op_convert && size_of(from.dtype) == 1 && to.dtype == DType::i32 &&
         byte_count(to) > kFew;
}

// Asked before anything is computed.
bool worth_keeping(const Builder& build, const Node& node, Ids operands) {
  std::vector<Type> types;
  for (ValueId o : operands) types.push_back(build.type(o));
  const NodeContext at{*node.op, types, node.attributes, nullptr, build.callees(), node.where};
  const std::vector<Type> results = node.op->strict.infer(at);
  return std::all_of(results.begin(), results.end(), [&](const Type& r) {
    return is_static(r) && byte_count(r) <= kLargestFolded && !widens_bytes(node, types[0], r);
  });
}

}  // namespace

Program constant_folding(const Program& program) {
  return rewrite(program,
                 [](Builder& build, const Node& node, Ids operands) -> std::optional<Values> {
                   if (!worth_folding(node) || operands.empty()) return std::nullopt;
                   std::vector<Literal> literals;
                   for (ValueId o : operands) {
                     const Node* definition = build.definition(o);
                     if (definition == nullptr || !definition->literal) return std::nullopt;
                     literals.push_back(*definition->literal);
                   }
                   if (!worth_keeping(build, node, operands)) return std::nullopt;
                   std::vector<Literal> results;
                   try {
                     results = interpret_node(node, literals, build.callees());
                   } catch (const OverflowError&) {  // a fault belongs to the run
                     return std::nullopt;
                   }
                   Values folded;
                   for (const Literal& r : results) folded.push_back(build.constant(r, node.where));
                   return folded;
                 });
}

}  // namespace heddle
