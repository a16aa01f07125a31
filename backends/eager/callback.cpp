#include "heddle/backends/eager/callback.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle {
namespace {

template <class E>
[[noreturn]] void fail(const RecordedCall& call, std::string message, std::string field,
                       std::string found, std::string needed) {
  throw E(ErrorDetail{.message = "gradient: " + std::move(message),
                      .operation = call.operation,
                      .field = std::move(field),
                      .found = std::move(found),
                      .needed = std::move(needed),
                      .where = call.where});
}

struct Differentiable {
  std::size_t operand, tensor;  ///< its number among the operands, and among the tensors
};

std::vector<Differentiable> differentiable_operands(const Invocation& invocation) {
  const BoundOperationCall& call = invocation.call;
  std::vector<Differentiable> all;
  std::size_t tensor = 0;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (!std::holds_alternative<Tensor>(call.operands[i])) continue;
    const auto& specs = call.schema->operands;
    if (specs[std::min(i, specs.size() - 1)].differentiable) all.push_back({i, tensor});
    ++tensor;
  }
  return all;
}

void check_gradient(const RecordedCall& call, std::size_t entry, const Type& needed,
                    const Tensor& found) {
  const std::string field = absl::StrCat("gradients[", entry, "]");
  if (found.empty()) fail<TypeError>(call, "no tensor", field, "an empty tensor", to_text(needed));
  if (found.type().dtype != needed.dtype) {
    fail<TypeError>(call, "another dtype than the operand's", field + ".dtype",
                    to_text(found.type()), to_text(needed));
  }
  if (found.type().dims != needed.dims) {
    fail<ValueError>(call, "another shape than the operand's", field + ".dims",
                     to_text(found.type()), to_text(needed));
  }
}

}  // namespace

bool has_callback(const RecordedCall& call) {
  const OperationDefinition* definition = call.record->invocation().definition();
  return definition != nullptr && definition->vjp.vjp() != nullptr;
}

MaybeTensors run_callback(const RecordedCall& call, std::span<const std::optional<Tensor>> given) {
  const Invocation& invocation = call.record->invocation();
  std::vector<Tensor> saved;
  for (const SavedTensor& s : call.saved) saved.push_back(s.tensor);
  const VjpContext context(invocation, call.outputs, std::move(saved));
  const MaybeTensors found = (*invocation.definition()->vjp.vjp())(context, given);
  const std::vector<Differentiable> operands = differentiable_operands(invocation);
  if (found.size() != operands.size()) {
    fail<ValueError>(call, "another number of gradients", "gradients", std::to_string(found.size()),
                     absl::StrCat(operands.size(), ", one per differentiable operand"));
  }
  MaybeTensors result(call.wrt.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) continue;
    check_gradient(call, i, invocation.call.tensor(operands[i].operand).type(), *found[i]);
    const auto wanted = std::find(call.wrt.begin(), call.wrt.end(), operands[i].tensor);
    if (wanted != call.wrt.end()) {
      result[static_cast<std::size_t>(wanted - call.wrt.begin())] = found[i];
    }
  }
  return result;
}

}  // namespace heddle
