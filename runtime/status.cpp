#include "heddle/runtime/status.h"

namespace heddle {

const char* status_name(int status) {
  static constexpr const char* kNames[] = {
      "HD_OK",        "HD_INVALID",      "HD_MISMATCH",  "HD_OVERLAP",       "HD_BUSY",
      "HD_CANCELLED", "HD_FAULT",        "HD_NONFINITE", "HD_KERNEL_FAILED", "HD_UNSUPPORTED",
      "HD_NO_MEMORY", "HD_BAD_ARTIFACT", "HD_WRONG_CPU", "HD_BAD_FILE",      "HD_SELFTEST_FAILED",
      "HD_NO_DEVICE", "HD_DEVICE_FAILED"};
  return status >= HD_OK && status <= HD_DEVICE_FAILED ? kNames[status] : "?";
}

}  // namespace heddle
