#include "heddle/backends/tiled/carrier.h"

#include <cstdlib>
#include <typeinfo>

#include "absl/strings/str_cat.h"
#include "heddle/backends/eager/carrier_kernels.h"
#include "heddle/backends/eager/pack.h"
#include "heddle/backends/tiled/file.h"
#include "heddle/backends/tiled/run.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

constexpr std::size_t kLeastBudget = std::size_t{1} << 16;

std::string default_folder() {
  const char* set = std::getenv("TMPDIR");
  return set != nullptr && *set != '\0' ? set : "/var/tmp";
}

[[noreturn]] void rethrow(const Error& e, const std::string& operation, Location where) {
  ErrorDetail detail = e.detail();
  detail.step = 27;
  detail.operation = operation;
  if (detail.where == Location{}) detail.where = where;
  e.rethrow_with(std::move(detail));
}

// What fails below knows files and tiles; here the operation is known.
std::vector<Tensor> run(TiledProgram& program, std::span<const Tensor> inputs,
                        const Carrier& carrier, const std::string& operation, Location where) {
  try {
    return program.run(inputs, carrier);
  } catch (const OverflowError& e) {
    rethrow(e, operation, where);
  } catch (const RuntimeError& e) {
    if (typeid(e) != typeid(RuntimeError)) throw;
    rethrow(e, operation, where);
  }
}

std::vector<const Carrier*> result_carriers(const Carrier& carrier, const Invocation& inv) {
  return std::vector<const Carrier*>(inv.results.size(), &carrier);
}

MaybeComposite prepare(const Carrier& carrier, const Invocation& inv, std::size_t budget) {
  if (inv.plan.accumulation == Accumulation::sequential) {
    return Unsupported("tiles are not added in the order of the plan");
  }
  if (!inv.mutated.empty()) return Unsupported("it computes values and changes no operand");
  for (const ResultSpec& r : inv.results) {
    if (r.alias_of) return Unsupported("its results are tensors of their own");
  }
  std::shared_ptr<TiledProgram> program;
  try {
    program = std::make_shared<TiledProgram>(inv.body, budget);
  } catch (const NotImplementedError& e) {
    return Unsupported(e.detail().message);
  }
  return PreparedComposite{[program, &carrier](const Invocation& call, Operands operands,
                                               Location where) {
    std::vector<Tensor> inputs;
    for (const Operand& o : operands) {
      if (const Tensor* t = std::get_if<Tensor>(&o)) inputs.push_back(*t);
    }
    return ProviderResult(run(*program, inputs, carrier, std::string(call.call.op->name), where));
  }};
}

ProgramFunction prepare_program(const Carrier& carrier, const Function& f, std::size_t budget) {
  auto program = std::make_shared<TiledProgram>(f, budget);
  return [program, &carrier, name = f.name](std::span<const Tensor> inputs, Location where) {
    return run(*program, inputs, carrier, name, where);
  };
}

CarrierDefinition definition(std::string_view name, const TiledOptions& options) {
  const std::size_t budget = options.budget_bytes;
  if (budget < kLeastBudget) {
    throw ValueError(
        {.message = absl::StrCat("carrier ", std::string(name), ": the budget is too small"),
         .field = "budget_bytes",
         .found = absl::StrCat(budget),
         .needed = absl::StrCat(kLeastBudget, " or more")});
  }
  const std::string folder = options.folder.empty() ? default_folder() : options.folder;
  return {.name = name,
          .composite = CompositeProvider{
              .result_carriers = result_carriers,
              .prepare = [budget](const Carrier& carrier,
                                  const Invocation& inv) { return prepare(carrier, inv, budget); },
              .prepare_program =
                  [budget](const Carrier& carrier, const Function& f) {
                    return prepare_program(carrier, f, budget);
                  }},
          .storage = tiled_storage(folder, budget / 16)};
}

}  // namespace

const Carrier& define_tiled_carrier(std::string_view name, const TiledOptions& options,
                                    Location where) {
  return with_context({.where = where}, [&]() -> const Carrier& {
    return define_carrier(definition(name, options), where);
  });
}

const Carrier& tiled_carrier() {
  static const Carrier& tiled = add_carrier(definition("tiled", {}));
  return tiled;
}

}  // namespace heddle
