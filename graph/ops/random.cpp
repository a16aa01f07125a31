// Random bits from a counter: the same numbers on every carrier, and in any order.
#include <array>

#include "absl/strings/str_cat.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/graph/ops/evaluate.h"
#include "heddle/graph/ops/surface.h"

namespace heddle {
namespace {

using namespace ops;  // NOLINT: the records' own vocabulary

Types infer_bits(At at) {
  check_operand_count(at, 2);
  for (std::size_t i : {0, 1}) {
    check_dtype(at, i, DType::u32);
    const Dims needed{i == 0 ? 2 : 4};
    if (at.operands[i].dims == needed) continue;
    operation_error<ValueError>(at, "a key is two words, a counter four",
                                absl::StrCat("operands[", i, "].dims"), to_text(at.operands[i]),
                                "u32" + to_text(needed));
  }
  const Dims dims = at.attributes.as<RandomAttributes>().dims;
  for (const Dim& d : dims) {
    if (!d.is_constant() || d.constant() >= 0) continue;
    operation_error<ValueError>(at, "negative extent", "attributes.dims", to_text(dims));
  }
  return {{DType::u32, dims}};
}

using Block = std::array<std::uint32_t, 4>;

/// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011).
Block philox(Block c, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
  }
  return c;
}
Block advanced(std::span<const std::uint32_t> counter, std::uint64_t by) {
  Block c;
  std::uint64_t carry = 0;
  for (std::size_t w = 0; w < 4; ++w, by >>= 32) {
    const std::uint64_t sum = std::uint64_t{counter[w]} + (by & 0xffffffffu) + carry;
    c[w] = static_cast<std::uint32_t>(sum), carry = sum >> 32;
  }
  return c;
}

Literals evaluate_bits(At at, Inputs in) {
  const auto key = view<std::uint32_t>(in[0]), counter = view<std::uint32_t>(in[1]);
  return {generate<std::uint32_t>(infer_bits(at)[0], [&](std::size_t i) {
    return philox(advanced(counter, i / 4), key[0], key[1])[i % 4];
  })};
}

std::vector<Workload> bits_rows() {
  std::vector<Workload> result;
  for (const Dims& dims :
       {Dims{}, Dims{1}, Dims{7, 13}, Dims{2, 3, 5}, Dims{2, 3, 4, 5}, Dims{0, 3}}) {
    result.push_back({.operands = {type_of(DType::u32, {2}), type_of(DType::u32, {4})},
                      .attributes = Attributes::of(RandomAttributes{dims}),
                      .low = 4294967290.0,  // counters that carry
                      .high = 4294967295.0,
                      .order = 0});
  }
  return result;
}

constexpr OperandSpec kOperands[] = {{"key"}, {"counter"}};
constexpr OptionSpec kOptions[] = {{"dims", OptionKind::dims}};
constexpr OperationSchema kSchemas[] = {{.operands = kOperands, .options = kOptions}};

}  // namespace

constinit const Operation op_rng_bits = define_op(
    {.name = "rng_bits",
     .strict = {.roles = first<2>(kNoGrad),
                .pattern = Pattern::random,
                .traits = kFusable,
                .infer = infer_bits,
                .evaluate = evaluate_bits,
                .workloads = bits_rows,
                .rtol = 0,
                .atol = 0,
                .roofline = per_element<15>,
                .text = "Element i, counted in row-major order, is word i mod 4 of Philox 4x32-10 "
                        "(Salmon et al., 2011) of counter + i div 4 under the key; words are "
                        "lowest first, the counter has 128 bits.\nC1 both are u32.\nC2 the key is "
                        "u32[2], the counter u32[4].\nC3 no extent is negative.\nNo derivative."},
     .surface = {.overloads = kSchemas, .plan = plan_keep, .body = body_direct}});

}  // namespace heddle
