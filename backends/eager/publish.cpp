#include "heddle/backends/eager/publish.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "heddle/graph/definition.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

[[noreturn]] void broken(const Invocation& inv, Location where, std::string message,
                         std::string field, std::string found = "", std::string needed = "") {
  throw ProviderContractError({.message = std::move(message),
                               .step = 28,
                               .operation = std::string(inv.call.op->name),
                               .field = std::move(field),
                               .found = std::move(found),
                               .needed = std::move(needed),
                               .where = where});
}

bool permits(const std::vector<int>& permitted, const std::vector<int>& operands) {
  return std::any_of(operands.begin(), operands.end(), [&](int o) {
    return std::find(permitted.begin(), permitted.end(), o) != permitted.end();
  });
}

std::string operand_field(int operand) { return absl::StrCat("operands[", operand, "]"); }

// Carrier, size and sharing of a result that is a tensor of its own.
void check_storage(const Invocation& inv, Location where, std::size_t r,
                   const std::vector<Tensor>& results, const Carrier& carrier) {
  const std::string field = absl::StrCat("results[", r, "].");
  const Tensor& result = results[r];
  const CarrierStorage* storage = carrier_storage(result);
  if (storage == nullptr || storage->carrier() != &carrier) {
    broken(inv, where, "a result on another carrier", field + "carrier",
           storage ? storage->carrier_object().name : "none", carrier.name);
  }
  if (storage->released()) broken(inv, where, "a result that is released", field + "storage");
  const std::size_t needed = storage_bytes(inv.results[r].type, carrier);
  if (storage->bytes() != needed) {
    broken(inv, where, "a result in storage of another size", field + "storage",
           absl::StrCat(storage->bytes(), " bytes"), absl::StrCat(needed, " bytes"));
  }
  for (std::size_t other = 0; other < r; ++other) {
    if (results[other].storage() == result.storage()) {
      broken(inv, where, "two results in one storage", field + "storage",
             absl::StrCat("that of results[", other, "]"));
    }
  }
}

void check_results(const Invocation& inv, Location where, const std::vector<Tensor>& results,
                   const ChosenKernel& kernel, const Carrier& own) {
  if (results.size() != inv.results.size()) {
    broken(inv, where, "another number of results", "results", std::to_string(results.size()),
           std::to_string(inv.results.size()));
  }
  for (std::size_t r = 0; r < results.size(); ++r) {
    const Carrier& carrier = kernel.result_carriers.empty() ? own : *kernel.result_carriers[r];
    if (!inv.results[r].alias_of) check_storage(inv, where, r, results, carrier);
    check_result_type(inv, r, results[r]);
  }
  for (std::size_t r = 0; r < results.size(); ++r) check_result_alias(inv, r, results[r]);
}

ProviderResult result_of(const ChosenKernel& kernel, const Invocation& inv, Operands operands,
                         Location where) {
  Submitted submitted = kernel.provided(inv, operands, where);
  if (auto* now = std::get_if<ProviderResult>(&submitted)) return std::move(*now);
  const auto& later = std::get<std::shared_ptr<ProviderCompletion>>(submitted);
  if (later == nullptr) {
    throw TypeError({.message = "a kernel submitted nothing",
                     .step = 26,
                     .operation = std::string(inv.call.op->name),
                     .field = "submit",
                     .where = where});
  }
  return later->wait();
}

}  // namespace

OperandSnapshot::OperandSnapshot(Operands operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&operands[i]);
    CarrierStorage* storage = t != nullptr ? carrier_storage(*t) : nullptr;
    if (storage == nullptr) continue;
    const auto known = std::find_if(saved_.begin(), saved_.end(),
                                    [&](const Saved& s) { return s.storage == storage; });
    if (known != saved_.end()) {
      known->operands.push_back(static_cast<int>(i));
      continue;
    }
    saved_.push_back(
        {{static_cast<int>(i)}, t->storage(), storage, storage->version(), storage->snapshot()});
  }
}

void OperandSnapshot::check_unchanged(const Invocation& inv, Location where,
                                      const std::vector<int>& permitted) {
  for (const Saved& s : saved_) {
    const std::string field = operand_field(s.operands[0]);
    if (s.storage->released()) {
      restore();
      broken(inv, where, "the kernel released an operand", field);
    }
    const bool same = s.storage->version() == s.version && !s.elements->changed();
    if (same || permits(permitted, s.operands)) continue;
    restore();
    broken(inv, where, "the kernel changed an operand without leave", field);
  }
}

void OperandSnapshot::restore() {
  for (const Saved& s : saved_) s.elements->restore();
}

void OperandSnapshot::advance(const std::vector<int>& permitted) {
  for (const Saved& s : saved_) {
    s.storage->set_version(s.version + (permits(permitted, s.operands) ? 1 : 0));
  }
}

std::vector<Tensor> run_provided(const ChosenKernel& kernel, const Invocation& inv,
                                 const Carrier& carrier, Operands operands, Location where,
                                 const std::function<void(std::vector<Tensor>&)>& finish) {
  OperandSnapshot before(operands);
  const ErrorContext context{
      .operation = inv.call.op->name, .step = 27, .carrier = carrier.name, .where = where};
  return before.undone_on_error([&] {
    const Invocation here = inv.at(where);
    const ProviderResult given =
        with_context(context, [&] { return result_of(kernel, here, operands, where); });
    check_results(here.with_operands(operands), where, given.outputs, kernel, carrier);
    before.check_unchanged(inv, where, inv.mutated);
    before.advance(inv.mutated);
    std::vector<Tensor> results;
    for (const Tensor& t : given.outputs) results.emplace_back(t.type(), t.storage());
    finish(results);
    return results;
  });
}

}  // namespace heddle
