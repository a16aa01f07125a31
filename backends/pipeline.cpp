#include "heddle/backends/pipeline.h"

#include <chrono>

#include "heddle/graph/error.h"
#include "heddle/graph/text.h"
#include "heddle/graph/verify.h"

namespace heddle {
namespace {

void verify_program([[maybe_unused]] const Program& program) {
#ifdef HEDDLE_VERIFY
  verify(program);
#endif
}

}  // namespace

double Pipeline::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Pipeline::fail(std::string_view name, const std::string& message) {
  throw InternalError({.message = "pass '" + std::string(name) + "': " + message});
}

Program Pipeline::pass(std::string_view name, const Program& program,
                       const std::function<Program(const Program&)>& transform) const {
  return run<Program>(
      name, [&] { return transform(program); }, [](const Program& p) { return to_text(p); },
      verify_program);
}

}  // namespace heddle
