// NumPy files as literals.
#ifndef HEDDLE_FRONTEND_CLI_ARRAYS_H_
#define HEDDLE_FRONTEND_CLI_ARRAYS_H_

#include <string>
#include <utility>
#include <vector>

#include "heddle/graph/literal.h"

namespace heddle::cli {

/// "x.npy", "all.npz:x", or "all.npz" for the member of that name. ValueError names the file and
/// what is wrong with it.
Literal read_array(const std::string& path, const std::string& name);

/// Writes an .npz; all or nothing.
void write_arrays(const std::string& path,
                  const std::vector<std::pair<std::string, Literal>>& arrays);

}  // namespace heddle::cli

#endif  // HEDDLE_FRONTEND_CLI_ARRAYS_H_
