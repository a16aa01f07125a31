// Runs a misuse and gives the error's words.
#ifndef HEDDLE_TESTS_SUPPORT_EXPECT_ERROR_H_
#define HEDDLE_TESTS_SUPPORT_EXPECT_ERROR_H_

#include <gtest/gtest.h>

#include <string>

#include "heddle/graph/error.h"

namespace heddle::testing {

/// Fails the test unless `misuse` throws an E; returns what it says.
template <class E, class F>
std::string expect_error(F misuse) {
  try {
    misuse();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another error: " << e.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_SUPPORT_EXPECT_ERROR_H_
