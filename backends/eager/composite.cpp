#include "heddle/backends/eager/composite.h"

#include "absl/strings/str_cat.h"
#include "heddle/backends/eager/publish.h"
#include "heddle/backends/eager/transfer.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

ErrorDetail detail_of(const Invocation& inv, Location where, int step, std::string message,
                      std::string field = "", std::string found = "", std::string needed = "") {
  return {.message = std::move(message),
          .step = step,
          .operation = std::string(inv.call.op->name),
          .field = std::move(field),
          .found = std::move(found),
          .needed = std::move(needed),
          .where = where};
}

void check_carriers(const Invocation& inv, Location where,
                    const std::vector<const Carrier*>& carriers) {
  if (carriers.size() != inv.results.size()) {
    throw ValueError(detail_of(inv, where, 25, "a composite named another number of carriers",
                               "result_carriers", std::to_string(carriers.size()),
                               absl::StrCat(inv.results.size(), ", one per result")));
  }
  for (std::size_t r = 0; r < carriers.size(); ++r) {
    if (carriers[r] != nullptr) continue;
    throw TypeError(detail_of(inv, where, 25, "a composite named no carrier",
                              absl::StrCat("result_carriers[", r, "]"), "null", "a carrier"));
  }
}

// Of one node, on the tensors of those before it.
std::vector<Tensor> run_node(const Node& node, const std::vector<Tensor>& values,
                             const Carrier& carrier, Location where) {
  if (node.literal) return {make_tensor(*node.literal)};
  std::vector<Operand> operands;
  for (ValueId v : node.operands) operands.emplace_back(on_carrier(values[v.index], carrier));
  return call(*node.op, operands, node.attributes, where);
}

std::vector<Tensor> run_nodes(const Function& f, const Carrier& carrier,
                              std::span<const Tensor> inputs, Location where) {
  std::vector<Tensor> values(f.types.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) values[f.inputs[i].value.index] = inputs[i];
  for (const Node& node : f.nodes) {
    const std::vector<Tensor> results = run_node(node, values, carrier, where);
    for (std::size_t r = 0; r < results.size(); ++r) values[node.results[r].index] = results[r];
  }
  std::vector<Tensor> outputs;
  for (const Output& o : f.outputs) {
    const Tensor& value = values[o.value.index];
    outputs.push_back(concrete(value) ? copied(value, carrier) : on_carrier(value, carrier));
  }
  return outputs;
}

}  // namespace

ChosenComposite choose_composite(const Invocation& inv, const Carrier& carrier, Operands operands,
                                 Location where) {
  OperandSnapshot before(operands);
  std::vector<const Carrier*> carriers =
      before.undone_on_error([&] { return carrier.composite->result_carriers(carrier, inv); });
  before.check_unchanged(inv, where);
  check_carriers(inv, where, carriers);
  MaybeComposite prepared =
      before.undone_on_error([&] { return carrier.composite->prepare(carrier, inv); });
  before.check_unchanged(inv, where);
  if (const auto* refusal = std::get_if<Unsupported>(&prepared)) {
    throw UnsupportedOperationPlan(
        detail_of(inv, where, 23,
                  "carrier " + carrier.name + " does not take this call: " + refusal->reason));
  }
  auto& composite = std::get<PreparedComposite>(prepared);
  if (!composite.submit) {
    throw TypeError(
        detail_of(inv, where, 26, "a composite prepared nothing", "submit", "null", "a function"));
  }
  return {std::move(composite), std::move(carriers)};
}

ProgramFunction program_of_calls(const Function& function, const Carrier& carrier) {
  const CompositeProvider* composite = carrier.composite;
  if (composite && composite->prepare_program) return composite->prepare_program(carrier, function);
  return [function, &carrier](std::span<const Tensor> inputs, Location where) {
    return run_nodes(function, carrier, inputs, where);
  };
}

}  // namespace heddle
