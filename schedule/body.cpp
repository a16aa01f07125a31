#include "heddle/schedule/body.h"

#include "heddle/graph/builder.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

class BodyMaker {
 public:
  BodyMaker(const Function& f, const Grouping& grouping, std::size_t group)
      : f_(f),
        grouping_(grouping),
        group_(static_cast<std::int32_t>(group)),
        node_of_(definitions(f)),
        map_(f.types.size()) {}

  GroupBody make(const std::vector<bool>& needed) {
    const std::vector<bool> wanted = wanted_by(needed);
    for (std::uint32_t n : group().nodes) {
      if (!wanted[f_.nodes[n].results[0].index]) continue;
      copy(f_.nodes[n]);
      result_.nodes.push_back(n);
    }
    for (std::uint32_t n : group().nodes) {
      for (ValueId r : f_.nodes[n].results) {
        if (!needed[r.index]) continue;
        build_.output("out" + std::to_string(result_.out.size()), *map_[r.index]);
        result_.out.push_back(r);
      }
    }
    result_.body = build_.finish();
    result_.external = group().kind == RecipeKind::external;
    return std::move(result_);
  }

 private:
  const Group& group() const { return grouping_.groups[static_cast<std::size_t>(group_)]; }

  // Free nodes, and what other groups compute, are copied where they are read.
  bool is_copied(std::uint32_t n) const {
    return grouping_.classes[n] == NodeClass::free ||
           (grouping_.repeated[n] && grouping_.group_of[n] != group_);
  }

  // What the needed results are made of: of what others compute again, nothing else may be left.
  std::vector<bool> wanted_by(const std::vector<bool>& needed) const {
    std::vector<bool> wanted(f_.types.size());
    const auto mark = [&](auto& self, ValueId v) -> void {
      if (wanted[v.index]) return;
      wanted[v.index] = true;
      const std::uint32_t n = node_of_[v.index];
      if (n == kNoNode || (!is_copied(n) && grouping_.group_of[n] != group_)) return;
      for (ValueId r : f_.nodes[n].results) wanted[r.index] = true;
      for (ValueId o : f_.nodes[n].operands) self(self, o);
    };
    for (std::uint32_t n : group().nodes) {
      for (ValueId r : f_.nodes[n].results) {
        if (needed[r.index]) mark(mark, r);
      }
    }
    return wanted;
  }

  void copy(const Node& node) {
    Values operands;
    for (ValueId o : node.operands) operands.push_back(read(o));
    const Values results = build_.add(*node.op, operands, node.attributes, node.where);
    for (std::size_t r = 0; r < results.size(); ++r) map_[node.results[r].index] = results[r];
  }

  ValueId read(ValueId v) {
    MaybeValue& known = map_[v.index];
    if (known) return *known;
    const std::uint32_t n = node_of_[v.index];
    const NodeClass kind = n == kNoNode ? NodeClass::view : grouping_.classes[n];
    const bool external = group().kind == RecipeKind::external;  // reads memory only
    if (kind == NodeClass::constant && !external && element_count(f_.type(v)) <= kInlineConstant) {
      known = build_.constant(*f_.nodes[n].literal);
    } else if (n != kNoNode && is_copied(n)) {
      copy(f_.nodes[n]);
    } else {
      known = build_.input("in" + std::to_string(result_.in.size()), f_.type(v));
      result_.in.push_back(v);
    }
    return *map_[v.index];
  }

  const Function& f_;
  const Grouping& grouping_;
  std::int32_t group_;
  std::vector<std::uint32_t> node_of_;
  MaybeValues map_;
  Builder build_{"kernel"};
  GroupBody result_;
};

}  // namespace

GroupBody make_body(const Function& function, const Grouping& grouping, std::size_t group,
                    const std::vector<bool>& needed) {
  return BodyMaker(function, grouping, group).make(needed);
}

std::vector<bool> needed_in_memory(const Function& function, const Grouping& grouping) {
  const std::vector<std::uint32_t> node_of = definitions(function);
  std::vector<bool> needed(function.types.size(), false);
  // Through free nodes to what they read.
  auto mark = [&](auto& self, ValueId v, std::int32_t reader) -> void {
    const std::uint32_t n = node_of[v.index];
    if (n == kNoNode) return;
    const bool repeated = grouping.repeated[n] && reader >= 0 && grouping.group_of[n] != reader;
    if (grouping.classes[n] == NodeClass::free || repeated) {
      for (ValueId o : function.nodes[n].operands) self(self, o, reader);
    } else if (grouping.group_of[n] != reader || reader < 0) {
      needed[v.index] = true;
    }
  };
  for (std::uint32_t n = 0; n < function.nodes.size(); ++n) {
    if (grouping.classes[n] == NodeClass::free) continue;  // counted where it is read
    for (ValueId o : function.nodes[n].operands) mark(mark, o, grouping.group_of[n]);
    const NodeClass whole = grouping.classes[n];
    if (whole != NodeClass::external && whole != NodeClass::row_block) continue;
    for (ValueId r : function.nodes[n].results) needed[r.index] = true;
  }
  for (const Output& o : function.outputs) mark(mark, o.value, -1);
  return needed;
}

bool reads_own_index_only(const Function& body, std::size_t in, const Dims& output) {
  const ValueId v = body.inputs[in].value;
  if (body.type(v).dims != output) return false;
  for (const Node& node : body.nodes) {
    for (ValueId o : node.operands) {
      if (o != v) continue;
      if (node.op->strict.pattern != Pattern::elementwise ||
          body.type(node.results[0]).dims != output)
        return false;
    }
  }
  // What is computed from it must be read at the same index, too: no reduction, no movement on the
  // way.
  std::vector<bool> depends(body.types.size(), false);
  depends[v.index] = true;
  for (const Node& node : body.nodes) {
    for (ValueId o : node.operands) {
      if (!depends[o.index]) continue;
      if (node.op->strict.pattern != Pattern::elementwise) return false;
      depends[node.results[0].index] = true;
    }
  }
  return true;
}

}  // namespace heddle
