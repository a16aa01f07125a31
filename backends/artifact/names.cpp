#include "heddle/backends/artifact/names.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

bool is_keyword(const std::string& name) {
  static const std::set<std::string> kKeywords = {
      "alignas",   "alignof",  "and",      "asm",      "auto",     "bool",     "break",
      "case",      "catch",    "char",     "class",    "concept",  "const",    "constexpr",
      "continue",  "default",  "delete",   "do",       "double",   "else",     "enum",
      "explicit",  "export",   "extern",   "false",    "float",    "for",      "friend",
      "goto",      "if",       "inline",   "int",      "long",     "mutable",  "namespace",
      "new",       "noexcept", "not",      "nullptr",  "operator", "or",       "private",
      "protected", "public",   "register", "requires", "restrict", "return",   "short",
      "signed",    "sizeof",   "static",   "struct",   "switch",   "template", "this",
      "throw",     "true",     "try",      "typedef",  "typeid",   "typename", "union",
      "unsigned",  "using",    "virtual",  "void",     "volatile", "while",    "xor",
      "instance"};
  return kKeywords.count(name) > 0;
}

}  // namespace

std::string c_name(std::string_view name) {
  std::string out;
  for (char c : name) out += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty() || absl::ascii_isdigit(static_cast<unsigned char>(out[0])))
    out.insert(out.begin(), '_');
  return is_keyword(out) ? out + "_" : out;
}

std::string c_constant(std::string_view name) {
  std::string out = c_name(name);
  absl::AsciiStrToUpper(&out);
  return out;
}

std::string_view c_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::u8:
      return "uint8_t";
    case DType::i8:
      return "int8_t";
    case DType::i16:
      return "int16_t";
    case DType::i32:
      return "int32_t";
    case DType::i64:
      return "int64_t";
    case DType::f16:
    case DType::bf16:
    case DType::u16:
      return "uint16_t";
    case DType::u32:
      return "uint32_t";
    case DType::u64:
      return "uint64_t";
    case DType::f32:
      return "float";
    case DType::f64:
      break;
  }
  return "double";
}

void check_names(const ArtifactDescription& description) {
  static const std::set<std::string> kTaken = {
      "create",   "destroy", "error",      "options", "workspace_bytes",
      "selftest", "threads", "step_event", "t",       "artifact"};
  if (c_name(description.name) != description.name) {
    throw ValueError(
        {.message = "the artifact's name must be an identifier of C", .found = description.name});
  }
  std::set<std::string> names;
  for (const SignatureDescription& s : description.signatures) {
    const std::string name = c_name(s.name);
    if (kTaken.count(name)) {
      throw ValueError(
          {.message = absl::StrCat("function '", s.name,
                                   "' has the name of a function that every artifact has")});
    }
    if (!names.insert(name).second) {
      throw ValueError({.message = absl::StrCat("two functions have the C name '", name, "'")});
    }
  }
}

std::vector<const TensorDescription*> tensors_of(const SignatureDescription& signature,
                                                 std::uint32_t argument) {
  std::vector<const TensorDescription*> tensors;
  for (const TensorDescription& t : signature.inputs) {
    if (t.argument == argument) tensors.push_back(&t);
  }
  for (const TensorDescription& t : signature.outputs) {
    if (t.argument == argument && t.shares < 0) tensors.push_back(&t);
  }
  return tensors;
}

bool is_single(const SignatureDescription& signature, std::uint32_t argument) {
  const std::vector<const TensorDescription*> tensors = tensors_of(signature, argument);
  return tensors.size() == 1 && tensors[0]->name == signature.arguments[argument].name;
}

std::string_view pointee_type(const SignatureDescription& signature, std::uint32_t argument) {
  const std::vector<const TensorDescription*> tensors = tensors_of(signature, argument);
  const bool equal = std::all_of(tensors.begin(), tensors.end(), [&](const TensorDescription* t) {
    return t->dtype == tensors[0]->dtype;
  });
  return equal && !tensors.empty() ? c_type(tensors[0]->dtype) : "void";
}

std::vector<std::string> parameter_names(const SignatureDescription& signature) {
  std::vector<std::string> names;
  for (const ArgumentDescription& a : signature.arguments) {
    std::string name = c_name(a.name);
    while (std::find(names.begin(), names.end(), name) != names.end()) {
      name += (a.access & HD_IN) ? "_in" : "_out";
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace heddle
