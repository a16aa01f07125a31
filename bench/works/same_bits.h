#ifndef HEDDLE_BENCH_WORKS_SAME_BITS_H_
#define HEDDLE_BENCH_WORKS_SAME_BITS_H_

#include "bench/works/works.h"

namespace heddle::bench {

/// Whether two runs, one behind the other, leave the same bits in every argument and result with 1,
/// 2 and 4 threads.
bool has_same_bits(const Work& work);

}  // namespace heddle::bench

#endif  // HEDDLE_BENCH_WORKS_SAME_BITS_H_
