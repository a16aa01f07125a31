// The reference of an extension, held to the invocation (step 28).
#include "absl/strings/str_cat.h"
#include "heddle/graph/definition.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

template <class E>
[[noreturn]] void fail(const Invocation& inv, std::string message, std::string field,
                       std::string found = "", std::string needed = "") {
  throw E(ErrorDetail{.message = std::move(message),
                      .step = 28,
                      .operation = std::string(inv.call.op->name),
                      .field = std::move(field),
                      .found = std::move(found),
                      .needed = std::move(needed),
                      .where = inv.call.where});
}

}  // namespace

void check_result_type(const Invocation& inv, std::size_t r, const Tensor& result) {
  const std::string field = absl::StrCat("results[", r, "]");
  const Type &found = result.type(), &needed = inv.results[r].type;
  if (found.dtype != needed.dtype) {
    fail<ProviderContractError>(inv, "a result of another dtype", field + ".dtype", to_text(found),
                                to_text(needed));
  }
  if (found.dims != needed.dims) {
    fail<ProviderContractError>(inv, "a result of another shape", field + ".dims", to_text(found),
                                to_text(needed));
  }
}

void check_result_alias(const Invocation& inv, std::size_t r, const Tensor& result) {
  const std::string field = absl::StrCat("results[", r, "].alias_of");
  const std::optional<int> alias = inv.results[r].alias_of;
  for (std::size_t i = 0; i < inv.call.operands.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&inv.call.operands[i]);
    if (t == nullptr) continue;
    const bool is_it = t->storage() == result.storage() && t->type() == result.type();
    const bool declared = alias && static_cast<std::size_t>(*alias) == i;
    if (declared && !is_it) {
      fail<ProviderContractError>(inv, "a result that is not the operand it was declared to be",
                                  field, "another tensor", absl::StrCat("operands[", i, "]"));
    }
    // The same tensor may be two operands.
    if (!alias && is_it) {
      fail<ProviderContractError>(inv, "a result that is an operand, undeclared", field,
                                  absl::StrCat("operands[", i, "]"), "a tensor of its own");
    }
  }
}

std::vector<Tensor> run_reference(const ResolvedInvocation& inv) {
  const OperationDefinition* definition = inv.definition();
  internal_check(definition != nullptr && definition->reference, "a reference that is not there");
  const ErrorContext context{.operation = inv.call.op->name, .step = 27, .where = inv.call.where};
  std::vector<Tensor> results =
      with_context(context, [&] { return definition->reference(inv).tensors; });
  if (results.size() != inv.results.size()) {
    fail<ProviderContractError>(inv, "the reference gave another number of results", "results",
                                std::to_string(results.size()), std::to_string(inv.results.size()));
  }
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (results[r].empty()) {
      fail<TypeError>(inv, "the reference gave an empty tensor", absl::StrCat("results[", r, "]"));
    }
    check_result_type(inv, r, results[r]);
  }
  for (std::size_t r = 0; r < results.size(); ++r) check_result_alias(inv, r, results[r]);
  return results;
}

}  // namespace heddle
