#include <cmath>
#include <limits>

#include "cases/cases.h"

namespace heddle::testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Literal of(DType dtype, std::vector<std::int64_t> extents, const Doubles& values) {
  return convert(make_literal<double>(Dims(extents.begin(), extents.end()), values), dtype);
}
Literal floats(const Doubles& values) {
  return of(DType::f32, {static_cast<std::int64_t>(values.size())}, values);
}
Literal ints(const Doubles& values) {
  return of(DType::i32, {static_cast<std::int64_t>(values.size())}, values);
}
Literal bools(std::vector<std::int64_t> extents) {
  std::int64_t count = 1;
  for (std::int64_t e : extents) count *= e;
  return of(DType::boolean, std::move(extents), Doubles(static_cast<std::size_t>(count), 1));
}
Doubles counted(int count, double first = 1) {
  Doubles all;
  for (int i = 0; i < count; ++i) all.push_back(first + i);
  return all;
}

using Cases = std::vector<ForwardCase>;

void indices(Cases& c) {
  c.push_back({"F1",
               {floats({1, 2, 3, 4, 5}), ints({-1, -3, 0})},
               [](const Tensors& x) { return Tensors{take(x[0], x[1])}; },
               {{5, 3, 1}}});
  c.push_back({"F1a columns",
               {of(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}), ints({-1, 1, -3})},
               [](const Tensors& x) {
                 return Tensors{take(x[0], x[1], 1), take(x[0], x[1], -1)};
               },
               {{3, 2, 1, 6, 5, 4}, {3, 2, 1, 6, 5, 4}}});
  c.push_back({"F1b along an axis",
               {floats({1, 2, 3}), ints({-1, 0, -2})},
               [](const Tensors& x) { return Tensors{take_along_axis(x[0], x[1])}; },
               {{3, 1, 2}}});
  c.push_back({"F1c scatter",
               {floats({1, 2, 3}), ints({-1, -1, 0}), floats({10, 20, 30})},
               [](const Tensors& x) { return Tensors{scatter_add(x[0], x[1], x[2])}; },
               {{31, 2, 33}}});
  c.push_back({"F1d out of range",
               {floats({1, 2, 3}), ints({3, -4, 2}), floats({5, 6, 7})},
               [](const Tensors& x) {
                 return Tensors{take(x[0], x[1]), scatter_add(x[0], x[1], x[2])};
               },
               {{0, 0, 3}, {1, 2, 10}}});
}

void lost_nans(Cases& c) {
  const Literal x = floats({kNaN, 1, kNaN, 0}), y = floats({1, kNaN, kNaN, -0.0});
  c.push_back({"F2",
               {x, y},
               [](const Tensors& t) {
                 return Tensors{maximum(t[0], t[1]), maximum(t[1], t[0]), minimum(t[0], t[1])};
               },
               {{kNaN, kNaN, kNaN, 0}, {kNaN, kNaN, kNaN, 0}, {kNaN, kNaN, kNaN, -0.0}}});
  c.push_back({"F2a of one operand",
               {floats({kNaN, -2, 3})},
               [](const Tensors& t) {
                 return Tensors{relu(t[0]), clamp(t[0], -1, 1), sign(t[0]), abs(t[0])};
               },
               {{kNaN, 0, 3}, {kNaN, -1, 1}, {kNaN, -1, 1}, {kNaN, 2, 3}}});
  for (int count : {3, 8, 17, 64}) {  // a lane, a vector, tails
    Doubles values = counted(count);
    values[static_cast<std::size_t>(count) - 2] = kNaN;
    c.push_back({"F2b reductions of " + std::to_string(count),
                 {floats(values)},
                 [](const Tensors& t) {
                   return Tensors{reduce_max(t[0]), reduce_min(t[0]), argmax(t[0]), argmin(t[0])};
                 },
                 {{kNaN}, {kNaN}, {count - 2.0}, {count - 2.0}}});
  }
  c.push_back({"F2c windows and prefixes",
               {floats({1, kNaN, 0, 2})},
               [](const Tensors& t) {
                 return Tensors{cummax(t[0]), cummin(t[0]), max_pool(reshape(t[0], {1, 1, 4}), {2}),
                                sort(t[0])};
               },
               {{1, kNaN, kNaN, kNaN}, {1, kNaN, kNaN, kNaN}, {kNaN, 2}, {0, 1, 2, kNaN}}});
}

void arithmetic(Cases& c) {
  c.push_back({"F3",
               {floats({0.5, 1.5, 2.5, -0.5, -2.5})},
               [](const Tensors& x) { return Tensors{round_even(x[0])}; },
               {{0, 2, 2, -0.0, -2}}});
  c.push_back({"F3a in f64",
               {of(DType::f64, {4}, {0.5, 3.5, -1.5, 0x1p52 + 1})},
               [](const Tensors& x) { return Tensors{round_even(x[0])}; },
               {{0, 4, -2, 0x1p52 + 1}}});
  const float x = -0.7491791f;
  c.push_back({"F4",
               {floats({x})},
               [](const Tensors& t) { return Tensors{(((t[0] + t[0]) + t[0]) + t[0]) + t[0]}; },
               {{((((x + x) + x) + x) + x)}}});
  c.push_back({"F4a as one sum",
               {floats({x})},
               [](const Tensors& t) {
                 return Tensors{sum(concatenate({t[0], t[0], t[0], t[0], t[0]}, 0))};
               },
               {{-3.7458956}},
               4e-7});
  c.push_back(
      {"F5",
       {of(DType::i64, {1}, {0x1p53})},
       [](const Tensors& t) {
         return Tensors{(t[0] + 1) * 1 - 9007199254740992, t[0] * 2 - t[0] - 9007199254740991};
       },
       {{1}, {1}}});
  c.push_back({"F6",
               {ints({-7, 7, -7, 7}), ints({3, -3, -3, 3})},
               [](const Tensors& t) {
                 const Tensor r = rem(t[0], t[1]);
                 const Tensor floored =
                     where(logical_and(not_equal(r, 0), logical_xor(r < 0, t[1] < 0)), r + t[1], r);
                 return Tensors{r, floored};
               },
               {{-1, 1, -1, 1}, {2, -2, -1, 1}}});
  c.push_back({"F6a floats",
               {floats({-7, 7, -7.5}), floats({3, -3, -3})},
               [](const Tensors& t) { return Tensors{rem(t[0], t[1])}; },
               {{-1, 1, -1.5}}});
  c.push_back({"F12",
               {of(DType::u8, {2}, {128, 7}), of(DType::u8, {2}, {128, 0})},
               [](const Tensors& t) {
                 return Tensors{convert(t[0] + t[1], DType::i16), convert(-t[0], DType::f32) + 1.5};
               },
               {{0, 7}, {129.5, 250.5}}});
  c.push_back({"F12a signed",
               {of(DType::i8, {3}, {127, -128, 100})},
               [](const Tensors& t) {
                 return Tensors{convert(t[0] + 1, DType::i32), convert(t[0] * t[0], DType::i32),
                                convert(-t[0], DType::f32), convert(abs(t[0]), DType::i64)};
               },
               {{-128, -127, 101}, {1, 0, 16}, {-127, -128, -100}, {127, -128, 100}}});
}

void zeros_and_infinities(Cases& c) {
  c.push_back({"F16",
               {floats({-0.0, 0.0})},
               [](const Tensors& x) {
                 return Tensors{relu(x[0]), abs(x[0]),   x[0] + 0.0, 0.0 - x[0],
                                x[0] - 0.0, x[0] - x[0], -x[0]};
               },
               {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {-0.0, 0}, {0, 0}, {0, -0.0}}});
  c.push_back({"F17",
               {floats({kInf, kNaN, 89, -kInf, -104})},
               [](const Tensors& x) {
                 return Tensors{exp(x[0]), expm1(x[0])};
               },
               {{kInf, kNaN, kInf, 0, 0}, {kInf, kNaN, kInf, -1, -1}}});
  c.push_back({"F17a log",
               {floats({kInf, kNaN, 0, -1, 1e-40})},
               [](const Tensors& x) { return Tensors{log(x[0])}; },
               {{kInf, kNaN, -kInf, kNaN, -92.1034}},
               1e-6});
  c.push_back(
      {"F17b bounded ones",
       {floats({kInf, -kInf, kNaN})},
       [](const Tensors& x) {
         return Tensors{tanh(x[0]), logistic(x[0]), erf(x[0]), sqrt(x[0]), sin(x[0])};
       },
       {{1, -1, kNaN}, {1, 0, kNaN}, {1, -1, kNaN}, {kInf, kNaN, kNaN}, {kNaN, kNaN, kNaN}}});
  c.push_back({"F18",
               {floats({kInf, kNaN, -1})},
               [](const Tensors& x) {
                 return Tensors{x[0] * 0, x[0] - x[0], x[0] / x[0]};
               },
               {{kNaN, kNaN, -0.0}, {kNaN, kNaN, 0}, {kNaN, kNaN, 1}}});
}

void empty_and_extreme_rows(Cases& c) {
  c.push_back({"F10",
               {of(DType::f32, {3, 0, 4}, {})},
               [](const Tensors& x) {
                 return Tensors{sum(x[0], {1}, true), prod(x[0], {1}), reduce_max(x[0], {1}),
                                reduce_min(x[0], {1}), sum(x[0])};
               },
               {Doubles(12, 0), Doubles(12, 1), Doubles(12, -kInf), Doubles(12, kInf), {0}}});
  c.push_back({"F10a products over nothing",
               {of(DType::f32, {2, 0}, {}), of(DType::f32, {0, 3}, {})},
               [](const Tensors& x) { return Tensors{matmul(x[0], x[1])}; },
               {Doubles(6, 0)}});
  c.push_back({"F11",
               {of(DType::f32, {3, 2}, {kInf, 0, 1000, 1000, -kInf, -kInf})},
               [](const Tensors& x) { return Tensors{softmax(x[0])}; },
               {{kNaN, kNaN, 0.5, 0.5, kNaN, kNaN}}});
  c.push_back({"F11a logarithms",
               {of(DType::f32, {2, 2}, {1000, 0, -1000, -1000})},
               [](const Tensors& x) {
                 return Tensors{log_softmax(x[0]), logsumexp(x[0])};
               },
               {{0, -1000, -std::log(2.0), -std::log(2.0)}, {1000, -1000 + std::log(2.0)}},
               1e-6});
  c.push_back({"F15",
               {floats({1, 2}), floats({3, 4})},
               [](const Tensors& x) {
                 const Tensor y = concatenate({x[0], x[1]}, 0), z = x[0] + x[1];
                 exp(x[0]);  // of no use
                 return Tensors{x[0], y, z, z, x[0] * z, y + y};
               },
               {{1, 2}, {1, 2, 3, 4}, {4, 6}, {4, 6}, {4, 12}, {2, 4, 6, 8}}});
}

void vectors_and_tails(Cases& c) {
  for (int last : {1, 7, 8, 9, 15, 16, 17}) {
    const auto total = static_cast<std::size_t>(8 * last);
    c.push_back({"F13 extent " + std::to_string(last),
                 {bools({2, 4, 1}), of(DType::f32, {2, 4, last}, counted(8 * last))},
                 [](const Tensors& x) {
                   return Tensors{where(x[0], 0.0, x[1]), where(logical_not(x[0]), 0.0, x[1])};
                 },
                 {Doubles(total, 0), counted(8 * last)}});
  }
  for (DType dtype : {DType::i8, DType::u8, DType::i32, DType::f32}) {
    for (int count : {16, 17, 18, 33}) {
      Doubles values(static_cast<std::size_t>(count), 100);
      values[0] = 5, values[1] = 1;
      c.push_back({"F14 " + std::string(name_of(dtype)) + " " + std::to_string(count),
                   {of(dtype, {count}, values)},
                   [](const Tensors& x) {
                     return Tensors{reduce_min(x[0]), argmin(x[0]), reduce_max(-x[0] + 101),
                                    prod(x[0] * 0 + 1)};
                   },
                   {{1}, {1}, {100}, {1}}});
    }
  }
}

void windows(Cases& c) {
  c.push_back({"F7",
               {of(DType::f32, {1, 1, 4, 4}, counted(16))},
               [](const Tensors& x) {
                 const PoolOptions o{{2, 2}, {1, 1}, {1, 1}, true};
                 return Tensors{avg_pool(x[0], {3, 3}, o, true)};
               },
               {{14.0 / 9, 10.0 / 3, 2, 19.0 / 3, 11, 6, 4.5, 7.5, 4}},
               1e-6});
  c.push_back({"F8",
               {of(DType::f32, {1, 1, 3}, {0, 1, 2}), of(DType::f32, {1, 2, 3}, Doubles(6, 1))},
               [](const Tensors& x) { return Tensors{conv_transpose(x[0], x[1])}; },
               {{0, 1, 3, 3, 2, 0, 1, 3, 3, 2}}});
  c.push_back(
      {"F9",
       {of(DType::f32, {1, 2, 2, 2}, counted(8, 0)), of(DType::f32, {2, 1, 2, 2}, counted(8, 0))},
       [](const Tensors& x) {
         const ConvOptions o{{2, 1}, {1, 0}, {0, 1}, {2, 2}, 2};
         return Tensors{conv_transpose(x[0], x[1], o, {1, 0})};
       },
       {{0, 0, 0, 0,  2,  2,  0, 0, 0, 4,  6,  6,  0, 0, 0,
         0, 0, 0, 48, 58, 58, 0, 0, 0, 36, 42, 42, 0, 0, 0}}});
}

}  // namespace

std::vector<ForwardCase> forward_cases() {
  Cases all;
  for (auto* add : {indices, lost_nans, arithmetic, zeros_and_infinities, empty_and_extreme_rows,
                    vectors_and_tails, windows}) {
    add(all);
  }
  return all;
}

}  // namespace heddle::testing
