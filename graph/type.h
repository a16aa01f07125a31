// The type of a value: element type and extents.
#ifndef HEDDLE_GRAPH_TYPE_H_
#define HEDDLE_GRAPH_TYPE_H_

#include <cstdint>
#include <string>

#include "heddle/graph/dim.h"
#include "heddle/runtime/dtype.h"

namespace heddle {

/// Dense, row-major. Rank 0 is a scalar.
struct Type {
  DType dtype = DType::f32;
  Dims dims;

  std::size_t rank() const { return dims.size(); }
  bool operator==(const Type&) const = default;
};

/// "f32[2*n+1,10]"; "f32[]" for a scalar.
std::string to_text(const Type& type);
/// Some extent is not a number.
bool is_symbolic(const Type& type);
/// Elements of a static type; NotImplementedError for a symbolic one.
std::int64_t element_count(const Type& type);
/// Bytes of a static type.
std::int64_t byte_count(const Type& type);

}  // namespace heddle

#endif  // HEDDLE_GRAPH_TYPE_H_
