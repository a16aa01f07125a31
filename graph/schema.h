// What an operation is called with: ordered operands of three kinds, and options by name. One form
// for the records of the built-in operations (constants, checked when they are compiled) and for
// the definitions of extensions (checked when they are made).
//
//   OperationSchema schema{.operands = {{"x", OperandKind::tensor, true},
//                                       {"beta", OperandKind::weak_scalar}},
//                          .options = {{"axis", OptionKind::integer}, {"exact", false}}};
#ifndef HEDDLE_GRAPH_SCHEMA_H_
#define HEDDLE_GRAPH_SCHEMA_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/graph/attributes.h"

namespace heddle {

enum class OperandKind : std::uint8_t { tensor, weak_scalar, structural };
/// "tensor", "weak_scalar", "structural".
constexpr std::string_view name_of(OperandKind kind) {
  constexpr std::string_view kNames[] = {"tensor", "weak_scalar", "structural"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// The alternatives of Attribute, in their order.
enum class OptionKind : std::uint8_t {
  integer,
  number,
  text,
  flag,
  integers,
  numbers,
  dtype,
  dims
};

/// The marker of an option without a default; there is one, known by its address.
class RequiredMarker {
 public:
  RequiredMarker(const RequiredMarker&) = delete;
  RequiredMarker& operator=(const RequiredMarker&) = delete;

 private:
  constexpr RequiredMarker() = default;
  friend struct RequiredMarkerHolder;
};
struct RequiredMarkerHolder {
  static constexpr RequiredMarker kMarker{};
};
inline constexpr const RequiredMarker& kRequired = RequiredMarkerHolder::kMarker;

namespace internal {
/// A letter or _, then letters, digits and _.
constexpr bool is_identifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name[0])) return false;
  for (char c : name) {
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}
/// ValueErrors; in a constant expression reaching one does not compile.
[[noreturn]] void fail_name(std::string_view what, std::string_view name);
[[noreturn]] void fail_schema(std::string_view rule, std::string_view name);

/// Lives as long as the process.
std::string_view keep_name(std::string_view name);
const Attribute* keep_attribute(Attribute value);

constexpr std::string_view checked_name(std::string_view what, std::string_view name) {
  if (!is_identifier(name)) fail_name(what, name);
  return std::is_constant_evaluated() ? name : keep_name(name);
}
}  // namespace internal

struct OperandSpec {
  /// ValueError for a name that is no identifier, or a differentiable operand that is no tensor.
  constexpr OperandSpec(std::string_view operand, OperandKind operand_kind = OperandKind::tensor)
      : OperandSpec(operand, operand_kind, false) {}
  template <std::same_as<bool> Flag>
  constexpr OperandSpec(std::string_view operand, OperandKind operand_kind, Flag is_differentiable)
      : name(internal::checked_name("an operand", operand)),
        kind(operand_kind),
        differentiable(is_differentiable) {
    if (differentiable && kind != OperandKind::tensor) {
      internal::fail_schema("only a tensor operand is differentiable", name);
    }
  }

  const std::string_view name;
  const OperandKind kind;
  const bool differentiable;
};

struct OptionSpec {
  /// ValueError for a name that is no identifier.
  constexpr OptionSpec(std::string_view option, OptionKind option_kind,
                       Attribute (*default_of)() = nullptr)
      : name(internal::checked_name("an option", option)),
        kind(option_kind),
        fallback(default_of) {}
  constexpr OptionSpec(std::string_view option, OptionKind option_kind, const RequiredMarker&)
      : OptionSpec(option, option_kind) {}
  /// With a default, whose kind is the option's.
  OptionSpec(std::string_view option, Attribute value)
      : name(internal::checked_name("an option", option)),
        kind(static_cast<OptionKind>(value.index())),
        kept(internal::keep_attribute(std::move(value))) {}

  constexpr bool required() const { return fallback == nullptr && kept == nullptr; }
  Attribute default_value() const { return kept ? *kept : fallback(); }

  const std::string_view name;
  const OptionKind kind;
  Attribute (*const fallback)() = nullptr;  ///< of constants
  const Attribute* const kept = nullptr;    ///< of specs made at run time
};

namespace internal {
template <class Range, class Spec>
concept RangeOf = std::ranges::input_range<Range> &&
    std::same_as<std::remove_cvref_t<std::ranges::range_reference_t<Range>>, Spec>;
}  // namespace internal

/// A list of specs that lives as long as the process: a view of a constant, or a copy that is kept.
template <class Spec>
class SpecList {
 public:
  constexpr SpecList() = default;
  template <std::size_t kCount>
  constexpr SpecList(const Spec (&specs)[kCount])
      : specs_(std::is_constant_evaluated() ? std::span<const Spec>(specs)
                                            : keep({std::begin(specs), std::end(specs)})) {}
  SpecList(std::initializer_list<Spec> specs) : specs_(keep({specs.begin(), specs.end()})) {}
  /// Reads the range once.
  template <internal::RangeOf<Spec> Range>
  SpecList(Range&& range) : specs_(keep(collect(range))) {}

  constexpr std::size_t size() const { return specs_.size(); }
  constexpr bool empty() const { return specs_.empty(); }
  constexpr const Spec& operator[](std::size_t i) const { return specs_[i]; }
  constexpr auto begin() const { return specs_.begin(); }
  constexpr auto end() const { return specs_.end(); }

 private:
  template <class Range>
  static std::vector<Spec> collect(Range& range) {
    std::vector<Spec> specs;
    for (const Spec& s : range) specs.push_back(s);
    return specs;
  }
  static std::span<const Spec> keep(std::vector<Spec> specs);
  std::span<const Spec> specs_;
};
extern template class SpecList<OperandSpec>;
extern template class SpecList<OptionSpec>;

namespace internal {
struct SchemaCheck {};
/// ValueError: no operand, or a name that stands twice.
constexpr SchemaCheck check_schema(const SpecList<OperandSpec>& operands,
                                   const SpecList<OptionSpec>& options) {
  if (operands.empty()) fail_schema("a schema has at least one operand", "");
  const std::size_t count = operands.size() + options.size();
  const auto name = [&](std::size_t i) {
    return i < operands.size() ? operands[i].name : options[i - operands.size()].name;
  };
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (name(i) == name(j)) fail_schema("a name stands twice in a schema", name(i));
    }
  }
  return {};
}
}  // namespace internal

/// One way to call an operation. ValueError when a name stands twice or there is no operand.
struct OperationSchema {
  const SpecList<OperandSpec> operands{};
  const SpecList<OptionSpec> options{};
  const bool variadic = false;  ///< the last operand repeats, at least once
  [[no_unique_address]] const internal::SchemaCheck checked =
      internal::check_schema(operands, options);
};

}  // namespace heddle

#endif  // HEDDLE_GRAPH_SCHEMA_H_
