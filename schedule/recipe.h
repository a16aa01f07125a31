// A recipe says what kind of schedule a kernel has, and with which numbers: plain data that prints,
// hashes and compares.
#ifndef HEDDLE_SCHEDULE_RECIPE_H_
#define HEDDLE_SCHEDULE_RECIPE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heddle/graph/program.h"

namespace heddle {

/// Where a value that is not inlined lives. per_tile: inside the innermost tile or row; per_block:
/// once for each row block or panel; once: a whole array before the outputs' loops.
enum class Place : std::uint8_t { per_tile, per_block, once };
enum class Memory : std::uint8_t { automatic, scratch, shared };
enum class Pack : std::uint8_t { none, panel, whole };

/// Elementwise over outputs of equal dims. Also the way out for everything no other recipe takes:
/// reductions and contractions in it are stages placed `once`, looped plainly. grain: elements per
/// task.
struct Map {
  int vector = 8, unroll = 2;
  std::int64_t grain = 16384;
  bool operator==(const Map&) const = default;
};
/// Statistics along trailing axes. lanes: partial accumulators; grain: rows per task; split > 1: a
/// total sum in that many pieces; ahead: stages of much arithmetic fetch what they read of the next
/// row.
struct Rows {
  int lanes = 32;
  std::int64_t grain = 16, split = 1;
  bool ahead = false;
  bool operator==(const Rows&) const = default;
};
/// Sums along leading axes. strip: columns per inner loop; split: rows per first-stage sum (0:
/// all); grain: strips per task (0: one task); rows > 1: so many are added together to running
/// values in memory, else these are in registers.
struct Columns {
  int strip = 64;
  std::int64_t split = 0, grain = 1;
  int rows = 1;
  bool operator==(const Columns&) const = default;
};
/// A contraction with prologue and epilogue. mr x nr: register tile; panels: rhs panels packed side
/// by side, so that whole lines are read; grain: outer tiles (groups of panels) per task. dots: the
/// tile's elements are vectors along the inner axis, which both operands lie along; nothing is
/// packed. piece > 0: so many inner indices at a time, for a whole group of panels; running sums
/// wait in scratch. rhs none then, of what lies in no panels: it is read once, where it lies. ahead
/// > 0: what panels have is asked for so many inner indices before it is multiplied.
struct Contract {
  int mr = 4, nr = 24;
  Pack lhs = Pack::none, rhs = Pack::panel;
  bool columns_outer = true, dots = false;
  int panels = 1, piece = 0, ahead = 0;
  std::int64_t grain = 1;
  bool operator==(const Contract&) const = default;
};
/// result = operand, then updates added in their order: serial over updates, parallel over the
/// other axes.
struct Scatter {
  int vector = 8;
  std::int64_t grain = 1;
  bool operator==(const Scatter&) const = default;
};
/// A scan or a sort along one axis, one fibre after another. strip: scans along another axis than
/// the last do so many fibres side by side; grain: fibres, or strips of them, per task.
struct Fibres {
  int strip = 1;
  std::int64_t grain = 1;
  bool operator==(const Fibres&) const = default;
};
/// Attention, its gradient or a half of that: blocks of `rows` rows meet all columns, and a block's
/// scores stay in its task's scratch. mr x nr: register tiles; grain: blocks per task, each task
/// within one head.
struct RowBlock {
  int mr = 4, nr = 16, rows = 32;
  std::int64_t grain = 1;
  bool operator==(const RowBlock&) const = default;
};
/// A convolution of 3x3 taps in Winograd's form (schedule/winograd.h). rows: rows of tiles in a
/// strip, whose transformed image stays in its task's scratch; mr x nr: tiles and output channels
/// of a register tile; grain: strips per task.
struct Winograd {
  int mr = 4, nr = 16;
  std::int64_t rows = 1, grain = 1;
  bool operator==(const Winograd&) const = default;
};
/// Not made here: a function of an object file, entered as any kernel is (runtime/kernel.h).
struct External {
  std::string symbol;
  std::string digest;  ///< SHA-256 of the object, in hexadecimal digits
  std::shared_ptr<const std::vector<std::byte>> object;
  bool operator==(const External& other) const {
    return symbol == other.symbol && digest == other.digest;
  }
};
using Recipe =
    std::variant<Map, Rows, Columns, Contract, Scatter, Fibres, RowBlock, Winograd, External>;
/// "map", "rows", ...
std::string_view name_of(const Recipe& recipe);

/// Values that are stored rather than recomputed. Several: reductions of one level and domain, in
/// one loop.
struct Stage {
  Values values;
  Place place = Place::per_tile;
  Memory memory = Memory::automatic;
  bool operator==(const Stage&) const = default;
};

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_RECIPE_H_
