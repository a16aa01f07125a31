#include "heddle/schedule/prepare.h"

#include <algorithm>

#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/canonical.h"
#include "heddle/schedule/collapse.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/winograd.h"

namespace heddle {
namespace {

using emit::Axes;

constexpr std::int64_t kLine = 64;  // bytes

const Node* maker(const Function& f, const std::vector<std::uint32_t>& makers, ValueId v) {
  return makers[v.index] == kNoNode ? nullptr : &f.nodes[makers[v.index]];
}

// The factor, of `type`, as it was: its columns are a panel's number and a place in it.
ValueId from_panels(Builder& build, ValueId panels, const Factor& factor, const Type& type) {
  if (!factor.inner) return weights_of_panels(build, panels, type.dims[0].constant());
  const Dims& p = build.type(panels).dims;
  const Dim inner = p[1], columns = p[0].constant() * p[2].constant();
  const bool by_rows = *factor.inner == 0;
  const ValueId turned = emit::transpose(build, panels, by_rows ? Axes{1, 0, 2} : Axes{0, 2, 1});
  const ValueId whole =
      emit::reshape(build, turned, by_rows ? Dims{inner, columns} : Dims{columns, inner});
  const std::int64_t axis = by_rows ? 1 : 0;
  return emit::slice_axis(build, whole, axis, 0, type.dims[by_rows ? 1 : 0].constant());
}

}  // namespace

ValueId Preparation::constant(const Literal& literal) {
  const auto [it, fresh] =
      constants_.try_emplace({literal.bytes.get(), to_text(literal.type)}, ValueId{});
  if (fresh) it->second = build_.constant(literal);
  return it->second;
}

ValueId Preparation::columns(ValueId factor, std::int64_t inner) {
  const auto [dtype, dims] = build_.type(factor);
  const std::int64_t width = kLine / static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t k = dims[inner == 0 ? 0 : 1].constant(),
                     n = dims[inner == 0 ? 1 : 0].constant();
  const std::int64_t count = (n + width - 1) / width;
  const ValueId rows = inner == 0 ? factor : emit::transpose(build_, factor, {1, 0});
  const ValueId whole = emit::pad(build_, rows, emit::scalar(build_, dtype, 0), {0, 0},
                                  {0, count * width - n}, {0, 0});
  return emit::transpose(build_, emit::reshape(build_, whole, {k, count, width}), {1, 0, 2});
}

Preparation::Panels Preparation::panels(const Literal& literal, const Factor& factor) {
  const ValueId given = constant(literal);
  const auto [it, fresh] = outputs_.try_emplace({given, factor.inner});
  if (!fresh) return it->second;
  const ValueId panels =
      factor.inner ? columns(given, *factor.inner) : winograd_panels(build_, given);
  it->second = {static_cast<std::uint32_t>(outputs_.size() - 1), build_.type(panels)};
  build_.output("panels" + std::to_string(it->second.output), panels);
  return it->second;
}

Function Preparation::finish() {
  Function f = build_.finish();
  f.name = kPrepare;  // which no caller can give
  return f;
}

namespace {

// The input that is `factor`, which nothing else reads.
std::optional<std::size_t> only_read_input(const Function& body, ValueId factor) {
  if (use_counts(body)[factor.index] != 1) return std::nullopt;
  const auto input = std::find_if(body.inputs.begin(), body.inputs.end(),
                                  [&](const Input& in) { return in.value == factor; });
  if (input == body.inputs.end()) return std::nullopt;
  return static_cast<std::size_t>(input - body.inputs.begin());
}

}  // namespace

std::optional<Factor> winograd_factor(const Function& body) {
  const Node* conv = winograd_convolution(body);
  if (conv == nullptr) return std::nullopt;
  const std::optional<std::size_t> input = only_read_input(body, conv->operands[1]);
  return input ? std::optional(Factor{*input, {}}) : std::nullopt;
}

std::optional<Factor> right_factor(const Function& body) {
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
  const std::optional<std::size_t> input = only_read_input(body, factor);
  if (!input) return std::nullopt;
  return Factor{*input, d.rhs_contract[0], dot_shape(body, node).m()};
}

std::optional<PackedFactor> pack_factor(const Type& factor, std::int64_t inner) {
  const bool by_rows = inner == 0;
  const std::int64_t width = kLine / static_cast<std::int64_t>(size_of(factor.dtype));
  const std::int64_t k = factor.dims[by_rows ? 0 : 1].constant(),
                     n = factor.dims[by_rows ? 1 : 0].constant();
  if (n % width != 0) return std::nullopt;
  PackedFactor made;
  made.matrix = {factor.dtype, by_rows ? Dims{k, n / width, width} : Dims{n / width, width, k}};
  Builder build("kernel");
  const ValueId whole = build.input("in0", made.matrix);
  const ValueId panels = emit::transpose(build, whole, by_rows ? Axes{1, 0, 2} : Axes{0, 2, 1});
  made.panels = build.type(panels);
  build.output("out0", panels);
  made.body = build.finish();
  return made;
}

Function with_panels(const Function& body, const Factor& factor, const Type& panels) {
  Builder build(body.name);
  Values arguments;
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    const Input& in = body.inputs[i];
    const bool packed = i == factor.input;
    arguments.push_back(build.input(in.name, packed ? panels : body.type(in.value), in.donate));
    if (packed)
      arguments.back() = from_panels(build, arguments.back(), factor, body.type(in.value));
  }
  const Values results = build.splice(body, arguments);
  Function result = build.finish();
  for (std::size_t o = 0; o < results.size(); ++o) {
    result.outputs.push_back({body.outputs[o].name, results[o]});
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
  const Axes turn = node->attributes.as<TransposeAttributes>().permutation;
  const bool is_turned = turn == Axes{1, 0, 2} || turn == Axes{0, 2, 1};
  return is_turned && p[2].is_constant() ? p[2].constant() : 0;
}

}  // namespace heddle
