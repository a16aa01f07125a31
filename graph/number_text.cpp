#include "heddle/graph/number_text.h"

#include <charconv>
#include <cmath>

#include "absl/strings/charconv.h"

namespace heddle {

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::hex);
  return (std::signbit(value) ? "-0x" : "0x") + std::string(buffer, end.ptr);
}

std::string decimal_text(double value) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::optional<double> parse_float(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  auto format = absl::chars_format::general;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    format = absl::chars_format::hex;
  }
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  double value = 0;
  // Abseil's: it tells what is too large from what is too small.
  const auto [end, error] = absl::from_chars(text.data(), text.data() + text.size(), value, format);
  const bool too_small = error == std::errc::result_out_of_range && value == 0;
  if (end != text.data() + text.size() || (error != std::errc() && !too_small)) {
    return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace heddle
