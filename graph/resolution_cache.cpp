#include "heddle/graph/resolution_cache.h"

#include <algorithm>
#include <bit>

namespace heddle {
namespace {

class Hash {
 public:
  void add(std::uint64_t x) { value_ = (value_ ^ x) * 0x9e3779b97f4a7c15u + (value_ >> 29); }
  void add(const Type& type) {
    add(static_cast<std::uint64_t>(type.dtype) << 8 | type.rank());
    for (const Dim& d : type.dims) add(static_cast<std::uint64_t>(d.offset()));
  }
  void add(const Operand& operand) {
    add(operand.index());
    if (const Tensor* t = std::get_if<Tensor>(&operand)) add(t->type());
    if (const auto* i = std::get_if<std::int64_t>(&operand)) add(static_cast<std::uint64_t>(*i));
    if (const auto* d = std::get_if<double>(&operand)) add(std::bit_cast<std::uint64_t>(*d));
  }
  void add(const Attributes& options) {
    for (const auto& [name, value] : options.entries()) {
      add(name.size() << 8 | value.index());
      if (const auto* i = std::get_if<std::int64_t>(&value)) add(static_cast<std::uint64_t>(*i));
      if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
        for (std::int64_t i : *list) add(static_cast<std::uint64_t>(i));
      }
    }
  }
  std::size_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0x51ed270b;
};

std::size_t hash_of(const Operation& op, Operands operands, const Attributes& options,
                    const void* carrier) {
  Hash hash;
  hash.add(reinterpret_cast<std::uintptr_t>(&op));
  hash.add(reinterpret_cast<std::uintptr_t>(carrier));
  for (const Operand& o : operands) hash.add(o);
  hash.add(options);
  return hash.value();
}

// Scalars by their bits: -0 and 0 are two calls, and NaN is itself.
bool same(const Operand& a, const Operand& b) {
  if (a.index() != b.index()) return false;
  if (const Tensor* t = std::get_if<Tensor>(&a)) return t->type() == std::get<Tensor>(b).type();
  if (const double* d = std::get_if<double>(&a)) {
    return std::bit_cast<std::uint64_t>(*d) == std::bit_cast<std::uint64_t>(std::get<double>(b));
  }
  if (const auto* i = std::get_if<std::int64_t>(&a)) return *i == std::get<std::int64_t>(b);
  if (const bool* f = std::get_if<bool>(&a)) return *f == std::get<bool>(b);
  return std::get<Attribute>(a) == std::get<Attribute>(b);
}

std::size_t bytes_of(const ResolvedCall& call) {
  const Function& body = call.invocation.body;
  return 1024 + 256 * body.nodes.size() + 128 * body.types.size();
}

}  // namespace

std::shared_ptr<const ResolvedCall> ResolutionCache::find(const Operation& op, Operands operands,
                                                          const Attributes& options,
                                                          const void* carrier) {
  const std::size_t hash = hash_of(op, operands, options, carrier);
  const std::lock_guard lock(mutex_);
  const auto* found = cache_.find(hash, [&](const std::shared_ptr<const ResolvedCall>& call) {
    const BoundOperationCall& bound = call->invocation.call;
    return bound.op == &op && call->carrier == carrier &&
           std::equal(operands.begin(), operands.end(), bound.operands.begin(),
                      bound.operands.end(), same) &&
           call->given == options;
  });
  return found ? *found : nullptr;
}

std::shared_ptr<const ResolvedCall> ResolutionCache::insert(ResolvedCall call) {
  const BoundOperationCall& bound = call.invocation.call;
  const std::size_t hash = hash_of(*bound.op, bound.operands, call.given, call.carrier);
  auto kept = std::make_shared<const ResolvedCall>(std::move(call));
  const std::lock_guard lock(mutex_);
  cache_.insert(hash, kept, bytes_of(*kept));
  return kept;
}

CacheStatistics ResolutionCache::statistics() {
  const std::lock_guard lock(mutex_);
  return cache_.statistics();
}

void ResolutionCache::clear() {
  const std::lock_guard lock(mutex_);
  cache_.clear();
}

ResolutionCache& resolution_cache() {
  static ResolutionCache cache;
  return cache;
}

}  // namespace heddle
