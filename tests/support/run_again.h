// The running test once more, in a process of its own: for limits and surroundings that a process
// has only once.
#ifndef HEDDLE_TESTS_SUPPORT_RUN_AGAIN_H_
#define HEDDLE_TESTS_SUPPORT_RUN_AGAIN_H_

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace heddle::testing {

/// With `variable` ("NAME=value") in its environment, by which the test knows that it is the child.
/// Its exit code; -1 when it has none.
inline int run_again(std::string variable) {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  std::string filter = std::string("--gtest_filter=") + test.test_suite_name() + "." + test.name();
  std::string program = "child";
  char* arguments[] = {program.data(), filter.data(), nullptr};
  std::vector<char*> variables;
  for (char** v = environ; *v != nullptr; ++v) variables.push_back(*v);
  variables.insert(variables.end(), {variable.data(), nullptr});
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, variables.data()) != 0) {
    return -1;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_SUPPORT_RUN_AGAIN_H_
