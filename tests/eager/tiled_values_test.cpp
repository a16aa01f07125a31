// The tiled carrier against the reference: values and gradients, with tensors of many tiles.
#include "eager/tiled_support.h"
#include "heddle/frontend/checked.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

constexpr unsigned kSeed = 20260101;

// `f` on random operands, on the tiled carrier and on the reference.
void expect_as_reference(const std::string& what, const std::vector<Type>& types, const Calls& f,
                         double rtol = 0, double atol = 0) {
  std::vector<Tensor> tiled, reference;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto seed = static_cast<unsigned>(kSeed + i);
    tiled.push_back(random_tensor(types[i], seed, tiny_tiles().name));
    reference.push_back(random_tensor(types[i], seed, "reference"));
  }
  const Tensor got = f(tiled);
  EXPECT_EQ(got.storage()->carrier(), &tiny_tiles()) << what;
  expect_close(got, f(reference), rtol, atol, what + ", seed " + std::to_string(kSeed));
}

Tensor add_two(const std::vector<Tensor>& x) { return x[0] + x[1]; }
Tensor mul_two(const std::vector<Tensor>& x) { return x[0] * x[1]; }

TEST(TiledValues, ElementwiseWithBroadcasts) {  // A10.4 A10.7
  const std::vector<std::vector<Dims>> shapes = {
      {{131, 257}, {131, 257}}, {{131, 257}, {257}},       {{131, 1}, {1, 257}},
      {{131, 257}, {}},         {{7, 61, 83}, {61, 1}},    {{33001}, {33001}},
      {{3, 1, 5003}, {11, 1}},  {{1, 1, 70001}, {1, 1, 1}}};
  for (const auto& s : shapes) {
    const std::string text = to_text(s[0]) + " " + to_text(s[1]);
    expect_as_reference("add " + text, {{DType::f32, s[0]}, {DType::f32, s[1]}}, add_two);
    expect_as_reference("mul " + text, {{DType::f32, s[0]}, {DType::f32, s[1]}}, mul_two);
  }
}

TEST(TiledValues, EveryDTypeAndConversions) {  // A10.4
  for (DType d :
       {DType::f64, DType::f16, DType::bf16, DType::i32, DType::i8, DType::u8, DType::i64}) {
    const std::string name(name_of(d));
    expect_as_reference("add " + name, {{d, {97, 301}}, {d, {301}}}, add_two);
    expect_as_reference("mul with f32 " + name, {{d, {97, 301}}, {DType::f32, {97, 1}}}, mul_two);
  }
  expect_as_reference("weak", {{DType::i32, {97, 301}}},
                      [](const std::vector<Tensor>& x) { return x[0] * 0.5 + 3; });
}

TEST(TiledValues, Relu) {  // A10.4
  for (DType d : {DType::f32, DType::i32, DType::f64}) {
    expect_as_reference("relu", {{d, {131, 257}}},
                        [](const std::vector<Tensor>& x) { return relu(x[0]); });
  }
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> all(5000, -0.0);
  all[17] = std::nan(""), all[4001] = inf, all[4999] = -inf;
  const auto on_carrier = [&](std::string_view carrier) {
    return relu(tensor(all, {5000}, {.carrier = carrier}));
  };
  expect_close(on_carrier(tiny_tiles().name), on_carrier("reference"), 0, 0, "special values");
}

TEST(TiledValues, Sums) {  // A10.4 A10.7
  struct Row {
    Dims dims;
    Axes axes;
  };
  for (const Row& r : std::vector<Row>{{{131, 257}, {1}},
                                       {{131, 257}, {0}},
                                       {{131, 257}, {0, 1}},
                                       {{131, 257}, {}},
                                       {{40009}, {0}},
                                       {{5, 20011}, {1}},
                                       {{20011, 5}, {0}},
                                       {{9, 61, 83}, {0, 2}},
                                       {{9, 61, 83}, {1}},
                                       {{3, 7001, 2}, {1}},
                                       {{2, 3, 17, 13, 19}, {1, 3}}}) {
    const auto total = [&](const std::vector<Tensor>& x) { return sum(x[0], r.axes); };
    const std::string text = to_text(r.dims);
    for (DType d : {DType::i32, DType::i8, DType::u64}) {
      expect_as_reference("sum " + text, {{d, r.dims}}, total);  // wraps: exact
    }
    expect_as_reference("sum f32 " + text, {{DType::f32, r.dims}}, total, 1e-6, 1e-6);
    expect_as_reference("sum f64 " + text, {{DType::f64, r.dims}}, total, 1e-14, 1e-13);
  }
  // Rounded once, however many tiles: quarters add exactly in f64 (25000.75), f16 would stop at
  // 512.
  const Tensor halves = full({100003}, 0.25, {.dtype = DType::f16, .carrier = tiny_tiles().name});
  EXPECT_EQ(item(sum(halves, {0})), 25008);
}

TEST(TiledValues, OtherReductions) {
  const std::vector<Type> types = {{DType::f32, {131, 257}}};
  expect_as_reference("max", types, [](const auto& x) { return reduce_max(x[0], {0}); });
  expect_as_reference("min", types, [](const auto& x) { return reduce_min(x[0], {1}); });
  expect_as_reference(
      "mean", types, [](const auto& x) { return mean(x[0], {0}); }, 1e-6, 1e-6);
  expect_as_reference(
      "softmax", types, [](const auto& x) { return softmax(x[0], 1); }, 1e-6, 1e-7);
}

TEST(TiledValues, Products) {  // A10.4 A10.7
  struct Row {
    Dims x, y;
  };
  for (const Row& r : std::vector<Row>{{{67, 129}, {129, 51}},
                                       {{201, 203}, {203, 199}},
                                       {{3, 9001}, {9001, 5}},
                                       {{3001, 3}, {3, 301}},
                                       {{5, 41, 43}, {5, 43, 47}},
                                       {{301, 3, 5}, {301, 5, 7}},
                                       {{5, 41, 43}, {43, 47}}}) {
    const auto product = [](const std::vector<Tensor>& x) { return matmul(x[0], x[1]); };
    const std::string text = to_text(r.x) + " " + to_text(r.y);
    for (DType d : {DType::i32, DType::i64}) {
      expect_as_reference("matmul " + text, {{d, r.x}, {d, r.y}}, product);
    }
    expect_as_reference("matmul f32 " + text, {{DType::f32, r.x}, {DType::f32, r.y}}, product, 1e-5,
                        1e-5);
    expect_as_reference("matmul mixed " + text, {{DType::i32, r.x}, {DType::f32, r.y}}, product,
                        1e-5, 1e-5);
  }
  const Dims x{67, 129}, y{129, 51};
  const auto product = [](const std::vector<Tensor>& t) { return matmul(t[0], t[1]); };
  expect_as_reference("f16", {{DType::f16, x}, {DType::f16, y}}, product, 1e-3, 1e-3);
  expect_as_reference("f64", {{DType::f64, x}, {DType::f64, y}}, product, 1e-13, 1e-13);
}

TEST(TiledValues, TransposesAndReshapes) {
  expect_as_reference("transposed sum", {{DType::f32, {301, 257}}, {DType::f32, {257, 301}}},
                      [](const auto& x) {
                        return transpose(x[0], {1, 0}) + x[1];
                      });
  expect_as_reference("moved", {{DType::i32, {13, 17, 301}}}, [](const auto& x) {
    return transpose(x[0], {2, 0, 1});
  });
  expect_as_reference("reshaped", {{DType::i32, {13, 17, 301}}}, [](const auto& x) {
    return sum(reshape(x[0] + 1, {221, 301}), {0});
  });
  expect_as_reference("transposed product", {{DType::i32, {129, 67}}, {DType::i32, {51, 129}}},
                      [](const auto& x) {
                        return matmul(transpose(x[0], {1, 0}), transpose(x[1], {1, 0}));
                      });
}

TEST(TiledValues, CheckedArithmetic) {
  const std::vector<Type> pair = {{DType::i32, {131, 257}}, {DType::i32, {1, 257}}};
  expect_as_reference("add", pair, [](const auto& x) { return checked::add(x[0], x[1]); });
  expect_as_reference("mul", pair, [](const auto& x) { return checked::mul(x[0], x[1]); });
  expect_as_reference("sum", pair, [](const auto& x) { return checked::reduce_sum(x[0], {0}); });
  expect_as_reference(
      "matmul", {{DType::i32, {67, 129}}, {DType::i32, {51, 129}}},
      [](const auto& x) { return checked::matmul(x[0], x[1], {.rhs_transposed = true}); });
  // One element of the last tile does not fit.
  std::vector<double> all(40009, 1);
  all.back() = 2147483647;
  const Tensor x = tensor(all, {40009}, {.dtype = DType::i32, .carrier = tiny_tiles().name});
  const std::string text = expect_error<OverflowError>([&] { checked::add(x, x); });
  EXPECT_NE(text.find("[checked_add]"), std::string::npos) << text;
  expect_error<OverflowError>([&] { checked::reduce_sum(x, {0}); });
  EXPECT_EQ(elements(x, 40008, 1), std::vector<double>{2147483647});
  EXPECT_EQ(x.storage()->version(), 0u);
}

// Gradients --------------------------------------------------------------------------------------

std::vector<Tensor> gradients_on(std::string_view carrier, const std::vector<Type>& types,
                                 const Calls& f) {
  std::vector<Tensor> x;
  for (std::size_t i = 0; i < types.size(); ++i) {
    x.push_back(random_tensor(types[i], static_cast<unsigned>(kSeed + i), carrier));
    require_gradient(x.back());
  }
  const Tensor y = f(x);
  backward(y, {.cotangent = random_tensor(y.type(), kSeed + 99, carrier)});
  std::vector<Tensor> result;
  for (const Tensor& t : x) result.push_back(*gradient(t));
  return result;
}

void expect_gradients(const std::string& what, const std::vector<Type>& types, const Calls& f,
                      double rtol = 1e-5, double atol = 1e-5) {
  const std::vector<Tensor> got = gradients_on(tiny_tiles().name, types, f);
  const std::vector<Tensor> want = gradients_on("reference", types, f);
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].storage()->carrier(), &tiny_tiles());
    expect_close(got[i], want[i], rtol, atol, what + " operand " + std::to_string(i));
  }
}

TEST(TiledGradients, OfTheSix) {  // A9.10 A10.4
  const Type x{DType::f32, {131, 257}}, row{DType::f32, {257}}, column{DType::f32, {131, 1}};
  expect_gradients("add", {x, row}, add_two);
  expect_gradients("mul", {x, column}, mul_two);
  expect_gradients("mul same shapes", {x, x}, mul_two);
  expect_gradients("mul weak", {x}, [](const auto& t) { return t[0] * 3; });
  expect_gradients("relu", {x}, [](const auto& t) { return relu(t[0]); });
  expect_gradients("sum", {x}, [](const auto& t) { return sum(t[0], {0}); });
  expect_gradients("matmul", {{DType::f32, {67, 129}}, {DType::f32, {129, 51}}},
                   [](const auto& t) { return matmul(t[0], t[1]); });
  expect_gradients("matmul batches", {{DType::f32, {5, 41, 43}}, {DType::f32, {43, 47}}},
                   [](const auto& t) { return matmul(t[0], t[1]); });
  expect_gradients(
      "matmul weights first", {{DType::f32, {67, 129}}, {DType::f32, {51, 129}}},
      [](const auto& t) { return checked::matmul(t[0], t[1], {.rhs_transposed = true}); });
  expect_gradients("a model", {x, {DType::f32, {257, 65}}, {DType::f32, {65}}},
                   [](const auto& t) { return sum(relu(matmul(t[0], t[1]) + t[2]) * 0.125, {0}); });
}

TEST(TiledGradients, VersionsAndMixedCarriers) {  // A9.12 A10.4
  Tensor x = random_tensor({DType::f32, {5000}}, kSeed, tiny_tiles().name);
  require_gradient(x);
  const Tensor y = x * x;
  expect_error<ValueError>([&] { backward(y, {.cotangent = full({5000}, 1)}); },
                           "the cotangent is on another carrier: found cpu");
  const Tensor ones = full({5000}, 1, {.carrier = tiny_tiles().name});
  backward(y, {.cotangent = ones, .retain_graph = true});
  expect_close(*gradient(x), x * 2.0, 0, 0, "2 x");
  const std::vector<double> one{7};
  assign(x, 4999, one);
  EXPECT_EQ(x.storage()->version(), 1u);
  expect_error<SavedVersionError>([&] { backward(y, {.cotangent = ones}); });
}

}  // namespace
}  // namespace heddle
