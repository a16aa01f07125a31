// Tracing: running a C++ function once on tensors without values, to get the program of what it
// does.
//
//   Program p = trace([](Tensor x, Tensor w) { return relu(matmul(x, w)); }, {f32({32, 784}),
//   f32({784, 10})},
//                     {.name = "layer", .inputs = {"x", "w"}});
#ifndef HEDDLE_FRONTEND_TRACE_H_
#define HEDDLE_FRONTEND_TRACE_H_

#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "heddle/frontend/params.h"
#include "heddle/frontend/tensor.h"

namespace heddle {

struct TraceOptions {
  std::string name = "main";
  std::vector<std::string> inputs{};   ///< default: x0, x1 ...
  std::vector<std::string> outputs{};  ///< default: out, or out0, out1 ...
};

using TracedFunction = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
using TracedModel = std::function<std::vector<Tensor>(const Params&, std::span<const Tensor>)>;

/// ValueError, with the caller's place, when names and inputs differ in number, when an output is
/// empty, concrete, or of another trace.
Program trace_function(const TracedFunction& function, std::span<const Type> inputs,
                       const TraceOptions& options,
                       Location where = std::source_location::current());
/// Inputs are `inputs`, then every leaf of `params` as "params.<path>"; ValueError for one that
/// holds no tensor.
Program trace_model(const TracedModel& model, const Params& params, std::span<const Type> inputs,
                    const TraceOptions& options, Location where = std::source_location::current());

/// A builder that calls of operations add to, while it is the innermost one of this thread.
class Trace {
 public:
  explicit Trace(const std::string& name);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  Builder& builder() { return *builder_; }
  Tensor input(const std::string& name, const Type& type, bool donate = false);
  Tensor tensor(ValueId v) const;
  /// ValueError unless the tensor is of this trace.
  ValueId value(const Tensor& tensor, const std::string& what) const;
  void output(const std::string& name, const Tensor& tensor);
  Program finish();

  /// The innermost one; ValueError when no trace is running on this thread.
  static Trace& current(const std::string& operation, Location where);

 private:
  std::shared_ptr<Builder> builder_;
  Trace* outer_;
};

namespace internal {

inline std::vector<Tensor> as_tensors(Tensor t) { return {std::move(t)}; }
inline std::vector<Tensor> as_tensors(std::vector<Tensor> t) { return t; }

template <std::size_t>
using TensorOf = const Tensor&;

template <class F, std::size_t... kIndex>
std::vector<Tensor> apply(const F& f, std::span<const Tensor> x, std::index_sequence<kIndex...>) {
  return as_tensors(f(x[kIndex]...));
}
template <class F, std::size_t... kIndex>
std::vector<Tensor> apply(const F& f, const Params& p, std::span<const Tensor> x,
                          std::index_sequence<kIndex...>) {
  return as_tensors(f(p, x[kIndex]...));
}
template <class F, std::size_t... kIndex>
constexpr bool takes(std::index_sequence<kIndex...>) {
  return std::is_invocable_v<const F&, TensorOf<kIndex>...>;
}
template <class F, std::size_t... kIndex>
constexpr bool takes_params(std::index_sequence<kIndex...>) {
  return std::is_invocable_v<const F&, const Params&, TensorOf<kIndex>...>;
}
[[noreturn]] void wrong_arity(std::size_t takes, std::size_t given, const std::string& name);

template <class F, std::size_t kCount = 0>
TracedFunction adapt(F f, const std::string& name) {
  static_assert(
      kCount <= 16,
      "a traced function takes up to 16 tensors and returns a Tensor or a vector of them");
  if constexpr (std::is_invocable_v<const F&, std::span<const Tensor>>) {
    return [f](std::span<const Tensor> x) { return as_tensors(f(x)); };
  } else if constexpr (takes<F>(std::make_index_sequence<kCount>())) {
    return [f, name](std::span<const Tensor> x) {
      if (x.size() != kCount) wrong_arity(kCount, x.size(), name);
      return apply(f, x, std::make_index_sequence<kCount>());
    };
  } else {
    return adapt<F, kCount + 1>(std::move(f), name);
  }
}
template <class F, std::size_t kCount = 0>
TracedModel adapt_model(F f, const std::string& name) {
  static_assert(kCount <= 16, "a model takes const Params& and up to 16 tensors");
  if constexpr (std::is_invocable_v<const F&, const Params&, std::span<const Tensor>>) {
    return [f](const Params& p, std::span<const Tensor> x) { return as_tensors(f(p, x)); };
  } else if constexpr (takes_params<F>(std::make_index_sequence<kCount>())) {
    return [f, name](const Params& p, std::span<const Tensor> x) {
      if (x.size() != kCount) wrong_arity(kCount, x.size(), name);
      return apply(f, p, x, std::make_index_sequence<kCount>());
    };
  } else {
    return adapt_model<F, kCount + 1>(std::move(f), name);
  }
}

}  // namespace internal

/// `f`: takes Tensors, or one span of them; returns a Tensor or a vector of them.
template <class F>
Program trace(F f, const std::vector<Type>& inputs, const TraceOptions& options = {},
              Location where = std::source_location::current()) {
  return trace_function(internal::adapt(std::move(f), options.name), inputs, options, where);
}
/// `f`: takes const Params& first.
template <class F>
Program trace(F f, const Params& params, const std::vector<Type>& inputs,
              const TraceOptions& options = {}, Location where = std::source_location::current()) {
  return trace_model(internal::adapt_model(std::move(f), options.name), params, inputs, options,
                     where);
}

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_TRACE_H_
