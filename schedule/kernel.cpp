#include "heddle/schedule/kernel.h"

#include <algorithm>

#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"
#include "heddle/schedule/canonical.h"

namespace heddle {

Dims dense_strides(const Dims& dims) {
  Dims strides(dims.size());
  Dim stride = 1;
  for (std::size_t a = dims.size(); a-- > 0;) {
    strides[a] = stride;
    stride = stride * dims[a];
  }
  return strides;
}

Kernel make_kernel(Function body, std::vector<Port> in, std::vector<Port> out, RecipeKind kind,
                   const Target& target) {
  Kernel kernel{
      .body = canonical_body(body), .in = std::move(in), .out = std::move(out), .target = target};
  kernel.recipe = choose_recipe(kind, kernel.body, target);
  kernel.stages = place_stages(kernel.body, kernel.recipe);
  return kernel;
}

std::string_view name_of(RecipeKind kind) {
  constexpr std::string_view kNames[] = {"map",    "rows",      "columns",  "contract", "scatter",
                                         "fibres", "row_block", "winograd", "external"};
  static_assert(std::size(kNames) == std::variant_size_v<Recipe>);
  return kNames[static_cast<std::size_t>(kind)];
}
// The alternatives of Recipe, in their order.
std::string_view name_of(const Recipe& recipe) {
  return name_of(static_cast<RecipeKind>(recipe.index()));
}

std::string kernel_symbol(const Kernel& kernel) {
  if (const auto* external = std::get_if<External>(&kernel.recipe)) return external->symbol;
  const std::string text = to_text(kernel);
  const auto digest = sha256(std::as_bytes(std::span(text)));
  return "hd_k" + hex(digest).substr(0, 24);
}

bool flushes_denormals(const Kernel& kernel) {
  if (kernel.sequential || kernel.target.on_device()) return false;
  if (std::holds_alternative<RowBlock>(kernel.recipe)) return true;
  return std::ranges::any_of(kernel.body.nodes, [&](const Node& n) {
    return n.op->strict.pattern == Pattern::contract &&
           is_floating(kernel.body.type(n.results[0]).dtype);
  });
}

}  // namespace heddle
