// The program: named functions in SSA form. Immutable once built; only a Builder makes one, and it
// infers every type.
#ifndef HEDDLE_GRAPH_PROGRAM_H_
#define HEDDLE_GRAPH_PROGRAM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/graph/attributes.h"
#include "heddle/graph/error.h"
#include "heddle/graph/literal.h"
#include "heddle/graph/type.h"

namespace heddle {

struct Operation;

/// A value of one function: an index into Function::types.
struct ValueId {
  std::uint32_t index = 0;
  auto operator<=>(const ValueId&) const = default;
};
using Ids = std::span<const ValueId>;
using Values = std::vector<ValueId>;

/// One call of a strict operation. Operands come before results: nodes are in topological order.
struct Node {
  const Operation* op = nullptr;
  Values operands;
  Values results;
  Attributes attributes;
  std::optional<Literal> literal;  ///< of operation `constant` only
  Location where;                  ///< the user's line; not part of the canonical text
};

struct Input {
  std::string name;
  ValueId value;
  bool donate = false;  ///< its storage may be reused for the output that replaces it
};
struct Output {
  std::string name;
  ValueId value;
};

struct Function {
  std::string name;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Node> nodes;
  std::vector<Type> types;  ///< by ValueId

  const Type& type(ValueId v) const { return types[v.index]; }
};

/// Named functions, the first of which is the entry. A cheap value: copies share the functions.
class Program {
 public:
  Program() : functions_(std::make_shared<const std::vector<Function>>()) {}
  /// ValueError when two functions have one name.
  explicit Program(std::vector<Function> functions);

  std::span<const Function> functions() const { return *functions_; }
  /// The first function; ValueError for an empty program.
  const Function& entry() const;
  /// Null when there is none of that name.
  const Function* find(std::string_view name) const;
  /// As find; ValueError lists the names there are.
  const Function& at(std::string_view name) const;
  /// SHA-256 of the canonical text.
  std::array<std::uint8_t, 32> hash() const;

 private:
  std::shared_ptr<const std::vector<Function>> functions_;
};

/// The node that defines each value: node index by ValueId, or kNoNode for an input.
inline constexpr std::uint32_t kNoNode = 0xffffffffu;
std::vector<std::uint32_t> definitions(const Function& function);
/// The number of reads of each value, outputs included.
std::vector<std::uint32_t> use_counts(const Function& function);
/// The value of the input of that name; ValueError lists the names there are.
ValueId input_value(const Function& function, std::string_view name);
/// As above for an output.
ValueId output_value(const Function& function, std::string_view name);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_PROGRAM_H_
