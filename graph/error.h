// The errors of everything above the runtime: one tree, one form.
//
//   [matmul] model.cpp:41: inner extents differ: x is f32[32,784], y is f32[512,10]; K is 784 from
//   x and 512 from y
//
// An error says the step of the call it comes from (requirements 3.5), the operation, the field
// (such as "operands[1].dtype"), what was found, what was needed, and the caller's own file and
// line.
#ifndef HEDDLE_GRAPH_ERROR_H_
#define HEDDLE_GRAPH_ERROR_H_

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace heddle {

/// A place in the user's source. `file` lives as long as the process (a literal or an interned
/// string); null: unknown.
struct Location {
  const char* file = nullptr;
  std::uint32_t line = 0;

  constexpr Location() = default;
  constexpr Location(const char* f, std::uint32_t l) : file(f), line(l) {}
  constexpr Location(const std::source_location& s) : file(s.file_name()), line(s.line()) {}
  bool operator==(const Location&) const = default;
};

/// "model.cpp:41" (the path's last component), or "" when unknown.
std::string to_text(const Location& location);

/// What an error is about. Fill what is known; `message` alone is enough for an error without an
/// operation.
struct ErrorDetail {
  std::string message;
  int step = 0;           ///< 1-29 of the call path, 0 outside a call
  std::string operation;  ///< "matmul"
  std::string field;      ///< "operands[1].dtype"
  std::string found;      ///< "f32[512,10]"
  std::string needed;     ///< "f32[784,N]"
  std::string carrier;    ///< "cpu": where a kernel was prepared or run
  Location where;
};

class Error : public std::runtime_error {
 public:
  explicit Error(ErrorDetail detail);
  const ErrorDetail& detail() const { return detail_; }
  /// In a handler of this error: throws one of the same class with another detail. Of a class that
  /// is derived elsewhere: the error itself.
  [[noreturn]] void rethrow_with(ErrorDetail detail) const;

 private:
  virtual void throw_same(ErrorDetail detail) const;
  ErrorDetail detail_;
};

#define HEDDLE_ERROR(name, base)                                        \
  class name : public base {                                            \
   public:                                                              \
    using base::base;                                                   \
                                                                        \
   private:                                                             \
    void throw_same(ErrorDetail detail) const override {                \
      if (typeid(*this) == typeid(name)) throw name(std::move(detail)); \
    }                                                                   \
  }
HEDDLE_ERROR(TypeError, Error);   ///< wrong kind, count or dtype of an operand or option
HEDDLE_ERROR(ValueError, Error);  ///< right type, wrong value: shapes, axes, names
HEDDLE_ERROR(CheckError, ValueError);
HEDDLE_ERROR(AmbiguousDispatchError, ValueError);
HEDDLE_ERROR(AmbiguousTargetError, ValueError);
HEDDLE_ERROR(OverflowError, Error);
HEDDLE_ERROR(RuntimeError, Error);
HEDDLE_ERROR(ProviderContractError, RuntimeError);
HEDDLE_ERROR(SavedVersionError, RuntimeError);
HEDDLE_ERROR(ReleasedError, RuntimeError);
HEDDLE_ERROR(GraphFreedError, RuntimeError);
HEDDLE_ERROR(NotImplementedError, Error);
HEDDLE_ERROR(UnsupportedOperationPlan, NotImplementedError);
HEDDLE_ERROR(NotAvailableError, Error);
HEDDLE_ERROR(UnsupportedAdError, Error);  ///< no derivative rule; never a dropped tangent
HEDDLE_ERROR(CompileError, Error);        ///< a kernel, or the linker, failed; names the kernel
HEDDLE_ERROR(ParseError, Error);          ///< program text, with file:line:column
HEDDLE_ERROR(InternalError, Error);       ///< ours, never the user's
#undef HEDDLE_ERROR

/// What is known where something runs, for the errors that it throws.
struct ErrorContext {
  std::string_view operation{};
  int step = 0;
  std::string_view carrier{};
  Location where{};
};
/// In a handler: the same error with what it does not say itself.
[[noreturn]] void rethrow_in(const ErrorContext& context, const Error& error);

/// Runs `f`. An error of the classes above that it throws gets what it does not say itself:
/// operation, step, carrier, place. InternalError, classes derived elsewhere and foreign exceptions
/// pass as they are.
template <class F>
decltype(auto) with_context(const ErrorContext& context, F&& f) {
  try {
    return f();
  } catch (const Error& e) {
    rethrow_in(context, e);
  }
}

/// Throws InternalError unless `holds`. For invariants of ours; user input gets a typed error
/// instead.
inline void internal_check(bool holds, std::string_view what,
                           std::source_location where = std::source_location::current()) {
  if (!holds) {
    throw InternalError({.message = "internal error: " + std::string(what), .where = where});
  }
}

}  // namespace heddle

#endif  // HEDDLE_GRAPH_ERROR_H_
