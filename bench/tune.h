// The sweep that measures schedule/tuned.def.
#ifndef HEDDLE_BENCH_TUNE_H_
#define HEDDLE_BENCH_TUNE_H_

namespace heddle::bench {

/// Measures the line of tuned.def for this machine, one column after the other, on one thread: how
/// fast each candidate is beside the present number, then the line. A candidate is taken when it is
/// faster by 2 % on its works together. Some minutes; words about progress on standard error.
void tune();

}  // namespace heddle::bench

#endif  // HEDDLE_BENCH_TUNE_H_
