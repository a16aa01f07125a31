#include "heddle/schedule/narrow_factors.h"

#include <vector>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/loops.h"

namespace heddle {
namespace {

bool is_byte(DType d) { return d == DType::i8 || d == DType::u8; }

// Whose elements are all among those of its operand.
bool moves(const Node& node) {
  return node.op == &op_transpose || node.op == &op_reshape || node.op == &op_slice ||
         node.op == &op_broadcast_in_dim;
}

std::optional<DType> bytes_of(const Function& body, const std::vector<std::uint32_t>& makers,
                              ValueId v) {
  while (makers[v.index] != kNoNode) {
    const Node& node = body.nodes[makers[v.index]];
    if (widens_bytes(body, node)) return body.type(node.operands[0]).dtype;
    if (!moves(node) || node.operands.empty()) return std::nullopt;
    v = node.operands[0];
  }
  return std::nullopt;
}

int byte_depth(const Target& target) {
  if (target.on_device() || !target.triple.starts_with("x86")) return 1;
  return target.has("avx512_zen4") || target.has("avx512_sapphirerapids") ? 4 : 2;
}

}  // namespace

bool widens_bytes(const Function& f, const Node& node) {
  return node.op == &op_convert && is_byte(f.type(node.operands[0]).dtype) &&
         f.type(node.results[0]).dtype == DType::i32;
}

std::optional<ByteFactors> byte_factors(const Function& body, const Node& dot,
                                        const Target& target) {
  constexpr std::int64_t kLongest = 32768;  // 255 * 255 each stay below 2^31
  const int depth = byte_depth(target);
  if (depth == 1 || dot.op != &op_dot_general || is_symbolic(body)) return std::nullopt;
  const DotShape s = dot_shape(body, dot);
  if (s.inner.size() != 1 || s.k() > kLongest) return std::nullopt;
  const std::vector<std::uint32_t> makers = definitions(body);
  const std::optional<DType> left = bytes_of(body, makers, dot.operands[0]);
  const std::optional<DType> right = bytes_of(body, makers, dot.operands[1]);
  if (!left || !right) return std::nullopt;
  return ByteFactors{*left, *right, depth};
}

}  // namespace heddle
