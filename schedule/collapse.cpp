#include "heddle/schedule/collapse.h"

#include <algorithm>
#include <map>

#include "heddle/graph/builder.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/axis_classes.h"

// Two classes of axes merge when each value has both, side by side and in the same order, or
// neither; opaque ones never merge.
namespace heddle {
namespace {

using Axes = std::vector<std::int64_t>;

// One axis of a value after some merges: its class, its extent, and how many old axes it stands
// for.
struct Axis {
  std::size_t id;
  Dim extent, stride = 1;
  std::size_t count = 1;
};

class Collapse {
 public:
  Collapse(const Function& body, const std::vector<Port>& in, const std::vector<Port>& out)
      : body_(body), in_(in), out_(out) {
    AxisClasses classes(body);
    for (std::uint32_t v = 0; v < body.types.size(); ++v) {
      std::vector<Axis> axes;
      const std::vector<std::size_t> ids = classes.of({v});
      for (std::size_t a = 0; a < ids.size(); ++a) {
        axes.push_back({ids[a], body.types[v].dims[a]});
        opaque_[ids[a]] = classes.opaque(ids[a]);
      }
      values_.push_back(std::move(axes));
    }
    add_ports(body.inputs, in);
    add_ports(body.outputs, out);
    while (merge_one()) {
    }
  }

  Kernel rewrite(const Kernel& kernel) const {
    Kernel result = kernel;
    result.body = rewrite_body();
    for (std::size_t i = 0; i < in_.size(); ++i) result.in[i].strides = strides(i);
    for (std::size_t i = 0; i < out_.size(); ++i) {
      result.out[i].strides = strides(in_.size() + i);
    }
    return result;
  }

 private:
  template <class Ends>
  void add_ports(const Ends& ends, const std::vector<Port>& ports) {
    for (std::size_t i = 0; i < ends.size(); ++i) {
      std::vector<Axis> axes = values_[ends[i].value.index];
      for (std::size_t a = 0; a < axes.size(); ++a) axes[a].stride = ports[i].strides[a];
      ports_.push_back(std::move(axes));
    }
  }
  Dims strides(std::size_t port) const {
    Dims s;
    for (const Axis& a : ports_[port]) s.push_back(a.stride);
    return s;
  }

  static bool fits(const std::vector<Axis>& axes, std::size_t outer, std::size_t inner,
                   bool strided) {
    std::size_t outers = 0, inners = 0, pairs = 0;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      outers += axes[a].id == outer;
      inners += axes[a].id == inner;
      if (axes[a].id != outer || a + 1 == axes.size() || axes[a + 1].id != inner) continue;
      ++pairs;
      if (strided && axes[a].stride != axes[a + 1].stride * axes[a + 1].extent) return false;
    }
    return outers == inners && inners == pairs && pairs <= 1;
  }
  bool mergeable(std::size_t outer, std::size_t inner) const {
    if (outer == inner || opaque_.at(outer) || opaque_.at(inner)) return false;
    auto all = [&](const std::vector<std::vector<Axis>>& list, bool strided) {
      return std::all_of(list.begin(), list.end(),
                         [&](const auto& axes) { return fits(axes, outer, inner, strided); });
    };
    return all(values_, false) && all(ports_, true);
  }
  static void merge(std::vector<Axis>& axes, std::size_t outer, std::size_t inner) {
    for (std::size_t a = 0; a + 1 < axes.size(); ++a) {
      if (axes[a].id != outer || axes[a + 1].id != inner) continue;
      axes[a].extent = axes[a].extent * axes[a + 1].extent;
      axes[a].stride = axes[a + 1].stride;
      axes[a].count += axes[a + 1].count;
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(a) + 1);
      return;
    }
  }
  bool merge_one() {
    for (const std::vector<Axis>& axes : values_) {
      for (std::size_t a = 0; a + 1 < axes.size(); ++a) {
        const std::size_t outer = axes[a].id, inner = axes[a + 1].id;
        if (!mergeable(outer, inner)) continue;
        for (auto& v : values_) merge(v, outer, inner);
        for (auto& p : ports_) merge(p, outer, inner);
        return true;
      }
    }
    return false;
  }

  // ---- the body again, with the new axes ----
  Dims dims(ValueId v) const {
    Dims d;
    for (const Axis& a : values_[v.index]) d.push_back(a.extent);
    return d;
  }
  // New axis of each old axis that leads its group; -1 for the others.
  Axes leaders(ValueId v) const {
    Axes map;
    for (std::size_t a = 0; a < values_[v.index].size(); ++a) {
      map.push_back(static_cast<std::int64_t>(a));
      map.resize(map.size() + values_[v.index][a].count - 1, -1);
    }
    return map;
  }
  Axes renamed(const Axes& axes, ValueId v) const {
    const Axes map = leaders(v);
    Axes result;
    for (std::int64_t a : axes) {
      if (const std::int64_t to = map[static_cast<std::size_t>(a)]; to >= 0) result.push_back(to);
    }
    return result;
  }
  std::int64_t renamed(std::int64_t axis, ValueId v) const {
    return leaders(v)[static_cast<std::size_t>(axis)];
  }
  // One entry per new axis: the old one where the axis stands for itself, else `merged`.
  Axes entries(const Axes& old, ValueId v, std::int64_t merged) const {
    Axes result;
    std::size_t a = 0;
    for (const Axis& axis : values_[v.index]) {
      result.push_back(axis.count == 1 ? old[a] : merged);
      a += axis.count;
    }
    return result;
  }

  Attributes attributes(const Node& n) const {
    const ValueId result = n.results[0];
    const ValueId x = n.operands.empty() ? result : n.operands[0];
    if (n.op == &op_broadcast_in_dim) return broadcast(n);
    if (n.op == &op_transpose) {
      const Axes old = n.attributes.as<TransposeAttributes>().permutation;
      return Attributes::of(TransposeAttributes{renamed(old, x)});
    }
    if (n.op == &op_reshape) return Attributes::of(ReshapeAttributes{dims(result)});
    if (n.op == &op_iota) {
      auto a = n.attributes.as<IotaAttributes>();
      return Attributes::of(IotaAttributes{a.dtype, dims(result), renamed(a.axis, result)});
    }
    if (n.op == &op_slice) return slice(n);
    if (n.op == &op_pad) {
      auto p = n.attributes.as<PadAttributes>();
      return Attributes::of(PadAttributes{entries(p.low, result, 0), entries(p.high, result, 0),
                                          entries(p.interior, result, 0)});
    }
    if (n.op == &op_argmax || n.op == &op_argmin || n.op == &op_concatenate) {
      return Attributes::of(AxisAttributes{renamed(n.attributes.as<AxisAttributes>().axis, x)});
    }
    if (n.op == &op_gather || n.op == &op_scatter) {
      auto g = n.attributes.as<GatherAttributes>();
      return Attributes::of(GatherAttributes{renamed(g.axis, x), g.mode});
    }
    if (n.op == &op_rng_bits) return Attributes::of(RandomAttributes{dims(result)});
    if (n.op->strict.pattern == Pattern::scan) {
      auto c = n.attributes.as<CumulativeAttributes>();
      return Attributes::of(CumulativeAttributes{renamed(c.axis, x), c.reverse, c.exclusive});
    }
    if (n.op == &op_argsort) {
      auto s = n.attributes.as<ArgsortAttributes>();
      s.axis = renamed(s.axis, x);
      return Attributes::of(s);
    }
    if (n.op->strict.pattern == Pattern::window) {
      auto w = n.attributes.as<WindowAttributes>();
      return Attributes::of(WindowAttributes{
          entries(w.window, result, 1), entries(w.strides, result, 1), entries(w.low, result, 0),
          entries(w.high, result, 0), entries(w.base_dilation, result, 1),
          entries(w.window_dilation, result, 1)});
    }
    if (n.op == &op_dot_general) {
      auto d = n.attributes.as<DotAttributes>();
      const ValueId rhs = n.operands[1];
      return Attributes::of(DotAttributes{renamed(d.lhs_batch, x), renamed(d.rhs_batch, rhs),
                                          renamed(d.lhs_contract, x),
                                          renamed(d.rhs_contract, rhs)});
    }
    if (n.op->strict.pattern == Pattern::reduce || n.op == &op_reverse) {
      return Attributes::of(AxesAttributes{renamed(n.attributes.as<AxesAttributes>().axes, x)});
    }
    return n.attributes;
  }
  Attributes broadcast(const Node& n) const {
    const Axes old = n.attributes.as<BroadcastAttributes>().axes;
    const Axes map = leaders(n.operands[0]);
    Axes axes;
    for (std::size_t a = 0; a < old.size(); ++a) {
      if (map[a] >= 0) axes.push_back(renamed(old[a], n.results[0]));
    }
    return Attributes::of(BroadcastAttributes{dims(n.results[0]), axes});
  }
  Attributes slice(const Node& n) const {
    const auto s = n.attributes.as<SliceAttributes>();
    SliceAttributes r{entries(s.starts, n.results[0], 0), entries(s.limits, n.results[0], 0),
                      entries(s.strides, n.results[0], 1)};
    std::size_t a = 0;
    for (const Axis& axis : values_[n.results[0].index]) {
      if (axis.count > 1) r.limits[a] = axis.extent.constant();
      ++a;
    }
    return Attributes::of(r);
  }

  Function rewrite_body() const {
    Builder builder(body_.name);
    auto same = [](ValueId a, ValueId b) { internal_check(a == b, "a canonical kernel body"); };
    for (const Input& in : body_.inputs) {
      same(builder.input(in.name, {body_.type(in.value).dtype, dims(in.value)}), in.value);
    }
    for (const Node& n : body_.nodes) {
      if (n.literal) {
        const Type type{n.literal->type.dtype, dims(n.results[0])};
        same(builder.constant({type, n.literal->bytes}), n.results[0]);
        continue;
      }
      const Values results = builder.add(*n.op, n.operands, attributes(n));
      for (std::size_t r = 0; r < results.size(); ++r) same(results[r], n.results[r]);
    }
    for (const Output& out : body_.outputs) builder.output(out.name, out.value);
    return builder.finish();
  }

  const Function& body_;
  const std::vector<Port>&in_, &out_;
  std::vector<std::vector<Axis>> values_, ports_;
  std::map<std::size_t, bool> opaque_;
};

}  // namespace

Kernel collapse_axes(const Kernel& kernel) {
  return Collapse(kernel.body, kernel.in, kernel.out).rewrite(kernel);
}

Function collapse_axes(const Function& body) {
  Kernel dense{.body = body};
  for (const Input& in : body.inputs) dense.in.push_back({dense_strides(body.type(in.value).dims)});
  for (const Output& out : body.outputs) {
    dense.out.push_back({dense_strides(body.type(out.value).dims)});
  }
  return collapse_axes(dense).body;
}

}  // namespace heddle
