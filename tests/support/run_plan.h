// Runs a plan by interpreting each kernel's body on simulated memory: what grouping, ordering,
// in-place updates and the arena do is checked without any compiler. Memory nobody has written is
// NaN.
#ifndef HEDDLE_TESTS_SUPPORT_RUN_PLAN_H_
#define HEDDLE_TESTS_SUPPORT_RUN_PLAN_H_

#include <cstring>
#include <functional>
#include <vector>

#include "heddle/graph/interpret.h"
#include "heddle/schedule/plan.h"

namespace heddle::testing {

class PlanRunner {
 public:
  /// What a kernel of the plan gives.
  using Evaluate =
      std::function<std::vector<Literal>(std::size_t kernel, const std::vector<Literal>& inputs)>;

  /// Without `evaluate` kernels are interpreted.
  PlanRunner(const Plan& plan, const FunctionPlan& f, Evaluate evaluate = nullptr)
      : plan_(plan), f_(f), evaluate_(std::move(evaluate)) {
    arena_.assign(static_cast<std::size_t>(f.arena_bytes.constant()), std::byte{0xff});
  }

  std::vector<Literal> run(std::span<const Literal> inputs) {
    for (const Literal& in : inputs) arguments_.push_back(*in.bytes);
    for (const Argument& out : f_.outputs) {
      arguments_.emplace_back(static_cast<std::size_t>(byte_count(out.type)), std::byte{0xff});
    }
    for (const Step& step : f_.steps) {
      if (const auto* k = std::get_if<KernelStep>(&step.what)) kernel(*k);
      if (const auto* c = std::get_if<CopyStep>(&step.what))
        store(f_.buffers[c->to], load(f_.buffers[c->from]));
    }
    std::vector<Literal> outputs;
    for (std::size_t o = 0; o < f_.outputs.size(); ++o) {
      outputs.push_back(literal_from_bytes(f_.outputs[o].type, argument(f_.inputs.size() + o)));
    }
    return outputs;
  }

 private:
  // An output in place is its input's memory.
  std::vector<std::byte>& argument(std::size_t index) {
    if (index >= f_.inputs.size()) {
      const std::int32_t shares = f_.outputs[index - f_.inputs.size()].shares;
      if (shares >= 0) index = static_cast<std::size_t>(shares);
    }
    return arguments_[index];
  }
  std::byte* memory(const Buffer& b) {
    if (b.space == Space::arena) return arena_.data() + b.offset.constant();
    return argument(b.index).data() + b.offset.constant();
  }
  Literal load(const Buffer& b) {
    if (b.space == Space::prepared) return prepared()[b.index];
    const std::byte* from = b.space == Space::constant
                                ? plan_.constants[b.index].bytes->data() + b.offset.constant()
                                : memory(b);
    return literal_from_bytes(b.type, std::vector<std::byte>(from, from + byte_count(b.type)));
  }
  const std::vector<Literal>& prepared() {
    if (prepared_.empty()) prepared_ = PlanRunner(plan_, plan_.functions.back()).run({});
    return prepared_;
  }
  void store(const Buffer& b, const Literal& value) {
    if (!value.bytes->empty()) std::memcpy(memory(b), value.bytes->data(), value.bytes->size());
  }
  void kernel(const KernelStep& step) {
    const Kernel& kernel = plan_.kernels[step.kernel];
    std::vector<Literal> in;
    for (std::size_t i = 0; i < kernel.in.size(); ++i)
      in.push_back(load(f_.buffers[step.buffers[i]]));
    const std::vector<Literal> out = evaluate_
                                         ? evaluate_(step.kernel, in)
                                         : interpret(Program({kernel.body}), kernel.body.name, in);
    for (std::size_t o = 0; o < out.size(); ++o)
      store(f_.buffers[step.buffers[kernel.in.size() + o]], out[o]);
  }

  const Plan& plan_;
  const FunctionPlan& f_;
  Evaluate evaluate_;
  std::vector<std::byte> arena_;
  std::vector<Literal> prepared_;
  std::vector<std::vector<std::byte>> arguments_;
};

inline std::vector<Literal> run_plan(const Plan& plan, std::span<const Literal> inputs) {
  return PlanRunner(plan, plan.functions[0]).run(inputs);
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_SUPPORT_RUN_PLAN_H_
