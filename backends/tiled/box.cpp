#include "heddle/backends/tiled/box.h"

#include <functional>
#include <numeric>

#include "heddle/graph/error.h"

namespace heddle {
namespace {

// run(offset in the tensor, offset in the box, size), in bytes, for every stretch of the box that
// is one stretch of the tensor.
template <class F>
void for_each_run(const Type& type, const Box& box, F run) {
  const Extents dims = constant_extents(type.dims);
  const std::size_t size = size_of(type.dtype);
  // Axes from `inner` on are whole; one more is a stretch, too.
  std::size_t inner = dims.size();
  while (inner > 0 && box.extent[inner - 1] == dims[inner - 1]) --inner;
  const std::size_t outer = inner == 0 ? 0 : inner - 1;
  std::int64_t length = 1;
  for (std::size_t a = outer; a < dims.size(); ++a) length *= box.extent[a];
  if (element_count(box.extent) == 0) return;
  Extents strides(dims.size(), 1);
  for (std::size_t a = dims.size(); a-- > 1;) strides[a - 1] = strides[a] * dims[a];
  Extents index(outer, 0);
  for (std::int64_t done = 0, all = element_count(box.extent); done < all; done += length) {
    std::int64_t offset = 0;
    for (std::size_t a = 0; a < dims.size(); ++a) {
      offset += (box.start[a] + (a < outer ? index[a] : 0)) * strides[a];
    }
    run(static_cast<std::size_t>(offset) * size, static_cast<std::size_t>(done) * size,
        static_cast<std::size_t>(length) * size);
    for (std::size_t a = outer; a-- > 0;) {
      if (++index[a] < box.extent[a]) break;
      index[a] = 0;
    }
  }
}

}  // namespace

std::int64_t element_count(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

void read_box(const Tensor& tensor, const Box& box, std::span<std::byte> into) {
  const Storage& storage = *tensor.storage();
  for_each_run(tensor.type(), box, [&](std::size_t from, std::size_t to, std::size_t size) {
    if (!storage.read(from, into.subspan(to, size))) {
      throw ReleasedError({.message = "an operand was released while the operation ran",
                           .found = to_text(tensor.type())});
    }
  });
}

void write_box(const Tensor& tensor, const Box& box, std::span<const std::byte> from) {
  CarrierStorage* storage = carrier_storage(tensor);
  for_each_run(tensor.type(), box, [&](std::size_t to, std::size_t at, std::size_t size) {
    storage->write(to, from.subspan(at, size));
  });
}

}  // namespace heddle
