// The text of a kernel: the body as program text has it, then one schedule block.
//
//   func @kernel(x0: f32[32,784], x1: f32[784,512]) -> (y0: f32[32,512]) {
//     ...
//   }
//   schedule {
//     target "x86-64-linux-avx-avx2-f16c-fma-sse41"
//     in [784,1] [512,1]
//     out [512,1]
//     contract mr=4 nr=16 lhs=none rhs=panel columns_outer=true dots=false
//         panels=1 piece=0 ahead=0 grain=1
//     stage %0 per_tile automatic
//   }
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"
#include "heddle/graph/text_parse.h"
#include "heddle/schedule/canonical.h"
#include "heddle/schedule/kernel.h"

namespace heddle {
namespace {

constexpr std::string_view kPlaces[] = {"per_tile", "per_block", "once"};
constexpr std::string_view kMemories[] = {"automatic", "scratch", "shared"};
constexpr std::string_view kPacks[] = {"none", "panel", "whole"};

template <class E, std::size_t N>
std::string word_of(E value, const std::string_view (&words)[N]) {
  return std::string(words[static_cast<std::size_t>(value)]);
}

// One field list per recipe serves printing and reading: `visit(name, member)`.
template <class R, class V>
void each_field(R& recipe, V&& visit) {
  using T = std::remove_const_t<R>;
  if constexpr (std::is_same_v<T, Map>) {
    visit("vector", recipe.vector), visit("unroll", recipe.unroll), visit("grain", recipe.grain);
  } else if constexpr (std::is_same_v<T, Rows>) {
    visit("lanes", recipe.lanes), visit("grain", recipe.grain), visit("split", recipe.split);
    visit("ahead", recipe.ahead);
  } else if constexpr (std::is_same_v<T, Columns>) {
    visit("strip", recipe.strip), visit("split", recipe.split), visit("grain", recipe.grain);
    visit("rows", recipe.rows);
  } else if constexpr (std::is_same_v<T, Contract>) {
    visit("mr", recipe.mr), visit("nr", recipe.nr), visit("lhs", recipe.lhs);
    visit("rhs", recipe.rhs), visit("columns_outer", recipe.columns_outer);
    visit("dots", recipe.dots), visit("panels", recipe.panels);
    visit("piece", recipe.piece), visit("ahead", recipe.ahead), visit("grain", recipe.grain);
  } else if constexpr (std::is_same_v<T, Fibres>) {
    visit("strip", recipe.strip), visit("grain", recipe.grain);
  } else if constexpr (std::is_same_v<T, RowBlock>) {
    visit("mr", recipe.mr), visit("nr", recipe.nr), visit("rows", recipe.rows);
    visit("grain", recipe.grain);
  } else if constexpr (std::is_same_v<T, Winograd>) {
    visit("mr", recipe.mr), visit("nr", recipe.nr), visit("rows", recipe.rows);
    visit("grain", recipe.grain);
  } else if constexpr (std::is_same_v<T, External>) {
    visit("symbol", recipe.symbol), visit("digest", recipe.digest);
  } else {
    visit("vector", recipe.vector), visit("grain", recipe.grain);
  }
}

struct FieldPrinter {
  std::string& text;
  void operator()(std::string_view name, bool value) const {
    absl::StrAppend(&text, " ", std::string(name), "=", value ? "true" : "false");
  }
  void operator()(std::string_view name, Pack value) const {
    absl::StrAppend(&text, " ", std::string(name), "=", word_of(value, kPacks));
  }
  template <class N>
  void operator()(std::string_view name, const N& value) const {
    absl::StrAppend(&text, " ", std::string(name), "=", value);
  }
};

std::string recipe_text(const Recipe& recipe) {
  std::string text(name_of(recipe));
  std::visit([&](const auto& r) { each_field(r, FieldPrinter{text}); }, recipe);
  return text;
}

std::string stage_text(const Stage& stage, const std::vector<std::uint32_t>& numbers) {
  std::string text = "  stage";
  for (ValueId v : stage.values) absl::StrAppend(&text, " %", numbers[v.index]);
  return absl::StrCat(text, " ", word_of(stage.place, kPlaces), " ",
                      word_of(stage.memory, kMemories), "\n");
}

std::string port_text(const Port& port) {
  std::string text = " " + to_text(port.strides);
  if (port.shares >= 0) absl::StrAppend(&text, " shares ", port.shares);
  return text;
}

void check_constants(const Function& body) {
  for (const Node& node : body.nodes) {
    internal_check(!node.literal || element_count(node.literal->type) <= 16,
                   "a constant of more than 16 elements inside a kernel: it must be a port");
  }
}

// ---- reading ----

template <class E, std::size_t N>
E parse_word(Lexer& lexer, const std::string_view (&words)[N]) {
  for (std::size_t i = 0; i < N; ++i) {
    if (lexer.accept(words[i])) return static_cast<E>(i);
  }
  std::string needed = "expected";
  for (std::string_view w : words) {
    absl::StrAppend(&needed, w == words[0] ? " " : " or ", std::string(w));
  }
  lexer.fail(needed);
}

struct FieldParser {
  Lexer& lexer;
  void start(std::string_view name) const {
    lexer.expect(name);
    lexer.expect("=");
  }
  void operator()(std::string_view name, bool& value) const {
    static constexpr std::string_view kFlags[] = {"false", "true"};
    start(name);
    value = parse_word<int>(lexer, kFlags) != 0;
  }
  void operator()(std::string_view name, Pack& value) const {
    start(name);
    value = parse_word<Pack>(lexer, kPacks);
  }
  template <class N>
  void operator()(std::string_view name, N& value) const {
    start(name);
    const Token token = lexer.peek();
    const std::int64_t number = lexer.expect_int();
    if (number < 0 || number > (std::int64_t{1} << 31)) lexer.fail_at(token, "number out of range");
    value = static_cast<N>(number);
  }
};

template <class R>
bool parse_recipe_as(Lexer& lexer, Recipe& recipe) {
  R numbers;
  if (!lexer.accept(name_of(Recipe(numbers)))) return false;
  each_field(numbers, FieldParser{lexer});
  recipe = numbers;
  return true;
}

// A kernel from outside is never compiled: its text is not read back.
Recipe parse_recipe(Lexer& lexer) {
  Recipe recipe;
  const bool known =
      parse_recipe_as<Map>(lexer, recipe) || parse_recipe_as<Rows>(lexer, recipe) ||
      parse_recipe_as<Columns>(lexer, recipe) || parse_recipe_as<Contract>(lexer, recipe) ||
      parse_recipe_as<Scatter>(lexer, recipe) || parse_recipe_as<Fibres>(lexer, recipe) ||
      parse_recipe_as<RowBlock>(lexer, recipe) || parse_recipe_as<Winograd>(lexer, recipe);
  if (!known) {
    lexer.fail("expected map, rows, columns, contract, scatter, fibres, row_block or winograd");
  }
  return recipe;
}

Stage parse_stage(Lexer& lexer, const Values& results) {
  Stage stage;
  while (lexer.peek().kind == Token::value) {
    const Token token = lexer.next();
    std::size_t number = 0;
    if (!absl::SimpleAtoi(token.spelling.substr(1), &number) || number >= results.size()) {
      lexer.fail_at(token, "no such value in the body");
    }
    stage.values.push_back(results[number]);
  }
  if (stage.values.empty()) lexer.fail("expected a value such as %3");
  stage.place = parse_word<Place>(lexer, kPlaces);
  stage.memory = parse_word<Memory>(lexer, kMemories);
  return stage;
}

std::vector<Port> parse_ports(Lexer& lexer, std::size_t count, const char* what) {
  std::vector<Port> ports;
  while (lexer.peek().spelling == "[") {
    Port port{parse_dims(lexer)};
    if (lexer.accept("shares")) port.shares = static_cast<int>(lexer.expect_int());
    ports.push_back(std::move(port));
  }
  if (ports.size() != count) {
    lexer.fail(absl::StrCat("expected strides of ", count, " ", what, ", found ", ports.size()));
  }
  return ports;
}

void check_ranks(const Lexer& lexer, const Kernel& kernel) {
  for (std::size_t i = 0; i < kernel.in.size(); ++i) {
    if (kernel.in[i].strides.size() != kernel.body.type(kernel.body.inputs[i].value).rank()) {
      lexer.fail("strides of another rank than the input's type");
    }
  }
  for (std::size_t i = 0; i < kernel.out.size(); ++i) {
    if (kernel.out[i].strides.size() != kernel.body.type(kernel.body.outputs[i].value).rank()) {
      lexer.fail("strides of another rank than the output's type");
    }
    if (kernel.out[i].shares >= static_cast<int>(kernel.in.size())) {
      lexer.fail("an output shares an input that does not exist");
    }
  }
}

}  // namespace

std::string to_text(const Kernel& kernel) {
  check_constants(kernel.body);
  std::string text = to_text(kernel.body);
  const std::vector<std::uint32_t> numbers = result_numbers(kernel.body);
  absl::StrAppend(&text, "schedule {\n  target \"", to_text(kernel.target), "\"\n  in");
  for (const Port& p : kernel.in) text += port_text(p);
  text += "\n  out";
  for (const Port& p : kernel.out) text += port_text(p);
  absl::StrAppend(&text, "\n  ", recipe_text(kernel.recipe), "\n");
  for (const Stage& s : kernel.stages) text += stage_text(s, numbers);
  if (kernel.sequential) text += "  sequential\n";
  return text + "}\n";
}

Kernel parse_kernel(std::string_view text) {
  Lexer lexer(text, "kernel");
  Kernel kernel;
  Values results;
  kernel.body = parse_function(lexer, nullptr, &results, WrittenTypes::kernel);
  lexer.expect("schedule");
  lexer.expect("{");
  lexer.expect("target");
  kernel.target = parse_target(lexer.expect_text());
  lexer.expect("in");
  kernel.in = parse_ports(lexer, kernel.body.inputs.size(), "inputs");
  lexer.expect("out");
  kernel.out = parse_ports(lexer, kernel.body.outputs.size(), "outputs");
  kernel.recipe = parse_recipe(lexer);
  while (lexer.accept("stage")) kernel.stages.push_back(parse_stage(lexer, results));
  kernel.sequential = lexer.accept("sequential");
  lexer.expect("}");
  if (lexer.peek().kind != Token::end) lexer.fail("text after the schedule block");
  check_ranks(lexer, kernel);
  return kernel;
}

}  // namespace heddle
