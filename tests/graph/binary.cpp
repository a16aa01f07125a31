// The binary form: the same program back, and nothing but ParseErrors for anything else.
#include "heddle/graph/binary.h"

#include <fstream>
#include <random>

#include "heddle/graph/builder.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;
using Bytes = std::vector<std::byte>;

Program some_program() {
  const Program callee = parse(
      "func @g(n: f32[2*n+1,3]) -> (y: f32[2*n+1,3]) {\n  %0 = exp(n) : f32[2*n+1,3]\n  return "
      "%0\n}\n",
      "g.heddle");
  Builder b("f");
  b.set_location({intern_file("model.cpp"), 41});
  const ValueId x = b.input("x", {DType::f32, {4, 5}}, true), i = b.input("i", {DType::i64, {}});
  std::vector<double> weights(20);
  for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = 0.1 * static_cast<double>(k) - 1;
  const ValueId w = b.constant(convert(make_literal<double>({4, 5}, weights), DType::f32));
  b.output("x", emit::mul(b, x, w));
  b.output("parts/i", emit::neg(b, i));
  return Program({b.finish(), callee.entry()});
}

TEST(ProgramBinary, GivesTheProgramBack) {
  const Program p = some_program();
  const Program q = from_binary(to_binary(p), "p.hdb");
  EXPECT_EQ(to_text(q), to_text(p));
  EXPECT_EQ(to_binary(q), to_binary(p)) << "places too";
  EXPECT_EQ(to_text(q.entry().nodes[1].where), "model.cpp:41");
  EXPECT_TRUE(q.entry().inputs[0].donate);
  EXPECT_EQ(to_text(from_binary(to_binary(Program()), "empty.hdb")), to_text(Program()));
}

// Any cut and any flipped bit is seen.
TEST(ProgramBinary, CutOrChangedItIsRefused) {
  const Bytes good = to_binary(some_program());
  for (std::size_t n = 0; n < good.size(); ++n) {
    const std::string text =
        expect_error<ParseError>([&] { from_binary(std::span(good).first(n), "p.hdb"); });
    EXPECT_EQ(text.substr(0, 6), "p.hdb:") << text;
    Bytes bad = good;
    bad[n] ^= std::byte{1} << (n % 8);
    expect_error<ParseError>([&] { from_binary(bad, "p.hdb"); });
  }
}

void sign(Bytes& bytes) {
  const auto digest = sha256(std::span(bytes).first(bytes.size() - 32));
  for (std::size_t i = 0; i < 32; ++i) bytes[bytes.size() - 32 + i] = std::byte{digest[i]};
}

// With a checksum that fits: a program, or a ParseError.
TEST(ProgramBinary, WrongContentIsAnErrorOrAProgram) {
  const Bytes good = to_binary(some_program());
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Bytes bad = good;
    for (unsigned k = 0; k <= random() % 3; ++k) {
      bad[8 + random() % (bad.size() - 40)] = std::byte(random() % 256);
    }
    sign(bad);
    try {
      to_text(from_binary(bad, "p.hdb"));
    } catch (const ParseError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(ProgramBinary, ErrorsSayWhere) {
  Bytes newer = to_binary(some_program());
  newer[6] = std::byte{9};
  sign(newer);
  std::string text = expect_error<ParseError>([&] { from_binary(newer, "p.hdb"); });
  EXPECT_NE(text.find("format 9"), std::string::npos) << text;
  text = expect_error<ParseError>([&] { from_binary(Bytes(100), "p.hdb"); });
  EXPECT_NE(text.find("no binary program"), std::string::npos) << text;
  text = expect_error<ParseError>([] { read_program("/nowhere/p.hdb"); });
  EXPECT_NE(text.find("/nowhere/p.hdb"), std::string::npos) << text;
}

}  // namespace
}  // namespace heddle
