#include "heddle/schedule/make_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "heddle/graph/extension.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/schedule/joins.h"
#include "heddle/schedule/memory.h"
#include "heddle/schedule/order.h"
#include "heddle/schedule/prepare.h"
#include "heddle/schedule/winograd.h"

namespace heddle {
namespace {

// Kernels and constants of the whole program, each once.
class Pool {
 public:
  explicit Pool(Plan& plan) : plan_(plan) {}

  std::uint32_t kernel(Kernel kernel) {
    auto [it, fresh] =
        kernels_.try_emplace(to_text(kernel), static_cast<std::uint32_t>(plan_.kernels.size()));
    if (fresh) plan_.kernels.push_back(std::move(kernel));
    return it->second;
  }
  std::uint32_t constant(const Literal& literal) {
    const auto& b = *literal.bytes;
    std::string key =
        to_text(literal.type) + std::string(reinterpret_cast<const char*>(b.data()), b.size());
    auto [it, fresh] =
        constants_.try_emplace(std::move(key), static_cast<std::uint32_t>(plan_.constants.size()));
    if (fresh) plan_.constants.push_back(literal);
    return it->second;
  }

 private:
  Plan& plan_;
  std::map<std::string, std::uint32_t> kernels_, constants_;
};

std::vector<bool> are_views(const Grouping& grouping) {
  std::vector<bool> views;
  for (NodeClass c : grouping.classes) views.push_back(c == NodeClass::view);
  return views;
}

class FunctionPlanner {
 public:
  FunctionPlanner(const Function& f, const Target& target, const ExternalKernels& external,
                  Pool& pool, Preparation* preparation, const PlanOptions& options)
      : f_(f),
        target_(target),
        external_(external),
        pool_(pool),
        preparation_(preparation),
        winograd_(options.winograd),
        node_of_(definitions(f)),
        slices_(options.slices),
        grouping_(make_groups(f, external, options.slices)),
        layouts_(assign_layouts(f, are_views(grouping_))),
        outputs_(f.outputs.begin(), f.outputs.end() - (has_fault_output(f) ? 1 : 0)) {}

  FunctionPlan run() {
    const std::vector<bool> needed = needed_in_memory(f_, grouping_);
    for (std::size_t g = 0; g < grouping_.groups.size(); ++g) {
      bodies_.push_back(make_body(f_, grouping_, g, needed));
    }
    find_factors();
    order_ = order_groups(f_, layouts_, bodies_);
    if (slices_) joins_ = place_parts(f_, grouping_, bodies_, order_.in_place, layouts_);
    arguments();
    assign_outputs();
    for (std::size_t g : order_.groups) kernel_step(g);
    if (has_fault_output(f_)) flag_fault();
    place_arena();
    // Copies of inputs come first, while they hold what they were given; the others last.
    plan_.steps.insert(plan_.steps.begin(), early_.begin(), early_.end());
    plan_.steps.insert(plan_.steps.end(), late_.begin(), late_.end());
    for (std::size_t s = 0; s < plan_.steps.size(); ++s)
      plan_.steps[s].wave = static_cast<std::uint32_t>(s);
    return std::move(plan_);
  }

 private:
  void arguments() {
    plan_.name = f_.name;
    for (const Input& in : f_.inputs)
      plan_.inputs.push_back({in.name, f_.type(in.value), in.donate});
    for (const Output& out : outputs_) plan_.outputs.push_back({out.name, f_.type(out.value)});
    for (const InPlace& p : order_.in_place) {
      plan_.outputs[p.output].shares = static_cast<std::int32_t>(p.input);
    }
  }

  // ---- where values live ----

  ValueId storage_of(ValueId v) const { return layouts_[v.index].storage; }
  // All of its storage.
  bool is_whole(ValueId v) const {
    return element_count(f_.type(v)) == element_count(f_.type(storage_of(v)));
  }

  struct Place {
    Space space = Space::arena;
    std::uint32_t index = 0;
  };

  std::uint32_t output_argument(std::size_t o) const {
    return static_cast<std::uint32_t>(f_.inputs.size() + o);
  }

  // A computed value that is an output is written there at once; what several outputs share is
  // copied.
  void assign_outputs() {
    std::vector<bool> settled(outputs_.size(), false);
    for (const InPlace& p : order_.in_place) {
      settled[p.output] = true;
      if (p.direct && !places_.contains(outputs_[p.output].value)) {
        places_[outputs_[p.output].value] = {Space::argument, output_argument(p.output)};
      } else {
        copies_.push_back(p.output);
      }
    }
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      if (settled[o]) continue;
      const ValueId s = storage_of(outputs_[o].value);
      const std::uint32_t n = node_of_[s.index];
      const bool computed = n != kNoNode && grouping_.classes[n] != NodeClass::constant;
      if (computed && is_whole(outputs_[o].value) && !places_.contains(s)) {
        places_[s] = {Space::argument, output_argument(o)};
      } else {
        copies_.push_back(o);
      }
    }
  }

  Place place(ValueId storage) {
    if (auto it = places_.find(storage); it != places_.end()) return it->second;
    const std::uint32_t n = node_of_[storage.index];
    Place p{Space::arena, static_cast<std::uint32_t>(places_.size())};
    if (n == kNoNode) {
      for (std::uint32_t i = 0; i < f_.inputs.size(); ++i) {
        if (f_.inputs[i].value == storage) p = {Space::argument, i};
      }
    } else if (f_.nodes[n].literal) {
      p = {Space::constant, pool_.constant(*f_.nodes[n].literal)};
    }
    return places_[storage] = p;
  }

  std::uint32_t buffer(ValueId v) {
    auto [it, fresh] = buffers_.try_emplace(v, static_cast<std::uint32_t>(plan_.buffers.size()));
    if (fresh) {
      const Layout& layout = layouts_[v.index];
      const Place p = place(layout.storage);
      const Type& type = f_.type(v);
      plan_.buffers.push_back(
          {p.space, p.space == Space::arena ? 0 : p.index, layout.offset, type, layout.strides});
    }
    return it->second;
  }

  // ---- steps ----

  void kernel_step(std::size_t g) {
    const GroupBody& body = bodies_[g];
    if (const auto join = joins_.find(g); join != joins_.end()) return copy_parts(join->second);
    if (std::all_of(body.out.begin(), body.out.end(),
                    [&](ValueId v) { return element_count(f_.type(v)) == 0; })) {
      return;  // nothing to write
    }
    const Group& group = grouping_.groups[g];
    plan_.steps.push_back(
        {.what = body.external ? external_step(f_.nodes[group.nodes[0]]) : own_step(body, group),
         .nodes = body.nodes});
    describe(plan_.steps.back(), body);
  }

  // Of a concatenation, what could not be computed where it belongs.
  void copy_parts(const Join& join) {
    for (const Join::Part& part : join.copied) {
      const std::uint32_t from = buffer(part.value);
      touch(part.value);
      touch(join.whole);
      const std::uint32_t to = add_part(join.whole, part.offset, f_.type(part.value));
      plan_.steps.push_back(make_copy(from, to));
    }
  }

  // `type`, from byte `offset` of a value on.
  std::uint32_t add_part(ValueId whole, std::int64_t offset, const Type& type) {
    const Layout& layout = layouts_[whole.index];
    const std::uint32_t b = add_buffer(place(layout.storage), type);
    plan_.buffers[b].offset = layout.offset + offset;
    parts_.push_back({b, layout.storage});
    return b;
  }

  KernelStep own_step(const GroupBody& body, const Group& group) {
    KernelStep step;
    std::vector<Port> in, out;
    const RecipeKind kind = kind_of(body, group);
    Function made = body.body;
    const auto factor = factors_.find(&body);
    const std::optional<std::uint32_t> panels =
        factor != factors_.end() ? in_panels(body, factor->second) : std::nullopt;
    for (std::size_t i = 0; i < body.in.size(); ++i) {
      if (panels && factor->second.input == i) {
        const Type type = plan_.buffers[*panels].type;
        step.buffers.push_back(*panels);
        in.push_back({dense_strides(type.dims)});
        made = with_panels(made, factor->second, type);
      } else {
        in.push_back(port(body.in[i], step));
      }
    }
    for (ValueId v : body.out) {
      out.push_back(port(v, step));
      out.back().shares = shared_port(body, v);
    }
    step.kernel =
        pool_.kernel(make_kernel(std::move(made), std::move(in), std::move(out), kind, target_));
    return step;
  }

  RecipeKind kind_of(const GroupBody& body, const Group& group) const {
    const bool winograd = winograd_ && group.kind == RecipeKind::contract &&
                          winograd_convolution(body.body) != nullptr;
    return winograd ? RecipeKind::winograd : group.kind;
  }

  // ---- right factors of products, as panels ----

  void find_factors() {
    if (!preparation_) return;
    for (std::size_t g = 0; g < bodies_.size(); ++g) {
      const std::optional<Factor> factor = factor_of(bodies_[g], grouping_.groups[g]);
      if (!factor) continue;
      factors_[&bodies_[g]] = *factor;
      ++products_of_[key_of(bodies_[g], *factor)];
    }
  }
  std::optional<Factor> factor_of(const GroupBody& body, const Group& group) const {
    const RecipeKind kind = kind_of(body, group);
    if (kind == RecipeKind::contract) return right_factor(body.body);
    if (kind == RecipeKind::winograd) return winograd_factor(body.body);
    return std::nullopt;
  }
  using FactorKey = std::pair<ValueId, std::optional<std::int64_t>>;
  FactorKey key_of(const GroupBody& body, const Factor& factor) const {
    return {body.in[factor.input], factor.inner};
  }

  // A constant is packed when an instance is created; what several products of few rows read,
  // before the first of them. The buffer of the panels, if there are any.
  std::optional<std::uint32_t> in_panels(const GroupBody& body, const Factor& factor) {
    constexpr int kSeveral = 3;
    constexpr std::int64_t kFewRows = 64;
    const FactorKey key = key_of(body, factor);
    const Type& type = f_.type(key.first);
    const std::uint32_t n = node_of_[key.first.index];
    if (n != kNoNode && f_.nodes[n].literal) {
      const Preparation::Panels panels = preparation_->panels(*f_.nodes[n].literal, factor);
      return add_buffer({Space::prepared, panels.output}, panels.type);
    }
    if (!factor.inner || products_of_[key] < kSeveral || factor.rows > kFewRows) {
      return std::nullopt;
    }
    const auto [it, fresh] = packed_.try_emplace(key);
    if (fresh) it->second = pack_step(key.first, pack_factor(type, *factor.inner));
    it->second.last = plan_.steps.size();
    return it->second.buffer;
  }

  struct Panels {
    std::optional<std::uint32_t> buffer;
    std::size_t first = 0, last = 0;  // steps
  };
  Panels pack_step(ValueId matrix, std::optional<PackedFactor> packed) {
    if (!packed) return {};
    touch(matrix);
    const std::uint32_t from = add_part(matrix, 0, packed->matrix),
                        to = add_buffer({Space::arena, 0}, packed->panels);
    const std::size_t now = plan_.steps.size();
    KernelStep step{.buffers = {from, to}};
    step.kernel =
        pool_.kernel(make_kernel(std::move(packed->body), {{dense_strides(packed->matrix.dims)}},
                                 {{dense_strides(packed->panels.dims)}}, RecipeKind::map, target_));
    plan_.steps.push_back(
        {.what = std::move(step), .label = "pack", .bytes = 2 * byte_count(packed->panels)});
    return {to, now, now};
  }

  // Every operand and every result has a port, and so has every option.
  KernelStep external_step(const Node& node) {
    const std::vector<Literal> options = option_literals(node.attributes);
    std::vector<Type> types;
    for (ValueId o : node.operands) types.push_back(f_.type(o));
    const NodeContext at{*node.op, types, node.attributes, nullptr, nullptr, node.where};
    Kernel kernel{.body = external_body(f_, node, options),
                  .recipe = *external_of(external_, f_, node),
                  .sequential = sums_in_order(at),
                  .target = target_};
    KernelStep step;
    for (ValueId v : node.operands) kernel.in.push_back(port(v, step));
    for (const Literal& l : options) {
      kernel.in.push_back({dense_strides(l.type.dims)});
      step.buffers.push_back(add_buffer({Space::constant, pool_.constant(l)}, l.type));
    }
    for (ValueId v : node.results) kernel.out.push_back(port(v, step));
    step.kernel = pool_.kernel(std::move(kernel));
    return step;
  }

  Port port(ValueId v, KernelStep& step) {
    step.buffers.push_back(buffer(v));
    touch(v);
    return {layouts_[v.index].strides};
  }

  // The step that writes the flag is held to it. A flag that was folded is copied for that.
  void flag_fault() {
    const ValueId flag = f_.outputs.back().value;
    const std::uint32_t n = node_of_[flag.index];
    if (n == kNoNode || f_.nodes[n].literal) {
      const std::uint32_t kept = add_buffer({Space::arena, 0}, f_.type(flag));
      waiting_.push_back(kept);
      early_.push_back(make_copy(buffer(flag), kept));
      early_.back().fault = static_cast<std::int32_t>(kept);
      return;
    }
    const std::uint32_t written = buffer(flag);
    for (Step& step : plan_.steps) {
      const std::vector<std::uint32_t>& all = std::get<KernelStep>(step.what).buffers;
      if (std::find(all.begin(), all.end(), written) == all.end()) continue;
      step.fault = static_cast<std::int32_t>(written);
      return;
    }
  }

  std::int32_t shared_port(const GroupBody& body, ValueId out) const {
    for (const InPlace& p : order_.in_place) {
      if (!p.direct || outputs_[p.output].value != out) continue;
      for (std::size_t i = 0; i < body.in.size(); ++i) {
        if (body.in[i] == f_.inputs[p.input].value) return static_cast<std::int32_t>(i);
      }
    }
    return -1;
  }

  void describe(Step& step, const GroupBody& body) const {
    for (std::uint32_t n : step.nodes) {
      const Node& node = f_.nodes[n];
      step.label += (step.label.empty() ? "" : "+") + std::string(node.op->name);
      if (step.place.empty()) step.place = to_text(node.where);
      std::vector<Type> types;
      for (ValueId o : node.operands) types.push_back(f_.type(o));
      const NodeContext at{*node.op, types, node.attributes};
      step.flops += node.op->strict.roofline ? node.op->strict.roofline(at, {}).first
                                             : element_count(f_.type(node.results[0]));
    }
    for (ValueId v : body.in) step.bytes += byte_count(f_.type(v));
    for (ValueId v : body.out) step.bytes += byte_count(f_.type(v));
  }

  // A given value (an input, a constant) is copied before anything runs, while the input holds what
  // the caller put there. If the copy lands on a donated input, others may still want that one:
  // then it waits in the arena until the end.
  void copy_step(std::size_t o) {
    const ValueId v = outputs_[o].value;
    if (element_count(f_.type(v)) == 0 || replaces_itself(o)) return;
    const ValueId s = storage_of(v);
    const bool given = node_of_[s.index] == kNoNode || f_.nodes[node_of_[s.index]].literal;
    const bool over_input = plan_.outputs[o].shares >= 0;
    const std::uint32_t to = add_buffer({Space::argument, output_argument(o)}, f_.type(v));
    if (given && over_input) {
      const std::uint32_t kept = add_buffer({Space::arena, 0}, f_.type(v));
      waiting_.push_back(kept);
      early_.push_back(make_copy(buffer(v), kept));
      late_.push_back(make_copy(kept, to));
    } else if (given) {
      early_.push_back(make_copy(buffer(v), to));
    } else {
      late_.push_back(make_copy(buffer(v), to));
      lasts_to_end_.push_back(s);
    }
  }

  bool replaces_itself(std::size_t o) const {
    const std::int32_t shares = plan_.outputs[o].shares;
    return shares >= 0 && f_.inputs[static_cast<std::size_t>(shares)].value == outputs_[o].value;
  }

  std::uint32_t add_buffer(Place p, const Type& type) {
    const std::uint32_t index = p.space == Space::arena ? 0 : p.index;
    plan_.buffers.push_back({p.space, index, 0, type, dense_strides(type.dims)});
    return static_cast<std::uint32_t>(plan_.buffers.size() - 1);
  }

  Step make_copy(std::uint32_t from, std::uint32_t to) const {
    return {.what = CopyStep{from, to},
            .label = "copy",
            .bytes = 2 * byte_count(plan_.buffers[from].type)};
  }

  // ---- the arena ----

  void touch(ValueId v) {
    const ValueId s = storage_of(v);
    const std::size_t now = plan_.steps.size();
    auto [it, fresh] = lifetimes_.try_emplace(s, Lifetime{byte_count(f_.type(s)), now, now});
    it->second.last = now;
  }

  void place_arena() {
    for (std::size_t o : copies_) copy_step(o);
    for (ValueId v : lasts_to_end_) {
      if (auto it = lifetimes_.find(v); it != lifetimes_.end())
        it->second.last = plan_.steps.size();
    }
    std::vector<Lifetime> lifetimes;
    std::map<ValueId, std::size_t> slot;
    for (const auto& [v, lifetime] : lifetimes_) {
      if (place(v).space != Space::arena) continue;
      slot[v] = lifetimes.size();
      lifetimes.push_back(lifetime);
    }
    for (std::uint32_t b : waiting_)
      lifetimes.push_back({byte_count(plan_.buffers[b].type), 0, plan_.steps.size()});
    std::vector<std::uint32_t> panels;
    for (const auto& [key, p] : packed_) {
      if (!p.buffer) continue;
      panels.push_back(*p.buffer);
      lifetimes.push_back({byte_count(plan_.buffers[*p.buffer].type), p.first, p.last});
    }
    const ArenaLayout layout = plan_arena(lifetimes, buffer_alignment(target_));
    const std::size_t first_panels = lifetimes.size() - panels.size(),
                      first_waiting = first_panels - waiting_.size();
    for (std::size_t p = 0; p < panels.size(); ++p) {
      plan_.buffers[panels[p]].offset = layout.offsets[first_panels + p];
    }
    for (std::size_t w = 0; w < waiting_.size(); ++w) {
      plan_.buffers[waiting_[w]].offset = layout.offsets[first_waiting + w];
    }
    const auto move = [&](std::uint32_t b, ValueId storage) {
      Dim& offset = plan_.buffers[b].offset;
      if (auto it = slot.find(storage); it != slot.end())
        offset = offset + layout.offsets[it->second];
    };
    for (const auto& [v, b] : buffers_) {
      move(b, storage_of(v));
    }
    for (const auto& [b, storage] : parts_) move(b, storage);
    plan_.arena_bytes = layout.bytes;
  }

  const Function& f_;
  const Target& target_;
  const ExternalKernels& external_;
  Pool& pool_;
  Preparation* preparation_;  // null: constants are read as they lie
  bool winograd_;
  std::vector<std::uint32_t> node_of_;
  const bool slices_;
  Grouping grouping_;
  std::vector<Layout> layouts_;
  std::map<const GroupBody*, Factor> factors_;
  std::map<FactorKey, int> products_of_;
  std::map<FactorKey, Panels> packed_;
  std::map<std::size_t, Join> joins_;  // by group: copies of parts, if any, are its steps
  std::span<const Output> outputs_;
  std::vector<GroupBody> bodies_;
  Order order_;
  FunctionPlan plan_;
  std::map<ValueId, Place> places_;
  std::map<ValueId, std::uint32_t> buffers_;
  std::map<ValueId, Lifetime> lifetimes_;
  std::vector<std::size_t> copies_;
  std::vector<ValueId> lasts_to_end_;
  std::vector<std::uint32_t> waiting_;  // arena buffers from the first copies to the last
  std::vector<std::pair<std::uint32_t, ValueId>> parts_;  // buffers inside a value's storage
  std::vector<Step> early_, late_;
};

}  // namespace

Plan make_plan(const Program& program, const Target& target, const ExternalKernels& external,
               const PlanOptions& options) {
  Plan plan{.target = target};
  Pool pool(plan);
  Preparation preparation;
  Preparation* const used = options.prepare ? &preparation : nullptr;
  for (const Function& f : program.functions())
    plan.functions.push_back(FunctionPlanner(f, target, external, pool, used, options).run());
  if (!preparation.empty()) {
    const Function f = preparation.finish();
    plan.functions.push_back(
        FunctionPlanner(f, target, external, pool, nullptr, {.slices = options.slices}).run());
  }
  return plan;
}

}  // namespace heddle
