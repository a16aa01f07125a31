// The pieces of the program parser that the kernel text's parser uses too.
#ifndef HEDDLE_GRAPH_TEXT_PARSE_H_
#define HEDDLE_GRAPH_TEXT_PARSE_H_

#include <vector>

#include "heddle/graph/lexer.h"
#include "heddle/graph/program.h"

namespace heddle {

/// inferred: written types must equal what inference gives. kernel: where an operand or a result
/// has a symbol for an extent, the written types are taken as they are.
enum class WrittenTypes : std::uint8_t { inferred, kernel };

/// From "func" to its closing brace. `callees`: the functions before it. `node_names`, when given,
/// gets the values that "%0", "%1" ... stand for, in order.
Function parse_function(Lexer& lexer, const Program* callees,
                        std::vector<ValueId>* node_names = nullptr,
                        WrittenTypes types = WrittenTypes::inferred);
/// `what` names the type's place in errors about its extents: "@f: input 'x'", or "".
Type parse_type(Lexer& lexer, std::string_view what = "");
/// "[32,2*n+1]".
Dims parse_dims(Lexer& lexer);
Attribute parse_attribute(Lexer& lexer);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_TEXT_PARSE_H_
