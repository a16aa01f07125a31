// Splits program text into tokens and keeps the position for errors. Used by the parsers of
// programs and of kernel texts.
#ifndef HEDDLE_GRAPH_LEXER_H_
#define HEDDLE_GRAPH_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

struct Token {
  /// word: a name (letters, digits, _ . / after the first), also true, inf, f32. number: 12, -3,
  /// 0x1.8p+1. text: a quoted string, unescaped. value: %12. symbol: one of ( ) { } [ ] , : = @ * +
  /// - or "->". end: nothing left.
  enum Kind : std::uint8_t { word, number, text, value, symbol, end } kind = end;
  std::string spelling;
  std::uint32_t line = 1, column = 1;
};

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view file);

  const Token& peek() const { return token_; }
  Token next();
  /// True and consumed when the next token is this symbol or word.
  bool accept(std::string_view spelling);
  /// ParseError unless it is.
  void expect(std::string_view spelling);
  std::string expect_word(std::string_view what);
  std::int64_t expect_int();
  double expect_float();
  std::string expect_text();
  /// The rest up to white space, from the current token on: for long hexadecimal data after
  /// "bytes:".
  std::string raw_word();
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail_at(const Token& token, std::string_view message) const;
  const std::string& file() const { return file_; }

 private:
  void scan();
  void skip_space();
  void scan_while(bool (*belongs)(char));
  void scan_number();
  void scan_string();
  char peek_char(std::size_t ahead = 0) const {
    return position_ + ahead < source_.size() ? source_[position_ + ahead] : '\0';
  }
  char take();

  std::string_view source_;
  std::string file_;
  std::size_t position_ = 0, token_start_ = 0;
  std::uint32_t line_ = 1, column_ = 1;
  Token token_;
};

}  // namespace heddle

#endif  // HEDDLE_GRAPH_LEXER_H_
