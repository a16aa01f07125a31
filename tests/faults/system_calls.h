// The file system's calls of this program, counted, stopped or refused: the program is linked with
// --wrap for each of them.
#ifndef HEDDLE_TESTS_FAULTS_SYSTEM_CALLS_H_
#define HEDDLE_TESTS_FAULTS_SYSTEM_CALLS_H_

namespace heddle::testing {

/// What happens at call number `at` (0: at none) of open, write, fsync, close, rename, mkdir and
/// unlink together.
struct SystemCalls {
  enum What { count, kill_before, kill_after, no_space, half_written };
  What what = count;
  int at = 0;
  int made = 0;                 ///< so many calls were made
  bool owned_by_other = false;  ///< lstat says that everything belongs to somebody else
};
SystemCalls& system_calls();

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_FAULTS_SYSTEM_CALLS_H_
