// Elements from one place to another, piece by piece: a tensor need not fit into memory.
#ifndef HEDDLE_BACKENDS_EAGER_TRANSFER_H_
#define HEDDLE_BACKENDS_EAGER_TRANSFER_H_

#include "heddle/backends/eager/storage.h"

namespace heddle {

/// A new tensor of the same elements on `carrier`. Errors as to_literal and new_tensor.
Tensor copied(const Tensor& tensor, const Carrier& carrier);
/// The tensor itself, without a past, when it is on `carrier` or a literal; else a copy.
Tensor on_carrier(const Tensor& tensor, const Carrier& carrier);
/// As many elements as `into` has bytes for, from number `first` on. Errors as to_literal.
void read_elements(const Tensor& tensor, std::int64_t first, std::span<std::byte> into);
/// Every element the same. ValueError as splat.
Tensor filled(const Type& type, double element, const Carrier& carrier);
/// Overwrites the elements from number `first` on: all of them or, when it throws, none; the
/// version grows by one. `source`: of the same dtype; its elements from number 0 on.
void overwrite(CarrierStorage& storage, std::int64_t first, const Tensor& source);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_TRANSFER_H_
