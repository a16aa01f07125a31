#include <cmath>

#include "cases/cases.h"

namespace heddle::testing {
namespace {

Literal of(std::vector<std::int64_t> extents, const Doubles& values) {
  return convert(make_literal<double>(Dims(extents.begin(), extents.end()), values), DType::f32);
}
Literal floats(const Doubles& values) {
  return of({static_cast<std::int64_t>(values.size())}, values);
}
Literal ints(std::initializer_list<std::int32_t> values) {
  return make_literal<std::int32_t>({static_cast<std::int64_t>(values.size())}, values);
}

using Cases = std::vector<GradientCase>;

void kinks(Cases& c) {
  c.push_back({"G1",
               {floats({0, 1e-9, 4})},
               [](const Tensors& x) { return where(x[0] < 1, x[0], sqrt(x[0])); },
               {{1, 1, 0.25}}});
  c.push_back({"G1a the branch not taken",
               {floats({0, -1, 4})},
               [](const Tensors& x) { return where(x[0] > 1, log(x[0]), x[0] * 2); },
               {{2, 2, 0.25}}});
  c.push_back({"G1b a norm",
               {floats({0, 0, 0})},
               [](const Tensors& x) {
                 const Tensor n = sqrt(sum(x[0] * x[0]));
                 return where(n > 0, x[0] / n, 0.0);
               },
               {{0, 0, 0}}});
  c.push_back({"G1c two masks",
               {floats({0, -4, 4})},
               [](const Tensors& x) {
                 const Tensor y = where(x[0] > 0, sqrt(x[0]), 0.0);
                 return relu(y) * 2 + where(x[0] < 0, sqrt(-x[0]), 0.0);
               },
               {{0, -0.25, 0.5}}});
  c.push_back({"G2",
               {floats({1}), floats({1})},
               [](const Tensors& x) { return maximum(x[0], x[1]); },
               {{0.5}, {0.5}}});
  c.push_back({"G2a minimum",
               {floats({1, 2}), floats({1, 3})},
               [](const Tensors& x) { return minimum(x[0], x[1]); },
               {{0.5, 1}, {0.5, 0}}});
  c.push_back({"G2b of a row",
               {floats({1, 3, 3})},
               [](const Tensors& x) { return reduce_max(x[0]); },
               {{0, 0.5, 0.5}}});
  c.push_back({"G13",
               {floats({0, 6, 3})},
               [](const Tensors& x) { return clamp(x[0], 0, 6); },
               {{0, 0, 1}}});
  c.push_back({"G13a",
               {floats({0, -0.0, 2, -2})},
               [](const Tensors& x) { return relu(x[0]) + abs(x[0]); },
               {{0, 0, 2, -1}}});
}

void powers(Cases& c) {
  c.push_back({"G3",
               {floats({0, 0, 2}), floats({1, 2, 1})},
               [](const Tensors& x) { return pow(x[0], x[1]); },
               {{1, 0, 1}, {0, 0, 1.38629436}},
               {},
               1e-6});
  c.push_back(
      {"G10", {floats({0, 2, 3})}, [](const Tensors& x) { return prod(x[0]); }, {{6, 0, 0}}});
  c.push_back({"G10a two zeros",
               {floats({0, 0, 3})},
               [](const Tensors& x) { return prod(x[0]); },
               {{0, 0, 0}}});
  c.push_back({"G10b prefixes",
               {floats({2, 0, 3})},
               [](const Tensors& x) { return cumprod(x[0]); },
               {{1, 8, 0}}});
  c.push_back({"G9",
               {floats({1, 1, 1}), floats({1, 2, 3})},
               [](const Tensors& x) { return sum(cumsum(x[0]) * x[1]); },
               {{6, 5, 3}, {1, 2, 3}}});
}

void movement(Cases& c) {
  c.push_back({"G7",
               {floats({1, 2, 3}), ints({0, 0, 1})},
               [](const Tensors& x) { return take(x[0], x[1]); },
               {{2, 1, 0}}});
  c.push_back({"G7a from the end",
               {floats({1, 2, 3}), ints({-1, 2, -3})},
               [](const Tensors& x) { return take(x[0], x[1]); },
               {{1, 0, 2}}});
  c.push_back({"G8",
               {of({4, 4}, Doubles(16, 1)), ints({0, 5, 10, 15})},
               [](const Tensors& x) { return take(reshape(x[0], {16}), x[1]); },
               {{2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 7}},
               {2, 3, 5, 7}});
  c.push_back({"G12",
               {of({2, 1}, {1, 1}), floats({4, 4, 4})},
               [](const Tensors& x) { return x[0] * x[1]; },
               {{12, 12}, {2, 2, 2}}});
  c.push_back({"G12a three ranks",
               {of({2, 1, 2}, {1, 2, 3, 4}), of({3, 1}, {1, 1, 1})},
               [](const Tensors& x) { return x[0] + x[1]; },
               {{3, 3, 3, 3}, {4, 4, 4}}});
  c.push_back({"G14",
               {floats({2, 1, 2, 0})},
               [](const Tensors& x) { return sort(x[0]); },
               {{3, 2, 4, 1}},
               {1, 2, 3, 4}});
}

void pools(Cases& c) {
  c.push_back({"G5",
               {of({1, 1, 5}, {5, 3, 1, 2, 5})},
               [](const Tensors& x) {
                 return max_pool(x[0], {2}, {{1}, {}, {}});
               },
               {{1, 1, 0, 1, 1}}});
  Doubles values, wanted(24, 0);
  for (int i = 1; i <= 24; ++i) values.push_back(i == 8 ? 88 : i);
  wanted[7] = 4, wanted[11] = 1, wanted[23] = 1;
  c.push_back({"G6",
               {of({1, 1, 4, 6}, values)},
               [](const Tensors& x) {
                 return max_pool(x[0], {3, 3}, {{2, 2}, {1, 1}, {1, 1}});
               },
               {wanted}});
}

}  // namespace

std::vector<GradientCase> gradient_cases() {
  Cases all;
  for (auto* add : {kinks, powers, movement, pools}) add(all);
  return all;
}

}  // namespace heddle::testing
