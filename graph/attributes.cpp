#include "heddle/graph/attributes.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "heddle/graph/error.h"
#include "heddle/graph/number_text.h"

namespace heddle {

Attributes::Attributes(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    if (entries_[i].first == entries_[i - 1].first) {
      throw ValueError({.message = "attribute '" + entries_[i].first + "' is given twice"});
    }
  }
}

const Attribute* Attributes::find(std::string_view name) const {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), name,
                             [](const Entry& e, std::string_view n) { return e.first < n; });
  return it != entries_.end() && it->first == name ? &it->second : nullptr;
}

void Attributes::fail(std::string_view name, std::string_view needed) const {
  const Attribute* a = find(name);
  throw TypeError({.message = a ? "attribute of the wrong kind" : "missing attribute",
                   .field = "attributes." + std::string(name),
                   .found = a ? std::string(kind_of(*a)) + " " + decimal_text(*a) : "none",
                   .needed = std::string(needed)});
}

void Attributes::check_count(std::size_t fields) const {
  if (entries_.size() == fields) return;
  throw TypeError({.message = "unknown attribute",
                   .field = "attributes",
                   .found = to_text(*this),
                   .needed = std::to_string(fields) + " attributes"});
}

std::string_view kind_of(const Attribute& attribute) {
  constexpr std::string_view kKinds[] = {"int",  "float",  "string", "bool",
                                         "ints", "floats", "dtype",  "dims"};
  return kKinds[attribute.index()];
}

namespace {
struct AttributeText {
  std::string (*number)(double) = float_text;

  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return number(v); }
  std::string operator()(const std::string& v) const { return "\"" + absl::CHexEscape(v) + "\""; }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(const std::vector<std::int64_t>& v) const {
    return "[" + absl::StrJoin(v, ", ") + "]";
  }
  std::string operator()(const std::vector<double>& v) const {
    std::string text = "floats[";
    for (std::size_t i = 0; i < v.size(); ++i) text += (i ? ", " : "") + number(v[i]);
    return text + "]";
  }
  std::string operator()(DType v) const { return std::string(name_of(v)); }
  std::string operator()(const Dims& v) const { return "dims" + to_text(v); }
};
}  // namespace

std::string to_text(const Attribute& attribute) { return std::visit(AttributeText{}, attribute); }
std::string decimal_text(const Attribute& attribute) {
  return std::visit(AttributeText{decimal_text}, attribute);
}

std::string to_text(const Attributes& attributes) {
  if (attributes.empty()) return "";
  std::string text = "{";
  for (const auto& [name, value] : attributes.entries()) {
    if (text.size() > 1) text += ", ";
    text += name + " = " + to_text(value);
  }
  return text + "}";
}

}  // namespace heddle
