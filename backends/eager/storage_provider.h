// Tensors that are not in host memory: a carrier says how to store and reach their elements.
#ifndef HEDDLE_BACKENDS_EAGER_STORAGE_PROVIDER_H_
#define HEDDLE_BACKENDS_EAGER_STORAGE_PROVIDER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "heddle/backends/eager/storage.h"

namespace heddle {

/// One allocation, in the provider's own terms.
using StorageHandle = std::shared_ptr<void>;

/// All six are needed: TypeError when the carrier is defined. Offsets and lengths are bytes of the
/// dense row-major elements, whatever the physical form. Any number of threads may call; those that
/// write one allocation come one at a time. What they throw passes to whoever asked.
struct StorageProvider {
  std::function<bool(DType)> supports_dtype;
  /// Bytes that a tensor takes. ValueError where it is asked when negative.
  std::function<std::int64_t(const Type&)> physical_size;
  /// TypeError where it is asked when null. The elements may be anything.
  std::function<StorageHandle(std::int64_t physical_size)> allocate;
  /// Once per allocation, after its last use.
  std::function<void(const StorageHandle&)> release;
  std::function<void(const StorageHandle&, std::size_t offset, std::span<std::byte> into)> read;
  std::function<void(const StorageHandle&, std::size_t offset, std::span<const std::byte> from)>
      write;
};

/// Of a carrier with a storage provider. TypeError for a dtype that it does not store.
std::size_t physical_bytes(const Type& type, const Carrier& carrier);
/// A snapshot of it copies nothing: pages are copied, into an allocation of the same provider, when
/// they are first overwritten. Snapshots of any number of threads may live at once.
std::shared_ptr<CarrierStorage> provided_storage(const Type& type, const Carrier& carrier);
/// The allocation of a tensor on such a carrier, which lives as long as the handle. Null when it
/// was released, or is elsewhere. Who writes by it does so before anybody else has the tensor.
StorageHandle storage_handle(const Tensor& tensor);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_STORAGE_PROVIDER_H_
