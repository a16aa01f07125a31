#include "bench/works/works.h"

#include "heddle/frontend/params.h"

namespace heddle::bench {
namespace {

Literal values(const Type& type, const std::string& name, double limit) {
  if (is_floating(type.dtype)) return uniform(type, limit, 1, name);
  std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
  auto* out = reinterpret_cast<std::int32_t*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size() / sizeof *out; ++i)
    out[i] = static_cast<std::int32_t>(i * 7 % 10);
  return literal_from_bytes(type, std::move(bytes));
}

}  // namespace

std::vector<Work> works() {
  std::vector<Work> all;
  for (auto family : {operation_works, block_works, training_works, math_works, special_works}) {
    for (Work& work : family()) all.push_back(std::move(work));
  }
  return all;
}

Literal between(const Type& type, double low, double high, const std::string& name) {
  const Literal unit = uniform(type, 1, 1, name);
  std::vector<std::byte> bytes(unit.bytes->size());
  const auto* from = reinterpret_cast<const float*>(unit.bytes->data());
  auto* to = reinterpret_cast<float*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size() / sizeof *to; ++i) {
    to[i] = static_cast<float>(low + (high - low) * 0.5 * (1 + static_cast<double>(from[i])));
  }
  return literal_from_bytes(type, std::move(bytes));
}

std::vector<Literal> inputs_of(const Work& work, const Program& program) {
  if (work.inputs) return work.inputs();
  const Function& f = program.entry();
  std::vector<Literal> inputs;
  for (const Input& in : f.inputs) inputs.push_back(values(f.type(in.value), in.name, work.limit));
  return inputs;
}

}  // namespace heddle::bench
