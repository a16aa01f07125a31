#include "heddle/backends/external_kernels.h"

#include <map>
#include <memory>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "heddle/backends/eager/carrier_kernels.h"
#include "heddle/graph/node_call.h"

namespace heddle {
namespace {

class Chooser {
 public:
  explicit Chooser(const Carrier& carrier) : kernels_(*carrier.kernels) {}

  // A program has the same node many times, and is asked for it by several stages.
  std::optional<External> choose(const NodeContext& node) {
    if (!kernels_.has_objects(node.op)) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const auto [known, fresh] = answers_.try_emplace(key_of(node));
    if (fresh) known->second = ask(node);
    return known->second;
  }

 private:
  static std::string key_of(const NodeContext& node) {
    std::string key(node.op.name);
    for (const Type& t : node.operands) absl::StrAppend(&key, " ", to_text(t));
    for (const Attributes::Entry& e : node.attributes.entries()) {
      absl::StrAppend(&key, " ", e.first, "=", to_text(e.second));
    }
    return key;
  }

  std::optional<External> ask(const NodeContext& node) {
    const std::optional<Invocation> invocation = invocation_of(node);
    if (!invocation) return std::nullopt;
    for (const KernelEntry* entry : kernels_.select(*invocation)) {
      const KernelPattern* pattern = kernels_.pattern(*entry);
      if (pattern == nullptr) return std::nullopt;  // Heddle's own
      if (!pattern->compiled) continue;
      const Prepared answer = with_context(
          {.operation = node.op.name, .step = 27, .carrier = "cpu", .where = node.where},
          [&] { return pattern->prepare(*invocation); });
      if (!std::holds_alternative<PreparedKernel>(answer)) continue;
      check_symbol(*pattern->compiled);
      return pattern->compiled;
    }
    return std::nullopt;
  }

  void check_symbol(const External& kernel) {
    const auto [known, fresh] = digests_.try_emplace(kernel.symbol, kernel.digest);
    if (fresh || known->second == kernel.digest) return;
    throw ValueError({.message = "two kernels from outside have one symbol",
                      .found = "'" + kernel.symbol + "'",
                      .needed = "a name of its own for each"});
  }

  CarrierKernels& kernels_;
  std::mutex mutex_;
  std::map<std::string, std::optional<External>> answers_;
  std::map<std::string, std::string> digests_;
};

}  // namespace

ExternalKernels external_kernels(const Target& target) {
  if (target.carrier != "cpu" || target.triple != Target::host().triple) return nullptr;
  const auto chooser = std::make_shared<Chooser>(find_carrier(target.carrier, {}));
  return [chooser](const NodeContext& node) { return chooser->choose(node); };
}

}  // namespace heddle
