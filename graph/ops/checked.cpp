// Exact integer results that must fit: what checked arithmetic ends with.
#include <limits>

#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/record.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

Types infer_narrow(At at) {
  check_operand_count(at, 1);
  check_dtype(at, 0, DType::i64);
  return {{DType::i32, at.operands[0].dims}};
}

// Sums that no i64 holds come as one of the 2^32 farthest (checked_matmul).
std::string in_words(std::int64_t x) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() - 0xffffffff;
  return x >= kFar || x < -kFar ? "a number of 64 bits or more" : std::to_string(x);
}

Literals evaluate_narrow(At at, Inputs in) {
  std::vector<std::int32_t> out;
  for (const std::int64_t x : view<std::int64_t>(in[0])) {
    out.push_back(static_cast<std::int32_t>(x));
    if (out.back() == x) continue;
    operation_error<OverflowError>(at, "an exact result does not fit", "", in_words(x), "an i32");
  }
  return {make_literal<std::int32_t>(in[0].type.dims, std::span<const std::int32_t>(out))};
}

std::vector<Workload> narrow_rows() {
  return {{.operands = {type_of(DType::i64, {7, 13})}, .order = 0},
          {.operands = {type_of(DType::i64)}, .order = 0},
          {.operands = {type_of(DType::i64, {0, 3})}, .order = 0}};
}

}  // namespace

constinit const Operation op_narrow = define_op(
    {.name = "narrow",
     .strict = {.roles = first<1>(kNoGrad),
                .traits = kElementwise | kFusable,
                .infer = infer_narrow,
                .evaluate = evaluate_narrow,
                .workloads = narrow_rows,
                .rtol = 0,
                .atol = 0,
                .text = "x as an i32; a value that does not fit makes the whole call fail with an "
                        "OverflowError.\nC1 x is i64."}});

}  // namespace heddle
