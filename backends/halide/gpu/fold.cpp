#include "heddle/backends/halide/gpu/fold.h"

#include "heddle/backends/halide/gpu/launch.h"

namespace heddle::halide::gpu {

Func fold_in_thread(const JointLoop& loop, const std::string& name,
                    const std::vector<Expr>& arguments, const Index& kept) {
  std::vector<Halide::Range> ranges;
  const Extents& reduced = loop.reduced();
  for (std::size_t a = reduced.size(); a-- > 0;) ranges.push_back({0, constant(reduced[a])});
  RDom r(ranges, "r" + name);
  Index at;
  for (int d = r.dimensions(); d-- > 0;) at.push_back(r[d]);
  Func acc("acc" + name);
  define(acc, arguments, loop.initial());
  define_over(r, acc, arguments, loop.step(read(acc, arguments), kept, at));
  return acc;
}

BlockFold::BlockFold(const JointLoop& loop, std::string name, std::vector<Var> outer,
                     const Index& kept, const Expr& begin, const Extent& count)
    : outer_(std::move(outer)), acc_("acc" + name) {
  const Extent all = product(loop.reduced());
  RDom r(0, constant(ceil_div(count, kLanes)), "r" + name);
  Expr position = begin + r * kLanes + u_;
  if (!(count == all && count.divisible_by(kLanes))) {
    r.where(r * kLanes + u_ < constant(count) && position < constant(all));
    position = min(position, constant(all - 1));  // the condition is not seen by bounds inference
  }
  define(acc_, with(u_), loop.initial());
  define_over(r, acc_, with(u_),
              loop.step(read(acc_, with(u_)), kept, unflatten(position, loop.reduced())));
  add("states" + name, with(u_), read(acc_, with(u_)));
  for (int half = kLanes / 2; half >= 1; half /= 2) {
    const Func last = funcs_.back();
    const Expr lane = half > 1 ? Expr(u_) : constant(0);
    std::vector<Expr> arguments(outer_.begin(), outer_.end());
    if (half > 1) arguments = with(u_);
    add((half > 1 ? "fold" + std::to_string(half) + "_" : "all") + name, arguments,
        loop.combine(read(last, with(lane)), read(last, with(lane + half))));
  }
}

std::vector<Expr> BlockFold::with(const Expr& lane) const {
  std::vector<Expr> arguments{lane};
  arguments.insert(arguments.end(), outer_.begin(), outer_.end());
  return arguments;
}

void BlockFold::add(const std::string& name, const std::vector<Expr>& arguments,
                    const State& state) {
  Func f(name);
  define(f, arguments, state);
  funcs_.push_back(f);
}

void BlockFold::place(Func consumer, Var block) {
  acc_.compute_at(funcs_[0], u_);
  int lanes = kLanes;
  for (std::size_t i = 0; i + 1 < funcs_.size(); ++i, lanes /= 2) {
    funcs_[i].compute_at(consumer, block).bound(u_, 0, lanes).gpu_threads(u_);
  }
}

void BlockFold::compute_at(Func consumer, Var block) {
  place(consumer, block);
  result().compute_at(consumer, block);
}

void BlockFold::launch() {
  // The result's store has no threads of its own: the first one does it.
  Func all = result();
  all.compute_root();
  const Var block = fuse_all(all, {outer_.rbegin(), outer_.rend()}, "blocks");
  all.gpu_blocks(block);
  place(all, block);
}

}  // namespace heddle::halide::gpu
