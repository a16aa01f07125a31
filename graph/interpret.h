// The reference: runs a program node by node with each operation's own evaluator. Slow and exact;
// every carrier is held against it.
#ifndef HEDDLE_GRAPH_INTERPRET_H_
#define HEDDLE_GRAPH_INTERPRET_H_

#include <span>
#include <string_view>
#include <vector>

#include "heddle/graph/program.h"

namespace heddle {

/// Results in the order of the outputs. ValueError names the argument whose count, dtype or extents
/// differ from the function's.
std::vector<Literal> interpret(const Program& program, std::string_view function,
                               std::span<const Literal> arguments,
                               Location where = std::source_location::current());

/// That error.
void check_arguments(const Function& function, std::span<const Literal> arguments);

/// One node on constants: evaluate, or the interpreted decomposition.
std::vector<Literal> interpret_node(const Node& node, std::span<const Literal> operands,
                                    const Program* callees);

/// The f64 twin: every f32 value becomes f64 (constants converted exactly). For checks of f32
/// results and of derivatives.
Program widen(const Program& program);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_INTERPRET_H_
