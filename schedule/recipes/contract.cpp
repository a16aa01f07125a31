#include <algorithm>

#include "heddle/graph/operation.h"
#include "heddle/schedule/classify.h"
#include "heddle/schedule/gates.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/narrow_factors.h"
#include "heddle/schedule/prepare.h"
#include "heddle/schedule/recipes/choose.h"
#include "heddle/schedule/tuned.h"

namespace heddle {
namespace {

const Node& node_of(const Function& body, ValueId v) {
  return body.nodes[definitions(body)[v.index]];
}

// One that leaves less of a ragged edge counts when that is 3 % of the work.
Tuned::Tile choose_tile(std::int64_t m, std::int64_t n, int lanes, const Target& target) {
  const Tuned& tuned = tuned_for(target);
  const auto padded = [&](const Tuned::Tile& t) {
    const std::int64_t nr = t.vectors * lanes;
    return (m + t.rows - 1) / t.rows * t.rows * ((n + nr - 1) / nr * nr);
  };
  if (m <= 64) return tuned.few;  // as many panels as possible
  return padded(tuned.narrow) * 103 < padded(tuned.tile) * 100 ? tuned.narrow : tuned.tile;
}

// Read where it lies: an input, or one repeated over batches.
bool lies_in_memory(const Function& body, const std::vector<std::uint32_t>& maker, ValueId v) {
  while (maker[v.index] != kNoNode && body.nodes[maker[v.index]].op == &op_broadcast_in_dim) {
    v = body.nodes[maker[v.index]].operands[0];
  }
  return maker[v.index] == kNoNode;
}

// The same of bytes that are converted.
bool lies_as_bytes(const Function& body, ValueId v) {
  const std::vector<std::uint32_t> maker = definitions(body);
  const Node& node = body.nodes[maker[v.index]];
  return widens_bytes(body, node) && lies_in_memory(body, maker, node.operands[0]);
}

bool is_contiguous(const std::vector<std::int64_t>& axes, std::size_t rank) {
  return axes.size() == 1 && axes[0] + 1 == static_cast<std::int64_t>(rank);
}

// Whole arrays that the epilogue reads beside the product.
int streams(const Function& body, const Node& dot) {
  int count = 0;
  for (const Input& in : body.inputs) {
    const bool factor = in.value == dot.operands[0] || in.value == dot.operands[1];
    count += !factor && body.type(in.value).dims == body.type(dot.results[0]).dims;
  }
  return count;
}

// The right factor's columns are nearer to each other than its inner indices.
bool along_rows(const DotShape& s) { return s.rhs_columns.back() > s.rhs_inner.back(); }

// Known extents, and floats that are not widened while they are packed.
bool is_plain_float(const Function& body, const Node& node) {
  const DType dtype = body.type(node.results[0]).dtype;
  return !is_symbolic(body) && (dtype == DType::f32 || dtype == DType::f64);
}

// With few rows, packing is most of the memory traffic: wide enough pieces of rhs's rows.
int panels_for(const DotShape& s, const Contract& c) {
  if (!c.columns_outer || c.rhs != Pack::panel || !along_rows(s) || s.m() > 64) return 1;
  const int wanted = s.m() < 32 ? 4 : 2;
  return s.n() >= 2 * wanted * c.nr ? wanted : 1;
}

// Whether a task makes whole rows of the result: for an epilogue that streams whole arrays, and for
// sums so short that storing them counts, a page for each row of a narrower tile.
bool walks_along_rows(const Function& body, const Node& node, const DotShape& s) {
  const bool mostly_stores =
      s.k() <= 256 && s.m() > 192 && s.n() >= 768 && s.rhs_batch.empty() && !is_symbolic(body);
  return mostly_stores || (streams(body, node) >= 2 && s.k() <= 512);
}

// As many columns of the right factor's rows as are read together.
constexpr int kColumnsTogether = 384;

// Inner indices at a time: of few rows and a long inner axis, so that the left factor's part, a
// group of panels and the sums stay in the second-level cache; and rows of the right factor are
// read a page together, not one element of many pages after another. 0: all of them.
int piece_for(const Function& body, const Node& node, const DotShape& s, const Contract& c) {
  constexpr int kLeast = 128, kMost = 256;
  if (!is_plain_float(body, node) || s.m() > 192) return 0;
  if (!along_rows(s) || s.rhs_inner.size() != 1 || !s.rhs_batch.empty()) return 0;
  if (!c.columns_outer || s.k() < 2 * kMost || s.n() < 2 * kColumnsTogether) return 0;
  for (int piece = kMost; piece >= kLeast; --piece) {
    if (s.k() % piece == 0) return piece;
  }
  return 0;
}

// Few rows, both operands along the inner axis: packing the right one would cost as much as the
// product. What comes after is computed element by element.
bool wants_dots(const Function& body, const Node& node, const DotShape& s, int lanes) {
  constexpr std::int64_t kFewRows = 64;
  const std::vector<std::uint32_t> maker = definitions(body);
  const bool plain = maker[node.operands[0].index] == kNoNode &&
                     maker[node.operands[1].index] == kNoNode && is_plain_float(body, node);
  const bool along = is_contiguous(s.lhs_inner, s.lhs_batch.size() + 2) &&
                     is_contiguous(s.rhs_inner, s.rhs_batch.size() + 2);
  if (!plain || !along || s.m() > kFewRows || s.k() % lanes != 0 || s.k() < 8 * lanes) return false;
  return std::none_of(body.nodes.begin(), body.nodes.end(), [&](const Node& other) {
    return other.results[0] != node.results[0] && is_costly(other);
  });
}

// As many of the factor's panels side by side as make a tile's width and leave none over; the rows
// fill whole tiles.
Contract choose_prepared(const Function& body, const Node& node, const DotShape& s,
                         std::int64_t width, int lanes, const Target& target) {
  const Tuned::Tile tile = tuned_for(target).prepared;
  const int vectors = std::max<int>(1, static_cast<int>(width) / lanes);
  int side = std::max(1, tile.vectors / vectors);
  while ((s.n() + width - 1) / width % side != 0) --side;
  const int most = tile.rows * tile.vectors / (vectors * side);
  Contract c{.mr = most, .nr = static_cast<int>(width) * side, .rhs = Pack::none};
  // As many rows as fill tiles, of those that keep the machine busy.
  for (int mr = most; mr * 3 >= most * 2; --mr) {
    const auto padded = [&](int rows) { return (s.m() + rows - 1) / rows * rows; };
    if (padded(mr) < padded(c.mr)) c.mr = mr;
  }
  c.mr = static_cast<int>(std::min<std::int64_t>(c.mr, s.m()));
  const bool in_place = lies_in_memory(body, definitions(body), node.operands[0]) &&
                        is_contiguous(s.lhs_inner, s.lhs_batch.size() + 2);
  c.lhs = in_place ? Pack::none : Pack::whole;
  c.columns_outer = true;
  c.ahead = tuned_for(target).ahead;
  c.grain = choose_grain(estimated_ns(body), (s.n() + c.nr - 1) / c.nr);
  return c;
}

// Bytes are read where they lie when `depth` of them do; else they are packed with zeros behind.
Contract choose_bytes(const Function& body, const Node& node, const DotShape& s, int lanes,
                      const Target& target, int depth) {
  const Tuned::Tile tile = choose_tile(s.m(), s.n(), lanes, target);
  Contract c{.mr = static_cast<int>(std::min<std::int64_t>(tile.rows, s.m())),
             .nr = tile.vectors * lanes};
  const bool in_place = depth == 4 && s.k() % depth == 0 &&
                        is_contiguous(s.lhs_inner, s.lhs_batch.size() + 2) &&
                        lies_as_bytes(body, node.operands[0]);
  c.lhs = in_place ? Pack::none : Pack::whole;
  c.grain = choose_grain(estimated_ns(body), (s.n() + c.nr - 1) / c.nr * s.batches());
  return c;
}

constexpr int kStreamedRows = 16;  // read side by side

// Rows whole pages apart share the sets of the first-level cache, which holds eight lines of one.
int streamed_rows(const Function& body, const Node& node, const DotShape& s) {
  constexpr std::int64_t kPage = 4096;
  const auto bytes = static_cast<std::int64_t>(size_of(body.type(node.operands[1]).dtype));
  return s.n() * bytes % kPage == 0 ? kStreamedRows / 2 : kStreamedRows;
}

// Few rows, and the right factor's rows are long and lie in memory: packing them would be most of
// the work. A kilobyte or so of one is read at a time.
bool wants_streams(const Function& body, const Node& node, const DotShape& s, int lanes) {
  constexpr std::int64_t kFewRows = 16;
  if (!is_plain_float(body, node) || s.m() > kFewRows || s.k() % kStreamedRows != 0) return false;
  return is_contiguous(s.rhs_columns, s.rhs_batch.size() + 2) && s.rhs_inner.size() == 1 &&
         s.n() % lanes == 0 && s.n() >= 16 * lanes &&
         lies_in_memory(body, definitions(body), node.operands[1]) &&
         lies_in_memory(body, definitions(body), node.operands[0]) && streams(body, node) < 2;
}

// `s`: the product, or one of its gates.
Contract choose_streams(const Function& body, const Node& node, const DotShape& s, Tuned::Tile tile,
                        int lanes, int together) {
  Contract c{.mr = static_cast<int>(std::min<std::int64_t>(tile.rows, s.m())),
             .nr = tile.vectors * lanes,
             .rhs = Pack::none,
             .piece = streamed_rows(body, node, dot_shape(body, node))};
  // Equally many columns in each group.
  const std::int64_t groups = (s.n() + together - 1) / together, per = groups * c.nr;
  c.panels = static_cast<int>((s.n() + per - 1) / per);
  const std::int64_t width = static_cast<std::int64_t>(c.nr) * c.panels;
  c.grain = choose_grain(estimated_ns(body), (s.n() + width - 1) / width * s.batches());
  return c;
}

Contract choose_dots(const Function& body, const DotShape& s) {
  Contract c{.mr = s.m() < 4 ? 2 : 4, .nr = s.m() < 4 ? 4 : 3, .rhs = Pack::none};
  c.dots = true;
  c.panels = 16;
  const std::int64_t width = static_cast<std::int64_t>(c.nr) * c.panels;
  c.grain = choose_grain(estimated_ns(body), (s.n() + width - 1) / width * s.batches());
  return c;
}

// A recurrence's steps come one after another: workers still spin when the next one comes.
constexpr double kStepTaskNs = 10000;

// Outer tiles of one gate: a task has the same of each.
Contract choose_gates(const Function& body, const Node& node, const DotShape& product,
                      const Gates& gates, int lanes, const Target& target) {
  DotShape s = product;
  s.columns = {gates.width};
  if (const std::int64_t width = panel_width(body, node.operands[1])) {
    Contract c = choose_prepared(body, node, s, width, lanes, target);
    c.grain = choose_grain(estimated_ns(body), s.n() / c.nr, 1, kStepTaskNs);
    return c;
  }
  Tuned::Tile tile = choose_tile(s.m(), s.n(), lanes, target);
  while (tile.vectors > 1 && s.n() % (tile.vectors * lanes) != 0) --tile.vectors;
  const int together =
      std::max(kColumnsTogether / static_cast<int>(gates.count), tile.vectors * lanes);
  if (wants_streams(body, node, product, lanes)) {
    return choose_streams(body, node, s, tile, lanes, together);
  }
  Contract c{.mr = static_cast<int>(std::min<std::int64_t>(tile.rows, s.m())),
             .nr = tile.vectors * lanes};
  const bool in_place = lies_in_memory(body, definitions(body), node.operands[0]) &&
                        is_contiguous(s.lhs_inner, s.lhs_batch.size() + 2);
  c.lhs = in_place ? Pack::none : Pack::whole;
  if (const int piece = piece_for(body, node, product, c)) {
    c.piece = piece, c.panels = together / c.nr;
  }
  const std::int64_t width = static_cast<std::int64_t>(c.nr) * c.panels;
  c.grain = choose_grain(estimated_ns(body), (s.n() + width - 1) / width);
  return c;
}

}  // namespace

Contract choose_contract(const Function& body, const Target& target) {
  const ValueId dot = *main_contraction(body);
  const Node& node = node_of(body, dot);
  const DotShape s = dot_shape(body, node);
  const DType dtype = body.type(dot).dtype;
  const int lanes = lanes_of(dtype, target);
  if (const auto gates = gates_of(body, dot)) {
    return choose_gates(body, node, s, *gates, lanes, target);
  }
  if (const std::int64_t width = panel_width(body, node.operands[1])) {
    return choose_prepared(body, node, s, width, lanes, target);
  }
  if (const auto bytes = byte_factors(body, node, target)) {
    return choose_bytes(body, node, s, lanes, target, bytes->depth);
  }
  if (wants_dots(body, node, s, lanes)) return choose_dots(body, s);
  if (wants_streams(body, node, s, lanes)) {
    return choose_streams(body, node, s, tuned_for(target).few, lanes, kColumnsTogether);
  }
  const Tuned::Tile tile = choose_tile(s.m(), s.n(), lanes, target);
  Contract c{.mr = tile.rows, .nr = tile.vectors * lanes};
  const std::vector<std::uint32_t> maker = definitions(body);
  // 16-bit floats are widened while they are packed.
  const bool widened = is_floating(dtype) && size_of(dtype) == 2;
  const bool prologue = widened || !lies_in_memory(body, maker, node.operands[0]);
  // A short inner loop does not pay for packing: its lines stay in the first-level cache.
  constexpr std::int64_t kShortInner = 64;
  const bool in_place =
      !prologue && (is_contiguous(s.lhs_inner, s.lhs_batch.size() + 2) || s.k() <= kShortInner);
  c.columns_outer = !walks_along_rows(body, node, s);
  if (c.columns_outer) {
    c.lhs = in_place ? Pack::none : Pack::whole;
    c.rhs = Pack::panel;
  } else {
    c.lhs = in_place ? Pack::none : Pack::panel;
    c.rhs = Pack::whole;
  }
  c.panels = panels_for(s, c);
  if (const int piece = piece_for(body, node, s, c)) {
    c.piece = piece, c.panels = kColumnsTogether / c.nr;
  }
  c.ahead = tuned_for(target).ahead;
  const std::int64_t width = static_cast<std::int64_t>(c.nr) * c.panels;
  const std::int64_t tiles =
      c.columns_outer ? (s.n() + width - 1) / width : (s.m() + c.mr - 1) / c.mr;
  c.grain = choose_grain(estimated_ns(body), tiles * s.batches());
  return c;
}

}  // namespace heddle
