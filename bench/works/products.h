// The matrix products of the table: OpenBLAS makes the same.
#ifndef HEDDLE_BENCH_WORKS_PRODUCTS_H_
#define HEDDLE_BENCH_WORKS_PRODUCTS_H_

#include <string>
#include <vector>

namespace heddle::bench {

/// [m, k] x [k, n]; a transposed one is stored as [k, m] or [n, k].
struct Product {
  int m, k, n;
  bool transpose_a = false, transpose_b = false;

  std::string name() const;  ///< "gemm/NT/8x768x3072", "gemm/NN/512"
};
std::vector<Product> products();

}  // namespace heddle::bench

#endif  // HEDDLE_BENCH_WORKS_PRODUCTS_H_
