#include "absl/strings/str_cat.h"
#include "heddle/graph/number_text.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/scalar_convert.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

constexpr std::int64_t kInlineElements = 16;

std::string element_text(const Literal& literal, std::int64_t i) {
  return dispatch_dtype(literal.type.dtype, [&](auto t) -> std::string {
    using T = typename decltype(t)::type;
    const T value = view<T>(literal)[static_cast<std::size_t>(i)];
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      return absl::StrCat(value);
    } else {
      return float_text(convert_element<double>(value));
    }
  });
}

bool all_equal(const Literal& literal) {
  const std::size_t size = size_of(literal.type.dtype);
  const std::vector<std::byte>& b = *literal.bytes;
  for (std::size_t i = size; i < b.size(); i += size) {
    if (!std::equal(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(size),
                    b.begin() + static_cast<std::ptrdiff_t>(i))) {
      return false;
    }
  }
  return !b.empty();
}

// A NaN with another payload or sign than the standard one would not read back: such constants are
// written as bytes.
bool reads_back(const Literal& literal) {
  if (!is_floating(literal.type.dtype)) return true;
  for (std::int64_t i = 0; i < element_count(literal.type); ++i) {
    if (std::isnan(element_as_double(literal, i)) && literal.type.dtype != DType::f32) return false;
  }
  if (literal.type.dtype != DType::f32) return true;
  for (float f : view<float>(literal)) {
    if (std::isnan(f) && std::bit_cast<std::uint32_t>(f) != 0x7fc00000u) return false;
  }
  return true;
}

std::string bytes_text(const Literal& literal, TextStyle style) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(literal.bytes->data());
  if (style.hash_constants) return "sha256:" + hex(sha256(*literal.bytes));
  return "bytes:" + hex({data, literal.bytes->size()});
}

std::string literal_text(const Literal& literal, TextStyle style) {
  const std::int64_t count = element_count(literal.type);
  if (!reads_back(literal)) return bytes_text(literal, style);
  if (literal.type.dims.empty() || (count > 1 && all_equal(literal)))
    return element_text(literal, 0);
  if (count > kInlineElements) return bytes_text(literal, style);
  std::string text = "[";
  for (std::int64_t i = 0; i < count; ++i)
    absl::StrAppend(&text, i ? ", " : "", element_text(literal, i));
  return text + "]";
}

class Printer {
 public:
  Printer(const Function& f, TextStyle style) : f_(f), style_(style), names_(f.types.size()) {}

  std::string print() {
    header();
    for (const Node& node : f_.nodes) line(node);
    text_ += "  return";
    for (std::size_t i = 0; i < f_.outputs.size(); ++i) {
      absl::StrAppend(&text_, i ? ", " : " ", names_[f_.outputs[i].value.index]);
    }
    return text_ + "\n}\n";
  }

 private:
  void header() {
    absl::StrAppend(&text_, "func @", f_.name, "(");
    for (std::size_t i = 0; i < f_.inputs.size(); ++i) {
      const Input& in = f_.inputs[i];
      names_[in.value.index] = in.name;
      absl::StrAppend(&text_, i ? ", " : "", in.name, ": ", to_text(f_.type(in.value)),
                      in.donate ? " donate" : "");
    }
    text_ += ") -> (";
    for (std::size_t i = 0; i < f_.outputs.size(); ++i) {
      absl::StrAppend(&text_, i ? ", " : "", f_.outputs[i].name, ": ",
                      to_text(f_.type(f_.outputs[i].value)));
    }
    text_ += ") {\n";
  }

  void line(const Node& node) {
    text_ += "  ";
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      names_[node.results[r].index] = absl::StrCat("%", next_++);
      absl::StrAppend(&text_, r ? ", " : "", names_[node.results[r].index]);
    }
    absl::StrAppend(&text_, node.results.empty() ? "" : " = ", versioned_name(*node.op));
    if (node.literal) {
      absl::StrAppend(&text_, " ", literal_text(*node.literal, style_));
    } else {
      for (std::size_t o = 0; o < node.operands.size(); ++o) {
        absl::StrAppend(&text_, o ? ", " : "(", names_[node.operands[o].index]);
      }
      text_ += node.operands.empty() ? "()" : ")";
      if (!node.attributes.empty()) absl::StrAppend(&text_, " ", to_text(node.attributes));
    }
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      absl::StrAppend(&text_, r ? ", " : " : ", to_text(f_.type(node.results[r])));
    }
    text_ += "\n";
  }

  const Function& f_;
  TextStyle style_;
  std::vector<std::string> names_;
  std::string text_;
  int next_ = 0;
};

}  // namespace

std::string to_text(const Function& function, TextStyle style) {
  return Printer(function, style).print();
}

std::string to_text(const Program& program, TextStyle style) {
  std::string text;
  for (const Function& f : program.functions())
    text += (text.empty() ? "" : "\n") + to_text(f, style);
  return text;
}

}  // namespace heddle
