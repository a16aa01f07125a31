#include "heddle/schedule/recipe.h"

#include "heddle/schedule/collapse.h"
#include "heddle/schedule/gates.h"
#include "heddle/schedule/kernel.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"
#include "heddle/schedule/winograd.h"

namespace heddle {

namespace {

// Devices have no tiles for gates.
bool fits_contract(const Function& body, const Target& target) {
  const std::optional<ValueId> dot = main_contraction(body);
  return dot && !(target.on_device() && gates_of(body, *dot));
}

}  // namespace

// A body that does not have the form its recipe asks for gets a Map: slower, and right.
Recipe choose_recipe(RecipeKind kind, const Function& body, const Target& target) {
  const Function collapsed = is_symbolic(body) ? body : collapse_axes(body);
  if (kind == RecipeKind::rows && row_axes(collapsed)) return choose_rows(collapsed, target);
  if (kind == RecipeKind::columns && fits_columns(collapsed)) {
    return choose_columns(collapsed, target);
  }
  if (kind == RecipeKind::contract && fits_contract(collapsed, target)) {
    return choose_contract(collapsed, target);
  }
  if (kind == RecipeKind::fibres && fibre_node(collapsed)) {
    return choose_fibres(collapsed, target);
  }
  if (kind == RecipeKind::row_block) return choose_row_block(body, target);
  if (kind == RecipeKind::winograd && winograd_convolution(collapsed)) {
    return choose_winograd(collapsed, target);
  }
  if (kind == RecipeKind::scatter) return choose_scatter(collapsed, target);
  return choose_map(collapsed, target);
}

}  // namespace heddle
