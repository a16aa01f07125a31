#ifndef HEDDLE_BENCH_WORKS_SHIPPED_H_
#define HEDDLE_BENCH_WORKS_SHIPPED_H_

#include <string>

namespace heddle::bench {

/// Writes the libraries that bench/shipped.py measures into `folder`: mlp (its weights inside),
/// sixteen, mlp_step, transformer_step; each has one function, `run`.
void export_works(const std::string& folder);

}  // namespace heddle::bench

#endif  // HEDDLE_BENCH_WORKS_SHIPPED_H_
