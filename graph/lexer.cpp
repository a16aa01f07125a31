#include "heddle/graph/lexer.h"

#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "heddle/graph/error.h"
#include "heddle/graph/number_text.h"

namespace heddle {
namespace {

bool starts_name(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool in_name(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool not_space(char c) { return !absl::ascii_isspace(static_cast<unsigned char>(c)) && c != '\0'; }

std::string describe(const Token& t) {
  if (t.kind == Token::end) return "the end of the text";
  if (t.kind == Token::text) return "a string";
  return "'" + absl::CHexEscape(t.spelling.substr(0, 40)) + "'";
}

}  // namespace

Lexer::Lexer(std::string_view source, std::string_view file) : source_(source), file_(file) {
  scan();
}

Token Lexer::next() {
  Token t = token_;
  scan();
  return t;
}

bool Lexer::accept(std::string_view spelling) {
  if ((token_.kind != Token::symbol && token_.kind != Token::word) || token_.spelling != spelling)
    return false;
  scan();
  return true;
}

void Lexer::expect(std::string_view spelling) {
  if (!accept(spelling))
    fail(absl::StrCat("expected '", std::string(spelling), "', found ", describe(token_)));
}

std::string Lexer::expect_word(std::string_view what) {
  if (token_.kind != Token::word)
    fail(absl::StrCat("expected ", std::string(what), ", found ", describe(token_)));
  return next().spelling;
}

std::int64_t Lexer::expect_int() {
  const Token t = token_;
  std::int64_t value = 0;
  const char* last = t.spelling.data() + t.spelling.size();
  if (t.kind == Token::number) {
    const auto [end, error] = std::from_chars(t.spelling.data(), last, value);
    if (error == std::errc() && end == last) {
      scan();
      return value;
    }
  }
  fail(absl::StrCat("expected a 64-bit integer, found ", describe(t)));
}

double Lexer::expect_float() {
  std::string spelling = token_.spelling;
  const Token first = token_;
  if (first.kind == Token::symbol && spelling == "-") {  // -inf
    scan();
    spelling += token_.spelling;
  }
  const auto value = parse_float(spelling);
  if (!value || (token_.kind != Token::number && token_.kind != Token::word)) {
    fail_at(first, absl::StrCat(first.kind == Token::number ? "expected a number that f64 holds"
                                                            : "expected a number",
                                ", found ", describe(first)));
  }
  scan();
  return *value;
}

std::string Lexer::expect_text() {
  if (token_.kind != Token::text) fail(absl::StrCat("expected a string, found ", describe(token_)));
  return next().spelling;
}

std::string Lexer::raw_word() {
  std::string word(source_.substr(token_start_, position_ - token_start_));
  while (not_space(peek_char())) word += take();
  scan();
  return word;
}

void Lexer::fail(std::string_view message) const { fail_at(token_, message); }

void Lexer::fail_at(const Token& token, std::string_view message) const {
  throw ParseError({.message = absl::StrCat(file_, ":", token.line, ":", token.column, ": ",
                                            std::string(message))});
}

char Lexer::take() {
  const char c = source_[position_++];
  if (c == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  return c;
}

void Lexer::skip_space() {
  while (position_ < source_.size()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(peek_char()))) {
      take();
    } else if (peek_char() == '/' && peek_char(1) == '/') {
      while (position_ < source_.size() && peek_char() != '\n') take();
    } else {
      return;
    }
  }
}

void Lexer::scan_while(bool (*belongs)(char)) {
  while (belongs(peek_char())) token_.spelling += take();
}

void Lexer::scan_number() {
  token_.kind = Token::number;
  token_.spelling += take();
  while (in_name(peek_char()) ||
         ((peek_char() == '+' || peek_char() == '-') &&
          (token_.spelling.back() == 'p' || token_.spelling.back() == 'e') &&
          is_digit(peek_char(1)))) {
    token_.spelling += take();
  }
}

void Lexer::scan_string() {
  token_.kind = Token::text;
  take();
  std::string escaped;
  while (peek_char() != '"') {
    if (position_ >= source_.size() || peek_char() == '\n')
      fail("a string without its closing quote");
    if (peek_char() == '\\' && position_ + 1 < source_.size()) escaped += take();
    escaped += take();
  }
  take();
  if (!absl::CUnescape(escaped, &token_.spelling)) fail("a string with a bad escape");
}

void Lexer::scan() {
  skip_space();
  token_start_ = position_;
  token_ = Token{.line = line_, .column = column_};
  const char c = peek_char();
  if (position_ >= source_.size()) return;
  if (starts_name(c)) {
    token_.kind = Token::word;
    scan_while(in_name);
  } else if (is_digit(c) || (c == '-' && is_digit(peek_char(1)))) {
    scan_number();
  } else if (c == '%' && is_digit(peek_char(1))) {
    token_.kind = Token::value;
    token_.spelling += take();
    scan_while(is_digit);
  } else if (c == '"') {
    scan_string();
  } else {
    token_.kind = Token::symbol;
    token_.spelling += take();
    if (c == '-' && peek_char() == '>') token_.spelling += take();
    if (std::string_view("(){}[],:=@*+-").find(c) == std::string_view::npos) {
      fail("unexpected character " + describe(token_));
    }
  }
}

}  // namespace heddle
