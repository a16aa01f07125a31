// Concrete tensors: a block of host memory, and the carrier that computes on it.
#ifndef HEDDLE_BACKENDS_EAGER_STORAGE_H_
#define HEDDLE_BACKENDS_EAGER_STORAGE_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "heddle/graph/tensor.h"

namespace heddle {

/// Which of Heddle's own kernels run on a carrier: compiled ones, the interpreter, or none.
enum class BuiltInKernels : std::uint8_t { none, compiled, interpreted };
class CarrierKernels;

/// What computes a call. Its address is its identity; it lives as long as the process.
struct Carrier {
  Carrier(std::string called, BuiltInKernels own, CarrierKernels* all)
      : name(std::move(called)), built_in(own), kernels(all) {}
  Carrier(const Carrier&) = delete;

  const std::string name;
  const BuiltInKernels built_in;
  CarrierKernels* const kernels;  ///< those, and what packs bring (pack.h)
};
/// Compiled kernels. Where tensors live unless said otherwise.
const Carrier& cpu_carrier();
/// The interpreter: slow and exact.
const Carrier& reference_carrier();
/// By name; NotAvailableError lists the names there are.
const Carrier& find_carrier(std::string_view name);

/// Aligned to 64. Large blocks are kept for the next tensor of about that size.
class HostBlock {
 public:
  explicit HostBlock(std::size_t bytes);
  ~HostBlock();
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

class HostStorage final : public Storage {
 public:
  HostStorage(const Carrier& carrier, std::size_t bytes)
      : carrier_(carrier), bytes_(bytes), block_(std::make_unique<HostBlock>(bytes)) {}

  const void* carrier() const override { return &carrier_; }
  const Carrier& carrier_object() const { return carrier_; }
  bool released() const override { return block_ == nullptr; }
  std::uint64_t version() const override { return version_; }
  const std::byte* host() const override { return block_ ? block_->data() : nullptr; }

  std::byte* data() { return block_->data(); }
  std::size_t bytes() const { return bytes_; }
  void changed() { ++version_; }
  void set_version(std::uint64_t version) { version_ = version; }
  /// The elements and the version of an earlier moment, released since or not.
  void restore(std::span<const std::byte> bytes, std::uint64_t version);
  /// Gives the memory back; every use from here on is a ReleasedError.
  void release() { block_ = nullptr; }

 private:
  const Carrier& carrier_;
  const std::size_t bytes_;
  std::unique_ptr<HostBlock> block_;
  std::atomic<std::uint64_t> version_ = 0;
};

/// Null when the tensor is none of these.
HostStorage* host_storage(const Tensor& tensor);
/// Uninitialised. From the first one on the carrier takes no more kernels.
Tensor new_tensor(const Type& type, const Carrier& carrier);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_STORAGE_H_
