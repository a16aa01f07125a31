// Single operations: matrix products against OpenBLAS, sums against each other, row kernels.
#include <cblas.h>

#include "bench/compare.h"
#include "heddle/frontend/heddle.h"

namespace heddle::bench {
namespace {

struct Matrices {
  Matrices(int m, int k, int n) : a(count(m, k), 0.5f), b(count(k, n), 0.25f), c(count(m, n)) {}
  static std::size_t count(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }
  std::vector<float> a, b, c;
};

struct Product {
  int m, k, n;
  bool transpose_a = false, transpose_b = false;

  std::string name() const {
    const std::string layout = std::string(transpose_a ? "T" : "N") + (transpose_b ? "T" : "N");
    const std::string sizes =
        m == k && k == n ? std::to_string(m)
                         : std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
    return "gemm/" + layout + "/" + sizes;
  }
};

Program program(const Product& p) {
  return trace(
      [=](const Tensor& x, const Tensor& y) {
        return matmul(p.transpose_a ? transpose(x) : x, p.transpose_b ? transpose(y) : y);
      },
      {p.transpose_a ? f32({p.k, p.m}) : f32({p.m, p.k}),
       p.transpose_b ? f32({p.n, p.k}) : f32({p.k, p.n})});
}

void add_gemm(const Product& p, int threads) {
  const std::string work = p.name() + "/threads:" + std::to_string(threads);
  add_lazily(work + "/heddle", [=] { return std::make_shared<Bound>(program(p), threads); });
  auto m = std::make_shared<Matrices>(p.m, p.k, p.n);
  add(
      work + "/openblas",
      [=] {
        openblas_set_num_threads(threads);
        cblas_sgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans,
                    p.transpose_b ? CblasTrans : CblasNoTrans, p.m, p.n, p.k, 1, m->a.data(),
                    p.transpose_a ? p.m : p.k, m->b.data(), p.transpose_b ? p.k : p.n, 0,
                    m->c.data(), p.n);
      },
      2.0 * p.m * p.k * p.n);
}

void add_one(const std::string& name, const Program& program, int threads, double bytes) {
  auto ours = std::make_shared<Bound>(program, threads);
  add(
      name + "/threads:" + std::to_string(threads) + "/heddle", [ours] { (*ours)(); }, 0, bytes);
}

const bool registered = [] {
  for (int threads : {1, 2}) {
    for (bool tb : {false, true}) {
      for (int n : {512, 1024}) add_gemm({n, n, n, false, tb}, threads);
      for (int m : {1, 8, 16, 128}) {
        add_gemm({m, 768, 3072, false, tb}, threads);
        add_gemm({m, 3072, 768, false, tb}, threads);
      }
    }
    add_gemm({512, 512, 512, true, false}, threads);
    add_gemm({1024, 1024, 1024, true, false}, threads);
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
