#include "heddle/schedule/group.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/gates.h"
#include "heddle/schedule/group_graph.h"
#include "heddle/schedule/layout.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/repeat.h"

namespace heddle {
namespace {

// A kernel's compile time grows with its nodes.
constexpr std::size_t kLargestGroup = 96;

Dims joined(const Dims& a, const Dims& b) {
  Dims all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

const Dims& shorter(const Dims& a, const Dims& b) { return a.size() <= b.size() ? a : b; }

class Grouper {
 public:
  Grouper(const Function& f, const ExternalKernels& external, bool slices)
      : f_(f), slices_(slices), graph_(f, external, slices) {}

  Grouping run() {
    for (std::uint32_t n = 0; n < f_.nodes.size(); ++n) place(n);
    bool changed = true;
    while (changed)
      changed = absorb_producers() || join_readers() || join_rows() || join_siblings();
    while (join_gates()) {
    }
    graph_.repeat(repeated_nodes(graph_));
    while (join_siblings()) {
    }
    return std::move(graph_).finish();
  }

 private:
  // ---- forward: each node joins the group of something it reads, or starts one ----

  void place(std::uint32_t n) {
    switch (graph_.class_of(n)) {
      case NodeClass::constant:
      case NodeClass::free:
      case NodeClass::view:
        return;
      case NodeClass::inlined:
        return place_inlined(n);
      case NodeClass::rows:
        return place_rows(n);
      case NodeClass::columns:
        return place_columns(n);
      case NodeClass::general:
        return start(n, RecipeKind::map);
      case NodeClass::contract:
        return start(n, RecipeKind::contract);
      case NodeClass::scatter:
        return start(n, RecipeKind::scatter);
      case NodeClass::row_block:
        return start(n, RecipeKind::row_block);
      case NodeClass::fibres:
        return start(n, RecipeKind::fibres);
      case NodeClass::external:
        return start(n, RecipeKind::external);
    }
  }

  const Dims& result_dims(std::uint32_t n) const { return f_.type(f_.nodes[n].results[0]).dims; }

  void start(std::uint32_t n, RecipeKind kind) {
    graph_.join(graph_.new_group(kind, result_dims(n)), n);
  }

  // Anchors (contractions, reductions) take an epilogue first; of equals the one that comes last.
  void place_inlined(std::uint32_t n) {
    const Node& node = f_.nodes[n];
    std::int32_t best = -1;
    for (const Source& s : graph_.sources(node)) {
      const std::int32_t g = graph_.group_of(s.value);
      if (g < 0 || !accepts(g, n)) continue;
      const bool better = best < 0 || rank(g) > rank(best) || (rank(g) == rank(best) && g > best);
      if (better) best = g;
    }
    if (best < 0) return start(n, RecipeKind::map);
    graph_.join(best, n);
  }

  // Nothing joins these.
  static bool is_alone(const Group& group) {
    return group.kind == RecipeKind::scatter || group.kind == RecipeKind::row_block ||
           group.kind == RecipeKind::external;
  }

  int rank(std::int32_t g) { return graph_.group(g).kind == RecipeKind::map ? 0 : 1; }

  bool accepts(std::int32_t g, std::uint32_t n) {
    const Group& group = graph_.group(g);
    const Dims& dims = result_dims(n);
    if (is_alone(group) || group.nodes.size() >= kLargestGroup) return false;
    const bool rows = group.kind == RecipeKind::rows;
    const bool columns = group.kind == RecipeKind::columns && same_columns(group.kept, dims);
    if (dims != group.kept && !columns && !(rows && dims == joined(group.kept, group.reduced)))
      return false;
    for (const Source& s : graph_.sources(f_.nodes[n])) {
      if (graph_.group_of(s.value) != g) continue;
      const bool row_value =
          rows && s.alignment == Alignment::row && f_.type(s.value).dims == group.kept;
      if (s.alignment != Alignment::same && !row_value) return false;
      if (s.alignment == Alignment::same && f_.type(s.value).dims != dims) return false;
    }
    return graph_.can_take(g, f_.nodes[n]);
  }

  void place_rows(std::uint32_t n) {
    const ReductionDomain domain = reduction_domain(f_, f_.nodes[n]);
    const std::int32_t g = graph_.group_of(f_.nodes[n].operands[0]);
    if (g >= 0 && !graph_.through_view(f_.nodes[n].operands[0]) &&
        graph_.can_take(g, f_.nodes[n]) && becomes_rows(g, domain)) {
      return graph_.join(g, n);
    }
    // Another statistic of the same rows: softmax reads its row again after the maximum.
    for (const Source& s : graph_.sources(f_.nodes[n])) {
      const std::int32_t r = graph_.group_of(s.value);
      if (r >= 0 && s.alignment == Alignment::row && same_rows(r, domain) &&
          graph_.can_take(r, f_.nodes[n])) {
        return graph_.join(r, n);
      }
    }
    graph_.join(graph_.new_group(RecipeKind::rows, domain.kept, domain.reduced), n);
  }

  bool same_rows(std::int32_t g, const ReductionDomain& d) {
    const Group& group = graph_.group(g);
    return group.kind == RecipeKind::rows && group.kept == d.kept && group.reduced == d.reduced;
  }

  // The group that computes the elements can also sum them up: rows of the same shape, or a map,
  // which then becomes rows.
  bool becomes_rows(std::int32_t g, const ReductionDomain& d) {
    Group& group = graph_.group(g);
    if (same_rows(g, d)) return true;
    if (group.kind != RecipeKind::map || group.kept != joined(d.kept, d.reduced) ||
        has_general(group))
      return false;
    group.kind = RecipeKind::rows;
    group.kept = d.kept;
    group.reduced = d.reduced;
    return true;
  }

  bool has_general(const Group& group) const {
    return std::any_of(group.nodes.begin(), group.nodes.end(),
                       [&](std::uint32_t n) { return graph_.class_of(n) == NodeClass::general; });
  }

  void place_columns(std::uint32_t n) {
    const ReductionDomain d = reduction_domain(f_, f_.nodes[n]);
    const std::vector<Source> mine = graph_.sources(f_.nodes[n]);
    for (std::int32_t g = 0; g < static_cast<std::int32_t>(graph_.size()); ++g) {
      Group& group = graph_.group(g);
      if (group.kind != RecipeKind::columns || group.reduced != d.reduced ||
          !same_columns(group.kept, d.kept))
        continue;
      if (!graph_.can_take(g, f_.nodes[n]) || !shares_source(group, mine)) continue;
      group.kept = shorter(group.kept, d.kept);
      return graph_.join(g, n);
    }
    graph_.join(graph_.new_group(RecipeKind::columns, d.kept, d.reduced), n);
  }

  bool shares_source(const Group& group, const std::vector<Source>& mine) const {
    for (std::uint32_t n : group.nodes) {
      for (const Source& theirs : graph_.sources(f_.nodes[n])) {
        for (const Source& s : mine) {
          if (s.value == theirs.value) return true;
        }
      }
    }
    return false;
  }

  // ---- backward: a map that only one group reads is computed inside it ----

  bool absorb_producers() {
    bool changed = false;
    for (auto g = static_cast<std::int32_t>(graph_.size()) - 1; g >= 0; --g) {
      Group& producer = graph_.group(g);
      if (producer.nodes.empty() || producer.kind != RecipeKind::map) continue;
      const std::set<std::int32_t> readers = graph_.readers(g);
      if (readers.size() != 1 || graph_.is_needed_in_memory(g) || has_general(producer)) continue;
      if (!can_absorb(*readers.begin(), g)) continue;
      graph_.merge(g, *readers.begin());
      changed = true;
    }
    return changed;
  }

  bool can_absorb(std::int32_t reader, std::int32_t producer) {
    const Group &r = graph_.group(reader), &p = graph_.group(producer);
    if (is_alone(r) || r.nodes.size() + p.nodes.size() > kLargestGroup) return false;
    if (has_own_place(r, p)) return false;
    if (repeats_too_often(r, p)) return false;
    const bool costly = std::any_of(p.nodes.begin(), p.nodes.end(),
                                    [&](std::uint32_t n) { return is_costly(f_.nodes[n]); });
    for (std::uint32_t n : r.nodes) {
      // A contraction reads its operands many times; what it packs stays as it is in memory.
      const bool repeated =
          graph_.class_of(n) == NodeClass::contract || graph_.class_of(n) == NodeClass::general;
      for (const Source& s : graph_.sources(f_.nodes[n])) {
        if (graph_.group_of(s.value) != producer) continue;
        if (repeated) return false;
        if (costly && s.alignment != Alignment::same && !along_columns(r, s)) return false;
        if (costly && r.kind == RecipeKind::rows && p.kept != joined(r.kept, r.reduced) &&
            p.kept != r.kept)
          return false;
      }
    }
    return true;
  }

  // A part of what is laid end to end is computed where it belongs, and needs no copy (joins).
  bool has_own_place(const Group& reader, const Group& part) const {
    constexpr std::int64_t kWorthAKernel = 4096;  // bytes
    if (!slices_ || reader.nodes.size() != 1 || !is_sequence(f_, f_.nodes[reader.nodes[0]])) {
      return false;
    }
    return byte_count(f_.type(f_.nodes[part.nodes.back()].results[0])) >= kWorthAKernel;
  }

  // A value repeated for the few elements that a loop over columns computes at a time: once for
  // all of them.
  bool along_columns(const Group& reader, const Source& s) const {
    const Dims domain = joined(reader.reduced, reader.kept);
    return reader.kind == RecipeKind::columns && s.alignment == Alignment::row &&
           same_columns(domain, f_.type(s.value).dims);
  }

  // Of an operand by one element of a node that is computed where it is read.
  double reads_per_element(const Node& node) const {
    double reads = 1;
    if (node.op->strict.pattern == Pattern::window) {
      for (std::int64_t n : node.attributes.as<WindowAttributes>().window) {
        reads *= static_cast<double>(n);
      }
    }
    return reads;
  }

  // Values computed where they are read are computed once for each place they are read at: chains
  // of shifted sums (a window, a prefix) would grow with a power of their length. A place is how an
  // output's element leads there: readers that look elsewhere lead to places of their own.
  bool repeats_too_often(const Group& reader, const Group& producer) {
    constexpr double kMostRepeated = 64, kMostRepeatedInAll = 64;
    using Places =
        std::map<std::uint32_t, double>;  // evaluations at each, for one output's element
    std::vector<std::uint32_t> nodes = reader.nodes;
    nodes.insert(nodes.end(), producer.nodes.begin(), producer.nodes.end());
    std::sort(nodes.begin(), nodes.end());
    std::map<ValueId, Places> read_at;
    std::uint32_t next = 1;
    double in_all = 0;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const Node& node = f_.nodes[nodes[i]];
      Places mine = read_at[node.results[0]];
      if (mine.empty()) mine[0] = 1;
      double evaluations = 0;
      for (const auto& [place, times] : mine) evaluations += times;
      if (evaluations > 1) in_all += evaluations;
      if (evaluations > kMostRepeated || in_all > kMostRepeatedInAll) return true;
      const double reads = reads_per_element(node);
      for (const Source& s : graph_.sources(node)) {
        Places& theirs = read_at[s.value];
        for (const auto& [place, times] : mine) {
          if (s.alignment == Alignment::other) {
            theirs[next++] = times * reads;
          } else {
            theirs[place] = std::max(theirs[place], times);
          }
        }
      }
    }
    return false;
  }

  // ---- a map and one that reads it element by element are one, whoever else reads the first ----

  // Not on devices, whose kernels have few buffers, nor where kernels take any extents.
  bool join_readers() {
    bool changed = false;
    if (!slices_) return changed;
    for (auto g = static_cast<std::int32_t>(graph_.size()) - 1; g >= 0; --g) {
      for (std::int32_t reader : graph_.readers(g)) {
        if (!continues(reader, g)) continue;
        graph_.merge(g, reader);
        changed = true;
        break;
      }
    }
    return changed;
  }

  bool continues(std::int32_t reader, std::int32_t producer) {
    const Group &r = graph_.group(reader), &p = graph_.group(producer);
    if (!is_plain_map(r) || !is_plain_map(p) || r.kept != p.kept) return false;
    if (r.nodes.size() + p.nodes.size() > kLargestGroup) return false;
    for (const Source& s : sources_of(r)) {
      if (graph_.group_of(s.value) != producer) continue;
      if (s.alignment != Alignment::same || graph_.through_view(s.value)) return false;
    }
    return is_last_reader(reader, producer);
  }
  // Joined with it, the producer does not need its own results.
  bool is_last_reader(std::int32_t reader, std::int32_t producer) const {
    const std::set<std::int32_t> others = graph_.readers(producer);
    return std::none_of(others.begin(), others.end(),
                        [&](std::int32_t g) { return graph_.reaches(g, reader); });
  }
  bool is_plain_map(const Group& g) const {
    return !g.nodes.empty() && g.kind == RecipeKind::map && !has_general(g);
  }

  // ---- statistics of the same rows, of which one needs the other's: each row is read once ----

  bool join_rows() {
    if (!slices_) return false;
    for (auto g = static_cast<std::int32_t>(graph_.size()) - 1; g >= 0; --g) {
      for (std::int32_t reader : graph_.readers(g)) {
        if (!continues_rows(reader, g)) continue;
        graph_.merge(g, reader);
        return true;
      }
    }
    return false;
  }

  bool continues_rows(std::int32_t reader, std::int32_t producer) {
    const Group &r = graph_.group(reader), &p = graph_.group(producer);
    if (r.kind != RecipeKind::rows || p.kind != RecipeKind::rows || r.kept != p.kept ||
        r.reduced != p.reduced || r.nodes.size() + p.nodes.size() > kLargestGroup)
      return false;
    for (const Source& s : sources_of(r)) {
      if (graph_.group_of(s.value) != producer) continue;
      const bool number = f_.type(s.value).dims == r.kept;
      const bool fits = s.alignment == Alignment::same || (s.alignment == Alignment::row && number);
      if (!fits || graph_.through_view(s.value)) return false;
    }
    return is_last_reader(reader, producer);
  }

  // ---- a product and the map that reads its gates, and alone does, are one (gates.h) ----

  bool join_gates() {
    if (!slices_) return false;
    for (auto g = static_cast<std::int32_t>(graph_.size()) - 1; g >= 0; --g) {
      const std::set<std::int32_t> readers = graph_.readers(g);
      if (readers.size() != 1 || !is_map_of_gates(*readers.begin(), g)) continue;
      graph_.group(g).kept = graph_.group(*readers.begin()).kept;
      graph_.merge(*readers.begin(), g);
      return true;
    }
    return false;
  }

  bool is_map_of_gates(std::int32_t map, std::int32_t product) {
    const Group &m = graph_.group(map), &p = graph_.group(product);
    if (!is_plain_map(m) || !has_gates_in_tiles(p, m.kept)) return false;
    if (p.nodes.size() + m.nodes.size() > kLargestGroup) return false;
    if (graph_.is_needed_in_memory(product)) return false;
    std::set<ValueId> cut;
    const bool only = std::ranges::all_of(m.nodes, [&](std::uint32_t n) {
      return is_elementwise(n) && reads_gates_only(f_.nodes[n], product, m.kept, cut);
    });
    return only && cut.size() == 1;
  }

  // What it has of the product are slices, as they are; of these values.
  bool reads_gates_only(const Node& node, std::int32_t product, const Dims& part,
                        std::set<ValueId>& cut) const {
    return std::ranges::all_of(node.operands, [&](ValueId v) {
      if (graph_.group_of(v) == product) return false;
      const std::uint32_t n = makers_[v.index];
      if (n == kNoNode || graph_.class_of(n) != NodeClass::free) return true;
      const Node& slice = f_.nodes[n];
      if (f_.type(v).dims == part && gate_of(f_, slice) &&
          !graph_.through_view(slice.operands[0]) &&
          graph_.group_of(slice.operands[0]) == product) {
        cut.insert(slice.operands[0]);
        return true;
      }
      return std::ranges::none_of(graph_.sources(slice), [&](const Source& s) {
        return graph_.group_of(s.value) == product;
      });
    });
  }

  // A product of few rows, whose gates' sums wait in a near cache, and of gates of whole panels.
  bool has_gates_in_tiles(const Group& group, const Dims& part) const {
    constexpr std::int64_t kMostRows = 192, kLine = 64;  // bytes
    if (group.nodes.empty() || group.kind != RecipeKind::contract || part.size() < 2) return false;
    const Node* product = nullptr;
    for (std::uint32_t n : group.nodes) {
      if (is_elementwise(n)) continue;
      if (product != nullptr || f_.nodes[n].op != &op_dot_general) return false;
      product = &f_.nodes[n];
    }
    const Type& type = f_.type(product->results[0]);
    if (is_symbolic(type) || (type.dtype != DType::f32 && type.dtype != DType::f64)) return false;
    const std::int64_t width = part.back().constant(),
                       rows = element_count(type) / type.dims.back().constant();
    const auto bytes = width * static_cast<std::int64_t>(size_of(type.dtype));
    return rows > 1 && rows <= kMostRows && bytes % kLine == 0 && has_good_factors(*product);
  }

  // Where both lie along the inner axis and nothing packs them ahead, dot products are faster.
  bool has_good_factors(const Node& product) const {
    const auto d = product.attributes.as<DotAttributes>();
    const ValueId right = product.operands[1];
    if (!d.lhs_batch.empty() || d.rhs_contract.size() != 1) return false;
    const std::uint32_t n = makers_[right.index];
    return d.rhs_contract[0] == 0 || (n != kNoNode && f_.nodes[n].literal);
  }

  bool is_elementwise(std::uint32_t n) const {
    return f_.nodes[n].op->strict.pattern == Pattern::elementwise;
  }

  // ---- sideways: scalars, and equal maps over the same data, share a kernel ----

  bool join_siblings() {
    for (auto a = static_cast<std::int32_t>(graph_.size()) - 1; a > 0; --a) {
      for (std::int32_t b = 0; b < a; ++b) {
        if (!are_siblings(graph_.group(a), graph_.group(b)) &&
            !are_sums_of_one_tree(graph_.group(a), graph_.group(b)))
          continue;
        if (graph_.reaches(a, b) || graph_.reaches(b, a)) continue;
        graph_.group(b).kept = shorter(graph_.group(b).kept, graph_.group(a).kept);
        graph_.merge(a, b);
        return true;
      }
    }
    return false;
  }

  // Sums along the same columns of what one map computes, which then need not be stored.
  bool are_sums_of_one_tree(const Group& a, const Group& b) {
    if (a.nodes.empty() || b.nodes.empty() || a.reduced != b.reduced) return false;
    if (a.kind != RecipeKind::columns || b.kind != RecipeKind::columns ||
        !same_columns(a.kept, b.kept) || a.nodes.size() + b.nodes.size() > kLargestGroup)
      return false;
    if (shares_source(b, sources_of(a))) return true;
    const std::set<std::int32_t> mine = maps_read_by(a), theirs = maps_read_by(b);
    return std::any_of(mine.begin(), mine.end(),
                       [&](std::int32_t g) { return theirs.contains(g); });
  }
  std::set<std::int32_t> maps_read_by(const Group& group) {
    std::set<std::int32_t> maps;
    for (const Source& s : sources_of(group)) {
      const std::int32_t g = graph_.group_of(s.value);
      if (g < 0 || graph_.through_view(s.value)) continue;
      if (graph_.group(g).kind == RecipeKind::map) maps.insert(g);
    }
    return maps;
  }

  bool are_siblings(const Group& a, const Group& b) const {
    if (!is_plain_map(a) || !is_plain_map(b) || a.kept != b.kept) return false;
    if (a.nodes.size() + b.nodes.size() > kLargestGroup) return false;
    const std::vector<Source> mine = sources_of(a);
    return a.kept.empty() || mine.empty() || shares_source(b, mine);
  }
  std::vector<Source> sources_of(const Group& group) const {
    std::vector<Source> all;
    for (std::uint32_t n : group.nodes) {
      for (const Source& s : graph_.sources(f_.nodes[n])) all.push_back(s);
    }
    return all;
  }

  const Function& f_;
  const std::vector<std::uint32_t> makers_ = definitions(f_);
  const bool slices_;
  GroupGraph graph_;
};

}  // namespace

Grouping make_groups(const Function& function, const ExternalKernels& external, bool slices) {
  return Grouper(function, external, slices).run();
}

std::string to_text(const Grouping& grouping, const Function& function) {
  std::string text;
  for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
    const Group& group = grouping.groups[g];
    absl::StrAppend(&text, "group ", g, " ", std::string(name_of(group.kind)), " ",
                    to_text(group.kept));
    if (!group.reduced.empty()) absl::StrAppend(&text, " over ", to_text(group.reduced));
    text += ":";
    for (std::uint32_t n : group.nodes)
      absl::StrAppend(&text, " ", std::string(function.nodes[n].op->name));
    text += "\n";
  }
  return text;
}

}  // namespace heddle
