#include "heddle/backends/eager/storage.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>

#include "heddle/backends/eager/carrier_kernels.h"
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
  if (block == nullptr) block = std::aligned_alloc(kAlignment, bytes_);
  if (block == nullptr) {
    throw RuntimeError(
        {.message = "no memory for a tensor", .found = std::to_string(bytes) + " bytes"});
  }
  data_ = static_cast<std::byte*>(block);
}

HostBlock::~HostBlock() {
  if (bytes_ < kLarge || !kept_blocks().keep(data_, bytes_)) std::free(data_);
}

HostStorage* host_storage(const Tensor& tensor) {
  return dynamic_cast<HostStorage*>(tensor.storage().get());
}

void HostStorage::restore(std::span<const std::byte> bytes, std::uint64_t version) {
  if (block_ == nullptr) block_ = std::make_unique<HostBlock>(bytes_);
  std::copy(bytes.begin(), bytes.end(), block_->data());
  version_ = version;
}

Tensor new_tensor(const Type& type, const Carrier& carrier) {
  carrier.kernels->seal();
  return {type, std::make_shared<HostStorage>(carrier, static_cast<std::size_t>(byte_count(type)))};
}

}  // namespace heddle
