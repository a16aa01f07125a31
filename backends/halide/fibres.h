// Scans and sorts along one axis: the Funcs that hold a block of fibres.
#ifndef HEDDLE_BACKENDS_HALIDE_FIBRES_H_
#define HEDDLE_BACKENDS_HALIDE_FIBRES_H_

#include <functional>
#include <optional>

#include "heddle/backends/halide/kernel_builder.h"

namespace heddle::halide {

/// The axes of an operand as one fibre axis and the others.
struct FibreAxes {
  std::size_t axis;
  Extents extents;
  std::vector<Var> others;  ///< outermost first
  int strip;                ///< > 1: the last of the others holds so many fibres side by side

  const Extent& length() const { return extents[axis]; }
  /// The operand's index at place `i` of the fibre; fibres past the last are copies of it.
  Index index(const Expr& i) const;
  /// Arguments of a Func that holds the fibre at place `i` of it, for the fibre of the Vars.
  std::vector<Expr> arguments(const Expr& i) const;
  /// The same for the fibre of `index`.
  std::vector<Expr> arguments_at(const Index& index, const Expr& i) const;
};

class FibreStage {
 public:
  /// `v` is made by a scan or a sort; from here on it is read from this stage. whole: for
  /// compute_root, else for compute_at.
  FibreStage(KernelBuilder& b, ValueId v, int strip, bool whole);

  /// `side`: so many fibres side by side are sorted there.
  void compute_at(Func consumer, Var at, const Extent& side = 1);
  void compute_root();
  /// On a device, after compute_root.
  void launch();

 private:
  using Inclusive = std::function<Expr(const Index&, const Expr&)>;

  /// Computed where the stage is.
  void hold(const Func& f) { held_.push_back(f); }
  Expr element(const Expr& i) const { return b_.elements.at(node_.operands[0], axes_.index(i)); }

  void make_scan();
  bool reverse() const;
  Expr nothing() const;  ///< what a scan begins with
  Inclusive make_plain_scan();
  Inclusive make_chunked_scan(int lanes);
  void make_sort();
  Func make_counted_order(const Func& keys);
  Func call_argsort(const Func& keys);

  KernelBuilder& b_;
  const ValueId v_;
  const bool whole_;
  const Node& node_;
  const std::string name_;
  const FibreAxes axes_;
  Var i_{"i"};
  std::vector<Func> held_;
  std::vector<Func> sorted_;  ///< keys and order; their first argument is the place in the fibre
  std::map<std::string, Func> in_thread_;  ///< on a device: what a thread of a held Func computes
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_FIBRES_H_
