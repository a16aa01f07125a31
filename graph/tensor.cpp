#include "heddle/graph/tensor.h"

namespace heddle {
namespace {
// Its address says "host memory".
constexpr char kHost = 0;
}  // namespace

const void* TraceStorage::carrier() const { return builder_.lock().get(); }

const void* LiteralStorage::carrier() const { return &kHost; }

const TraceStorage* traced(const Tensor& tensor) {
  return dynamic_cast<const TraceStorage*>(tensor.storage().get());
}

const LiteralStorage* concrete(const Tensor& tensor) {
  return dynamic_cast<const LiteralStorage*>(tensor.storage().get());
}

Tensor make_tensor(Literal literal) {
  Type type = literal.type;
  return {std::move(type), std::make_shared<LiteralStorage>(std::move(literal))};
}

Tensor::operator bool() const {
  if (const TraceStorage* storage = traced(*this)) {
    Location made;
    if (const auto builder = storage->builder()) {
      const Node* node = builder->definition(storage->value());
      if (node != nullptr) made = node->where;
    }
    throw ValueError({.message = "a traced tensor has no value to branch on: use hd::where, or "
                                 "decide outside the trace",
                      .found = to_text(type_),
                      .where = made});
  }
  const LiteralStorage* storage = concrete(*this);
  if (storage == nullptr || !type_.dims.empty()) {
    throw ValueError({.message = "only a concrete scalar is true or false",
                      .found = empty() ? "an empty tensor" : to_text(type_)});
  }
  return element_as_double(storage->literal(), 0) != 0;
}

}  // namespace heddle
