#include "heddle/graph/text_parse.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "heddle/graph/builder.h"
#include "heddle/graph/extents.h"
#include "heddle/graph/number_text.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/scalar_convert.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

// One term of an extent: 3, n, 2*n, -n.
Dim parse_term(Lexer& lexer, bool negative) {
  if (lexer.accept("-")) negative = !negative;
  std::int64_t coefficient = 1;
  if (lexer.peek().kind == Token::number) {
    coefficient = lexer.expect_int();
    if (!lexer.accept("*")) return negative ? -coefficient : coefficient;
  }
  return (negative ? -coefficient : coefficient) * Dim::symbol(lexer.expect_word("a symbol"));
}

Dim parse_dim(Lexer& lexer) {
  Dim dim = parse_term(lexer, false);
  while (true) {
    const Token& t = lexer.peek();
    if (t.kind == Token::number && t.spelling[0] == '-') {  // n-1 reads as n, -1
      dim = dim + parse_term(lexer, false);
    } else if (lexer.accept("+")) {
      dim = dim + parse_term(lexer, false);
    } else if (lexer.accept("-")) {
      dim = dim + parse_term(lexer, true);
    } else {
      return dim;
    }
  }
}

template <class T, class Parse>
std::vector<T> parse_list(Lexer& lexer, Parse parse) {
  std::vector<T> items;
  lexer.expect("[");
  while (!lexer.accept("]")) {
    if (!items.empty()) lexer.expect(",");
    items.push_back(parse(lexer));
  }
  return items;
}

// The bits of one element; numbers must fit the dtype.
template <class T>
T parse_element(Lexer& lexer) {
  const Token token = lexer.peek();
  if constexpr (std::is_same_v<T, bool>) {
    if (lexer.accept("true")) return true;
    lexer.expect("false");
    return false;
  } else if constexpr (std::is_integral_v<T>) {
    T value = 0;
    const std::string& s = token.spelling;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    if (token.kind != Token::number || error != std::errc() || end != s.data() + s.size()) {
      lexer.fail(
          absl::StrCat("expected an integer that ", std::string(name_of(dtype_of<T>)), " holds"));
    }
    lexer.next();
    return value;
  } else {
    const double value = lexer.expect_float();
    const T element = convert_element<T>(value);
    if (std::isfinite(value) && !std::isfinite(convert_element<double>(element))) {
      lexer.fail_at(token, absl::StrCat("expected ", range_text(dtype_of<T>), ", found '",
                                        token.spelling, "'"));
    }
    return element;
  }
}

std::vector<std::byte> parse_bytes(Lexer& lexer) {
  const std::string digits = lexer.raw_word();
  if (digits.size() % 2 != 0) lexer.fail("an odd number of hexadecimal digits");
  std::vector<std::byte> bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned value = 0;
    const char* at = digits.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, value, 16);
    if (error != std::errc() || end != at + 2) lexer.fail("bad hexadecimal digits");
    bytes[i] = static_cast<std::byte>(value);
  }
  return bytes;
}

template <class T>
std::vector<std::byte> element_bytes(const std::vector<T>& elements) {
  std::vector<std::byte> bytes;
  for (T e : elements) {
    const auto* b = reinterpret_cast<const std::byte*>(&e);
    bytes.insert(bytes.end(), b, b + sizeof(T));
  }
  return bytes;
}

// The elements come before the type, so they are kept as tokens until the type is known: the lexer
// is copied back.
Literal parse_literal(Lexer& lexer, std::string_view what) {
  Lexer ahead = lexer;
  while (ahead.peek().kind != Token::end && !ahead.accept(":")) {
    if (ahead.accept("bytes")) {
      ahead.expect(":");
      ahead.raw_word();
    } else {
      ahead.next();
    }
  }
  const Type type = parse_type(ahead, what);
  std::vector<std::byte> bytes;
  if (lexer.accept("bytes")) {
    if (lexer.peek().spelling != ":") lexer.fail("expected ':'");
    lexer.next();
    bytes = parse_bytes(lexer);
  } else {
    bytes = dispatch_dtype(type.dtype, [&](auto t) {
      using T = typename decltype(t)::type;
      if (lexer.peek().spelling == "[") {
        // A plain loop: vector<bool> has no elements of its own.
        std::vector<std::byte> all;
        lexer.expect("[");
        while (!lexer.accept("]")) {
          if (!all.empty()) lexer.expect(",");
          const auto one = element_bytes(
              std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>{
                  parse_element<T>(lexer)});
          all.insert(all.end(), one.begin(), one.end());
        }
        return all;
      }
      const T value = parse_element<T>(lexer);
      std::vector<std::byte> all(static_cast<std::size_t>(byte_count(type)));
      std::fill_n(reinterpret_cast<T*>(all.data()), all.size() / sizeof(T), value);
      return all;
    });
  }
  if (static_cast<std::int64_t>(bytes.size()) != byte_count(type)) {
    lexer.fail(
        absl::StrCat("a constant ", to_text(type), " with ", bytes.size(), " bytes of elements"));
  }
  return literal_from_bytes(type, std::move(bytes));
}

class FunctionParser {
 public:
  FunctionParser(Lexer& lexer, const Program* callees, WrittenTypes types)
      : lexer_(lexer), callees_(callees), types_(types) {}

  Function parse(std::vector<ValueId>* node_names) {
    lexer_.expect("func");
    lexer_.expect("@");
    name_ = lexer_.expect_word("a function's name");
    Builder build(name_, callees_);
    parse_inputs(build);
    lexer_.expect("->");
    const std::vector<std::pair<std::string, Type>> outputs = parse_outputs();
    lexer_.expect("{");
    while (lexer_.peek().spelling != "return" || lexer_.peek().kind != Token::word)
      parse_node(build);
    parse_return(build, outputs);
    lexer_.expect("}");
    if (node_names) *node_names = numbered_;
    return build.finish();
  }

 private:
  std::string of_function(const std::string& what) const { return "@" + name_ + ": " + what; }

  void parse_inputs(Builder& build) {
    lexer_.expect("(");
    while (!lexer_.accept(")")) {
      if (!named_.empty()) lexer_.expect(",");
      const Token at = lexer_.peek();
      const std::string name = lexer_.expect_word("an input's name");
      lexer_.expect(":");
      Type type = parse_type(lexer_, of_function("input '" + name + "'"));
      const bool donate = lexer_.accept("donate");
      if (named_.contains(name)) lexer_.fail_at(at, "input '" + name + "' is named twice");
      named_[name] = build.input(name, std::move(type), donate);
    }
  }

  std::vector<std::pair<std::string, Type>> parse_outputs() {
    std::vector<std::pair<std::string, Type>> outputs;
    lexer_.expect("(");
    while (!lexer_.accept(")")) {
      if (!outputs.empty()) lexer_.expect(",");
      std::string name = lexer_.expect_word("an output's name");
      lexer_.expect(":");
      Type type = parse_type(lexer_, of_function("output '" + name + "'"));
      outputs.push_back({std::move(name), std::move(type)});
    }
    return outputs;
  }

  void parse_node(Builder& build) {
    const Token start = lexer_.peek();
    std::vector<std::string> results;
    while (lexer_.peek().kind == Token::value) {
      results.push_back(lexer_.next().spelling);
      if (!lexer_.accept(",")) break;
    }
    lexer_.expect("=");
    const Token op_token = lexer_.peek();
    const Operation& op = parse_operation();
    const Location where(intern_file(lexer_.file()), start.line);
    Values values;
    if (&op == &op_constant) {
      values = {build.constant(parse_literal(lexer_, of_function("a constant")), where)};
      lexer_.expect(":");
    } else {
      const Values operands = parse_operands();
      Attributes attributes = parse_attributes();
      lexer_.expect(":");
      values = is_symbolic(build, operands, results.size())
                   ? build.add_typed(op, operands, std::move(attributes),
                                     written_types(results.size()), where)
                   : add(build, op, op_token, operands, std::move(attributes), where);
    }
    check_results(build, start, results, values);
  }

  const Operation& parse_operation() {
    const Token at = lexer_.peek();
    const std::string name = lexer_.expect_word("an operation");
    const std::int64_t version = lexer_.accept("@") ? lexer_.expect_int() : 1;
    const Operation* op = find_operation(name, static_cast<int>(version));
    if (op == nullptr) lexer_.fail_at(at, absl::StrCat("unknown operation ", name, "@", version));
    return *op;
  }

  Values add(Builder& build, const Operation& op, const Token& at, const Values& operands,
             Attributes attributes, Location where) {
    try {
      return build.add(op, operands, std::move(attributes), where);
    } catch (const Error& e) {
      if (dynamic_cast<const InternalError*>(&e)) throw;
      ErrorDetail detail = e.detail();
      detail.where = {};  // the token says it
      lexer_.fail_at(at, Error(std::move(detail)).what());
    }
  }

  // The types that follow; they are read again when the results get their names.
  std::vector<Type> written_types(std::size_t count) const {
    Lexer ahead = lexer_;
    std::vector<Type> types;
    for (std::size_t r = 0; r < count; ++r) {
      if (r) ahead.expect(",");
      types.push_back(parse_type(ahead));
    }
    return types;
  }
  bool is_symbolic(const Builder& build, const Values& operands, std::size_t results) const {
    if (types_ != WrittenTypes::kernel) return false;
    std::vector<Type> types = written_types(results);
    for (ValueId o : operands) types.push_back(build.type(o));
    return std::any_of(types.begin(), types.end(),
                       [](const Type& t) { return heddle::is_symbolic(t); });
  }

  Values parse_operands() {
    Values operands;
    lexer_.expect("(");
    while (!lexer_.accept(")")) {
      if (!operands.empty()) lexer_.expect(",");
      operands.push_back(parse_value());
    }
    return operands;
  }

  ValueId parse_value() {
    const Token t = lexer_.next();
    auto it = named_.find(t.spelling);
    if ((t.kind != Token::word && t.kind != Token::value) || it == named_.end()) {
      lexer_.fail_at(t, "no value '" + t.spelling + "' before this line");
    }
    return it->second;
  }

  Attributes parse_attributes() {
    std::vector<Attributes::Entry> entries;
    if (!lexer_.accept("{")) return {};
    while (!lexer_.accept("}")) {
      if (!entries.empty()) lexer_.expect(",");
      std::string name = lexer_.expect_word("an attribute's name");
      lexer_.expect("=");
      for (const auto& e : entries) {
        if (e.first == name) lexer_.fail("attribute '" + name + "' is given twice");
      }
      entries.push_back({std::move(name), parse_attribute(lexer_)});
    }
    return Attributes(std::move(entries));
  }

  void check_results(Builder& build, const Token& at, const std::vector<std::string>& results,
                     const Values& values) {
    if (results.size() != values.size()) {
      lexer_.fail_at(at, absl::StrCat("the operation has ", values.size(), " results, ",
                                      results.size(), " are named"));
    }
    for (std::size_t r = 0; r < results.size(); ++r) {
      if (r) lexer_.expect(",");
      const Token type_at = lexer_.peek();
      const Type written = parse_type(lexer_, of_function("value '" + results[r] + "'"));
      if (written != build.type(values[r])) {
        lexer_.fail_at(type_at, absl::StrCat("the result is ", to_text(build.type(values[r])),
                                             ", not ", to_text(written)));
      }
      if (!named_.emplace(results[r], values[r]).second) {
        lexer_.fail_at(at, "value '" + results[r] + "' is defined twice");
      }
      numbered_.push_back(values[r]);
    }
  }

  void parse_return(Builder& build, const std::vector<std::pair<std::string, Type>>& outputs) {
    lexer_.expect("return");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (i) lexer_.expect(",");
      const Token at = lexer_.peek();
      const ValueId v = parse_value();
      const auto& [name, type] = outputs[i];
      if (build.type(v) != type) {
        lexer_.fail_at(at, absl::StrCat("output '", name, "' is ", to_text(build.type(v)), ", not ",
                                        to_text(type)));
      }
      if (!seen.insert(name).second) lexer_.fail_at(at, "output '" + name + "' is named twice");
      build.output(name, v);
    }
  }

  Lexer& lexer_;
  const Program* callees_;
  std::string name_;
  WrittenTypes types_;
  std::map<std::string, ValueId> named_;
  std::vector<ValueId> numbered_;
};

}  // namespace

Function parse_function(Lexer& lexer, const Program* callees, std::vector<ValueId>* node_names,
                        WrittenTypes types) {
  return FunctionParser(lexer, callees, types).parse(node_names);
}

Dims parse_dims(Lexer& lexer) { return parse_list<Dim>(lexer, parse_dim); }

Type parse_type(Lexer& lexer, std::string_view what) {
  const Token at = lexer.peek();
  const auto dtype = parse_dtype(lexer.expect_word("a type"));
  if (!dtype) lexer.fail_at(at, "unknown element type '" + at.spelling + "'");
  Dims dims = parse_dims(lexer);
  Type type{*dtype, std::move(dims)};
  if (const auto fault = extent_fault(type)) {
    lexer.fail_at(at, absl::StrCat(std::string(what), what.empty() ? "" : ": ", fault->message,
                                   ": found ", fault->found, ", needed ", fault->needed));
  }
  return type;
}

Attribute parse_attribute(Lexer& lexer) {
  const Token t = lexer.peek();
  if (t.kind == Token::text) return lexer.expect_text();
  if (t.spelling == "[")
    return parse_list<std::int64_t>(lexer, [](Lexer& l) { return l.expect_int(); });
  if (lexer.accept("true")) return true;
  if (lexer.accept("false")) return false;
  if (lexer.accept("floats"))
    return parse_list<double>(lexer, [](Lexer& l) { return l.expect_float(); });
  if (lexer.accept("dims")) return parse_dims(lexer);
  if (auto dtype = t.kind == Token::word ? parse_dtype(t.spelling) : std::nullopt) {
    lexer.next();
    return *dtype;
  }
  std::int64_t integer = 0;
  if (t.kind == Token::number && absl::SimpleAtoi(t.spelling, &integer)) {
    lexer.next();
    return integer;
  }
  return lexer.expect_float();
}

namespace {

Program parse_functions(std::string_view text, std::string_view file) {
  Lexer lexer(text, file);
  std::vector<Function> functions;
  while (lexer.peek().kind != Token::end) {
    const Token at = lexer.peek();
    const Program callees(functions);
    Function f = parse_function(lexer, &callees);
    if (callees.find(f.name)) lexer.fail_at(at, "function '" + f.name + "' is defined twice");
    functions.push_back(std::move(f));
  }
  if (functions.empty()) lexer.fail("expected 'func', found the end of the text");
  return Program(std::move(functions));
}

}  // namespace

Program parse(std::string_view text, std::string_view file, Location where) {
  return with_context({.where = where}, [&] { return parse_functions(text, file); });
}

const char* intern_file(std::string_view name) {
  static std::mutex mutex;
  static auto* const names = new std::set<std::string, std::less<>>;  // outlives what it names
  const std::lock_guard lock(mutex);
  return names->emplace(name).first->c_str();
}

}  // namespace heddle
