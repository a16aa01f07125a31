#include "heddle/schedule/gates.h"

#include <algorithm>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"

namespace heddle {

std::optional<Gate> gate_of(const Function& function, const Node& slice) {
  if (slice.op != &op_slice) return std::nullopt;
  const Type &whole = function.type(slice.operands[0]), &part = function.type(slice.results[0]);
  if (whole.rank() < 2 || is_symbolic(whole)) return std::nullopt;
  const auto a = slice.attributes.as<SliceAttributes>();
  const std::size_t last = whole.rank() - 1;
  for (std::size_t d = 0; d < last; ++d) {
    if (part.dims[d] != whole.dims[d]) return std::nullopt;
  }
  const std::int64_t all = whole.dims[last].constant(), width = part.dims[last].constant();
  constexpr std::int64_t kLine = 64;  // bytes
  const std::int64_t bytes = width * static_cast<std::int64_t>(size_of(part.dtype));
  if (bytes < kLine || width == all || all % width != 0) return std::nullopt;
  if (a.strides[last] != 1 || a.starts[last] % width != 0) return std::nullopt;
  return Gate{a.starts[last] / width, width};
}

namespace {

class Reading {
 public:
  explicit Reading(const Function& body) : body_(body), made_(body.types.size(), Made::apart) {}

  std::optional<Gates> of(ValueId product) {
    made_[product.index] = Made::wide;
    for (const Node& node : body_.nodes) {
      if (!reads(node, Made::wide) && !reads(node, Made::narrow)) continue;
      if (!follow(node)) return std::nullopt;
    }
    if (gates_.slices.empty()) return std::nullopt;
    Dims part = body_.type(product).dims;
    part.back() = gates_.width;
    const bool narrow =
        std::all_of(body_.outputs.begin(), body_.outputs.end(), [&](const Output& o) {
          return made_[o.value.index] != Made::wide && body_.type(o.value).dims == part;
        });
    return narrow ? std::optional(std::move(gates_)) : std::nullopt;
  }

 private:
  enum class Made : std::uint8_t { apart, wide, narrow };  // of the product; of its slices

  bool reads(const Node& node, Made made) const {
    return std::any_of(node.operands.begin(), node.operands.end(),
                       [&](ValueId o) { return made_[o.index] == made; });
  }
  bool follow(const Node& node) {
    const bool wide = reads(node, Made::wide);
    if (node.op->strict.pattern == Pattern::elementwise) {
      const ValueId v = node.results[0];
      made_[v.index] = wide ? Made::wide : Made::narrow;
      if (!wide) gates_.made.push_back(v);
      return true;
    }
    const std::optional<Gate> gate = wide ? gate_of(body_, node) : std::nullopt;
    return gate && add(node, *gate);
  }
  bool add(const Node& node, const Gate& gate) {
    const ValueId cut = node.operands[0], slice = node.results[0];
    if (gates_.slices.empty()) gates_ = {cut, gate.width, gate.gate, 1, {}, {}};
    if (gate.width != gates_.width || cut != gates_.cut) return false;
    const std::int64_t end = std::max(gates_.first + gates_.count, gate.gate + 1);
    gates_.first = std::min(gates_.first, gate.gate);
    gates_.count = end - gates_.first;
    gates_.slices[slice] = gate.gate;
    made_[slice.index] = Made::narrow;
    return true;
  }

  const Function& body_;
  std::vector<Made> made_;
  Gates gates_;
};

}  // namespace

std::optional<Gates> gates_of(const Function& body, ValueId product) {
  const DType dtype = body.type(product).dtype;
  if (dtype != DType::f32 && dtype != DType::f64) return std::nullopt;
  return Reading(body).of(product);
}

}  // namespace heddle
