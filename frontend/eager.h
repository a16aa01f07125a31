// Tensors with elements, here and now. Operations on them run at once, on the carrier they live on;
// the same functions that `trace` records. Errors carry the caller's file and line.
//
//   hd::Tensor x = hd::tensor({1, 2, 3, 4}, {2, 2});
//   hd::Tensor w = hd::tensor({0.5, -1, 2, 0}, {2, 2});
//   hd::require_gradient(w);
//   hd::backward(hd::sum(hd::tanh(hd::matmul(x, w)), {0, 1}));
//   hd::Tensor dw = *hd::gradient(w);
#ifndef HEDDLE_FRONTEND_EAGER_H_
#define HEDDLE_FRONTEND_EAGER_H_

#include <source_location>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/backends/eager/gradient.h"
#include "heddle/frontend/tensor.h"

namespace heddle {

/// Where the elements go: "cpu" (compiled kernels), "reference" (the interpreter), "tiled" (files,
/// for what does not fit into memory: backends/tiled/carrier.h), "opencl" and "metal" (a device's memory
/// and kernels: backends/on_device/carrier.h), or a carrier of one's own.
struct TensorOptions {
  DType dtype = DType::f32;
  std::string_view carrier = "cpu";
};
/// Elements in row-major order; a value that the dtype cannot hold is converted as `convert` does.
/// ValueError when their number is not that of the extents. NotAvailableError for an unknown
/// carrier.
Tensor tensor(std::span<const double> elements, const std::vector<std::int64_t>& extents,
              const TensorOptions& options = {},
              std::source_location where = std::source_location::current());
Tensor tensor(std::initializer_list<double> elements, const std::vector<std::int64_t>& extents,
              const TensorOptions& options = {},
              std::source_location where = std::source_location::current());
/// Rank 0.
Tensor tensor(double element, const TensorOptions& options = {},
              std::source_location where = std::source_location::current());
Tensor tensor(const Literal& literal, std::string_view carrier = "cpu",
              std::source_location where = std::source_location::current());
/// Every element the same.
Tensor full(const std::vector<std::int64_t>& extents, double element,
            const TensorOptions& options = {},
            std::source_location where = std::source_location::current());
Tensor zeros(const std::vector<std::int64_t>& extents, const TensorOptions& options = {},
             std::source_location where = std::source_location::current());
/// Elements are anything until `assign` writes them.
Tensor empty(const std::vector<std::int64_t>& extents, const TensorOptions& options = {},
             std::source_location where = std::source_location::current());

/// The same elements on another carrier: a copy, without a past.
Tensor on(const Tensor& tensor, std::string_view carrier,
          std::source_location where = std::source_location::current());
/// The elements in row-major order, converted. Errors as to_literal.
std::vector<double> elements(const Tensor& tensor,
                             std::source_location where = std::source_location::current());
/// `count` of them from number `first` on. ValueError when there are fewer.
std::vector<double> elements(const Tensor& tensor, std::int64_t first, std::int64_t count,
                             std::source_location where = std::source_location::current());
/// The one element; ValueError when there are several.
double item(const Tensor& tensor, std::source_location where = std::source_location::current());

/// Overwrites the elements of a concrete tensor in place; its version grows by one. Every handle
/// sees it, and a pass backwards that needs the old ones is refused. ValueError for another type.
void assign(const Tensor& tensor, const Tensor& elements,
            std::source_location where = std::source_location::current());
/// The same for elements from number `first` on, in row-major order; converted as tensor() does.
/// ValueError when there are fewer.
void assign(const Tensor& tensor, std::int64_t first, std::span<const double> elements,
            std::source_location where = std::source_location::current());
/// Gives the memory back now. Every later use is a ReleasedError.
void release(const Tensor& tensor, std::source_location where = std::source_location::current());

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_EAGER_H_
