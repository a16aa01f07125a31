// A kernel for one operation on one carrier, registered while the program starts.
//
//   HEDDLE_REGISTER_KERNEL("acme.square", "cpu", hd::host_kernel(square_in_c));
//
// It is a pack of one kernel for any dtypes (the key has none: the kernel tells dtypes apart once,
// when it is prepared) and comes before the carrier's own. Operation and carrier exist already:
// built in, defined further up in the same source, or by a library that this program links.
#ifndef HEDDLE_BACKENDS_REGISTER_KERNEL_H_
#define HEDDLE_BACKENDS_REGISTER_KERNEL_H_

#include <string_view>

#include "heddle/backends/eager/pack.h"

namespace heddle {

/// What the macro does, at any time before the carrier is used. ValueError: an unknown operation,
/// or one that has such a kernel on this carrier; NotAvailableError: an unknown carrier; TypeError:
/// an empty kernel, or a carrier in use.
void register_kernel(std::string_view operation, std::string_view carrier, PrepareFunction kernel,
                     Location where = std::source_location::current());

namespace internal {
/// An error ends the process, with operation, carrier and the reason on stderr.
bool register_kernel_or_abort(const char* operation, const char* carrier,
                              PrepareFunction (*kernel)(),
                              Location where = std::source_location::current());
}  // namespace internal

#define HEDDLE_JOIN_NAMES(a, b) a##b
#define HEDDLE_KERNEL_VARIABLE(line) HEDDLE_JOIN_NAMES(heddle_registered_kernel_, line)
/// At namespace scope.
#define HEDDLE_REGISTER_KERNEL(operation, carrier, ...)          \
  [[maybe_unused]] const bool HEDDLE_KERNEL_VARIABLE(__LINE__) = \
      ::heddle::internal::register_kernel_or_abort(              \
          operation, carrier, []() -> ::heddle::PrepareFunction { return __VA_ARGS__; })

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_REGISTER_KERNEL_H_
