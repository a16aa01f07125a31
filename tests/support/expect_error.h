// Runs a misuse and gives the error's words.
#ifndef HEDDLE_TESTS_SUPPORT_EXPECT_ERROR_H_
#define HEDDLE_TESTS_SUPPORT_EXPECT_ERROR_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "heddle/graph/error.h"

namespace heddle::testing {

/// Fails the test unless `misuse` throws an E, at that step of a call (0: any) and with those
/// words; returns what it says.
template <class E, class F>
std::string expect_error(F misuse, std::string_view words = "", int step = 0) {
  try {
    misuse();
  } catch (const E& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find(words), std::string::npos) << "looked for: " << words << "\nin: " << text;
    if (step != 0) {
      EXPECT_EQ(e.detail().step, step) << text;
    }
    return text;
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another error: " << e.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// An error's words behind the caller's place, "trace.cpp:41: ", which must be there.
inline std::string after_place(const std::string& text) {
  const std::size_t end = text.find(": ");
  EXPECT_TRUE(end != text.npos && text.substr(0, end).find(".cpp:") != text.npos) << text;
  return end == text.npos ? text : text.substr(end + 2);
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_SUPPORT_EXPECT_ERROR_H_
