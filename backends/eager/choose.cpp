#include "heddle/backends/eager/choose.h"

#include "absl/strings/str_cat.h"
#include "heddle/backends/eager/carrier_kernels.h"
#include "heddle/backends/eager/publish.h"
#include "heddle/graph/definition.h"

namespace heddle {
namespace {

// A literal among a reference's results is moved to the carrier; any other tensor stays.
Tensor adopted(const Tensor& t, const Carrier& carrier) {
  const LiteralStorage* literal = concrete(t);
  if (literal == nullptr) return t;
  Tensor result = new_tensor(t.type(), carrier);
  const std::vector<std::byte>& bytes = *literal->literal().bytes;
  std::copy(bytes.begin(), bytes.end(), host_storage(result)->data());
  return result;
}

CompositeFunction reference_kernel(const Carrier& carrier) {
  return [&carrier](const Invocation& inv, Operands operands, Location) {
    std::vector<Tensor> results;
    for (const Tensor& t : run_reference(inv.with_operands(operands))) {
      results.push_back(adopted(t, carrier));
    }
    return ProviderResult(std::move(results));
  };
}

// The built-in kernel, or why there is none.
using MaybeChosen = std::variant<ChosenKernel, Unsupported>;

MaybeChosen prepare_built_in(const Invocation& inv, const Function& body, const Carrier& carrier) {
  const OperationDefinition* definition = inv.definition();
  if (carrier.built_in == BuiltInKernels::interpreted && definition && definition->reference) {
    return ChosenKernel{nullptr, reference_kernel(carrier)};
  }
  if (!inv.mutated.empty()) return Unsupported("it computes values and changes no operand");
  for (const ResultSpec& r : inv.results) {
    if (r.alias_of) return Unsupported("its results are tensors of their own");
  }
  if (inv.plan.accumulation == Accumulation::sequential) {
    return Unsupported("it sums in an order of its own");
  }
  try {
    return ChosenKernel{make_runnable(body, carrier), nullptr};
  } catch (const NotImplementedError& e) {
    return Unsupported(e.what());
  }
}

MaybeChosen prepare_provided(const KernelPattern& pattern, const Invocation& inv,
                             const Carrier& carrier, Operands operands, Location where) {
  OperandSnapshot before(operands);
  Prepared prepared = before.undone_on_error([&] { return pattern.prepare(inv); });
  before.check_unchanged(inv, where);
  if (auto* refusal = std::get_if<Unsupported>(&prepared)) return *refusal;
  PreparedKernel& kernel = std::get<PreparedKernel>(prepared);
  const KernelInterface& needed = carrier.kernels->interface();
  if (kernel.interface != needed || !kernel.submit) {
    throw TypeError({.message = "kernel '" + pattern.kernel_id +
                                (kernel.submit ? "': prepared for another interface"
                                               : "': prepared without a submit function"),
                     .step = 26,
                     .operation = std::string(inv.call.op->name),
                     .field = "interface",
                     .found = absl::StrCat(kernel.interface.type, " ", kernel.interface.version),
                     .needed = absl::StrCat(needed.type, " ", needed.version),
                     .where = where});
  }
  return ChosenKernel{
      nullptr, [submit = std::move(kernel.submit)](const Invocation& call, Operands o, Location) {
        return submit(call, o);
      }};
}

// Steps 21 to 24, with the caller's place.
std::vector<const KernelEntry*> candidates(const Invocation& inv, const Carrier& carrier,
                                           Location where) {
  try {
    return carrier.kernels->select(inv);
  } catch (const UnsupportedOperationPlan& e) {
    ErrorDetail detail = e.detail();
    detail.where = where;
    if (detail.found.empty()) detail.found = "carrier " + carrier.name;
    if (detail.needed.empty() && inv.definition() != nullptr) {
      detail.needed = "a decomposition, a kernel of a pack, or the carrier reference";
    }
    throw UnsupportedOperationPlan(detail);
  }
}

}  // namespace

namespace {

ChosenKernel chosen(const Invocation& inv, const Function& body, const Carrier& carrier,
                    Operands operands, Location where) {
  if (carrier.composite != nullptr) {
    ChosenComposite chosen = choose_composite(inv, carrier, operands, where);
    return {nullptr, std::move(chosen.prepared.submit), std::move(chosen.result_carriers)};
  }
  std::string reasons;
  for (const KernelEntry* entry : candidates(inv, carrier, where)) {
    const KernelPattern* pattern = carrier.kernels->pattern(*entry);
    MaybeChosen found = pattern ? prepare_provided(*pattern, inv, carrier, operands, where)
                                : prepare_built_in(inv, body, carrier);
    if (auto* chosen = std::get_if<ChosenKernel>(&found)) return std::move(*chosen);
    absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", entry->id, ": ",
                    std::get<Unsupported>(found).reason);
  }
  throw UnsupportedOperationPlan(
      {.message = "no kernel of carrier " + carrier.name + " takes this call: " + reasons,
       .step = 23,
       .operation = std::string(inv.call.op->name),
       .where = where});
}

}  // namespace

ChosenKernel choose_kernel(const Invocation& inv, const Function& body, const Carrier& carrier,
                           Operands operands, Location where) {
  const ErrorContext context{
      .operation = inv.call.op->name, .step = 27, .carrier = carrier.name, .where = where};
  return with_context(context,
                      [&] { return chosen(inv.at(where), body, carrier, operands, where); });
}

}  // namespace heddle
