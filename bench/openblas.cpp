// OpenBLAS beside our matrix products.
#include <cblas.h>

#include <vector>

#include "bench/compare.h"
#include "bench/works/products.h"

namespace heddle::bench {
namespace {

struct Matrices {
  Matrices(int m, int k, int n) : a(count(m, k), 0.5f), b(count(k, n), 0.25f), c(count(m, n)) {}
  static std::size_t count(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }
  std::vector<float> a, b, c;
};

void add_gemm(const Product& p, int threads) {
  auto m = std::make_shared<Matrices>(p.m, p.k, p.n);
  add(
      p.name() + "/threads:" + std::to_string(threads) + "/openblas",
      [=] {
        openblas_set_num_threads(threads);
        cblas_sgemm(CblasRowMajor, p.transpose_a ? CblasTrans : CblasNoTrans,
                    p.transpose_b ? CblasTrans : CblasNoTrans, p.m, p.n, p.k, 1, m->a.data(),
                    p.transpose_a ? p.m : p.k, m->b.data(), p.transpose_b ? p.k : p.n, 0,
                    m->c.data(), p.n);
      },
      2.0 * p.m * p.k * p.n);
}

const bool registered = [] {
  for (const Product& p : products()) {
    for (int threads : {1, 2}) add_gemm(p, threads);
  }
  return true;
}();

}  // namespace
}  // namespace heddle::bench
