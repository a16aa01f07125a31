// A call as data: its operands bound to a schema (BoundOperationCall), and all that is decided
// about it before anything runs (Invocation): dtypes, results, effects, what a gradient saves.
#ifndef HEDDLE_GRAPH_INVOCATION_H_
#define HEDDLE_GRAPH_INVOCATION_H_

#include <concepts>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "heddle/graph/dtype_plan.h"
#include "heddle/graph/schema.h"
#include "heddle/graph/tensor.h"

namespace heddle {

/// A tensor, a weak scalar (int64_t, double, bool: it never carries a dtype), or a structural
/// value.
using Operand = std::variant<Tensor, std::int64_t, double, bool, Attribute>;
using Operands = std::span<const Operand>;
/// Of an operand that is no tensor.
Attribute to_attribute(const Operand& operand);

namespace internal {
Operand wide_scalar(std::uint64_t value, Location where);
Operand wide_scalar(long double value, Location where);
}  // namespace internal

/// The weak scalar of a number of any arithmetic type of C++. OverflowError, with the number: a
/// whole one that no int64_t holds, a finite one that no double holds.
template <class T>
requires std::is_arithmetic_v<T> Operand weak_scalar(T value, Location where) {
  constexpr bool narrow = std::is_signed_v<T> || sizeof(T) < sizeof(std::int64_t);
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_same_v<T, long double>) {
    return internal::wide_scalar(value, where);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (narrow) {
    return static_cast<std::int64_t>(value);
  } else {
    return internal::wide_scalar(static_cast<std::uint64_t>(value), where);
  }
}

/// An operand as it stands in a call: a tensor, a number of any arithmetic type, a structural
/// value.
struct CallOperand {
  template <class T>
  requires(std::is_arithmetic_v<T> || std::constructible_from<Operand, const T&>)
      CallOperand(const T& given, Location where = std::source_location::current())  // NOLINT
      : value(make(given, where)) {}
  Operand value;

 private:
  template <class T>
  static Operand make(const T& given, Location where) {
    if constexpr (std::is_arithmetic_v<T>) {
      return weak_scalar(given, where);
    } else {
      return Operand(given);
    }
  }
};

class OperationDefinition;

/// Made by the framework alone (`bind`), never changed.
struct BoundOperationCall {
  /// Who may make one.
  class Key {
    Key() = default;
    friend struct CallMaker;
  };
  BoundOperationCall(Key, const Operation& operation, const OperationSchema& bound_schema,
                     std::vector<Operand> bound_operands, Attributes bound_options, Location place);

  const Operation* const op;
  const OperationSchema* const schema;
  const std::vector<Operand> operands;
  const Attributes options;  ///< every option of the schema, defaults filled in
  const Location where;
  const std::uint64_t number;  ///< no other call has it; copies share it

  /// Of an extension's call; null for a built-in operation.
  const OperationDefinition* definition() const;
  const Tensor& tensor(std::size_t i) const;  ///< InternalError when operand i is no tensor
  std::vector<Type> tensor_types() const;     ///< of the tensor operands, in order
  /// The same call; its tensors have types only.
  BoundOperationCall without_storage() const;
  /// The same call on tensors of the same types.
  BoundOperationCall with_operands(Operands others) const;
  /// The same call from another line.
  BoundOperationCall at(Location place) const;

 private:
  BoundOperationCall(const BoundOperationCall& like, std::vector<Operand> others, Location place);
};
using Bound = const BoundOperationCall&;

/// How far a carrier's result may be from the reference's. ValueError: negative or not finite.
struct ResultTolerance {
  double atol = 0, rtol = 0;
};

/// Between carriers, of results of a built-in operation: one table (002's BUILD-011). f32 1e-5 and
/// 1e-6, f16 1e-2 and 1e-3, bf16 2e-2 and 2e-3; f64, which it has not, as f32; whole numbers and
/// bool are exact.
ResultTolerance tolerance_of(DType dtype);

/// What a result is. Values are dense and row-major, so a type fixes shape and layout.
struct ResultSpec {
  /// `alias`: the tensor operand that the result is, the very same storage. ValueError for a
  /// negative one.
  ResultSpec(Type result, std::optional<int> alias = std::nullopt, ResultTolerance tolerance = {});
  template <std::same_as<bool> Flag>
  ResultSpec(Type, Flag, ResultTolerance = {}) = delete;

  const Type type;
  const std::optional<int> alias_of;
  const double atol, rtol;
};

/// Everything about a call that is decided before it runs. Never changed.
struct Invocation {
  /// For the resolve callback of an extension. ValueError, in this order: no results, an index in
  /// `mutated` or `saved` that stands twice, a plan of another operation or with other roles than
  /// the call's operands, an index (then an alias) that names no tensor operand, an empty kernel
  /// id. `kernel` defaults to the operation's name.
  Invocation(BoundOperationCall bound, DtypePlan dtypes, std::vector<ResultSpec> result_specs,
             std::vector<int> mutated_operands = {}, std::vector<int> saved_operands = {},
             std::optional<std::string> kernel = std::nullopt);
  /// The same with the program of the call: inputs are the tensor operands, in order.
  Invocation(Invocation invocation, Function program);

  const BoundOperationCall call;
  const DtypePlan plan;
  const std::vector<ResultSpec> results;
  const std::vector<int> mutated;  ///< operands, by number
  /// The same: what a gradient callback reads. Built-in operations have none: what their reverse
  /// program reads is saved.
  const std::vector<int> saved;
  const std::string kernel_id;
  const Function body;

  const OperationDefinition* definition() const { return call.definition(); }
  /// The same invocation; the tensors of its call have types only.
  Invocation without_storage() const;
  Invocation with_operands(Operands others) const;
  /// The same invocation, called from another line.
  Invocation at(Location place) const;

 private:
  Invocation(BoundOperationCall bound, const Invocation& like);
};
using ResolvedInvocation = Invocation;

}  // namespace heddle

#endif  // HEDDLE_GRAPH_INVOCATION_H_
