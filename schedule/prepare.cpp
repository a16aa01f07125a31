#include "heddle/schedule/prepare.h"

#include <algorithm>

#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/canonical.h"
#include "heddle/schedule/collapse.h"
#include "heddle/schedule/loops.h"

namespace heddle {
namespace {

constexpr std::int64_t kLine = 64;  // bytes

const Node* maker(const Function& f, const std::vector<std::uint32_t>& makers, ValueId v) {
  return makers[v.index] == kNoNode ? nullptr : &f.nodes[makers[v.index]];
}

}  // namespace

ValueId Preparation::constant(const Literal& literal) {
  const auto [it, fresh] =
      constants_.try_emplace({literal.bytes.get(), to_text(literal.type)}, ValueId{});
  if (fresh) it->second = build_.constant(literal);
  return it->second;
}

Preparation::Panels Preparation::panels(const Literal& factor, std::int64_t inner) {
  const ValueId given = constant(factor);
  const auto [it, fresh] = outputs_.try_emplace({given, inner});
  if (!fresh) return it->second;
  const auto& [dtype, dims] = factor.type;
  const std::int64_t width = kLine / static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t k = dims[inner == 0 ? 0 : 1].constant(),
                     n = dims[inner == 0 ? 1 : 0].constant();
  const std::int64_t count = (n + width - 1) / width;
  const ValueId rows = inner == 0 ? given : emit::transpose(build_, given, {1, 0});
  const ValueId whole = emit::pad(build_, rows, emit::scalar(build_, dtype, 0), {0, 0},
                                  {0, count * width - n}, {0, 0});
  const ValueId panels =
      emit::transpose(build_, emit::reshape(build_, whole, {k, count, width}), {1, 0, 2});
  it->second = {static_cast<std::uint32_t>(outputs_.size() - 1), build_.type(panels)};
  build_.output("panels" + std::to_string(it->second.output), panels);
  return it->second;
}

Function Preparation::finish() {
  Function f = build_.finish();
  f.name = kPrepare;  // which no caller can give
  return f;
}

std::optional<RightFactor> right_factor(const Function& body) {
  const auto is_product = [](const Node& node) { return node.op == &op_dot_general; };
  if (std::count_if(body.nodes.begin(), body.nodes.end(), is_product) != 1) return std::nullopt;
  if (is_symbolic(body)) return std::nullopt;
  if (!main_contraction(collapse_axes(canonical_body(body)))) return std::nullopt;
  const Node& node = *std::find_if(body.nodes.begin(), body.nodes.end(), is_product);
  const ValueId factor = node.operands[1];
  const Type& type = body.type(factor);
  const auto d = node.attributes.as<DotAttributes>();
  const bool floats = type.dtype == DType::f32 || type.dtype == DType::f64;
  if (!floats || type.rank() != 2 || d.rhs_contract.size() != 1) return std::nullopt;
  if (use_counts(body)[factor.index] != 1) return std::nullopt;
  const auto input = std::find_if(body.inputs.begin(), body.inputs.end(),
                                  [&](const Input& in) { return in.value == factor; });
  if (input == body.inputs.end()) return std::nullopt;
  return RightFactor{static_cast<std::size_t>(input - body.inputs.begin()), d.rhs_contract[0]};
}

Function with_panels(const Function& body, const RightFactor& factor, const Type& panels) {
  Builder build(body.name);
  Values map(body.types.size());
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    const Input& in = body.inputs[i];
    map[in.value.index] =
        build.input(in.name, i == factor.input ? panels : body.type(in.value), in.donate);
  }
  const ValueId given = body.inputs[factor.input].value;
  const Dim columns = body.type(given).dims[factor.inner == 0 ? 1 : 0];
  const Dims& p = panels.dims;
  const ValueId rows = emit::transpose(build, map[given.index], {1, 0, 2});
  const ValueId whole = emit::reshape(build, rows, {p[1], p[0].constant() * p[2].constant()});
  map[given.index] = emit::slice_axis(build, whole, 1, 0, columns.constant());
  for (const Node& node : body.nodes) {
    Values operands;
    for (ValueId o : node.operands) operands.push_back(map[o.index]);
    Attributes attributes = node.attributes;
    if (std::find(node.operands.begin(), node.operands.end(), given) != node.operands.end()) {
      auto d = attributes.as<DotAttributes>();
      d.rhs_contract = {0};
      attributes = Attributes::of(d);
    }
    const Values results = node.literal ? Values{build.constant(*node.literal, node.where)}
                                        : build.add(*node.op, operands, attributes, node.where);
    for (std::size_t r = 0; r < results.size(); ++r) map[node.results[r].index] = results[r];
  }
  Function result = build.finish();
  for (const Output& out : body.outputs) {
    result.outputs.push_back({out.name, map[out.value.index]});
  }
  return result;
}

std::int64_t panel_width(const Function& body, ValueId factor) {
  const std::vector<std::uint32_t> makers = definitions(body);
  const Node* node = maker(body, makers, factor);
  if (node && node->op == &op_slice) node = maker(body, makers, node->operands[0]);
  if (!node || node->op != &op_reshape || body.type(node->results[0]).rank() != 2) return 0;
  node = maker(body, makers, node->operands[0]);
  if (!node || node->op != &op_transpose || maker(body, makers, node->operands[0])) return 0;
  const Dims& p = body.type(node->operands[0]).dims;
  const auto permutation = node->attributes.as<TransposeAttributes>().permutation;
  const bool turned = permutation == std::vector<std::int64_t>{1, 0, 2} && p[2].is_constant();
  return turned ? p[2].constant() : 0;
}

}  // namespace heddle
