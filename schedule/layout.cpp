#include "heddle/schedule/layout.h"

#include <algorithm>

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

// Whether a slice's elements lie behind each other in its operand.
bool is_range(const Function& f, const Node& node) {
  if (node.op != &op_slice) return false;
  const Type &whole = f.type(node.operands[0]), &part = f.type(node.results[0]);
  if (is_symbolic(whole) || is_symbolic(part)) return false;
  if (element_count(part) == 0) return false;
  const auto a = node.attributes.as<SliceAttributes>();
  bool inside = false;  // an axis outside has several indices
  for (std::size_t d = 0; d < part.rank(); ++d) {
    const bool one = part.dims[d] == Dim(1);
    if (inside && part.dims[d] != whole.dims[d]) return false;
    if (!one && a.strides[d] != 1) return false;
    inside = inside || !one;
  }
  return true;
}

std::int64_t first_byte(const Function& f, const Node& slice) {
  const Type& whole = f.type(slice.operands[0]);
  const auto a = slice.attributes.as<SliceAttributes>();
  std::int64_t first = 0;
  for (std::size_t d = 0; d < whole.rank(); ++d) {
    first = first * whole.dims[d].constant() + a.starts[d];
  }
  return first * static_cast<std::int64_t>(size_of(whole.dtype));
}

// Which slices are views.
class Ranges {
 public:
  explicit Ranges(const Function& f)
      : f_(f),
        wants_memory_(f.types.size()),
        stored_(f.types.size()),
        computed_(f.types.size()),
        read_(f.types.size()) {
    for (const Node& node : f.nodes) note_reads(node);
    for (const Node& node : f.nodes) {
      if (!is_range(f, node) || !wants_memory_[node.results[0].index]) continue;
      read_[node.operands[0].index] += element_count(f.type(node.results[0]));
    }
    for (const Input& in : f.inputs) stored_[in.value.index] = true;
  }

  void add_to(std::vector<bool>& views) {
    for (std::size_t n = 0; n < views.size(); ++n) {
      const Node& node = f_.nodes[n];
      const bool range = is_range(f_, node) && wants_memory_[node.results[0].index];
      if (range && may_be_read(node.operands[0])) views[n] = true;
      for (ValueId r : node.results) note_kept(r, node, views[n]);
    }
  }

 private:
  // Kernels read the operands of products, of views and the like again and again, or in their own
  // way.
  void note_reads(const Node& node) {
    const Pattern p = node.op->strict.pattern;
    const bool again = p == Pattern::contract || p == Pattern::composite || p == Pattern::scatter ||
                       p == Pattern::scan || p == Pattern::sort || node.op == &op_reshape ||
                       node.op->extension != nullptr;
    for (ValueId o : node.operands) wants_memory_[o.index] = wants_memory_[o.index] || again;
  }

  void note_kept(ValueId v, const Node& node, bool is_view) {
    computed_[v.index] = is_view ? computed_[node.operands[0].index] : is_computed(node);
    stored_[v.index] = is_view ? stored_[node.operands[0].index] : computed_[v.index];
  }

  // By larger loops, whose results are in memory whoever reads them; or of these, element by
  // element, which the same loops do.
  bool is_computed(const Node& node) const {
    switch (node.op->strict.pattern) {
      case Pattern::elementwise:
        return std::any_of(node.operands.begin(), node.operands.end(), [&](ValueId o) {
          return computed_[o.index] && f_.type(o).dims == f_.type(node.results[0]).dims;
        });
      case Pattern::contract:
      case Pattern::composite:
      case Pattern::scatter:
      case Pattern::scan:
      case Pattern::sort:
        return true;
      default:
        return false;
    }
  }

  // Of what would be computed where it is read, half is read as ranges.
  bool may_be_read(ValueId whole) const {
    const bool fill = is_fill(whole);
    return !fill &&
           (stored_[whole.index] || 2 * read_[whole.index] >= element_count(f_.type(whole)));
  }
  bool is_fill(ValueId v) const {
    const std::uint32_t n = makers_[v.index];
    return n != kNoNode && f_.nodes[n].op->strict.pattern == Pattern::broadcast;
  }

  const Function& f_;
  std::vector<std::uint32_t> makers_ = definitions(f_);
  std::vector<bool> wants_memory_, stored_, computed_;  // by value
  std::vector<std::int64_t> read_;  // by value: elements in ranges that want memory
};

}  // namespace

std::vector<bool> view_nodes(const Function& function, bool slices) {
  std::vector<bool> views;
  for (const Node& node : function.nodes) views.push_back(node.op == &op_reshape);
  if (slices) Ranges(function).add_to(views);
  return views;
}

bool is_sequence(const Function& function, const Node& node) {
  if (node.op != &op_concatenate) return false;
  const auto axis = node.attributes.as<AxisAttributes>().axis;
  const Dims& dims = function.type(node.results[0]).dims;
  return std::all_of(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis),
                     [](const Dim& d) { return d == Dim(1); });
}

std::vector<Layout> assign_layouts(const Function& function, const std::vector<bool>& views) {
  std::vector<Layout> layouts(function.types.size());
  for (std::uint32_t v = 0; v < layouts.size(); ++v) {
    layouts[v] = {ValueId{v}, 0, dense_strides(function.types[v].dims)};
  }
  for (std::size_t n = 0; n < views.size(); ++n) {
    if (!views[n]) continue;
    const Node& node = function.nodes[n];
    const Layout& whole = layouts[node.operands[0].index];
    Layout& part = layouts[node.results[0].index];
    part.storage = whole.storage;
    part.offset = whole.offset + (node.op == &op_slice ? first_byte(function, node) : 0);
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
    if (layout.offset != 0) absl::StrAppend(&text, " from byte ", layout.offset);
    text += "\n";
  };
  for (const Input& in : function.inputs) line(in.value);
  for (const Node& node : function.nodes) {
    for (ValueId r : node.results) line(r);
  }
  return text;
}

}  // namespace heddle
