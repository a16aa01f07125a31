#include "heddle/graph/node_call.h"

#include "heddle/graph/call.h"
#include "heddle/graph/extension.h"

namespace heddle {
namespace {

// Of a built-in operation: those of the node's attributes that the call has as options.
Attributes options_of(At node) {
  std::vector<Attributes::Entry> options;
  for (const Attributes::Entry& e : node.attributes.entries()) {
    for (const OperationSchema& schema : node.op.surface.overloads) {
      const bool known = std::any_of(schema.options.begin(), schema.options.end(),
                                     [&](const OptionSpec& o) { return o.name == e.first; });
      if (!known) continue;
      options.push_back(e);
      break;
    }
  }
  return Attributes(std::move(options));
}

bool is_only(At node, const Function& body) {
  if (body.nodes.size() != 1 || body.inputs.size() != node.operands.size()) return false;
  const Node& found = body.nodes[0];
  if (found.op != &node.op || found.attributes != node.attributes) return false;
  for (std::size_t i = 0; i < found.operands.size(); ++i) {
    if (found.operands[i] != body.inputs[i].value) return false;
  }
  return true;
}

std::optional<Invocation> built_in(At node) {
  std::vector<Operand> operands;
  for (const Type& t : node.operands) operands.emplace_back(Tensor(t, nullptr));
  try {
    BoundOperationCall call = bind_types(node.op, operands, options_of(node), {});
    DtypePlan dtypes = plan(call);
    Invocation found = resolve(std::move(call), std::move(dtypes));
    if (is_only(node, found.body)) return found;
  } catch (const TypeError&) {  // no such call
  } catch (const ValueError&) {
  } catch (const NotImplementedError&) {  // a dtype that nodes have and calls have not
  }
  return std::nullopt;
}

}  // namespace

std::optional<Invocation> invocation_of(At node) {
  if (node.op.extension != nullptr) return resolve(extension_call(node), {});
  if (node.op.surface.overloads.empty() || node.operands.empty()) return std::nullopt;
  return built_in(node);
}

}  // namespace heddle
