#include "heddle/backends/register_kernel.h"

#include <cstdio>
#include <cstdlib>

#include "heddle/graph/operation.h"

namespace heddle {

void register_kernel(std::string_view operation, std::string_view carrier, PrepareFunction kernel,
                     Location where) {
  const Operation* op = find_operation(operation);
  if (op == nullptr) {
    throw ValueError({.message = "no such operation",
                      .found = "'" + std::string(operation) + "'",
                      .where = where});
  }
  // The pack's name is the operation's: a second kernel for the pair is a pack registered twice.
  const std::string name(operation);
  const Carrier& on = find_carrier(carrier, where);
  const KernelPattern one(*op, kAnyPlan, name + "." + on.name, std::move(kernel), 1, std::nullopt,
                          where);
  register_kernel_pack({.name = name, .version = 1, .carrier = on, .patterns = {one}}, where);
}

namespace internal {

bool register_kernel_or_abort(const char* operation, const char* carrier,
                              PrepareFunction (*kernel)(), Location where) {
  try {
    register_kernel(operation, carrier, kernel(), where);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle: the kernel for '%s' on '%s' cannot be registered: %s\n",
                 operation, carrier, e.what());
    std::abort();
  }
  return true;
}

}  // namespace internal
}  // namespace heddle
