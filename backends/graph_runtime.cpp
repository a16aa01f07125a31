#include "heddle/backends/graph_runtime.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "heddle/backends/eager/runnable.h"
#include "heddle/graph/builder.h"
#include "heddle/graph/extension.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

// Runs on literals.
std::vector<Literal> run_on(Runnable& runnable, const Function& f,
                            std::span<const Literal> arguments) {
  std::vector<const std::byte*> inputs;
  for (const Literal& l : arguments) inputs.push_back(l.bytes->data());
  std::vector<std::vector<std::byte>> results;
  for (const Output& out : f.outputs) {
    results.emplace_back(static_cast<std::size_t>(byte_count(f.type(out.value))));
  }
  std::vector<std::byte*> outputs;
  for (std::vector<std::byte>& r : results) outputs.push_back(r.data());
  runnable.run(inputs, outputs);
  std::vector<Literal> literals;
  for (std::size_t o = 0; o < results.size(); ++o) {
    literals.push_back(literal_from_bytes(f.type(f.outputs[o].value), std::move(results[o])));
  }
  return literals;
}

class Whole final : public GraphExecutable {
 public:
  Whole(Function f, const Carrier& carrier)
      : function_(std::move(f)), runnable_(make_runnable(function_, carrier)) {}
  std::vector<Literal> run(std::span<const Literal> arguments) const override {
    check_arguments(function_, arguments);
    return run_on(*runnable_, function_, arguments);
  }

 private:
  Function function_;
  std::unique_ptr<Runnable> runnable_;
};

// One node as a function of its operands.
Function function_of(const Function& f, const Node& node, const Program* callees) {
  Builder b("node", callees);
  Values operands;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    operands.push_back(b.input("x" + std::to_string(i), f.type(node.operands[i])));
  }
  const Values results = b.add(*node.op, operands, node.attributes, node.where);
  for (std::size_t r = 0; r < results.size(); ++r) {
    b.output("y" + std::to_string(r), results[r]);
  }
  return b.finish();
}

// Node by node, each ready to run or interpreted.
class Steps final : public GraphExecutable {
 public:
  struct Step {
    Function function;  ///< of one node
    std::unique_ptr<Runnable> runnable;
  };
  explicit Steps(Function f) : function_(std::move(f)), steps_(function_.nodes.size()) {}

  void set(std::size_t node, Function function, std::unique_ptr<Runnable> runnable) {
    steps_[node] = {std::move(function), std::move(runnable)};
  }
  std::vector<Literal> run(std::span<const Literal> arguments) const override {
    check_arguments(function_, arguments);
    std::vector<Literal> values(function_.types.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      values[function_.inputs[i].value.index] = arguments[i];
    }
    for (std::size_t n = 0; n < function_.nodes.size(); ++n) {
      const Node& node = function_.nodes[n];
      if (node.literal) {
        values[node.results[0].index] = *node.literal;
        continue;
      }
      std::vector<Literal> operands;
      for (ValueId o : node.operands) operands.push_back(values[o.index]);
      const std::vector<Literal> results =
          run_on(*steps_[n].runnable, steps_[n].function, operands);
      for (std::size_t r = 0; r < results.size(); ++r) {
        values[node.results[r].index] = results[r];
      }
    }
    std::vector<Literal> results;
    for (const Output& out : function_.outputs) results.push_back(values[out.value.index]);
    return results;
  }

 private:
  Function function_;
  std::vector<Step> steps_;
};

// The carrier's own kernel, or null when it has none.
std::unique_ptr<Runnable> own_kernel(const Function& f, const Carrier& carrier) {
  try {
    return make_runnable(f, carrier);
  } catch (const NotImplementedError&) {
    return nullptr;
  }
}

// Inputs and outputs of a decomposition must be those of its operation.
void check_decomposition(const Function& micro, const Function& whole, std::string_view op) {
  internal_check(micro.inputs.size() == whole.inputs.size(),
                 "the decomposition of " + std::string(op) + " has other inputs");
  if (micro.outputs.size() == whole.outputs.size()) return;
  throw ValueError({.message = "the decomposition has another number of outputs",
                    .operation = std::string(op),
                    .found = std::to_string(micro.outputs.size()),
                    .needed = std::to_string(whole.outputs.size())});
}

std::size_t hash_of(const std::string& key) { return std::hash<std::string>()(key); }

void warn_on_stderr(std::string_view line) {
  std::fprintf(stderr, "heddle: %.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace

GraphRuntime::GraphRuntime(Warning warning)
    : warning_(warning ? std::move(warning) : Warning(warn_on_stderr)) {}

std::shared_ptr<const GraphExecutable> GraphRuntime::compile(const Program& program,
                                                             const GraphOptions& options,
                                                             Location where) {
  const std::string key =
      absl::StrCat(options.carrier, "\x1f", options.whole ? "whole" : "steps", " ",
                   static_cast<int>(options.fallback), "\x1f", to_text(program));
  const std::lock_guard lock(mutex_);
  const Entry* known = cache_.find(hash_of(key), [&](const Entry& e) { return e.key == key; });
  if (known != nullptr) return known->executable;
  std::shared_ptr<const GraphExecutable> made =
      with_context({.where = where}, [&] { return make(program, options); });
  cache_.insert(hash_of(key), {key, made}, key.size() + 4096);
  return made;
}

std::shared_ptr<const GraphExecutable> GraphRuntime::make(const Program& program,
                                                          const GraphOptions& options) {
  if (options.whole) {
    try {
      return make_whole(program.entry(), options);
    } catch (const NotImplementedError& e) {
      if (options.fallback == Fallback::none) throw;
      warning_(absl::StrCat("@", program.entry().name, " runs step by step on ", options.carrier,
                            ": ", e.what()));
    }
  }
  return make_steps(program, options);
}

std::shared_ptr<const GraphExecutable> GraphRuntime::make_whole(const Function& function,
                                                                const GraphOptions& options) {
  return std::make_shared<Whole>(function, find_carrier(options.carrier, {}));
}

std::shared_ptr<const GraphExecutable> GraphRuntime::make_steps(const Program& program,
                                                                const GraphOptions& options) {
  const Function& f = program.entry();
  auto steps = std::make_shared<Steps>(f);
  for (std::size_t n = 0; n < f.nodes.size(); ++n) {
    if (f.nodes[n].literal) continue;
    Function one = function_of(f, f.nodes[n], &program);
    std::unique_ptr<Runnable> runnable = make_step(one, program, options);
    steps->set(n, std::move(one), std::move(runnable));
  }
  return steps;
}

// (1) the carrier's own kernel, (2) the decomposition, (3) the interpreter.
std::unique_ptr<Runnable> GraphRuntime::make_step(const Function& one, const Program& program,
                                                  const GraphOptions& options) {
  const Node& node = one.nodes[0];
  if (auto own = own_kernel(one, find_carrier(options.carrier, {}))) return own;
  if (options.fallback == Fallback::none) {
    throw NotImplementedError({.message = "no kernel on " + options.carrier,
                               .operation = std::string(node.op->name),
                               .where = node.where});
  }
  std::vector<Type> types;
  for (ValueId o : node.operands) types.push_back(one.type(o));
  const NodeContext at{*node.op, types, node.attributes, nullptr, &program, node.where};
  const bool ordered = sums_in_order(at);
  if (node.op->strict.evaluate == nullptr) check_order(at);
  if (!ordered && options.fallback == Fallback::full && node.op->strict.decompose != nullptr) {
    return decomposed(one, program, options);
  }
  count(node.op->name, options, false);
  return make_runnable(one, reference_carrier());
}

// One level deep: an operation of the decomposition has a kernel or is interpreted.
std::unique_ptr<Runnable> GraphRuntime::decomposed(const Function& one, const Program& program,
                                                   const GraphOptions& options) {
  const Node& node = one.nodes[0];
  std::vector<Type> types;
  for (ValueId o : node.operands) types.push_back(one.type(o));
  const Function micro = with_context(
      {.operation = node.op->name, .carrier = options.carrier, .where = node.where}, [&] {
        return node.op->strict.decompose(
            {*node.op, types, node.attributes, nullptr, &program, node.where});
      });
  check_decomposition(micro, one, node.op->name);
  count(node.op->name, options, true);
  auto steps = std::make_shared<Steps>(micro);
  for (std::size_t m = 0; m < micro.nodes.size(); ++m) {
    if (micro.nodes[m].literal) continue;
    Function part = function_of(micro, micro.nodes[m], &program);
    std::unique_ptr<Runnable> own = own_kernel(part, find_carrier(options.carrier, {}));
    if (own == nullptr) {
      count(micro.nodes[m].op->name, options, false);
      own = make_runnable(part, reference_carrier());
    }
    steps->set(m, std::move(part), std::move(own));
  }
  return make_runnable(one, [steps](std::span<const Literal> in) { return steps->run(in); });
}

void GraphRuntime::count(std::string_view operation, const GraphOptions& options, bool decomposed) {
  FallbackCount& c = counts_[{std::string(operation), options.carrier}];
  c.operation = operation;
  c.carrier = options.carrier;
  ++(decomposed ? c.decomposed : c.interpreted);
  warning_(absl::StrCat(std::string(operation), " has no kernel on ", options.carrier, ": ",
                        decomposed ? "decomposed" : "interpreted"));
}

std::vector<FallbackCount> GraphRuntime::fallbacks() const {
  const std::lock_guard lock(mutex_);
  std::vector<FallbackCount> all;
  for (const auto& [key, c] : counts_) all.push_back(c);
  return all;
}

CacheStatistics GraphRuntime::cache_statistics() const {
  const std::lock_guard lock(mutex_);
  return cache_.statistics();
}

}  // namespace heddle
