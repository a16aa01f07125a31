// Programs that several tests run on the test device.
#ifndef HEDDLE_TESTS_GPU_PROGRAMS_H_
#define HEDDLE_TESTS_GPU_PROGRAMS_H_

#include "heddle/frontend/ops.h"
#include "heddle/frontend/trace.h"

namespace heddle::testing {

/// Rows of f32[9,7] by i32[4,3].
inline Program gather_rows() {
  return trace([](const Tensor& x, const Tensor& i) { return take(x, i, 0); },
               {heddle::f32({9, 7}), heddle::i32({4, 3})});
}
/// f32[20,7] added to rows of f32[9,7] that i32[20] names.
inline Program add_to_rows() {
  return trace(
      [](const Tensor& x, const Tensor& i, const Tensor& u) { return scatter_add(x, i, u, 0); },
      {heddle::f32({9, 7}), heddle::i32({20}), heddle::f32({20, 7})});
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_GPU_PROGRAMS_H_
