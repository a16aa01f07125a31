// What commands print: tables of aligned columns, tensors, and JSON.
#ifndef HEDDLE_FRONTEND_CLI_PRINT_H_
#define HEDDLE_FRONTEND_CLI_PRINT_H_

#include <string>
#include <vector>

#include "heddle/backends/compile.h"
#include "heddle/graph/literal.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {

using Row = std::vector<std::string>;
/// Columns are as wide as their widest cell; the first row is the head.
std::string table(const std::vector<Row>& rows);

/// "f32[2,3] [[1, 2, 3], [4, 5, 6]]", the middle of a long one left out.
std::string tensor_text(const Literal& literal);
/// Shortest decimal text that reads back to the same f32 or f64.
std::string number_text(double value, DType dtype);

/// A number, or "nan", "inf" and "-inf", for which JSON has no numbers.
nlohmann::ordered_json json_number(double value);

/// A bar on stderr when that is a terminal, else nothing.
CompileProgress progress_bar();

}  // namespace heddle::cli

#endif  // HEDDLE_FRONTEND_CLI_PRINT_H_
