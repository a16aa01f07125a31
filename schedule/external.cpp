#include "heddle/schedule/external.h"

#include "absl/strings/str_cat.h"
#include "heddle/graph/builder.h"

namespace heddle {
namespace {

struct OptionLiteral {
  template <class T>
  static Literal list(const std::vector<T>& values) {
    return make_literal<T>({static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
  }
  static Literal one(std::int64_t value) { return make_literal<std::int64_t>({}, {value}); }

  Literal operator()(std::int64_t value) const { return one(value); }
  Literal operator()(double value) const { return make_literal<double>({}, {value}); }
  Literal operator()(bool value) const {
    return literal_from_bytes({DType::boolean, {}}, {std::byte{value}});
  }
  Literal operator()(DType value) const { return one(static_cast<std::int64_t>(value)); }
  Literal operator()(const std::string& text) const {
    return list(std::vector<std::uint8_t>(text.begin(), text.end()));
  }
  Literal operator()(const std::vector<std::int64_t>& values) const { return list(values); }
  Literal operator()(const std::vector<double>& values) const { return list(values); }
  Literal operator()(const Dims& dims) const { return list(constant_extents(dims)); }
};

}  // namespace

std::optional<External> external_of(const ExternalKernels& kernels, const Function& function,
                                    const Node& node) {
  if (!kernels || node.literal) return std::nullopt;
  std::vector<Type> types;
  for (ValueId o : node.operands) types.push_back(function.type(o));
  return kernels({*node.op, types, node.attributes, nullptr, nullptr, node.where});
}

std::vector<Literal> option_literals(const Attributes& attributes) {
  std::vector<Literal> options;
  for (const Attributes::Entry& e : attributes.entries()) {
    options.push_back(std::visit(OptionLiteral{}, e.second));
  }
  return options;
}

Function external_body(const Function& function, const Node& node,
                       const std::vector<Literal>& options) {
  Builder b("kernel");
  Values operands;
  for (ValueId o : node.operands) {
    operands.push_back(b.input(absl::StrCat("x", operands.size()), function.type(o)));
  }
  for (std::size_t i = 0; i < options.size(); ++i) {
    b.input(absl::StrCat("x", operands.size() + i), options[i].type);
  }
  const Values results = b.add(*node.op, operands, node.attributes, node.where);
  for (std::size_t r = 0; r < results.size(); ++r) b.output(absl::StrCat("y", r), results[r]);
  return b.finish();
}

}  // namespace heddle
