#include "heddle/frontend/trace.h"

#include "heddle/frontend/ops.h"
#include "heddle/graph/passes/passes.h"

namespace heddle {
namespace {

thread_local Trace* innermost = nullptr;

std::string numbered(const std::string& stem, std::size_t i) { return stem + std::to_string(i); }

void check_names(const TraceOptions& options, const std::vector<std::string>& names,
                 std::size_t count, const std::string& what) {
  if (names.empty() || names.size() == count) return;
  throw ValueError({.message = "trace of '" + options.name + "': names of " + what,
                    .found = std::to_string(names.size()),
                    .needed = std::to_string(count)});
}

void check_leaf(const TraceOptions& options, const std::string& path, const Tensor& tensor) {
  if (!tensor.empty()) return;
  throw ValueError({.message = "trace of '" + options.name + "': parameter '" + path + "'",
                    .found = "an empty tensor",
                    .needed = "a tensor: its type is the input's"});
}

std::vector<Tensor> add_inputs(Trace& trace, std::span<const Type> types,
                               const TraceOptions& options) {
  check_names(options, options.inputs, types.size(), "inputs");
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < types.size(); ++i) {
    tensors.push_back(
        trace.input(options.inputs.empty() ? numbered("x", i) : options.inputs[i], types[i]));
  }
  return tensors;
}

Program finish(Trace& trace, const std::vector<Tensor>& outputs, const TraceOptions& options) {
  check_names(options, options.outputs, outputs.size(), "outputs");
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const std::string fallback = outputs.size() == 1 ? "out" : numbered("out", o);
    trace.output(options.outputs.empty() ? fallback : options.outputs[o], outputs[o]);
  }
  return dead_node_elimination(trace.finish());
}

}  // namespace

Trace::Trace(const std::string& name)
    : builder_(std::make_shared<Builder>(name)), outer_(innermost) {
  innermost = this;
}

Trace::~Trace() { innermost = outer_; }

Tensor Trace::tensor(ValueId v) const {
  return {builder_->type(v), std::make_shared<TraceStorage>(builder_, v)};
}

Tensor Trace::input(const std::string& name, const Type& type, bool donate) {
  return tensor(builder_->input(name, type, donate));
}

ValueId Trace::value(const Tensor& tensor, const std::string& what) const {
  const TraceStorage* storage = traced(tensor);
  if (storage != nullptr && storage->builder() == builder_) return storage->value();
  std::string found = "an empty tensor";
  if (storage != nullptr) found = "a tensor of another trace";
  if (storage == nullptr && !tensor.empty()) found = "a concrete tensor " + to_text(tensor.type());
  throw ValueError(
      {.message = "trace: " + what,
       .found = found,
       .needed = "a tensor computed in this trace (a known one enters by hd::constant)"});
}

void Trace::output(const std::string& name, const Tensor& tensor) {
  builder_->output(name, value(tensor, "output '" + name + "'"));
}

Program Trace::finish() { return Program({builder_->finish()}); }

Trace& Trace::current(const std::string& operation, Location where) {
  if (innermost != nullptr) return *innermost;
  throw ValueError(
      {.message = "works inside hd::trace only", .operation = operation, .where = where});
}

Program trace_function(const TracedFunction& function, std::span<const Type> inputs,
                       const TraceOptions& options, Location where) {
  return with_context({.where = where}, [&] {
    Trace trace(options.name);
    const std::vector<Tensor> arguments = add_inputs(trace, inputs, options);
    return finish(trace, function(arguments), options);
  });
}

Program trace_model(const TracedModel& model, const Params& params, std::span<const Type> inputs,
                    const TraceOptions& options, Location where) {
  return with_context({.where = where}, [&] {
    Trace trace(options.name);
    const std::vector<Tensor> arguments = add_inputs(trace, inputs, options);
    Params traced_params;
    for (const auto& [path, tensor] : params.leaves()) {
      check_leaf(options, path, tensor);
      traced_params[path] = trace.input("params." + path, tensor.type());
    }
    return finish(trace, model(traced_params, arguments), options);
  });
}

namespace internal {
void wrong_arity(std::size_t takes, std::size_t given, const std::string& name) {
  throw ValueError({.message = "trace of '" + name + "': the function's number of tensors",
                    .found = std::to_string(takes),
                    .needed = std::to_string(given) + ", one per input type"});
}
}  // namespace internal

Tensor iota(Type type, std::int64_t axis, std::source_location where) {
  Trace& trace = Trace::current("iota", where);
  if (axis < 0) axis += static_cast<std::int64_t>(type.rank());
  const IotaAttributes attributes{type.dtype, type.dims, axis};
  return trace.tensor(trace.builder().emit(op_iota, {}, Attributes::of(attributes), where));
}

Tensor constant(const Literal& literal, std::source_location where) {
  Trace& trace = Trace::current("constant", where);
  return trace.tensor(trace.builder().constant(literal, where));
}
Tensor constant(const Tensor& tensor, std::source_location where) {
  return constant(to_literal(tensor, where), where);
}

}  // namespace heddle
