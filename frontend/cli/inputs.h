// Inputs on the command line: "x=@x.npy", "x=@all.npz:x", "x=2x3xf32=0", "x=random:7",
// "x=random:7:0:10".
#ifndef HEDDLE_FRONTEND_CLI_INPUTS_H_
#define HEDDLE_FRONTEND_CLI_INPUTS_H_

#include <span>
#include <string>
#include <vector>

#include "heddle/graph/program.h"

namespace heddle::cli {

/// One literal per input of the function. ValueError for a name that is not an input, a missing
/// input, a text that cannot be read, or a value whose type is not the input's.
std::vector<Literal> read_inputs(const Function& function,
                                 std::span<const std::string> specifications);

/// Uniform numbers in [low, high), the same on every machine; integers and bools are whole numbers
/// of that range.
Literal random_literal(const Type& type, std::uint64_t seed, const std::string& name, double low,
                       double high);

/// Seeded values for every input: floats in [-1, 1), integers in [0, 2), bools either.
std::vector<Literal> random_inputs(const Function& function, std::uint64_t seed);

}  // namespace heddle::cli

#endif  // HEDDLE_FRONTEND_CLI_INPUTS_H_
