#include "heddle/backends/argument_memory.h"

#include <cstring>

namespace heddle {

ArgumentMemory::ArgumentMemory(const hd_signature& signature, std::span<const Literal> inputs) {
  constexpr std::size_t kLine = 64;
  for (std::uint32_t a = 0; a < signature.n_arguments; ++a) {
    storage_.emplace_back(signature.arguments[a].bytes + kLine);
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.back().data());
    pointers_.push_back(storage_.back().data() + (kLine - address % kLine) % kLine);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const hd_tensor_spec& spec = signature.tensors[i];
    std::memcpy(static_cast<std::byte*>(pointers_[spec.argument]) + spec.offset,
                inputs[i].bytes->data(), inputs[i].bytes->size());
  }
}

}  // namespace heddle
