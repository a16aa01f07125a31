// The one Tensor: a type and a storage. What the storage is decides where operations on it run: a
// traced one belongs to a builder, a concrete one to a carrier.
#ifndef HEDDLE_GRAPH_TENSOR_H_
#define HEDDLE_GRAPH_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "heddle/graph/builder.h"

namespace heddle {

class Storage {
 public:
  virtual ~Storage() = default;
  virtual const void* carrier() const = 0;  ///< an opaque identity
  virtual bool released() const = 0;
  virtual std::uint64_t version() const = 0;  ///< one more after every change of the values
  /// The elements, dense and row-major, when they are in host memory; else null.
  virtual const std::byte* host() const { return nullptr; }
  /// Copies a range of them, wherever they are, from byte `offset` on. False: there are none to be
  /// had. RuntimeError when the medium fails.
  virtual bool read(std::size_t offset, std::span<std::byte> into) const;
};

/// Where a tensor stands in a record of calls that can be gone back through; backends/eager's own.
class GradientLink;

/// A handle: copies share the storage. A default-made one is empty and may only be assigned to.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Type type, std::shared_ptr<Storage> storage)
      : type_(std::move(type)), storage_(std::move(storage)) {}

  const Type& type() const { return type_; }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  bool empty() const { return storage_ == nullptr; }
  /// Null: no gradient flows into it.
  const std::shared_ptr<GradientLink>& gradient_link() const { return gradient_; }
  void set_gradient_link(std::shared_ptr<GradientLink> link) { gradient_ = std::move(link); }
  /// For `if (x < y)`. A traced tensor has no value yet: ValueError with the line that made it. A
  /// concrete one must be a scalar.
  explicit operator bool() const;

 private:
  Type type_;
  std::shared_ptr<Storage> storage_;
  std::shared_ptr<GradientLink> gradient_;
};

/// A value of a program under construction. Released when its trace ends: using it later is an
/// error, not a crash.
class TraceStorage final : public Storage {
 public:
  TraceStorage(std::shared_ptr<Builder> builder, ValueId value)
      : builder_(std::move(builder)), value_(value) {}

  const void* carrier() const override;
  bool released() const override { return builder_.expired(); }
  std::uint64_t version() const override { return 0; }
  /// Null when the trace has ended.
  std::shared_ptr<Builder> builder() const { return builder_.lock(); }
  ValueId value() const { return value_; }

 private:
  std::weak_ptr<Builder> builder_;
  ValueId value_;
};

/// Null when the tensor is not traced.
const TraceStorage* traced(const Tensor& tensor);

/// A concrete tensor in host memory, held as a literal: what `constant` and the interpreter use.
class LiteralStorage final : public Storage {
 public:
  explicit LiteralStorage(Literal literal) : literal_(std::move(literal)) {}
  const void* carrier() const override;
  bool released() const override { return false; }
  std::uint64_t version() const override { return 0; }
  const std::byte* host() const override { return literal_.bytes->data(); }
  const Literal& literal() const { return literal_; }

 private:
  Literal literal_;
};
const LiteralStorage* concrete(const Tensor& tensor);
Tensor make_tensor(Literal literal);
/// The carrier of literals: their elements are in host memory, which every carrier reads.
const void* host_carrier();
/// The elements of a concrete tensor. ValueError for a traced or empty one, ReleasedError for a
/// released one.
Literal to_literal(const Tensor& tensor, Location where = std::source_location::current());

}  // namespace heddle

#endif  // HEDDLE_GRAPH_TENSOR_H_
