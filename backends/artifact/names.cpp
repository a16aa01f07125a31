#include "heddle/backends/artifact/names.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

// C99 to C23, C++11 to C++20, and what their compilers and headers define in small letters.
constexpr char kKeywords[] =
    "alignas alignof and and_eq arguments asm assert auto bitand bitor bool break case "
    "catch char char16_t char32_t char8_t class co_await co_return co_yield compl complex "
    "concept const const_cast consteval constexpr constinit continue decltype default "
    "delete do double dynamic_cast else enum errno explicit export extern false far float "
    "for friend goto i386 if imaginary inline instance int interface linux long mutable "
    "namespace near new noexcept noreturn not not_eq nullptr offsetof operator or or_eq "
    "private protected public register reinterpret_cast requires restrict return short "
    "signed sizeof small static static_assert static_cast stderr stdin stdout struct "
    "switch template this thread_local throw true try typedef typeid typename typeof "
    "typeof_unqual union unix unsigned using virtual void volatile while xor xor_eq";
bool is_keyword(std::string_view name) {
  static const std::set<std::string> kWords = absl::StrSplit(kKeywords, ' ');
  return kWords.contains(std::string(name));
}

// Spelled as macros are.
bool is_macro(std::string_view name) {
  const bool capital = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isupper(c) || absl::ascii_isdigit(c) || c == '_';
  });
  return name == "I" || (capital && name.size() > 2);
}

// Names the language keeps for itself: _Complex, a__b, __linux__.
bool is_reserved(std::string_view name) {
  const bool begins =
      name.size() > 1 && name[0] == '_' && absl::ascii_isupper(static_cast<unsigned char>(name[1]));
  return begins || name.find("__") != name.npos;
}

// What a header of C or POSIX has as a type "<name>_t", and what has our symbols or a namespace.
bool is_system(std::string_view name) {
  static const std::set<std::string, std::less<>> kNames = {
      "blkcnt",     "blksize", "clock",    "clockid",  "cnd",      "dev",     "div",      "error",
      "fenv",       "fexcept", "fpos",     "fsblkcnt", "fsfilcnt", "gid",     "glob",     "halide",
      "hd",         "iconv",   "id",       "imaxdiv",  "in_addr",  "in_port", "ino",      "int16",
      "int32",      "int64",   "int8",     "intmax",   "intptr",   "key",     "ldiv",     "lldiv",
      "max_align",  "mbstate", "mcontext", "mode",     "mqd",      "mtx",     "nfds",     "nlink",
      "nullptr",    "off",     "pid",      "pthread",  "ptrdiff",  "regex",   "regoff",   "sem",
      "sig_atomic", "siginfo", "sigset",   "size",     "socklen",  "speed",   "ssize",    "stack",
      "std",        "tcflag",  "thrd",     "time",     "timer",    "tss",     "ucontext", "uid",
      "uint16",     "uint32",  "uint64",   "uint8",    "uintmax",  "uintptr", "wchar",    "wctrans",
      "wctype",     "wint"};
  return kNames.contains(name);
}

// Who has which name in C.
class Owners {
 public:
  void take(const std::string& c, const std::string& what) {
    const auto [place, is_new] = owners_.emplace(c, what);
    if (is_new || place->second == what) return;
    throw ValueError({.message = absl::StrCat(place->second, " and ", what, " have one name in C"),
                      .found = c,
                      .needed = "another name for one of them"});
  }

 private:
  std::map<std::string, std::string> owners_;
};

void check_library(const std::string& name) {
  const bool digit = !name.empty() && absl::ascii_isdigit(static_cast<unsigned char>(name[0]));
  if (name.empty() || digit || c_spelling(name) != name) {
    throw ValueError({.message = "the artifact's name must be an identifier of C", .found = name});
  }
  if (!is_keyword(name) && !is_macro(name) && !is_reserved(name + "_") && !is_system(name)) return;
  throw ValueError({.message = "the artifact's name is one that C, C++ or their headers have",
                    .found = name,
                    .needed = "another, such as " + name + "_model"});
}

void take_identifiers(Owners& owners, const std::string& library, std::string_view text) {
  std::string constants = library;
  absl::AsciiStrToUpper(&constants);
  std::string word;
  for (char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      continue;
    }
    if (word.starts_with(library + "_") || word.starts_with(constants + "_")) {
      owners.take(word, "what every library has");
    }
    word.clear();
  }
}

// Symbols of the core, of Halide's runtime and of constants.
bool is_own_symbol(const std::string& name) {
  const std::string_view constant = "constant";
  return name.starts_with("hd_") || name.starts_with("halide_") ||
         (name.starts_with(constant) && name.size() > constant.size() &&
          absl::ascii_isdigit(static_cast<unsigned char>(name[constant.size()])));
}

void take_function(Owners& owners, const std::string& library, const std::string& name) {
  const std::string spelling = c_spelling(name);
  if (is_own_symbol(spelling)) {
    throw ValueError({.message = "function '" + name +
                                 "' has a name that libraries keep for "
                                 "themselves",
                      .found = spelling,
                      .needed = "none that begins with hd_, halide_ or constant0"});
  }
  owners.take(library + "_" + spelling, "function '" + name + "'");
}

void take_tree(Owners& owners, const std::string& library, const SignatureDescription& s,
               std::uint32_t argument) {
  for (const TensorDescription* t : tensors_of(s, argument)) {
    owners.take(leaf_name(library, *t), "the leaf '" + t->name + "'");
  }
  owners.take(size_name(library, s, argument),
              "the size of the tree '" + s.arguments[argument].name + "'");
}

}  // namespace

std::string c_spelling(std::string_view name) {
  std::string out;
  for (char c : name) out += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

std::string c_name(std::string_view name) {
  std::string out = c_spelling(name);
  if (out.empty() || absl::ascii_isdigit(static_cast<unsigned char>(out[0])) || is_reserved(out))
    out.insert(0, "x");
  const bool taken =
      is_keyword(out) || is_macro(out) || out.ends_with("_t") || out.starts_with("hd_");
  return taken ? out + "_" : out;
}

std::string c_constant(std::string_view name) {
  std::string out = c_spelling(name);
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

std::string leaf_name(const std::string& library, const TensorDescription& tensor) {
  return library + "_" + c_spelling(tensor.name);
}

std::string size_name(const std::string& library, const SignatureDescription& s,
                      std::uint32_t argument) {
  const bool mixed = pointee_type(s, argument) == "void";
  return absl::StrCat(library, "_", c_spelling(s.arguments[argument].name),
                      mixed ? "_bytes" : "_count");
}

bool takes_buffers(const ArtifactDescription& description) {
  return std::any_of(
      description.plans.begin(), description.plans.end(),
      [](const PlanDescription& p) { return p.device != nullptr && p.device->wrap != nullptr; });
}

void check_names(const ArtifactDescription& description, std::string_view fixed) {
  const std::string& library = description.name;
  check_library(library);
  Owners owners;
  take_identifiers(owners, library, fixed);
  std::set<std::string> functions;
  for (std::size_t f = 0; f < description.signatures.size(); ++f) {
    const SignatureDescription& s = description.signatures[f];
    if (!functions.insert(s.name).second) {
      throw ValueError({.message = "two functions have the name '" + s.name + "'"});
    }
    if (static_cast<int>(f) == description.prepare) continue;
    take_function(owners, library, s.name);
    if (takes_buffers(description)) take_function(owners, library, s.name + "_buffers");
    for (std::uint32_t i = 0; i < s.arguments.size(); ++i) {
      if (!is_single(s, i)) take_tree(owners, library, s, i);
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
