#include "heddle/schedule/layout.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/kernel.h"

namespace heddle {
namespace {

// Names as program text has them: results are numbered in their order.
std::vector<std::string> value_names(const Function& f) {
  std::vector<std::string> names(f.types.size());
  for (const Input& in : f.inputs) names[in.value.index] = in.name;
  int next = 0;
  for (const Node& node : f.nodes) {
    for (ValueId r : node.results) names[r.index] = absl::StrCat("%", next++);
  }
  return names;
}

}  // namespace

std::vector<Layout> assign_layouts(const Function& function) {
  std::vector<Layout> layouts(function.types.size());
  for (std::uint32_t v = 0; v < layouts.size(); ++v) {
    layouts[v] = {ValueId{v}, dense_strides(function.types[v].dims)};
  }
  for (const Node& node : function.nodes) {
    if (node.op != &op_reshape) continue;
    layouts[node.results[0].index].storage = layouts[node.operands[0].index].storage;
  }
  return layouts;
}

std::string to_text(const std::vector<Layout>& layouts, const Function& function) {
  const std::vector<std::string> names = value_names(function);
  std::string text;
  const auto line = [&](ValueId v) {
    const Layout& layout = layouts[v.index];
    std::vector<std::string> strides;
    for (const Dim& s : layout.strides) strides.push_back(to_text(s));
    absl::StrAppend(&text, "  ", names[v.index], ": ", to_text(function.type(v)), " strides [",
                    absl::StrJoin(strides, ", "), "]");
    if (layout.storage != v) absl::StrAppend(&text, " view of ", names[layout.storage.index]);
    text += "\n";
  };
  for (const Input& in : function.inputs) line(in.value);
  for (const Node& node : function.nodes) {
    for (ValueId r : node.results) line(r);
  }
  return text;
}

}  // namespace heddle
