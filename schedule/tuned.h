// Measured numbers of schedules (tuned.def), by register file, vector width and cache.
#ifndef HEDDLE_SCHEDULE_TUNED_H_
#define HEDDLE_SCHEDULE_TUNED_H_

#include <cstdint>
#include <span>
#include <string>

#include "heddle/schedule/target.h"

namespace heddle {

/// The columns of tuned.def, which says what they are.
struct Tuned {
  struct Tile {
    int rows, vectors;
    bool operator==(const Tile&) const = default;
  };
  int registers, floats, cache_kb;
  Tile tile, narrow, few;
  int ahead;
  Tile prepared, block;
  int queries, causal;
  int strip, lanes;
  bool operator==(const Tuned&) const = default;
};

std::span<const Tuned> all_tuned();

/// The numbers for a target. Where its register file, vector width and cache have no line, the
/// nearest one, which is said once on standard error.
const Tuned& tuned_for(const Target& target);

/// "TUNED(16, 8, 512, ...)": a line of tuned.def.
std::string to_text(const Tuned& tuned);

/// As long as it lives, these are the numbers for every target: for the sweep that measures them.
/// One at a time, in a process that plans in one thread.
class TunedOverride {
 public:
  explicit TunedOverride(const Tuned& tuned);
  ~TunedOverride();
  TunedOverride(const TunedOverride&) = delete;
  TunedOverride& operator=(const TunedOverride&) = delete;

 private:
  Tuned tuned_;
};

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_TUNED_H_
