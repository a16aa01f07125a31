// One kernel as data: what it computes (a body of primitives), how its operands lie in memory, and
// its schedule. Its text is the compile worker's whole input and the main part of the cache's key.
#ifndef HEDDLE_SCHEDULE_KERNEL_H_
#define HEDDLE_SCHEDULE_KERNEL_H_

#include <string>
#include <string_view>
#include <vector>

#include "heddle/graph/program.h"
#include "heddle/schedule/recipe.h"
#include "heddle/schedule/target.h"

namespace heddle {

/// One argument of a kernel. Its type is that of the body's input or output; strides are in
/// elements.
struct Port {
  Dims strides;
  /// An output's: the input port whose storage it overwrites; the body reads that input at the
  /// output's own index only. -1: none.
  int shares = -1;
  bool operator==(const Port&) const = default;
};

struct Kernel {
  Function body;  ///< primitives only, static types; inputs and outputs are the ports, in order
  std::vector<Port> in, out;
  Recipe recipe;
  std::vector<Stage> stages;
  bool sequential = false;  ///< the accumulation order is part of the meaning: no reordering recipe
  Target target;
};

/// Products of matrices, convolutions and attention in floats, their order of sums their own: their
/// denormal operands and results count as zeros. Some CPUs take a hundred times as long over them.
bool flushes_denormals(const Kernel& kernel);

/// Row-major strides of dense extents.
Dims dense_strides(const Dims& dims);

/// Which kind of recipe a body wants: the alternatives of Recipe, in their order.
enum class RecipeKind : std::uint8_t {
  map,
  rows,
  columns,
  contract,
  scatter,
  fibres,
  row_block,
  winograd,
  external
};
/// "map", "rows", ...
std::string_view name_of(RecipeKind kind);

/// The numbers of a recipe, from the body's shapes and the target alone (never from load or cores).
Recipe choose_recipe(RecipeKind kind, const Function& body, const Target& target);
/// Which values are stored, and where: by rule, never by hand.
std::vector<Stage> place_stages(const Function& body, const Recipe& recipe);
/// choose_recipe and place_stages on dense ports. Not for kernels from outside.
Kernel make_kernel(Function body, std::vector<Port> in, std::vector<Port> out, RecipeKind kind,
                   const Target& target);

/// Canonical: values renumbered, no names of the user's, no locations. Constants of at most 16
/// elements are printed; larger ones must be ports.
std::string to_text(const Kernel& kernel);
/// ParseError as the program text has it.
Kernel parse_kernel(std::string_view text);
/// The entry symbol: "hd_k" and 24 hexadecimal digits of the text's SHA-256; of a kernel from
/// outside its own.
std::string kernel_symbol(const Kernel& kernel);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_KERNEL_H_
