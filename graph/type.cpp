#include "heddle/graph/type.h"

#include <algorithm>

namespace heddle {

std::string to_text(const Type& type) {
  return std::string(name_of(type.dtype)) + to_text(type.dims);
}

bool is_symbolic(const Type& type) {
  return std::any_of(type.dims.begin(), type.dims.end(),
                     [](const Dim& d) { return !d.is_constant(); });
}

std::int64_t element_count(const Type& type) { return element_count(type.dims).constant(); }

std::int64_t byte_count(const Type& type) {
  return element_count(type) * static_cast<std::int64_t>(size_of(type.dtype));
}

}  // namespace heddle
