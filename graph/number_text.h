// Floating-point numbers as text that is the same under every locale and reads back to the same
// bits.
#ifndef HEDDLE_GRAPH_NUMBER_TEXT_H_
#define HEDDLE_GRAPH_NUMBER_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// "0x1.8p+1", "-0x0p+0", "inf", "-inf", "nan". (A NaN's payload is not kept.)
std::string float_text(double value);

/// For messages: the shortest decimal text that reads back to the same double.
std::string decimal_text(double value);

/// Reads what float_text writes, and decimal forms such as 1.5e3. nullopt unless the whole text is
/// a number that a double holds (one too small for it is 0).
std::optional<double> parse_float(std::string_view text);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_NUMBER_TEXT_H_
