// Forward mode: one function that computes values and tangents side by side. The base of every
// other transform.
#ifndef HEDDLE_GRAPH_AD_FORWARD_H_
#define HEDDLE_GRAPH_AD_FORWARD_H_

#include <vector>

#include "heddle/graph/ad/transforms.h"

namespace heddle {

struct Forward {
  Function function;  ///< inputs: the function's, then tangents; outputs: the function's, then
                      ///< active tangents
  std::vector<bool> active;  ///< per output of the original function
};

/// `for_transpose`: composites that have a reverse rule of their own stay whole, and their linear
/// part is a `linear_composite` node, which can be transposed but not run.
Forward forward(const Program& program, Names wrt, bool for_transpose);

/// The errors of Names.
void check_wrt(const Function& function, const Names& wrt);

/// "d_x", or with more "d_" in front until it is not in `taken`.
std::string derivative_name(const std::string& name, const std::vector<std::string>& taken);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_AD_FORWARD_H_
