#include "heddle/schedule/order.h"

#include <set>

#include "heddle/graph/error.h"

namespace heddle {

namespace {

class Orderer {
 public:
  Orderer(const Function& f, const std::vector<Layout>& layouts,
          const std::vector<GroupBody>& bodies)
      : f_(f),
        layouts_(layouts),
        bodies_(bodies),
        writer_(f.types.size(), -1),
        before_(bodies.size()) {
    for (std::size_t g = 0; g < bodies.size(); ++g) {
      for (ValueId v : bodies[g].out) writer_[v.index] = static_cast<std::int32_t>(g);
    }
    for (std::size_t g = 0; g < bodies.size(); ++g) {
      for (ValueId v : bodies[g].in) {
        const std::int32_t w = writer_[storage(v).index];
        if (w >= 0) before_[g].insert(static_cast<std::size_t>(w));
      }
    }
  }

  Order run() {
    Order order;
    for (std::size_t i = 0; i < f_.inputs.size(); ++i) {
      if (!f_.inputs[i].donate) continue;
      for (std::size_t o = 0; o < f_.outputs.size(); ++o) {
        if (f_.outputs[o].name == f_.inputs[i].name) order.in_place.push_back(pair(i, o));
      }
    }
    std::vector<bool> done(bodies_.size(), false);
    while (order.groups.size() < bodies_.size()) {
      const std::size_t before = order.groups.size();
      for (std::size_t g = 0; g < bodies_.size(); ++g) {
        if (done[g] || !ready(g, done)) continue;
        done[g] = true;
        order.groups.push_back(g);
        break;
      }
      internal_check(order.groups.size() > before, "the groups depend on each other in a circle");
    }
    return order;
  }

 private:
  ValueId storage(ValueId v) const { return layouts_[v.index].storage; }

  bool ready(std::size_t g, const std::vector<bool>& done) const {
    for (std::size_t b : before_[g]) {
      if (!done[b]) return false;
    }
    return true;
  }

  InPlace pair(std::size_t input, std::size_t output) {
    const ValueId x = f_.inputs[input].value, v = f_.outputs[output].value;
    if (f_.type(x) != f_.type(v)) {
      throw ValueError({.message = "@" + f_.name + ": donated input '" + f_.inputs[input].name +
                                   "' and the output that replaces it differ",
                        .found = to_text(f_.type(v)),
                        .needed = to_text(f_.type(x))});
    }
    return {output, input, writes_directly(x, v)};
  }

  // Others that read x come before the writer, if they do not need its results; the writer reads x
  // at its own index only.
  bool writes_directly(ValueId x, ValueId v) {
    if (storage(v) != v) return false;
    const std::int32_t w = writer_[v.index];
    if (w < 0 || bodies_[static_cast<std::size_t>(w)].external) return false;
    const auto writer = static_cast<std::size_t>(w);
    std::set<std::size_t> others;
    for (std::size_t g = 0; g < bodies_.size(); ++g) {
      for (std::size_t p = 0; p < bodies_[g].in.size(); ++p) {
        if (storage(bodies_[g].in[p]) != x) continue;
        if (g != writer) {
          others.insert(g);
        } else if (bodies_[g].in[p] != x ||
                   !reads_own_index_only(bodies_[g].body, p, f_.type(v).dims)) {
          return false;
        }
      }
    }
    for (std::size_t g : others) {
      if (reaches(writer, g)) return false;
    }
    before_[writer].insert(others.begin(), others.end());
    return true;
  }

  // Whether `to` comes after `from` by some chain.
  bool reaches(std::size_t from, std::size_t to) const {
    std::vector<std::size_t> stack{to};
    std::set<std::size_t> seen;
    while (!stack.empty()) {
      const std::size_t g = stack.back();
      stack.pop_back();
      if (g == from) return true;
      for (std::size_t b : before_[g]) {
        if (seen.insert(b).second) stack.push_back(b);
      }
    }
    return false;
  }

  const Function& f_;
  const std::vector<Layout>& layouts_;
  const std::vector<GroupBody>& bodies_;
  std::vector<std::int32_t> writer_;           // by value: the group
  std::vector<std::set<std::size_t>> before_;  // by group: the groups that come first
};

}  // namespace

Order order_groups(const Function& function, const std::vector<Layout>& layouts,
                   const std::vector<GroupBody>& bodies) {
  return Orderer(function, layouts, bodies).run();
}

}  // namespace heddle
