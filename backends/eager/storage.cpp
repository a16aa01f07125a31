#include "heddle/backends/eager/storage.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>

#include "heddle/backends/eager/carrier_kernels.h"
#include "heddle/backends/eager/storage_provider.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

constexpr std::size_t kAlignment = 64;

// Blocks of this size and more come from the system as fresh pages, whose first touch costs more
// than most operations on them: they are kept.
constexpr std::size_t kLarge = std::size_t{1} << 16, kMostKept = std::size_t{256} << 20;

std::size_t rounded(std::size_t bytes) {
  const std::size_t step = bytes < kLarge ? kAlignment : kLarge;
  return bytes < step ? step : (bytes + step - 1) / step * step;
}

// Whole pages of 2 MB, where the system has them, cost one fault each.
void* fresh_block(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{1} << 21;
  const std::size_t whole = bytes / kHugePage * kHugePage;
  void* block = nullptr;
  if (posix_memalign(&block, whole > 0 ? kHugePage : kAlignment, bytes) != 0) return nullptr;
#ifdef __linux__
  if (whole > 0) madvise(block, whole, MADV_HUGEPAGE);  // refused: small pages
#endif
  return block;
}

class KeptBlocks {
 public:
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(bytes);
    if (found == blocks_.end()) return nullptr;
    void* block = found->second;
    blocks_.erase(found);
    kept_ -= bytes;
    return block;
  }
  bool keep(void* block, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (kept_ + bytes > kMostKept) return false;
    blocks_.emplace(bytes, block);
    kept_ += bytes;
    return true;
  }

 private:
  std::mutex mutex_;
  std::unordered_multimap<std::size_t, void*> blocks_;
  std::size_t kept_ = 0;
};

// Never destroyed: tensors with static lifetime may outlive it.
KeptBlocks& kept_blocks() {
  static KeptBlocks* const blocks = new KeptBlocks;
  return *blocks;
}

}  // namespace

HostBlock::HostBlock(std::size_t bytes) : bytes_(rounded(bytes)) {
  void* block = bytes_ >= kLarge ? kept_blocks().take(bytes_) : nullptr;
  if (block == nullptr) block = fresh_block(bytes_);
  if (block == nullptr) {
    throw RuntimeError(
        {.message = "no memory for a tensor", .found = std::to_string(bytes) + " bytes"});
  }
  data_ = static_cast<std::byte*>(block);
}

HostBlock::~HostBlock() {
  if (bytes_ < kLarge || !kept_blocks().keep(data_, bytes_)) std::free(data_);
}

class HostStorage::Copy final : public StorageSnapshot {
 public:
  explicit Copy(HostStorage& of)
      : storage_(of), version_(of.version()), bytes_(of.host(), of.host() + of.bytes()) {}

  bool changed() const override {
    return !std::equal(bytes_.begin(), bytes_.end(), storage_.host());
  }
  void restore() override {
    if (storage_.released()) storage_.block_ = std::make_unique<HostBlock>(bytes_.size());
    storage_.write(0, bytes_);
    storage_.set_version(version_);
  }

 private:
  HostStorage& storage_;
  const std::uint64_t version_;
  const std::vector<std::byte> bytes_;
};

void HostStorage::write(std::size_t offset, std::span<const std::byte> from) {
  std::copy(from.begin(), from.end(), data() + offset);
}
std::unique_ptr<StorageSnapshot> HostStorage::snapshot() { return std::make_unique<Copy>(*this); }

CarrierStorage* carrier_storage(const Tensor& tensor) {
  return dynamic_cast<CarrierStorage*>(tensor.storage().get());
}
HostStorage* host_storage(const Tensor& tensor) {
  return dynamic_cast<HostStorage*>(tensor.storage().get());
}

std::size_t storage_bytes(const Type& type, const Carrier& carrier) {
  if (carrier.storage != nullptr) return physical_bytes(type, carrier);
  return static_cast<std::size_t>(byte_count(type));
}

Tensor new_tensor(const Type& type, const Carrier& carrier) {
  carrier.kernels->seal();
  if (carrier.storage != nullptr) return {type, provided_storage(type, carrier)};
  return {type, std::make_shared<HostStorage>(carrier, storage_bytes(type, carrier))};
}

}  // namespace heddle
