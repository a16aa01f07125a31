// The records seen as schemas: what a verifier of programs asks, and nothing about how anything is
// computed.
#ifndef HEDDLE_GRAPH_OP_QUERY_H_
#define HEDDLE_GRAPH_OP_QUERY_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/graph/operation.h"

namespace heddle {

/// One operation's shape of use. Views into the record, which lives as long as the process.
struct OpSchema {
  std::string_view name;
  std::size_t inputs = 0;  ///< fixed ones
  bool variadic = false;   ///< the last input repeats, `min_variadic` times or more; never outputs
  std::size_t min_variadic = 0;
  std::size_t outputs = 1;
  std::vector<std::pair<std::string, std::string_view>> attributes;  ///< name, kind; all required
  int traits = 0;
  bool decomposes = false;

  bool has_variadic_inputs() const { return variadic; }
  std::size_t min_input_count() const { return inputs + (variadic ? min_variadic : 0); }
};

/// Nothing for a name that is not registered. Attributes and outputs are those of the record's own
/// test rows: every row has all attributes.
std::optional<OpSchema> find_schema(std::string_view name);

struct OpQuery {
  bool op_registered(std::string_view name) const;
  /// What is wrong with such a node, or nothing. Checked in this order: registered, number of
  /// inputs, number of outputs, each declared attribute (missing, then its kind), undeclared
  /// attributes. The text names no rule number: the verifier adds its own.
  std::optional<std::string> check_schema(std::string_view name, std::size_t inputs,
                                          std::size_t outputs, const Attributes& attributes) const;
};
inline OpQuery make_op_query() { return {}; }

}  // namespace heddle

#endif  // HEDDLE_GRAPH_OP_QUERY_H_
