// Concrete tensors: where their elements are, and the carrier that computes on them.
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
struct CompositeProvider;
struct StorageProvider;

/// What computes a call. Its address is its identity; it lives as long as the process.
struct Carrier {
  const std::string name;
  const BuiltInKernels built_in;
  CarrierKernels* const kernels;             ///< those, and what packs bring (pack.h)
  const CompositeProvider* const composite;  ///< not null: it computes by other carriers
  const StorageProvider* const storage;      ///< null: its tensors are in host memory

  Carrier(const Carrier&) = delete;
  Carrier(std::string called, BuiltInKernels own, CarrierKernels* all,
          const CompositeProvider* by_others, const StorageProvider* elsewhere)
      : name(std::move(called)),
        built_in(own),
        kernels(all),
        composite(by_others),
        storage(elsewhere) {}
};
/// Compiled kernels. Where tensors live unless said otherwise.
const Carrier& cpu_carrier();
/// The interpreter: slow and exact.
const Carrier& reference_carrier();
/// By name; NotAvailableError lists the names there are.
const Carrier& find_carrier(std::string_view name,
                            Location where = std::source_location::current());

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

/// The elements and the version of a storage as they were, for as long as it lives.
class StorageSnapshot {
 public:
  virtual ~StorageSnapshot() = default;
  /// The storage has other elements now. Not for a released one.
  virtual bool changed() const = 0;
  /// The elements and the version are as they were, whether released since or not.
  virtual void restore() = 0;
};

/// The storage of a tensor that lives on a carrier. `write` does not count as a change: who is done
/// writing says `changed`.
class CarrierStorage : public Storage {
 public:
  CarrierStorage(const Carrier& carrier, std::size_t bytes) : carrier_(carrier), bytes_(bytes) {}

  const void* carrier() const override { return &carrier_; }
  const Carrier& carrier_object() const { return carrier_; }
  std::uint64_t version() const override { return version_; }
  /// What it takes where it is; the elements themselves are byte_count(type).
  std::size_t bytes() const { return bytes_; }
  void changed() { ++version_; }
  void set_version(std::uint64_t version) { version_ = version; }
  /// From byte `offset` of the dense row-major elements on. RuntimeError when the medium fails.
  virtual void write(std::size_t offset, std::span<const std::byte> from) = 0;
  /// Gives the memory back; every use from here on is a ReleasedError.
  virtual void release() = 0;
  virtual std::unique_ptr<StorageSnapshot> snapshot() = 0;

 private:
  const Carrier& carrier_;
  const std::size_t bytes_;
  std::atomic<std::uint64_t> version_ = 0;
};

class HostStorage final : public CarrierStorage {
 public:
  HostStorage(const Carrier& carrier, std::size_t bytes)
      : CarrierStorage(carrier, bytes), block_(std::make_unique<HostBlock>(bytes)) {}

  bool released() const override { return block_ == nullptr; }
  const std::byte* host() const override { return block_ ? block_->data() : nullptr; }
  std::byte* data() { return block_->data(); }
  void write(std::size_t offset, std::span<const std::byte> from) override;
  void release() override { block_ = nullptr; }
  /// Copies the elements.
  std::unique_ptr<StorageSnapshot> snapshot() override;

 private:
  class Copy;
  std::unique_ptr<HostBlock> block_;
};

/// Null when the tensor is on no carrier: empty, traced, or a literal.
CarrierStorage* carrier_storage(const Tensor& tensor);
/// Null when it is not in a carrier's host memory.
HostStorage* host_storage(const Tensor& tensor);
/// Uninitialised. From the first one on the carrier takes no more kernels. TypeError for a dtype
/// that the carrier does not store, RuntimeError when there is no room.
Tensor new_tensor(const Type& type, const Carrier& carrier);
/// What the storage of such a tensor has for `bytes`.
std::size_t storage_bytes(const Type& type, const Carrier& carrier);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_STORAGE_H_
