// Single operations: matrix products against OpenBLAS, sums against each other, row kernels.
#include <cblas.h>

#include "bench/compare.h"
#include "heddle/frontend/heddle.h"

namespace heddle::bench {
namespace {

struct Matrices {
  explicit Matrices(int n) : a(count(n), 0.5f), b(count(n), 0.25f), c(count(n)) {}
  static std::size_t count(int n) {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  }
  std::vector<float> a, b, c;
};

void add_gemm(int n, int threads, bool transpose_a, bool transpose_b) {
  const double flops = 2.0 * n * n * n;
  const std::string layout = std::string(transpose_a ? "T" : "N") + (transpose_b ? "T" : "N");
  const std::string work =
      "gemm/" + layout + "/" + std::to_string(n) + "/threads:" + std::to_string(threads);
  const Program p = trace(
      [=](const Tensor& x, const Tensor& y) {
        return matmul(transpose_a ? transpose(x) : x, transpose_b ? transpose(y) : y);
      },
      {f32({n, n}), f32({n, n})});
  auto ours = std::make_shared<Bound>(p, threads);
  add(
      work + "/heddle", [ours] { (*ours)(); }, flops);
  auto m = std::make_shared<Matrices>(n);
  const auto ta = transpose_a ? CblasTrans : CblasNoTrans,
             tb = transpose_b ? CblasTrans : CblasNoTrans;
  add(
      work + "/openblas",
      [=] {
        openblas_set_num_threads(threads);
        cblas_sgemm(CblasRowMajor, ta, tb, n, n, n, 1, m->a.data(), n, m->b.data(), n, 0,
                    m->c.data(), n);
      },
      flops);
}

void add_one(const std::string& name, const Program& program, int threads, double bytes) {
  auto ours = std::make_shared<Bound>(program, threads);
  add(
      name + "/threads:" + std::to_string(threads) + "/heddle", [ours] { (*ours)(); }, 0, bytes);
}

const bool registered = [] {
  for (int threads : {1, 2}) {
    for (int n : {512, 1024}) add_gemm(n, threads, false, false);
    add_gemm(512, threads, false, true);
    add_gemm(512, threads, true, false);
    const Type square = f32({1024, 1024});
    const double bytes = 4.0 * 1024 * 1024;
    add_one("sum/first_axis", trace([](const Tensor& x) { return sum(x, {0}); }, {square}), threads,
            bytes);
    add_one("sum/last_axis", trace([](const Tensor& x) { return sum(x, {1}); }, {square}), threads,
            bytes);
    add_one("softmax", trace([](const Tensor& x) { return softmax(x); }, {square}), threads,
            2 * bytes);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::bench
