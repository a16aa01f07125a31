// One record per operation: what it means, how it is inferred, evaluated, differentiated, called,
// grouped, tested and described. graph/ops.def is the list of all of them; graph/ops/<family>.cpp
// and graph/composites/ hold the records; definition.h makes them at run time.
#ifndef HEDDLE_GRAPH_OPERATION_H_
#define HEDDLE_GRAPH_OPERATION_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/graph/ad/rules.h"
#include "heddle/graph/definition.h"
#include "heddle/graph/dtype_plan.h"
#include "heddle/graph/invocation.h"
#include "heddle/graph/program.h"
#include "heddle/graph/schema.h"

namespace heddle {

/// How a result depends on an operand. linear: jointly with the other linear ones (add, select);
/// multilinear: on each alone (mul, dot_general: linearize is derived); smooth: has a derivative
/// that needs `linearize`; no_grad: none flows.
enum class Role : std::uint8_t { no_grad, linear, multilinear, smooth };

/// What grouping and recipes ask. Never a list of names.
enum class Pattern : std::uint8_t {
  elementwise,  ///< result[i] from operand[i]
  broadcast,    ///< broadcast_in_dim, iota, constant: result[i] from fewer indices
  movement,     ///< result[i] is operand[j(i)], or padding: reshape, transpose, slice, pad,
                ///< concatenate, reverse
  reduce,
  contract,
  window,
  scan,
  gather,
  scatter,
  sort,
  random,
  control,
  composite  ///< its meaning is its decomposition
};

/// 002's closed four.
enum Trait : int { kElementwise = 1, kFusable = 2, kHasSideEffect = 4, kCommutative = 8 };

/// A node without its place in a function: what inference, evaluation and decomposition see.
struct NodeContext {
  const Operation& op;
  std::span<const Type> operands;
  const Attributes& attributes;
  const Literal* literal = nullptr;  ///< of `constant`
  const Program* callees = nullptr;  ///< functions that attributes may name
  Location where{};                  ///< the user's line, for errors
};
using At = const NodeContext&;

/// One row of tests and benches: operand types and the range their random elements come from.
struct Workload {
  std::vector<Type> operands;
  Attributes attributes;
  double low = -4, high = 4;
  int order = 2;  ///< highest order of derivatives checked; 0: none
  std::vector<std::pair<double, double>>
      ranges{};  ///< per operand, when they differ; indices want this
};

/// The strict half: what a Program may hold. Equal dtypes, explicit broadcasts, explicit
/// conversions.
struct Strict {
  /// One per operand; a variadic operation gives one for all.
  std::span<const Role> roles;
  bool variadic = false;
  Pattern pattern = Pattern::elementwise;
  int traits = 0;
  /// Result types. Throws TypeError or ValueError through operation_error().
  std::vector<Type> (*infer)(At) = nullptr;
  /// The reference, for every dtype the operation has. Composites leave it null: their
  /// decomposition is interpreted.
  std::vector<Literal> (*evaluate)(At, std::span<const Literal>) = nullptr;
  Linearize linearize = nullptr;  ///< exactly when some operand is smooth
  Transpose transpose = nullptr;  ///< exactly when some operand is linear or multilinear
  Function (*decompose)(At) =
      nullptr;  ///< exactly for composites: inputs "x0", "x1" ..., outputs in order
  /// A composite's own reverse rule, or null: inputs are operands, then results, then one cotangent
  /// per result; outputs are one cotangent per operand, named by the operand's number. Held against
  /// the decomposed one by a test.
  Function (*vjp)(At) = nullptr;
  std::vector<Workload> (*workloads)() = nullptr;
  double rtol = 1e-6, atol = 1e-6;  ///< a carrier's f32 result against the reference
  /// {flops, bytes} at given symbols. Null: one flop per result element, operands and results read
  /// and written once.
  std::pair<std::int64_t, std::int64_t> (*roofline)(At, const Bindings&) = nullptr;
  /// One line of semantics; then constraints "C1 ...", special values, source of the formula.
  std::string_view text;
};

/// The surface half: what a person calls. Empty overloads: the operation is internal to programs.
struct Surface {
  std::span<const OperationSchema> overloads;  ///< tried in order
  DtypePlan (*plan)(Bound) = nullptr;
  /// The strict micro-program of one call: inputs are the tensor operands in order, with their own
  /// dtypes.
  Function (*body)(Bound, const DtypePlan&) = nullptr;
  /// Of extensions, which decide dtypes and results in one: instead of `plan` and `body`.
  Invocation (*resolve)(Bound) = nullptr;
};

struct Operation {
  std::string_view name;
  int version = 1;
  Strict strict;
  Surface surface;
  const OperationDefinition* extension = nullptr;  ///< null: built in

  /// Role of operand `i`, variadic or not.
  Role role(std::size_t i) const { return strict.roles[strict.variadic ? 0 : i]; }
};

/// Refuses a half-filled record at compile time: give records through it.
consteval Operation define_op(Operation op) {
  bool smooth = false, transposable = false;
  for (Role r : op.strict.roles) {
    smooth |= r == Role::smooth;
    transposable |= r == Role::linear || r == Role::multilinear;
  }
  const bool composite = op.strict.pattern == Pattern::composite;
  if (op.name.empty()) throw "an operation needs a name";
  if (!op.strict.infer) throw "an operation needs infer";
  if (op.strict.text.empty()) throw "an operation needs its text";
  if (!op.strict.workloads) throw "an operation needs workload rows";
  if (composite != (op.strict.decompose != nullptr)) throw "decompose: exactly for composites";
  if (!composite && !op.strict.evaluate) throw "a primitive needs a reference";
  if (!composite && smooth != (op.strict.linearize != nullptr))
    throw "linearize: exactly when an operand is smooth";
  if (!composite && transposable != (op.strict.transpose != nullptr))
    throw "transpose: exactly when an operand is linear or multilinear";
  if (!op.surface.overloads.empty() && (!op.surface.plan || !op.surface.body))
    throw "a surface needs plan and body";
  return op;
}

/// "exp" or "exp@2"; the version is written from 2 on.
std::string versioned_name(const Operation& op);
/// Null when there is none.
const Operation* find_operation(std::string_view name, int version = 1);
/// In the order of ops.def.
std::span<const Operation* const> built_in_operations();

/// Errors of infer: adds the operation's name and its place.
template <class E>
[[noreturn]] void operation_error(At at, std::string message, std::string field = "",
                                  std::string found = "", std::string needed = "") {
  throw E(ErrorDetail{.message = std::move(message),
                      .operation = std::string(at.op.name),
                      .field = std::move(field),
                      .found = std::move(found),
                      .needed = std::move(needed),
                      .where = at.where});
}
/// TypeError unless there are exactly `count` operands.
void check_operand_count(At at, std::size_t count);

#define HEDDLE_PRIMITIVE(name) extern const Operation op_##name;
#define HEDDLE_COMPOSITE(name) extern const Operation op_##name;
#include "heddle/graph/ops.def"
#undef HEDDLE_PRIMITIVE
#undef HEDDLE_COMPOSITE

}  // namespace heddle

#endif  // HEDDLE_GRAPH_OPERATION_H_
