#include "heddle/frontend/cli/print.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace heddle::cli {
namespace {

constexpr std::int64_t kShownPerAxis = 6;

std::string axis_text(const Literal& literal, std::size_t axis, std::int64_t first,
                      std::int64_t count) {
  if (axis == literal.type.rank())
    return number_text(element_as_double(literal, first), literal.type.dtype);
  const std::int64_t extent = literal.type.dims[axis].constant(),
                     inner = extent ? count / extent : 0;
  std::string text = "[";
  for (std::int64_t i = 0; i < extent; ++i) {
    if (extent > kShownPerAxis && i == kShownPerAxis / 2) {
      text += ", ...";
      i = extent - kShownPerAxis / 2;
    }
    text += (i ? ", " : "") + axis_text(literal, axis + 1, first + i * inner, inner);
  }
  return text + "]";
}

}  // namespace

std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      line += row[c];
      if (c + 1 < row.size()) line += std::string(widths[c] - row[c].size() + 2, ' ');
    }
    text += line + "\n";
  }
  return text;
}

std::string number_text(double value, DType dtype) {
  if (dtype == DType::boolean) return value != 0 ? "true" : "false";
  if (std::isnan(value)) return "nan";
  char buffer[64];
  const auto end = dtype == DType::f64 || !is_floating(dtype)
                       ? std::to_chars(buffer, buffer + sizeof buffer, value)
                       : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value));
  return std::string(buffer, end.ptr);
}

std::string tensor_text(const Literal& literal) {
  return to_text(literal.type) + " " + axis_text(literal, 0, 0, element_count(literal.type));
}

nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

CompileProgress progress_bar() {
  if (!isatty(STDERR_FILENO)) return {};
  return [](int done, int total, std::string_view what) {
    constexpr int kWidth = 30;
    const int full = total > 0 ? done * kWidth / total : kWidth;
    const std::string bar = std::string(static_cast<std::size_t>(full), '#') +
                            std::string(static_cast<std::size_t>(kWidth - full), '.');
    std::fprintf(stderr, "\r[%s] %d/%d %-40.40s", bar.c_str(), done, total,
                 std::string(what).c_str());
    if (done == total) std::fprintf(stderr, "\r%80s\r", "");
    std::fflush(stderr);
  };
}

}  // namespace heddle::cli
