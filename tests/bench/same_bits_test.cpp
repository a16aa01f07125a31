// Rows of the benchmarks' table, the cheaper ones: results are the same bits with 1, 2 and 4
// threads. `heddle_bench --same_bits` looks at all of them.
#include "bench/works/same_bits.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::testing {
namespace {

class Row : public ::testing::TestWithParam<const char*> {};

TEST_P(Row, HasTheSameBitsWithOneTwoAndFourThreads) {
  const std::vector<bench::Work> works = bench::works();
  const auto work = std::find_if(works.begin(), works.end(),
                                 [](const bench::Work& w) { return w.name == GetParam(); });
  ASSERT_NE(work, works.end()) << GetParam();
  EXPECT_TRUE(bench::has_same_bits(*work));
}

INSTANTIATE_TEST_SUITE_P(Cheap, Row,
                         ::testing::Values("gemm/NN/512", "gemm/NT/16x768x3072", "sum/first_axis",
                                           "row/softmax_grad", "row/layer_norm_grad", "net/mlp",
                                           "net/attention_128_causal_grad",
                                           "conv/depthwise_pointwise",
                                           "sim/lennard_jones_f32_forces", "move/embedding_grad",
                                           "train/digits", "special/softmax/nan"));

}  // namespace
}  // namespace heddle::testing
