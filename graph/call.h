// The one call path: bind -> check -> plan -> resolve gives an Invocation; a traced operand splices
// its body, a concrete one goes to the executor. Step numbers are those of requirements 3.5 and
// stand in every error.
#ifndef HEDDLE_GRAPH_CALL_H_
#define HEDDLE_GRAPH_CALL_H_

#include <span>
#include <vector>

#include "heddle/graph/invocation.h"
#include "heddle/graph/operation.h"

namespace heddle {

/// Steps 1-4: operand count, options, overload. TypeError.
BoundOperationCall bind(const Operation& op, Operands operands, Attributes options, Location where);
/// The same; tensors may have types only.
BoundOperationCall bind_types(const Operation& op, Operands operands, Attributes options,
                              Location where);
/// Steps 5-13: tensors belong together and are usable. (Signatures join here.)
void check(Bound call);
/// Step 14.
DtypePlan plan(Bound call);
/// Steps 15-17: the body is built, so shapes are checked; errors carry the call's place. An
/// extension's callback is asked instead, for the plan too; its errors pass unchanged.
Invocation resolve(BoundOperationCall call, DtypePlan plan);

/// All of it. Traced operands: the body is spliced into their builder. Else: the executor runs it.
std::vector<Tensor> call(const Operation& op, Operands operands, Attributes options,
                         Location where);

/// Runs concrete calls.
struct Executor {
  virtual ~Executor() = default;
  /// What a resolved call needs to run on a carrier: made once, kept with the resolved call.
  virtual std::shared_ptr<void> prepare(const Invocation& invocation, const void* carrier) = 0;
  /// Steps 18 to 29. The invocation's own tensors have types only: `operands` are this call's.
  virtual std::vector<Tensor> run(const Invocation& invocation,
                                  const std::shared_ptr<void>& prepared, Operands operands,
                                  Location where) = 0;
};
/// Where concrete calls go; NotImplementedError while none is installed.
Executor& executor();
void install_executor(Executor* executor);

/// One 13 x 13 table: the dtype two tensors meet in. A float and an integer meet in the float; two
/// floats in the wider one (f16 with bf16: f32); signed and unsigned in the next wider signed one
/// (u64 with a signed one: f32).
DType promote(DType a, DType b);
/// Right-aligned broadcasting of two shapes; ValueError unless extents are equal or 1.
Dims broadcast_dims(const Dims& a, const Dims& b);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_CALL_H_
