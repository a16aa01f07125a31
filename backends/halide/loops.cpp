#include "heddle/backends/halide/loops.h"

#include <algorithm>

#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle::halide {
namespace {

// Every index below `extents`, in row-major order.
std::vector<Index> all_indices(const Extents& extents) {
  std::vector<Index> indices{{}};
  for (const Extent& e : extents) {
    std::vector<Index> next;
    for (const Index& i : indices) {
      for (std::int64_t j = 0; j < e.number(); ++j) {
        next.push_back(i);
        next.back().push_back(constant(j));
      }
    }
    indices = std::move(next);
  }
  return indices;
}

}  // namespace

void define(Func f, const std::vector<Expr>& arguments, const std::vector<Expr>& values) {
  if (values.size() == 1) {
    f(arguments) = values[0];
  } else {
    f(arguments) = Halide::Tuple(values);
  }
}

void define_over(const RDom& r, Func f, const std::vector<Expr>& arguments,
                 std::vector<Expr> values) {
  const auto reads = [&](const Expr& e) {
    bool found = false;
    for (int d = 0; d < r.dimensions(); ++d)
      found |= Halide::Internal::expr_uses_var(e, r[d].name());
    return found;
  };
  if (std::none_of(arguments.begin(), arguments.end(), reads) &&
      std::none_of(values.begin(), values.end(), reads))
    values[0] = select(r[0] >= 0, values[0], values[0]);  // every r[0] is
  define(f, arguments, values);
}

std::vector<Expr> read(const Func& f, const std::vector<Expr>& arguments) {
  if (f.outputs() == 1) return {f(arguments)};
  std::vector<Expr> values;
  for (int i = 0; i < f.outputs(); ++i) values.push_back(f(arguments)[i]);
  return values;
}

std::vector<Var> make_vars(const std::string& stem, std::size_t count) {
  std::vector<Var> vars;
  for (std::size_t i = 0; i < count; ++i) vars.emplace_back(stem + std::to_string(i));
  return vars;
}
Index as_index(const std::vector<Var>& vars) { return Index(vars.begin(), vars.end()); }

JointLoop::JointLoop(Elements& elements, const Values& values, std::size_t base)
    : elements_(&elements), name_(std::to_string(values[0].index)) {
  std::size_t first = 0;
  for (ValueId v : values) {
    reductions_.emplace_back(elements, v);
    const Extents& kept = reductions_.back().kept();
    const std::size_t count = reductions_.back().initial().size();
    for (Index& t :
         all_indices(Extents(kept.begin() + static_cast<std::ptrdiff_t>(base), kept.end()))) {
      parts_.push_back({reductions_.size() - 1, std::move(t), first, count});
      first += count;
    }
  }
  const Extents& kept = reductions_[0].kept();
  base_.assign(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(base));
  reduced_ = reductions_[0].reduced();
  bytes_ = 1;
  for (const Expr& e : initial()) bytes_ = std::max(bytes_, e.type().bytes());
}

template <class F>
State JointLoop::each_part(F&& f) const {
  State joint;
  for (const Part& p : parts_) {
    for (Expr& e : f(p)) joint.push_back(std::move(e));
  }
  return joint;
}
State JointLoop::part_of(const State& state, const Part& part) const {
  const auto first = state.begin() + static_cast<std::ptrdiff_t>(part.first);
  return State(first, first + static_cast<std::ptrdiff_t>(part.count));
}
State JointLoop::initial() const {
  return each_part([&](const Part& p) { return reductions_[p.reduction].initial(); });
}
State JointLoop::step(const State& state, const Index& kept, const Index& r) const {
  return each_part([&](const Part& p) {
    Index full = kept;
    full.insert(full.end(), p.tail.begin(), p.tail.end());
    return reductions_[p.reduction].step(part_of(state, p), full, r);
  });
}
State JointLoop::combine(const State& a, const State& b) const {
  return each_part([&](const Part& p) {
    return reductions_[p.reduction].combine(part_of(a, p), part_of(b, p));
  });
}

void JointLoop::stage(Func f, std::function<std::vector<Expr>(const Index&)> arguments) const {
  for (std::size_t r = 0; r < reductions_.size(); ++r) {
    std::vector<Part> mine;
    for (const Part& p : parts_) {
      if (p.reduction == r) mine.push_back(p);
    }
    const Extents& kept = reductions_[r].kept();
    const std::size_t base = base_.size();
    const Extents tail_extents(kept.begin() + static_cast<std::ptrdiff_t>(base), kept.end());
    elements_->stage(reductions_[r].value(), [=, loop = *this](const Index& i) {
      const auto split = i.begin() + static_cast<std::ptrdiff_t>(base);
      const State joint = read(f, arguments(Index(i.begin(), split)));
      std::vector<Expr> choices;
      for (const Part& p : mine) {
        choices.push_back(loop.reductions_[r].result(loop.part_of(joint, p)));
      }
      if (choices.size() == 1) return choices[0];
      return mux(flatten(Index(split, i.end()), tail_extents), choices);
    });
  }
}

Halide::TailStrategy tail(const Extent& extent, std::int64_t factor) {
  return extent.divisible_by(factor) ? Halide::TailStrategy::RoundUp
                                     : Halide::TailStrategy::GuardWithIf;
}
Expr inside(const Expr& i, const Extent& extent, std::int64_t factor) {
  return extent.divisible_by(factor) ? i : min(i, constant(extent - 1));
}

Expr edge(const Expr& i, const Extent& extent, std::int64_t factor) {
  return extent.divisible_by(factor) ? i : min(likely(i), constant(extent - 1));
}

void vectorize(Func f, Var x, const Extent& extent, int width, int together) {
  if (extent.below(width)) return;
  if (together > 1 && !extent.below(static_cast<std::int64_t>(width) * together)) {
    Var xi("xi");
    // One vector to Halide: LLVM, which cuts it, then has their instructions in turn.
    f.split(x, x, xi, width * together, tail(extent, width * together)).vectorize(xi);
  } else {
    f.vectorize(x, width, tail(extent, width));
  }
}

// ---- LaneFold ----

LaneFold::LaneFold(const JointLoop& loop, std::string name, std::vector<Var> outer,
                   std::function<Index(const std::vector<Var>&)> kept, const Extent& begin,
                   const Extent& count, int lanes, int vector)
    : loop_(loop),
      name_(std::move(name)),
      outer_(std::move(outer)),
      lanes_(lanes),
      vector_(std::min(lanes, std::max(1, vector * 4 / loop.element_bytes()))),
      part_("part" + name_),
      mid_("mid" + name_),
      all_("all" + name_),
      u_("u") {
  while (lanes_ > vector_ && count.below(lanes_)) lanes_ /= 2;
  plain_ = count.below(lanes_) || lanes_ < 2 || lanes_ % vector_ != 0;
  if (plain_) {
    std::vector<Halide::Range> ranges{{constant(begin), constant(count)}};
    const Extents& r = loop_.reduced();
    for (std::size_t a = r.size() - 1; a-- > 0;) ranges.push_back({0, constant(r[a])});
    whole_ = RDom(ranges, "r" + name_);
    define_plain(kept(outer_));
  } else {
    define_lanes(kept(outer_), begin, count);
  }
}

namespace {

// Reduced index, outermost first: the RDom's later dimensions are the outer axes.
Index reduced_index(const RDom& r, const Expr& innermost) {
  Index index;
  for (int d = r.dimensions() - 1; d > 0; --d) index.push_back(r[d]);
  index.push_back(innermost);
  return index;
}

std::vector<Expr> with(const Expr& first, const std::vector<Var>& rest) {
  std::vector<Expr> arguments{first};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return arguments;
}

}  // namespace

void LaneFold::define_plain(const Index& kept) {
  const std::vector<Expr> arguments(outer_.begin(), outer_.end());
  define(all_, arguments, loop_.initial());
  define_over(whole_, all_, arguments,
              loop_.step(read(all_, arguments), kept, reduced_index(whole_, whole_[0])));
}

void LaneFold::define_lanes(const Index& kept, const Extent& begin, const Extent& count) {
  const Extent full = count / lanes_, left = count % lanes_;
  std::vector<Halide::Range> ranges{{0, constant(full)}}, rest{{0, constant(left)}};
  const Extents& r = loop_.reduced();
  for (std::size_t a = r.size() - 1; a-- > 0;) {
    ranges.push_back({0, constant(r[a])});
    rest.push_back({0, constant(r[a])});
  }
  whole_ = RDom(ranges, "r" + name_);
  define(part_, with(u_, outer_), loop_.initial());
  const Expr i = whole_[0] * lanes_ + u_;
  define_over(whole_, part_, with(u_, outer_),
              loop_.step(read(part_, with(u_, outer_)), kept,
                         reduced_index(whole_, begin.is(0) ? i : i + constant(begin))));
  ragged_ = !left.is(0);
  if (ragged_) {
    rest_ = RDom(rest, "t" + name_);
    define(part_, with(rest_[0], outer_),
           loop_.step(read(part_, with(rest_[0], outer_)), kept,
                      reduced_index(rest_, rest_[0] + constant(begin + full * lanes_))));
  }
  define(mid_, with(u_, outer_),
         tree(part_, lanes_ / vector_, [&](int j) { return u_ + j * vector_; }));
  const std::vector<Expr> arguments(outer_.begin(), outer_.end());
  define(all_, arguments, tree(mid_, vector_, [](int j) { return Expr(j); }));
}

State LaneFold::tree(const Func& f, int count, const std::function<Expr(int)>& position) const {
  std::vector<State> states;
  for (int j = 0; j < count; ++j) states.push_back(read(f, with(position(j), outer_)));
  while (states.size() > 1) {
    const std::size_t half = (states.size() + 1) / 2;
    for (std::size_t j = 0; j + half < states.size(); ++j) {
      states[j] = loop_.combine(states[j], states[j + half]);
    }
    states.resize(half);
  }
  return states[0];
}

void LaneFold::vectorize_all() {
  if (plain_) return;
  part_.bound(u_, 0, lanes_).vectorize(u_, vector_).unroll(u_);
  std::vector<Halide::VarOrRVar> order{u_};
  for (int d = 0; d < whole_.dimensions(); ++d) order.push_back(whole_[d]);
  part_.update(0).reorder(order).vectorize(u_, vector_).unroll(u_);
  if (ragged_) {
    part_.update(1).vectorize(rest_[0], vector_, Halide::TailStrategy::GuardWithIf);
  }
  mid_.bound(u_, 0, vector_).vectorize(u_, vector_);
}

void LaneFold::compute_at(Func consumer, Var at) {
  if (!plain_) {
    part_.compute_at(consumer, at);
    mid_.compute_at(consumer, at);
  }
  all_.compute_at(consumer, at);
  vectorize_all();
}

void LaneFold::compute_root(std::size_t axis, const Extent& extent, std::int64_t grain) {
  all_.compute_root();
  if (outer_.empty()) {
    if (!plain_) {
      part_.compute_root();
      mid_.compute_root();
    }
    vectorize_all();
    return;
  }
  Var task("task"), row("row");
  const Var split = outer_[outer_.size() - 1 - axis];
  const bool tasks = !extent.at_most(grain);
  if (tasks) {
    all_.split(split, task, row, constant(grain), tail(extent, grain)).parallel(task);
    if (plain_) {
      all_.update().split(split, task, row, constant(grain), tail(extent, grain)).parallel(task);
    }
  }
  if (!plain_) {
    const Var at = tasks && axis + 1 == outer_.size() ? row : outer_.front();
    part_.compute_at(all_, at);
    mid_.compute_at(all_, at);
  }
  vectorize_all();
}

}  // namespace heddle::halide
