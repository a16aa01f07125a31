#include "heddle/backends/eager/storage_provider.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "heddle/graph/error.h"

namespace heddle {
namespace {

// What a snapshot keeps at a time; also the largest buffer of a comparison.
constexpr std::size_t kPage = std::size_t{1} << 16;

// An allocation that is given back with its last owner: a tensor, or a snapshot of it.
class Allocation {
 public:
  Allocation(const StorageProvider& provider, std::size_t bytes)
      : provider_(provider), handle_(provider.allocate(static_cast<std::int64_t>(bytes))) {
    if (handle_ != nullptr) return;
    throw TypeError({.message = "a storage provider allocated nothing",
                     .field = "allocate",
                     .found = "null",
                     .needed = std::to_string(bytes) + " bytes"});
  }
  ~Allocation() { provider_.release(handle_); }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  void* handle() const { return handle_.get(); }
  void read(std::size_t offset, std::span<std::byte> into) const {
    if (!into.empty()) provider_.read(handle_, offset, into);
  }
  void write(std::size_t offset, std::span<const std::byte> from) {
    if (!from.empty()) provider_.write(handle_, offset, from);
  }

 private:
  const StorageProvider& provider_;
  const StorageHandle handle_;
};

class ProvidedStorage final : public CarrierStorage {
 public:
  ProvidedStorage(const Carrier& carrier, std::size_t physical, std::size_t elements)
      : CarrierStorage(carrier, physical),
        elements_(elements),
        allocation_(std::make_shared<Allocation>(*carrier.storage, physical)) {}

  bool released() const override { return current() == nullptr; }
  bool read(std::size_t offset, std::span<std::byte> into) const override {
    const std::shared_ptr<Allocation> own = current();
    if (own != nullptr) own->read(offset, into);
    return own != nullptr;
  }
  void write(std::size_t offset, std::span<const std::byte> from) override;
  void release() override {
    const std::lock_guard lock(mutex_);
    allocation_ = nullptr;
  }
  std::unique_ptr<StorageSnapshot> snapshot() override;
  StorageHandle handle() const {
    const std::shared_ptr<Allocation> own = current();
    return own == nullptr ? nullptr : StorageHandle(own, own->handle());
  }

 private:
  class Journal;

  std::shared_ptr<Allocation> current() const {
    const std::lock_guard lock(mutex_);
    return allocation_;
  }

  const std::size_t elements_;  // their bytes
  mutable std::mutex mutex_;
  std::shared_ptr<Allocation> allocation_;
  std::vector<Journal*> journals_;  // of the snapshots that live
};

// What pages held when the snapshot was taken: those that were written since.
class ProvidedStorage::Journal final : public StorageSnapshot {
 public:
  explicit Journal(ProvidedStorage& of)
      : storage_(of),
        version_(of.version()),
        before_(of.current()),
        kept_((of.elements_ + kPage - 1) / kPage, false) {
    const std::lock_guard lock(storage_.mutex_);
    storage_.journals_.push_back(this);
  }
  ~Journal() override {
    const std::lock_guard lock(storage_.mutex_);
    std::erase(storage_.journals_, this);
  }

  /// Under the storage's mutex, before the write.
  void keep(std::size_t offset, std::size_t size) {
    for (std::size_t p = offset / kPage; p * kPage < offset + size; ++p) {
      if (kept_[p]) continue;
      if (pages_ == nullptr) {
        pages_ = std::make_unique<Allocation>(*storage_.carrier_object().storage, storage_.bytes());
      }
      const std::vector<std::byte> page = page_of(*before_, p);
      pages_->write(p * kPage, page);
      kept_[p] = true;
    }
  }

  bool changed() const override {
    const std::lock_guard lock(storage_.mutex_);
    for (std::size_t p = 0; p < kept_.size(); ++p) {
      if (kept_[p] && page_of(*pages_, p) != page_of(*before_, p)) return true;
    }
    return false;
  }
  void restore() override {
    {
      const std::lock_guard lock(storage_.mutex_);
      storage_.allocation_ = before_;
    }
    for (std::size_t p = 0; p < kept_.size(); ++p) {
      if (kept_[p]) storage_.write(p * kPage, page_of(*pages_, p));
    }
    storage_.set_version(version_);
  }

 private:
  std::vector<std::byte> page_of(const Allocation& from, std::size_t p) const {
    std::vector<std::byte> page(std::min(kPage, storage_.elements_ - p * kPage));
    from.read(p * kPage, page);
    return page;
  }

  ProvidedStorage& storage_;
  const std::uint64_t version_;
  const std::shared_ptr<Allocation> before_;
  std::vector<bool> kept_;
  std::unique_ptr<Allocation> pages_;  // the kept ones, each at its own place
};

void ProvidedStorage::write(std::size_t offset, std::span<const std::byte> from) {
  const std::lock_guard lock(mutex_);
  internal_check(allocation_ != nullptr, "a write into a released tensor");
  internal_check(offset + from.size() <= elements_, "a write past the end of a tensor");
  for (Journal* journal : journals_) journal->keep(offset, from.size());
  allocation_->write(offset, from);
}

std::unique_ptr<StorageSnapshot> ProvidedStorage::snapshot() {
  return std::make_unique<Journal>(*this);
}

}  // namespace

std::size_t physical_bytes(const Type& type, const Carrier& carrier) {
  const auto fail = [&](const std::string& field, std::string found, std::string needed) {
    return ErrorDetail{.message = "carrier " + carrier.name + " cannot store such a tensor",
                       .field = field,
                       .found = std::move(found),
                       .needed = std::move(needed)};
  };
  if (!carrier.storage->supports_dtype(type.dtype)) {
    throw TypeError(fail("dtype", to_text(type), "a dtype that it stores"));
  }
  const std::int64_t bytes = carrier.storage->physical_size(type);
  if (bytes < 0) {
    throw ValueError(fail("physical_size", std::to_string(bytes), "0 bytes or more"));
  }
  return static_cast<std::size_t>(bytes);
}

StorageHandle storage_handle(const Tensor& tensor) {
  const auto* storage = dynamic_cast<const ProvidedStorage*>(tensor.storage().get());
  return storage == nullptr ? nullptr : storage->handle();
}

std::shared_ptr<CarrierStorage> provided_storage(const Type& type, const Carrier& carrier) {
  const std::size_t physical = physical_bytes(type, carrier);
  return std::make_shared<ProvidedStorage>(carrier, physical,
                                           static_cast<std::size_t>(byte_count(type)));
}

}  // namespace heddle
