// What evaluators of operations that move elements share.
#ifndef HEDDLE_GRAPH_OPS_MOVE_H_
#define HEDDLE_GRAPH_OPS_MOVE_H_

#include "heddle/graph/emit.h"
#include "heddle/graph/ops/evaluate.h"

namespace heddle::ops {

inline std::size_t at_axis(std::int64_t axis) { return static_cast<std::size_t>(axis); }

/// A literal of `type` whose element at `index` is the operand's element `source(index)`.
template <class Source>
Literal moved(const Type& type, const Literal& x, Source source) {
  return dispatch_dtype(type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const std::span<const T> from = view<T>(x);
    const std::vector<std::int64_t> strides = strides_of(extents_of(x));
    std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
    T* out = reinterpret_cast<T*>(bytes.data());
    for_each_index(constant_extents(type.dims), [&](std::size_t i, const emit::Axes& index) {
      const emit::Axes place = source(index);
      std::int64_t offset = 0;
      for (std::size_t a = 0; a < place.size(); ++a) offset += place[a] * strides[a];
      out[i] = from[static_cast<std::size_t>(offset)];
    });
    return literal_from_bytes(type, std::move(bytes));
  });
}
inline Type result_type(At at) { return at.op.strict.infer(at)[0]; }

}  // namespace heddle::ops

#endif  // HEDDLE_GRAPH_OPS_MOVE_H_
