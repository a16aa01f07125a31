// Status codes of the core as names, and as an exception for C++ callers.
#ifndef HEDDLE_RUNTIME_STATUS_H_
#define HEDDLE_RUNTIME_STATUS_H_

#include <stdexcept>
#include <string>

#include "heddle/runtime/core/abi.h"

namespace heddle {

/// "HD_MISMATCH"; "?" for a number that is no status.
const char* status_name(int status);

/// A call of the core that did not return HD_OK; what() is its text.
class StatusError : public std::runtime_error {
 public:
  StatusError(int status, const std::string& text) : std::runtime_error(text), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

}  // namespace heddle

#endif  // HEDDLE_RUNTIME_STATUS_H_
