// Which values are stored, and where. The rules:
//  1. the main contraction, or convolution, lies in the register tile;
//  2. a sum over a few elements (kInlineReduction) is written out where it is read, except in rows;
//  every other
//     reduction is a stage;
//  3. reductions of one level (none needs another), same kept and reduced extents, share one stage;
//  sums of columns also when one keeps a few elements more;
//  4. a scan or a sort is stored for the block of fibres, or whole when it is not alone;
//  5. rows: a value made by a costly operation is stored for the row when two loops read it, or
//  when
//     it is one number of the row; all else is computed where it is read;
//  6. what a stage placed `once` reads through other stages is placed `once` too.
#include <algorithm>
#include <set>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/classify.h"
#include "heddle/schedule/collapse.h"
#include "heddle/schedule/kernel.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/winograd.h"

namespace heddle {
namespace {

constexpr int kOutputs = -1;  // the loop of the outputs

class Placement {
 public:
  Placement(const Function& body, const Recipe& recipe)
      : body_(body), recipe_(recipe), level_(body.types.size()), stage_(body.types.size(), -1) {
    if (std::holds_alternative<Contract>(recipe)) main_ = main_contraction(body);
    if (std::holds_alternative<Winograd>(recipe)) main_ = winograd_convolution(body)->results[0];
  }

  std::vector<Stage> place() {
    for (const Node& node : body_.nodes) place_loop(node);
    if (std::holds_alternative<Rows>(recipe_)) store_costly();
    // Sums of columns are whole arrays in any case.
    if (!std::holds_alternative<Columns>(recipe_)) {
      for (std::size_t d = drafts_.size(); d-- > 0;) hoist(d);
    }
    std::stable_sort(drafts_.begin(), drafts_.end(), [](const Draft& a, const Draft& b) {
      return std::pair(a.key, a.stage.values[0]) < std::pair(b.key, b.stage.values[0]);
    });
    std::vector<Stage> stages;
    for (Draft& d : drafts_) stages.push_back(std::move(d.stage));
    return stages;
  }

 private:
  struct Draft {
    int key;  // 2 * level - 1 for reductions, 2 * level for values stored for a row
    Stage stage;
    const Node* node;
  };

  bool written_out(const Node& node) const {
    const std::vector<std::int64_t> reduced = reduced_extents(body_, node);
    if (reduced.empty()) return true;  // an outer product, or nothing at all
    return !std::holds_alternative<Rows>(recipe_) && node.op->strict.pattern == Pattern::reduce &&
           product(reduced) <= kInlineReduction && level(node) == 0 &&
           !is_symbolic(Type{.dims = reduced_dims(body_, node)});
  }
  int level(const Node& node) const {
    int most = 0;
    for (ValueId o : node.operands) most = std::max(most, level_[o.index]);
    return most;
  }
  Place place_of(const Node& node) const {
    const bool scalar = body_.type(node.results[0]).rank() == 0;
    if (std::holds_alternative<Rows>(recipe_)) return scalar ? Place::once : Place::per_block;
    if (std::holds_alternative<Columns>(recipe_)) return scalar ? Place::once : Place::per_tile;
    return main_ == node.results[0] ? Place::per_tile : Place::once;
  }
  bool same_loop(const Node& a, const Node& b) const {
    auto sum = [](const Node& n) {
      return n.op->strict.pattern == Pattern::reduce && n.op != &op_argmax && n.op != &op_argmin;
    };
    if (!sum(a) || !sum(b) || reduced_axes(a) != reduced_axes(b)) return false;
    const Dims &x = body_.type(a.operands[0]).dims, &y = body_.type(b.operands[0]).dims;
    return x == y || (std::holds_alternative<Columns>(recipe_) &&
                      reduced_dims(body_, a) == reduced_dims(body_, b) &&
                      same_columns(body_.type(a.results[0]).dims, body_.type(b.results[0]).dims));
  }

  void place_loop(const Node& node) {
    int depth = level(node);
    const bool scatter = node.op->strict.pattern == Pattern::scatter;
    if (is_fibre(node)) {
      ++depth;
      const bool own = std::holds_alternative<Fibres>(recipe_);
      add(node, 2 * depth - 1, own ? Place::per_block : Place::once);
    } else if ((is_reduction(body_, node) && !written_out(node)) || scatter) {
      ++depth;
      add(node, 2 * depth - 1, scatter ? Place::once : place_of(node));
    }
    for (ValueId r : node.results) level_[r.index] = depth;
  }
  void add(const Node& node, int key, Place place) {
    for (std::size_t d = 0; d < drafts_.size(); ++d) {
      if (key % 2 != 0 && drafts_[d].key == key && drafts_[d].stage.place == place &&
          is_reduction(body_, node) && is_reduction(body_, *drafts_[d].node) &&
          same_loop(node, *drafts_[d].node)) {
        drafts_[d].stage.values.push_back(node.results[0]);
        stage_[node.results[0].index] = static_cast<int>(d);
        return;
      }
    }
    stage_[node.results[0].index] = static_cast<int>(drafts_.size());
    drafts_.push_back({key, {{node.results[0]}, place}, &node});
  }

  // Walks backwards: `needed` holds the loops that read a value, through values computed in place.
  void store_costly() {
    std::vector<std::set<int>> needed(body_.types.size());
    for (const Output& o : body_.outputs) needed[o.value.index].insert(kOutputs);
    const std::size_t row_rank = row_axes(body_).value_or(0);
    for (std::size_t i = body_.nodes.size(); i-- > 0;) {
      const Node& node = body_.nodes[i];
      const ValueId v = node.results[0];
      if (stage_[v.index] < 0 && is_costly(node) && row_rank > 0) {
        const std::size_t rank = body_.type(v).rank();
        const bool wide = rank > row_rank && needed[v.index].size() > 1;
        const bool number = rank == row_rank && level_[v.index] > 0;
        if (wide || number) add(node, 2 * level_[v.index], Place::per_block);
      }
      for (ValueId o : node.operands) {
        if (stage_[v.index] >= 0) {
          needed[o.index].insert(stage_[v.index]);
        } else {
          needed[o.index].insert(needed[v.index].begin(), needed[v.index].end());
        }
      }
    }
  }

  // Everything a `once` stage reads must exist before the outputs' loops too.
  void hoist(std::size_t draft) {
    if (drafts_[draft].stage.place != Place::once) return;
    std::vector<bool> read(body_.types.size());
    for (ValueId v : drafts_[draft].stage.values) read[v.index] = true;
    for (std::size_t i = body_.nodes.size(); i-- > 0;) {
      const Node& node = body_.nodes[i];
      if (!read[node.results[0].index]) continue;
      for (ValueId o : node.operands) read[o.index] = true;
      if (const int s = stage_[node.results[0].index]; s >= 0) {
        drafts_[static_cast<std::size_t>(s)].stage.place = Place::once;
      }
    }
  }

  const Function& body_;
  const Recipe& recipe_;
  std::optional<ValueId> main_;
  std::vector<int> level_, stage_;
  std::vector<Draft> drafts_;
};

}  // namespace

std::vector<Stage> place_stages(const Function& body, const Recipe& recipe) {
  const Function collapsed = is_symbolic(body) ? body : collapse_axes(body);
  return Placement(collapsed, recipe).place();
}

}  // namespace heddle
