#include "heddle/schedule/joins.h"

#include <algorithm>
#include <optional>
#include <set>

#include "heddle/graph/operation.h"

namespace heddle {
namespace {

class Joiner {
 public:
  Joiner(const Function& f, const Grouping& grouping, const std::vector<InPlace>& in_place,
         std::vector<Layout>& layouts)
      : f_(f), grouping_(grouping), makers_(definitions(f)), layouts_(layouts) {
    for (const Output& o : f.outputs) kept_.insert(layouts[o.value.index].storage);
    for (const InPlace& p : in_place) replaces_.insert(f.outputs[p.output].value);
  }

  std::optional<Join> join(const Group& group, const GroupBody& body) {
    if (group.nodes.size() != 1 || body.external || body.out.size() != 1) return std::nullopt;
    const Node& node = f_.nodes[group.nodes[0]];
    if (!is_sequence(f_, node) || replaces_.contains(node.results[0])) return std::nullopt;
    std::vector<Join::Part> placed;
    Join join{node.results[0], {}};
    std::set<ValueId> taken;
    std::int64_t offset = 0, bytes = 0;
    for (ValueId v : node.operands) {
      if (std::find(body.in.begin(), body.in.end(), v) == body.in.end()) return std::nullopt;
      const bool free = can_move(v) && taken.insert(layouts_[v.index].storage).second;
      (free ? placed : join.copied).push_back({v, offset});
      offset += byte_count(f_.type(v));
      if (free) bytes += byte_count(f_.type(v));
    }
    if (2 * bytes < offset) return std::nullopt;
    for (const Join::Part& p : placed) move(layouts_[p.value.index].storage, join.whole, p.offset);
    return join;
  }

 private:
  bool can_move(ValueId v) const {
    const ValueId s = layouts_[v.index].storage;
    const std::uint32_t n = makers_[s.index];
    const bool computed = n != kNoNode && grouping_.classes[n] != NodeClass::constant;
    return computed && !kept_.contains(s) && element_count(f_.type(s)) == element_count(f_.type(v));
  }

  // All that is a view of `storage` becomes one of `whole`.
  void move(ValueId storage, ValueId whole, std::int64_t offset) {
    for (Layout& layout : layouts_) {
      if (layout.storage != storage) continue;
      layout.storage = whole;
      layout.offset += offset;
    }
  }

  const Function& f_;
  const Grouping& grouping_;
  std::vector<std::uint32_t> makers_;
  std::vector<Layout>& layouts_;
  std::set<ValueId> kept_, replaces_;  // what outputs are views of; outputs over donated inputs
};

}  // namespace

std::map<std::size_t, Join> place_parts(const Function& function, const Grouping& grouping,
                                        const std::vector<GroupBody>& bodies,
                                        const std::vector<InPlace>& in_place,
                                        std::vector<Layout>& layouts) {
  Joiner joiner(function, grouping, in_place, layouts);
  std::map<std::size_t, Join> joins;
  for (std::size_t g = 0; g < bodies.size(); ++g) {
    if (auto join = joiner.join(grouping.groups[g], bodies[g])) joins.emplace(g, *std::move(join));
  }
  return joins;
}

}  // namespace heddle
