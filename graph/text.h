// The text form of programs, `.heddle`. Printing is deterministic byte for byte; parse(to_text(p))
// gives p again.
//
//   func @loss(x: f32[32,784], w: f32[784,10] donate) -> (y: f32[32,10]) {
//     %0 = constant 0x1p+0 : f32[]
//     %1 = dot_general(x, w) {lhs_batch = [], ...} : f32[32,10]
//     return %1
//   }
#ifndef HEDDLE_GRAPH_TEXT_H_
#define HEDDLE_GRAPH_TEXT_H_

#include <string>
#include <string_view>

#include "heddle/graph/program.h"

namespace heddle {

struct TextStyle {
  /// Constants of more than 16 elements as `sha256:...` instead of their bytes: for hashing, cannot
  /// be parsed.
  bool hash_constants = false;
};

std::string to_text(const Program& program, TextStyle style = {});
std::string to_text(const Function& function, TextStyle style = {});

/// ParseError "file:line:column: ..." after the caller's place. Types are inferred again and must
/// equal the written ones. Nodes get file and line.
Program parse(std::string_view text, std::string_view file,
              Location where = std::source_location::current());

/// A file name that lives as long as the process, for Locations.
const char* intern_file(std::string_view name);

/// SHA-256, as bytes and as 64 hexadecimal digits.
std::array<std::uint8_t, 32> sha256(std::span<const std::byte> bytes);
std::string hex(std::span<const std::uint8_t> bytes);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_TEXT_H_
