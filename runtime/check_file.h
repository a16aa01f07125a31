// Check files (FORMAT.md): what hd_selftest runs on the machine that an artifact was shipped to.
#ifndef HEDDLE_RUNTIME_CHECK_FILE_H_
#define HEDDLE_RUNTIME_CHECK_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heddle/runtime/core/abi.h"
#include "heddle/runtime/dtype.h"

namespace heddle {

/// One input tensor: zeros, stored bytes, or a stream of uniform numbers in [low, high) (not for
/// f16 and bf16).
struct CheckInput {
  enum class Kind : std::uint32_t { zeros = 0, stored = 1, uniform = 2 };
  Kind kind = Kind::zeros;
  DType dtype = DType::f32;
  std::uint64_t count = 0;  ///< elements
  double low = 0, high = 1;
  std::uint64_t seed = 0;
  std::vector<std::byte> data;  ///< stored only
};

/// Elements 0, stride, 2 stride ... of one output. An element passes when
/// |found - expected| <= absolute + relative |expected|; NaN equals NaN; integers are equal.
struct CheckOutput {
  DType dtype = DType::f32;
  std::uint64_t count = 0;   ///< elements of the whole output
  std::uint64_t stride = 1;  ///< sample_stride(count)
  double relative = 0, absolute = 0;
  std::vector<double> values;          ///< floating dtypes
  std::vector<std::int64_t> integers;  ///< the others; u64 as its bits
};

/// <gradient, v> = J v, v uniform in [-1, 1): 2 check_uniform(seed, i) - 1 for element i of each
/// part.
struct CheckGradient {
  struct Part {
    std::uint32_t output = 0;
    std::uint64_t seed = 0;
  };
  std::vector<Part> parts;
  double expected = 0;   ///< J v
  double tolerance = 0;  ///< relative to the larger of |J v| and the sum of |gradient_i v_i|
};

/// One run of one function.
struct CheckCase {
  std::string function;
  std::vector<CheckInput> inputs;
  std::vector<CheckOutput> outputs;
  std::vector<CheckGradient> gradients;
};

/// The bytes of a check file for this artifact. std::invalid_argument when a case does not fit a
/// signature of it.
std::vector<std::byte> encode_check_file(const hd_artifact& artifact,
                                         std::span<const CheckCase> cases);

/// The bytes of the tensor that the self-test will make of `input`.
std::vector<std::byte> check_values(const CheckInput& input);

/// Element i of the stream `seed`, in [0, 1).
double check_uniform(std::uint64_t seed, std::uint64_t i);

/// 1 up to 4096 elements, else the odd stride that leaves at most 4096 of them.
std::uint64_t sample_stride(std::uint64_t count);

}  // namespace heddle

#endif  // HEDDLE_RUNTIME_CHECK_FILE_H_
