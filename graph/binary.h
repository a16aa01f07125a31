// The binary form of programs, `.hdb`: as the text form, with constants as their bytes. For
// programs with weights in them.
//
//   "HDPROG", format u16 | body | SHA-256 of all before it
//   Numbers are unsigned LEB128, signed ones zigzag; texts and bytes have their length first.
//   body: functions > name, inputs (name, type, donate), nodes (operation, version, operands,
//   attributes, literal, file, line), outputs (name, value)
#ifndef HEDDLE_GRAPH_BINARY_H_
#define HEDDLE_GRAPH_BINARY_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/graph/program.h"

namespace heddle {

/// The same program gives the same bytes; locations are part of them.
std::vector<std::byte> to_binary(const Program& program);

/// ParseError with `file` and the offset: another kind of file, a newer format, anything cut or
/// changed, an unknown operation, or nodes that do not fit their operations. Types are inferred.
Program from_binary(std::span<const std::byte> bytes, std::string_view file);

/// Whether a file begins as the binary form does.
bool is_binary(std::span<const std::byte> bytes);

/// Reads either form; ParseError, with the caller's place, when the file cannot be read.
Program read_program(const std::string& path, Location where = std::source_location::current());

}  // namespace heddle

#endif  // HEDDLE_GRAPH_BINARY_H_
