// Runs another program and waits for it.
#ifndef HEDDLE_BACKENDS_PROCESS_H_
#define HEDDLE_BACKENDS_PROCESS_H_

#include <string>
#include <vector>

namespace heddle {

struct ProcessResult {
  int exit_code = -1;  ///< when it ended by itself
  int signal = 0;      ///< when it was killed
  bool timed_out = false;
  std::string failure;  ///< why it could not be started
  std::string output_text, error_text;

  bool succeeded() const { return exit_code == 0 && signal == 0 && failure.empty(); }
  /// "exit code 1", "killed by signal 9", "stopped after 600 s", "cannot start: ..."
  std::string how_it_ended() const;
};

/// Standard input is empty; both outputs go through the files `base`.out and `base`.err. The
/// environment is ours without HL_* variables and with the C locale, so that a compiler's output
/// does not depend on it. Killed after `most_seconds` (0: never). `folder`: where it runs; empty:
/// where we are.
ProcessResult run_process(const std::vector<std::string>& command, const std::string& base,
                          int most_seconds, const std::string& folder = "");

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_PROCESS_H_
