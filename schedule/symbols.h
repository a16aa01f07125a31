// A kernel's body over symbols: what it computes, whatever the extents.
#ifndef HEDDLE_SCHEDULE_SYMBOLS_H_
#define HEDDLE_SCHEDULE_SYMBOLS_H_

#include <vector>

#include "heddle/graph/program.h"

namespace heddle {

struct SymbolicBody {
  /// Canonical. Inputs: the body's, one for each of `constants`, one for each of `shapes`.
  Function body;
  std::vector<Literal> constants;
  /// Extents that no other input has, as the body given has them: of inputs nobody reads.
  std::vector<std::vector<std::int64_t>> shapes;
};

/// Each iteration dimension of more than one element becomes a symbol (s0, s1 ...; of a
/// convolution's columns and outputs, when they are fewer than kShortest, u0 ...), each constant an
/// input. Numbers stay: windows and strides, the taps of a convolution along an axis, up to
/// kMostTaps and no more than results (in the gradient of weights, taps are an image), and its
/// channels when it has several groups. Attributes that follow from extents (the limits of a slice,
/// the room behind windows) say no more than what a kernel asks them. The body's axes must be
/// collapsed.
SymbolicBody over_symbols(const Function& body);

inline constexpr std::int64_t kMostTaps = 7;

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_SYMBOLS_H_
