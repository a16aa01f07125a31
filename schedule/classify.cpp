#include "heddle/schedule/classify.h"

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/layout.h"
#include "heddle/schedule/narrow_factors.h"

namespace heddle {
namespace {

bool reduces_trailing(const std::vector<std::int64_t>& axes, std::size_t rank) {
  return axes.empty() || axes.front() == static_cast<std::int64_t>(rank - axes.size());
}

bool reduces_leading(const std::vector<std::int64_t>& axes) {
  return axes.empty() || axes.back() == static_cast<std::int64_t>(axes.size()) - 1;
}

NodeClass classify_reduction(const Function& f, const Node& node) {
  if (node.attributes.find("axes") == nullptr) return NodeClass::general;  // argmax, argmin
  const auto axes = node.attributes.as<AxesAttributes>().axes;
  const Dims& dims = f.type(node.operands[0]).dims;
  std::int64_t extent = 1;
  for (std::int64_t a : axes) {
    const Dim& d = dims[static_cast<std::size_t>(a)];
    extent = d.is_constant() ? extent * d.constant() : kInlineReduction + 1;
  }
  const bool total = axes.size() == dims.size();
  if (extent <= kInlineReduction && !total) return NodeClass::inlined;
  if (reduces_trailing(axes, dims.size())) return NodeClass::rows;
  return reduces_leading(axes) ? NodeClass::columns : NodeClass::general;
}

NodeClass classify_node(const Function& f, const Node& node) {
  switch (node.op->strict.pattern) {
    case Pattern::elementwise:
      return NodeClass::inlined;
    case Pattern::broadcast:
      return node.literal ? NodeClass::constant : NodeClass::free;
    case Pattern::movement:
      return node.op == &op_pad || node.op == &op_concatenate ? NodeClass::inlined
                                                              : NodeClass::free;
    case Pattern::gather:
      return NodeClass::inlined;
    case Pattern::reduce:
      return classify_reduction(f, node);
    case Pattern::contract:
      return is_inline_window(node, f.type(node.operands.back())) ? NodeClass::inlined
                                                                  : NodeClass::contract;
    case Pattern::window:
      return is_inline_window(node, f.type(node.operands.back())) ? NodeClass::inlined
                                                                  : NodeClass::general;
    case Pattern::random:
      return NodeClass::inlined;
    case Pattern::scatter:
      return NodeClass::scatter;
    case Pattern::composite:  // those that are to be expanded are, long before
      return NodeClass::row_block;
    case Pattern::scan:
    case Pattern::sort:
      return NodeClass::fibres;
    default:
      break;
  }
  throw NotImplementedError({.message = "this operation has no schedule",
                             .operation = std::string(node.op->name),
                             .where = node.where});
}

// Bytes that are widened for products alone are bytes in memory: a product packs them as it likes.
void free_widened_factors(const Function& f, std::vector<NodeClass>& classes) {
  std::vector<bool> elsewhere(f.types.size());
  for (const Output& o : f.outputs) elsewhere[o.value.index] = true;
  for (std::size_t n = f.nodes.size(); n-- > 0;) {
    const Node& node = f.nodes[n];
    const bool passes = node.op == &op_transpose && !elsewhere[node.results[0].index];
    if (node.op != &op_dot_general && !passes) {
      for (ValueId o : node.operands) elsewhere[o.index] = true;
    }
    if (classes[n] == NodeClass::inlined && widens_bytes(f, node) &&
        !is_symbolic(f.type(node.results[0])) && !elsewhere[node.results[0].index]) {
      classes[n] = NodeClass::free;
    }
  }
}

}  // namespace

bool is_inline_window(const Node& node, const Type& last) {
  std::int64_t elements = 1;
  if (node.op->strict.pattern == Pattern::window) {
    for (std::int64_t n : node.attributes.as<WindowAttributes>().window) elements *= n;
    return elements <= kInlineWindow;
  }
  if (node.op != &op_conv_general) return false;
  const Dims& taps = last.dims;
  if (is_symbolic(last)) return false;
  const std::int64_t outputs = taps[0].constant() / node.attributes.as<ConvAttributes>().groups;
  for (std::size_t a = 1; a < taps.size(); ++a) elements *= taps[a].constant();
  return elements <= kInlineWindow && outputs < 4;
}

std::vector<NodeClass> classify(const Function& function, const ExternalKernels& external,
                                bool slices) {
  const std::vector<std::uint32_t> node_of = definitions(function);
  const std::vector<bool> views = view_nodes(function, slices);
  std::vector<NodeClass> classes;
  for (std::size_t n = 0; n < views.size(); ++n) {
    const Node& node = function.nodes[n];
    const bool from_outside = external_of(external, function, node).has_value();
    classes.push_back(from_outside ? NodeClass::external
                      : views[n]   ? NodeClass::view
                                   : classify_node(function, node));
  }
  if (slices) free_widened_factors(function, classes);
  auto materialize = [&](ValueId v) {
    const std::uint32_t n = node_of[v.index];
    if (n != kNoNode && classes[n] == NodeClass::free) classes[n] = NodeClass::inlined;
  };
  for (std::size_t n = 0; n < classes.size(); ++n) {
    if (classes[n] != NodeClass::view && classes[n] != NodeClass::external) continue;
    for (ValueId o : function.nodes[n].operands) materialize(o);
  }
  for (const Output& o : function.outputs) materialize(o.value);
  return classes;
}

ReductionDomain reduction_domain(const Function& function, const Node& node) {
  const auto axes = node.attributes.as<AxesAttributes>().axes;
  const Dims& dims = function.type(node.operands[0]).dims;
  ReductionDomain domain;
  std::size_t next = 0;
  for (std::size_t a = 0; a < dims.size(); ++a) {
    const bool reduced = next < axes.size() && axes[next] == static_cast<std::int64_t>(a);
    next += reduced;
    (reduced ? domain.reduced : domain.kept).push_back(dims[a]);
  }
  return domain;
}

bool is_costly(const Node& node) {
  const Operation* op = node.op;
  if (op->strict.pattern != Pattern::elementwise) {
    const Pattern p = op->strict.pattern;
    return p == Pattern::reduce || p == Pattern::contract || p == Pattern::window ||
           p == Pattern::random;
  }
  if (op == &op_div || op == &op_rem || op == &op_pow || op == &op_atan2) return true;
  // Smooth functions of one operand are all polynomials of some length.
  return node.operands.size() == 1 && op->strict.linearize != nullptr && op != &op_abs;
}

}  // namespace heddle
