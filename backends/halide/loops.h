// The building blocks of recipes: several reductions that share one loop, folds of them with
// partial sums, and the splitting of loops into vectors and tasks.
#ifndef HEDDLE_BACKENDS_HALIDE_LOOPS_H_
#define HEDDLE_BACKENDS_HALIDE_LOOPS_H_

#include <functional>
#include <string>

#include "heddle/backends/halide/reduction.h"

namespace heddle::halide {

using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

/// Several values of one Func are a Tuple; one is plain.
void define(Func f, const std::vector<Expr>& arguments, const std::vector<Expr>& values);
/// An update of f over r, also when nothing in it reads along r: Halide alone would run it once.
void define_over(const RDom& r, Func f, const std::vector<Expr>& arguments,
                 std::vector<Expr> values);
std::vector<Expr> read(const Func& f, const std::vector<Expr>& arguments);

std::vector<Var> make_vars(const std::string& stem, std::size_t count);
Index as_index(const std::vector<Var>& vars);

/// Reductions of equal reduced extents in one loop. Each has `base` leading kept axes in common;
/// its kept axes after those are written out: one element of the joint state each.
class JointLoop {
 public:
  JointLoop(Elements& elements, const Values& values, std::size_t base);

  const Extents& base() const { return base_; }        ///< extents of the common axes
  const Extents& reduced() const { return reduced_; }  ///< outermost first
  State initial() const;
  State step(const State& state, const Index& kept, const Index& r) const;
  State combine(const State& a, const State& b) const;
  std::string name() const { return name_; }    ///< for Funcs: the first value's number
  int element_bytes() const { return bytes_; }  ///< of the widest expression in the state

  /// From here on the values are read from `f`, whose arguments `arguments` makes of the common
  /// index.
  void stage(Func f, std::function<std::vector<Expr>(const Index&)> arguments) const;

 private:
  struct Part {
    std::size_t reduction;
    Index tail;
    std::size_t first, count;  // its expressions in the joint state
  };
  template <class F>
  State each_part(F&& f) const;
  State part_of(const State& state, const Part& part) const;

  Elements* elements_;
  std::vector<Reduction> reductions_;
  std::vector<Part> parts_;
  Extents base_, reduced_;
  std::string name_;
  int bytes_ = 4;
};

/// Exact where it divides, else guarded: right for every extent, and for outputs that overwrite an
/// input.
Halide::TailStrategy tail(const Extent& extent, std::int64_t factor);
/// Stages compute whole tiles and rows beyond the edge too; they must not read there.
Expr inside(const Expr& i, const Extent& extent, std::int64_t factor);
/// The same, likely not at the edge: the loops over whole tiles get code of their own, with plain
/// vector loads.
Expr edge(const Expr& i, const Extent& extent, std::int64_t factor);

/// Vectors of `width` along `x`, `together` of them at a time, whose instructions take turns;
/// nothing for a shorter loop.
void vectorize(Func f, Var x, const Extent& extent, int width, int together);

/// Sums along the innermost reduced axis: `lanes` partial sums, folded into one vector, then into
/// one number. (Not rfactor: it cannot prove the NaN-keeping maximum.)
class LaneFold {
 public:
  /// Over [begin, begin + count) of the innermost reduced axis. `outer`: the Func's variables,
  /// which `kept` turns into the common index.
  LaneFold(const JointLoop& loop, std::string name, std::vector<Var> outer,
           std::function<Index(const std::vector<Var>&)> kept, const Extent& begin,
           const Extent& count, int lanes, int vector);
  Func result() const { return all_; }
  /// The stage that reads the elements.
  Func reader() const { return plain_ ? all_ : part_; }
  void compute_at(Func consumer, Var at);
  /// As arrays of their own; the variable of kept axis `axis`, of `extent`, in pieces of `grain` in
  /// parallel.
  void compute_root(std::size_t axis, const Extent& extent, std::int64_t grain);

 private:
  void define_plain(const Index& kept);
  void define_lanes(const Index& kept, const Extent& begin, const Extent& count);
  State tree(const Func& f, int count, const std::function<Expr(int)>& position) const;
  void vectorize_all();

  JointLoop loop_;
  std::string name_;
  std::vector<Var> outer_;
  int lanes_, vector_;
  Func part_, mid_, all_;
  Var u_;
  RDom whole_, rest_;
  bool plain_ = false, ragged_ = false;
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_LOOPS_H_
