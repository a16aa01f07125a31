// What a node carries beside its operands: named values of eight kinds, sorted by name.
// An operation reads them through a struct of its own:
//
//   struct ReduceAttributes {
//     std::vector<std::int64_t> axes;
//     static constexpr auto fields() { return std::tuple{field("axes", &ReduceAttributes::axes)}; }
//   };
//   auto a = node.attributes.as<ReduceAttributes>();
#ifndef HEDDLE_GRAPH_ATTRIBUTES_H_
#define HEDDLE_GRAPH_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/graph/dim.h"
#include "heddle/runtime/dtype.h"

namespace heddle {

/// Enumerations and function names are strings.
using Attribute = std::variant<std::int64_t, double, std::string, bool, std::vector<std::int64_t>,
                               std::vector<double>, DType, Dims>;

template <class S, class M>
struct AttributeField {
  std::string_view name;
  M S::*member;
};
template <class S, class M>
constexpr AttributeField<S, M> field(std::string_view name, M S::*member) {
  return {name, member};
}

class Attributes {
 public:
  using Entry = std::pair<std::string, Attribute>;

  Attributes() = default;
  /// Sorts; ValueError when a name stands twice.
  Attributes(std::vector<Entry> entries);  // NOLINT: {{"axis", 0}} reads well

  const Attribute* find(std::string_view name) const;
  /// The entry's value; TypeError names the attribute when it is absent or of another kind.
  template <class T>
  const T& get(std::string_view name) const;
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  /// The typed view: every field must be there with its kind, nothing else may be (TypeError).
  template <class S>
  S as() const;
  template <class S>
  static Attributes of(const S& view);

  bool operator==(const Attributes&) const = default;

 private:
  [[noreturn]] void fail(std::string_view name, std::string_view needed) const;
  void check_count(std::size_t fields) const;
  std::vector<Entry> entries_;
};

/// "int", "float", "string", "bool", "ints", "floats", "dtype", "dims".
std::string_view kind_of(const Attribute& attribute);
/// Program text: 3, 0x1.8p+1, "s", true, [1, 2], floats[0x1p+0], f32, dims[32,n]. Floats are
/// hexadecimal, so they round-trip.
std::string to_text(const Attribute& attribute);
/// For messages: the same with decimal floats.
std::string decimal_text(const Attribute& attribute);
/// "{axes = [0], keep = true}"; "" when empty.
std::string to_text(const Attributes& attributes);

template <class T>
const T& Attributes::get(std::string_view name) const {
  const Attribute* a = find(name);
  if (a == nullptr || !std::holds_alternative<T>(*a)) fail(name, kind_of(Attribute(T{})));
  return std::get<T>(*a);
}

template <class S>
S Attributes::as() const {
  S view{};
  std::apply(
      [&](const auto&... f) {
        ((view.*(f.member) = get<std::remove_cvref_t<decltype(view.*(f.member))>>(f.name)), ...);
        check_count(sizeof...(f));
      },
      S::fields());
  return view;
}

template <class S>
Attributes Attributes::of(const S& view) {
  return std::apply(
      [&](const auto&... f) {
        return Attributes(
            std::vector<Entry>{Entry{std::string(f.name), Attribute(view.*(f.member))}...});
      },
      S::fields());
}

}  // namespace heddle

#endif  // HEDDLE_GRAPH_ATTRIBUTES_H_
