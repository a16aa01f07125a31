// A sequence of stages, each shown to an observer and verified.
#ifndef HEDDLE_BACKENDS_PIPELINE_H_
#define HEDDLE_BACKENDS_PIPELINE_H_

#include <functional>
#include <string>
#include <string_view>

#include "heddle/graph/error.h"
#include "heddle/graph/program.h"

namespace heddle {

/// Called after each stage with its name, the seconds it took, and a function that gives the
/// stage's result as text.
using StageObserver = std::function<void(std::string_view stage, double seconds,
                                         const std::function<std::string()>& text)>;

class Pipeline {
 public:
  explicit Pipeline(const StageObserver& observer) : observer_(observer) {}

  /// What `stage` gives. The observer sees it before it is verified. An InternalError of the stage
  /// or of its verification begins with "pass 'name': "; errors of the user's program, which name
  /// the operation and its line, pass unchanged.
  template <class T>
  T run(std::string_view name, const std::function<T()>& stage,
        const std::function<std::string(const T&)>& text,
        const std::function<void(const T&)>& verify_result = nullptr) const {
    return named(name, [&] {
      const double start = now();
      T result = stage();
      const double seconds = now() - start;
      if (observer_) observer_(name, seconds, [&] { return text(result); });
      if (verify_result) verify_result(result);
      return result;
    });
  }
  /// A stage from programs to programs. Verified in builds with HEDDLE_VERIFY.
  Program pass(std::string_view name, const Program& program,
               const std::function<Program(const Program&)>& transform) const;

 private:
  static double now();
  [[noreturn]] static void fail(std::string_view name, const std::string& message);

  template <class F>
  static auto named(std::string_view name, F f) {
    try {
      return f();
    } catch (const InternalError& e) {
      fail(name, e.detail().message);
    }
  }

  const StageObserver& observer_;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_PIPELINE_H_
