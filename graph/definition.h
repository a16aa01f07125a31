// Operations defined at run time. A definition becomes a record like any built-in one, is called
// through the same path, and is found by its name in program text.
//
//   const hd::OperationDefinition& square = hd::define_operation(
//       "acme.square", {.operands = {{"x", hd::OperandKind::tensor, true}}},
//       [](const hd::BoundOperationCall& call) {
//         const hd::Type& x = call.tensor(0).type();
//         return hd::ResolvedInvocation(call, hd::uniform_plan(call, x.dtype), {{x}});
//       },
//       {.vjp = hd::kByDecomposition, .decompose = [](const hd::NodeContext& at) { ... }});
//   hd::Tensor y = square({x});
//
// In a program a call is one node: its operands are the tensors, its attributes the options, the
// weak scalars and the structural operands, by their names in the schema. Compiling it takes
// `decompose`; interpreting it, `decompose` or `reference`; running it on a carrier, one of these
// or a kernel of a pack (backends/eager/pack.h).
#ifndef HEDDLE_GRAPH_DEFINITION_H_
#define HEDDLE_GRAPH_DEFINITION_H_

#include <concepts>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heddle/graph/ad/rules.h"
#include "heddle/graph/invocation.h"

namespace heddle {

struct NodeContext;
struct ExtensionRecord;

/// Decides dtypes, results and effects of one call, from kinds, types, weak scalars and options
/// alone: the tensors it sees have no storage, so that a call resolves the same on every carrier.
/// Asked once per distinct call. What it throws reaches the caller unchanged.
using ResolveFunction = std::function<ResolvedInvocation(const BoundOperationCall&)>;

/// One tensor, or several in the order of the results.
struct ReferenceResults {
  ReferenceResults(Tensor one) : tensors{std::move(one)} {}  // NOLINT: a tensor is a result
  ReferenceResults(std::vector<Tensor> all) : tensors(std::move(all)) {}  // NOLINT
  std::vector<Tensor> tensors;
};
/// The meaning of the operation, on concrete tensors.
using ReferenceFunction = std::function<ReferenceResults(const ResolvedInvocation&)>;

/// The call as operations that are there already: inputs are the node's operands, outputs its
/// results, in order.
using DecomposeFunction = std::function<Function(const NodeContext&)>;

/// What a gradient callback sees. ValueError for another number of outputs than results, or of
/// saved operands than the invocation names.
struct VjpContext {
  VjpContext(const ResolvedInvocation& resolved, std::vector<Tensor> published,
             std::vector<Tensor> saved);

  const ResolvedInvocation& invocation;  ///< its tensors have types only
  const std::vector<Tensor> outputs;
  const std::vector<Tensor> saved_operands;  ///< in the order of `invocation.saved`
};
using MaybeTensors = std::vector<std::optional<Tensor>>;
/// One cotangent per result (absent: none flows) -> one per differentiable operand of the schema,
/// in order. For calls on concrete tensors only: transforms of programs refuse the operation.
using VjpFunction =
    std::function<MaybeTensors(const VjpContext&, std::span<const std::optional<Tensor>>)>;

/// Rules that emit operations (graph/ad/rules.h): for concrete calls and programs, to any order
/// when what they emit has rules. `linearize` alone is a smooth operation; `transpose` alone one
/// that is linear in its differentiable operands together.
struct DerivativeRules {
  std::function<MaybeValues(RuleContext&, std::span<const MaybeValue>)> linearize{};
  std::function<MaybeValues(TransposeContext&, std::span<const MaybeValue>)> transpose{};
};

/// The marker of operations without a derivative; there is one, known by its address.
class NonDifferentiableMarker {
 public:
  NonDifferentiableMarker(const NonDifferentiableMarker&) = delete;
  NonDifferentiableMarker& operator=(const NonDifferentiableMarker&) = delete;

 private:
  constexpr NonDifferentiableMarker() = default;
  friend struct NonDifferentiableHolder;
};
struct NonDifferentiableHolder {
  static constexpr NonDifferentiableMarker kMarker{};
};
inline constexpr const NonDifferentiableMarker& kNonDifferentiable =
    NonDifferentiableHolder::kMarker;

/// The derivative is that of `decompose`.
struct ByDecomposition {};
inline constexpr ByDecomposition kByDecomposition{};

/// The choice that a definition must make.
class Derivative {
 public:
  Derivative() = default;                                                  ///< not made: ValueError
  Derivative(const NonDifferentiableMarker& marker) : choice_(&marker) {}  // NOLINT
  Derivative(ByDecomposition by) : choice_(by) {}                          // NOLINT
  Derivative(DerivativeRules rules) : choice_(std::move(rules)) {}         // NOLINT
  template <std::convertible_to<VjpFunction> F>
  Derivative(F callback) : choice_(VjpFunction(std::move(callback))) {}  // NOLINT

  bool given() const { return choice_.index() != 0; }
  bool none() const { return std::holds_alternative<const NonDifferentiableMarker*>(choice_); }
  bool by_decomposition() const { return std::holds_alternative<ByDecomposition>(choice_); }
  const DerivativeRules* rules() const { return std::get_if<DerivativeRules>(&choice_); }
  const VjpFunction* vjp() const { return std::get_if<VjpFunction>(&choice_); }

 private:
  std::variant<std::monostate, const NonDifferentiableMarker*, ByDecomposition, DerivativeRules,
               VjpFunction>
      choice_;
};

struct DefinitionParts {
  Derivative vjp{};  ///< must be given
  ReferenceFunction reference{};
  DecomposeFunction decompose{};
};

/// The results of one call.
struct CallResults {
  std::vector<Tensor> tensors;
  /// The only one; ValueError when there are several.
  operator Tensor() const;  // NOLINT: a call of one result is that result
  const Tensor& operator[](std::size_t i) const { return tensors.at(i); }
  std::size_t size() const { return tensors.size(); }
};

/// Made by define_operation alone, never changed and never freed: its address is its identity.
class OperationDefinition {
 public:
  OperationDefinition(const OperationDefinition&) = delete;
  OperationDefinition& operator=(const OperationDefinition&) = delete;

  const std::string name;
  const OperationSchema schema;
  const ResolveFunction resolve;
  const ReferenceFunction reference;
  const Derivative vjp;
  const DecomposeFunction decompose;

  const Operation& operation() const;
  /// An ordinary call: traced operands add a node, concrete ones run on their carrier.
  CallResults operator()(std::initializer_list<CallOperand> operands, Attributes options = {},
                         std::source_location where = std::source_location::current()) const;

 private:
  friend const OperationDefinition& define_operation(std::string_view, OperationSchema,
                                                     ResolveFunction, DefinitionParts, Location);
  OperationDefinition(std::string_view defined, OperationSchema bound, ResolveFunction resolving,
                      DefinitionParts parts);
  ~OperationDefinition();
  std::unique_ptr<const ExtensionRecord> record_;
};

/// Registers the operation, once and for the life of the process, or throws and leaves no trace of
/// it. In this order: ValueError for a name that is not dotted identifiers, at least two, the first
/// neither "heddle" nor a built-in operation; TypeError for an empty `resolve`, an empty gradient
/// callback or empty rules; ValueError for no choice of derivative or kByDecomposition without
/// `decompose`; ValueError for a name that is taken.
const OperationDefinition& define_operation(std::string_view name, OperationSchema schema,
                                            ResolveFunction resolve, DefinitionParts parts,
                                            Location where = std::source_location::current());

/// The definition behind a record; null for a built-in operation.
const OperationDefinition* definition_of(const Operation& op);

/// Runs the reference on the invocation's tensors and holds its results to the invocation, in this
/// order: their number (ProviderContractError), then of each that it is a tensor (TypeError), its
/// dtype and shape (ProviderContractError), then whose storage they share.
std::vector<Tensor> run_reference(const ResolvedInvocation& invocation);
/// The checks of one result; step 28.
void check_result_type(const ResolvedInvocation& invocation, std::size_t result,
                       const Tensor& found);
void check_result_alias(const ResolvedInvocation& invocation, std::size_t result,
                        const Tensor& found);

/// Why a name cannot be an operation's, or "". Built-in names are lower-case identifiers;
/// extensions' are dotted. graph_input and graph_output are nobody's.
std::string operation_name_fault(std::string_view name, bool extension);

/// Every operand converted to `compute`, which is also what comes out unless said otherwise.
DtypePlan uniform_plan(const BoundOperationCall& call, DType compute,
                       std::optional<DType> output = std::nullopt);

namespace internal {
/// Runs `define` while the program starts: an error ends the process, with the operation and the
/// reason on stderr.
const OperationDefinition& register_or_abort(const char* name,
                                             const OperationDefinition& (*define)());
}  // namespace internal

/// At namespace scope: HEDDLE_REGISTER_OP(square, "acme.square", schema, resolve, parts);
/// defines the reference `square` when the program starts.
#define HEDDLE_REGISTER_OP(variable, name, ...)                                                  \
  const ::heddle::OperationDefinition& variable =                                                \
      ::heddle::internal::register_or_abort(name, []() -> const ::heddle::OperationDefinition& { \
        return ::heddle::define_operation(name, __VA_ARGS__);                                    \
      })

}  // namespace heddle

#endif  // HEDDLE_GRAPH_DEFINITION_H_
