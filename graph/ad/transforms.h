// Differentiation of programs: Program -> Program. Reverse mode is linearize, then transpose;
// nothing runs here.
//
// Each transform takes the program's entry function and gives a program whose only function is the
// derived one; errors have the caller's place. Names: the tangent or cotangent of a value `x` is
// `d_x` (`d_d_x` where that is taken).
#ifndef HEDDLE_GRAPH_AD_TRANSFORMS_H_
#define HEDDLE_GRAPH_AD_TRANSFORMS_H_

#include <concepts>
#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/graph/program.h"

namespace heddle {

/// Names of inputs to differentiate by: "x", {"w", "b"}, or a vector. ValueError for none, an
/// unknown or a repeated name, TypeError for one that is not floating.
class Names {
 public:
  Names(std::vector<std::string> names) : names_(std::move(names)) {}  // NOLINT
  Names(std::initializer_list<std::string> names) : names_(names) {}   // NOLINT
  template <std::convertible_to<std::string_view> T>
  Names(const T& one) : names_{std::string(std::string_view(one))} {}  // NOLINT

  std::size_t size() const { return names_.size(); }
  const std::string& operator[](std::size_t i) const { return names_[i]; }
  auto begin() const { return names_.begin(); }
  auto end() const { return names_.end(); }

 private:
  std::vector<std::string> names_;
};

/// A function split at a point: `primal` computes the outputs and what the linear part needs of the
/// point; `linear` maps tangents of the chosen inputs to tangents of the active outputs.
struct Linearized {
  Program primal;   ///< its outputs: the function's, then the residuals
  Function linear;  ///< its inputs: the residuals, then one tangent per chosen input
  std::size_t residuals = 0;
  std::vector<bool> active;  ///< per output of the function: does it depend on the chosen inputs
};

/// Inputs: the function's, then `d_<input>` per name. Outputs: the function's, then `d_<output>`
/// per floating output (zeros where none depends on the chosen inputs).
Program jvp(const Program& program, Names wrt, Location where = std::source_location::current());
Linearized linearize(const Program& program, Names wrt,
                     Location where = std::source_location::current());
/// Inputs: the residuals, then one cotangent per output of `linear`. Outputs: one cotangent per
/// chosen input, zeros included.
Function transpose(const Linearized& linearized);
/// Inputs: the function's, then `d_<output>` per floating output. Outputs: the function's, then
/// `d_<input>` per name.
Program vjp(const Program& program, Names wrt, Location where = std::source_location::current());
/// Outputs: the function's, then `d_<input>` per name: the gradient of its first output, which must
/// be a floating scalar.
Program value_and_grad(const Program& program, Names wrt,
                       Location where = std::source_location::current());
/// As value_and_grad for output number `loss`: 002's backward graph. Inputs that the loss does not
/// depend on get zeros. ValueError names an output that is not there.
Program build_backward_graph(const Program& program, std::size_t loss, Names wrt,
                             Location where = std::source_location::current());
/// As value_and_grad, the gradients alone.
Program grad(const Program& program, Names wrt, Location where = std::source_location::current());
/// Hessian-vector product of the first output, forward over reverse. Inputs: the function's, then
/// `v_<input>` per name. Outputs: `hvp_<input>` per name.
Program hvp(const Program& program, Names wrt, Location where = std::source_location::current());

}  // namespace heddle

#endif  // HEDDLE_GRAPH_AD_TRANSFORMS_H_
