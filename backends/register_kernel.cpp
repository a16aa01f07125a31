#include "heddle/backends/register_kernel.h"

#include <cstdio>
#include <cstdlib>

#include "heddle/graph/operation.h"

namespace heddle {

void register_kernel(std::string_view operation, std::string_view carrier, PrepareFunction kernel) {
  const Operation* op = find_operation(operation);
  if (op == nullptr) {
    throw ValueError({.message = "no such operation", .found = "'" + std::string(operation) + "'"});
  }
  // The pack's name is the operation's: a second kernel for the pair is a pack registered twice.
  const std::string name(operation);
  const Carrier& on = find_carrier(carrier);
  register_kernel_pack({.name = name,
                        .version = 1,
                        .carrier = on,
                        .patterns = {{*op, kAnyPlan, name + "." + on.name, std::move(kernel), 1}}});
}

namespace internal {

bool register_kernel_or_abort(const char* operation, const char* carrier,
                              PrepareFunction (*kernel)()) {
  try {
    register_kernel(operation, carrier, kernel());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle: the kernel for '%s' on '%s' cannot be registered: %s\n",
                 operation, carrier, e.what());
    std::abort();
  }
  return true;
}

}  // namespace internal
}  // namespace heddle
