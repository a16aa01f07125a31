// The numbers of each recipe, from the collapsed body and the target.
#ifndef HEDDLE_SCHEDULE_RECIPES_CHOOSE_H_
#define HEDDLE_SCHEDULE_RECIPES_CHOOSE_H_

#include <optional>

#include "heddle/schedule/kernel.h"

namespace heddle {

Map choose_map(const Function& body, const Target& target);
/// The body must have row axes.
Rows choose_rows(const Function& body, const Target& target);
/// The body must fit columns.
Columns choose_columns(const Function& body, const Target& target);
/// For a stage of its own: one row times a matrix whose rows lie in order, summed row by row.
/// Nothing for other products.
std::optional<Columns> choose_row_times_matrix(const Function& body, const Node& dot,
                                               const Target& target);
/// The body must have a main contraction.
Contract choose_contract(const Function& body, const Target& target);
Scatter choose_scatter(const Function& body, const Target& target);
/// The body must be a composite that has row blocks (schedule/row_block.h).
RowBlock choose_row_block(const Function& body, const Target& target);
/// The body must have a convolution for it (schedule/winograd.h).
Winograd choose_winograd(const Function& body, const Target& target);
/// The body must have a fibre node.
Fibres choose_fibres(const Function& body, const Target& target);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_RECIPES_CHOOSE_H_
