// What kernels call when they are compiled with Halide's own checks: each failed check is a message
// with its name and an error code. Compiled by the tests into their kernel libraries.
#include "heddle/runtime/core/abi.h"

extern "C" void halide_error(void* context, const char* text);

#define CHECK(name)                                   \
  extern "C" int halide_error_##name(void* context) { \
    halide_error(context, "halide_error_" #name);     \
    return -1;                                        \
  }
CHECK(access_out_of_bounds)
CHECK(bad_dimensions)
CHECK(bad_fold)
CHECK(bad_type)
CHECK(bounds_inference_call_failed)
CHECK(buffer_allocation_too_large)
CHECK(buffer_argument_is_null)
CHECK(buffer_extents_negative)
CHECK(buffer_extents_too_large)
CHECK(buffer_is_null)
CHECK(constraint_violated)
CHECK(constraints_make_required_region_smaller)
CHECK(device_dirty_with_no_device_support)
CHECK(explicit_bounds_too_small)
CHECK(extern_stage_failed)
CHECK(fold_factor_too_small)
CHECK(host_and_device_dirty)
CHECK(host_is_null)
CHECK(out_of_memory)
CHECK(param_too_large_i64)
CHECK(param_too_large_u64)
CHECK(param_too_small_i64)
CHECK(param_too_small_u64)
CHECK(requirement_failed)
CHECK(specialize_fail)
CHECK(split_factor_not_positive)
CHECK(storage_bound_too_small)
CHECK(unaligned_host_ptr)

extern "C" int halide_error_no_device_interface(void* context) {
  halide_error(context, "halide_error_no_device_interface");
  return -1;
}
