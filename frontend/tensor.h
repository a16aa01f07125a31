// Tensors as a person writes with them: operators, and operands that remember the caller's line.
#ifndef HEDDLE_FRONTEND_TENSOR_H_
#define HEDDLE_FRONTEND_TENSOR_H_

#include <cstdint>
#include <source_location>

#include "heddle/graph/call.h"

namespace heddle {

/// An operand: a tensor or a number, and where it stands in the user's source. Made by implicit
/// conversion, so that `a + 2.0f` knows its line. A number of any arithmetic type is weak: it takes
/// the tensor's dtype. Only a whole number keeps an integer tensor one: with any other, `bool` too,
/// the tensor becomes f32; and where all are numbers, whole ones are i32, others f32.
class TensorArg {
 public:
  TensorArg(const Tensor& t, Location w = std::source_location::current())  // NOLINT
      : operand_(t), where_(w) {}
  /// The one result of an extension's call.
  TensorArg(const CallResults& r, Location w = std::source_location::current())  // NOLINT
      : operand_(with_context({.where = w}, [&] { return static_cast<Tensor>(r); })), where_(w) {}
  /// Any number; errors as weak_scalar.
  template <class T>
  requires std::is_arithmetic_v<T> TensorArg(
      T v, Location w = std::source_location::current())  // NOLINT
      : operand_(weak_scalar(v, w)), where_(w) {}

  const Operand& operand() const { return operand_; }
  const Location& where() const { return where_; }

 private:
  Operand operand_;
  Location where_;
};

// Elementwise, broadcasting right-aligned as NumPy does.
Tensor operator-(TensorArg x);
Tensor operator+(TensorArg x, TensorArg y);
Tensor operator-(TensorArg x, TensorArg y);
Tensor operator*(TensorArg x, TensorArg y);
Tensor operator/(TensorArg x, TensorArg y);
/// Of bool tensors element by element, of integers bit by bit.
Tensor operator&(TensorArg x, TensorArg y);
Tensor operator|(TensorArg x, TensorArg y);
Tensor operator^(TensorArg x, TensorArg y);
/// Comparisons give bool tensors; for equality write equal(x, y).
Tensor operator<(TensorArg x, TensorArg y);
Tensor operator<=(TensorArg x, TensorArg y);
Tensor operator>(TensorArg x, TensorArg y);
Tensor operator>=(TensorArg x, TensorArg y);

// Types: f32({32, 784}) is f32[32,784], f32({}) a scalar.
inline Type f32(Dims dims) { return {DType::f32, std::move(dims)}; }
inline Type f64(Dims dims) { return {DType::f64, std::move(dims)}; }
inline Type i32(Dims dims) { return {DType::i32, std::move(dims)}; }
inline Type boolean(Dims dims) { return {DType::boolean, std::move(dims)}; }

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_TENSOR_H_
