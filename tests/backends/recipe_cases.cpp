// Bodies of every recipe, on regular and ragged sizes.
#include "backends/recipe_cases.h"

#include <numeric>
#include <utility>

namespace heddle::testing {
namespace {

std::string sizes(const Dims& d) { return " " + to_text(d); }

// ---- map ----

Function chain(const Dims& d) {
  Builder b("chain");
  const ValueId x = b.input("x", f32(d)), y = b.input("y", f32(d));
  const ValueId e = emit::exp(b, emit::sub(b, emit::mul(b, x, y), y));
  const ValueId t = emit::div(b, e, emit::add(b, e, 1));
  b.output("z", emit::max(b, emit::tanh(b, t), emit::sub(b, t, x)));
  return b.finish();
}

// momentum and weights updated together, each over its own memory
Function update(const Dims& d) {
  Builder b("update");
  const ValueId w = b.input("w", f32(d)), m = b.input("m", f32(d)), g = b.input("g", f32(d));
  const ValueId m2 = emit::add(b, emit::mul(b, m, 0.9), g);
  b.output("w", emit::sub(b, w, emit::mul(b, m2, 0.01)));
  b.output("m", m2);
  return b.finish();
}

// The same, what the weights are made of stored first.
Function update_state_first(const Dims& d) {
  Builder b("update");
  const ValueId w = b.input("w", f32(d)), m = b.input("m", f32(d)), g = b.input("g", f32(d));
  const ValueId m2 = emit::add(b, emit::mul(b, m, 0.9), g);
  b.output("m", m2);
  b.output("w", emit::sub(b, w, emit::mul(b, m2, 0.01)));
  return b.finish();
}

Function over_zero(double zero) {
  Builder b("over_zero");
  const ValueId x = b.input("x", f32({3, 5}));
  b.output("y", emit::div(b, x, emit::fill_like(b, zero, x)));
  b.output("z", emit::div(b, emit::zeros_like(b, x), emit::fill_like(b, zero, x)));
  return b.finish();
}

// Outputs of three ranks; a row vector, a column vector and a scalar broadcast.
Function broadcasts(std::int64_t r, std::int64_t c) {
  Builder b("broadcasts");
  const Dims d{r, c};
  const ValueId x = b.input("x", f32(d)), u = b.input("u", f32({c})), v = b.input("v", f32({r}));
  const ValueId s = b.input("s", f32({}));
  const ValueId y = emit::mul(b, emit::add(b, x, emit::broadcast_in_dim(b, u, d, {1})),
                              emit::broadcast_in_dim(b, v, d, {0}));
  b.output("y", emit::add(b, y, emit::broadcast_scalar(b, s, d)));
  b.output("v", emit::mul(b, v, 3));
  b.output("s", emit::exp(b, s));
  return b.finish();
}

Function structural() {
  Builder b("structural");
  const ValueId x = b.input("x", f32({4, 6, 10})), y = b.input("y", f32({10, 24}));
  const ValueId t = emit::add(b, emit::reshape(b, x, {24, 10}), emit::transpose(b, y, {1, 0}));
  const ValueId p = emit::pad(b, t, emit::scalar(b, DType::f32, 7), {1, -2}, {0, 3}, {0, 1});
  b.output("padded", p);
  b.output("slice", emit::slice(b, t, {3, 1}, {20, 10}, {2, 3}));
  b.output("both", emit::concatenate(b, Values{t, emit::reverse(b, t, {0, 1})}, 1));
  b.output("flat", emit::reshape(b, t, {240}));
  return b.finish();
}

Function backwards(std::int64_t n) {
  Builder b("backwards");
  const ValueId x = b.input("x", f32({n})), y = b.input("y", f32({3, n}));
  b.output("x", emit::reverse(b, x, {0}));
  b.output("y", emit::reverse(b, y, {0, 1}));
  b.output("sum", emit::reduce_sum(b, emit::reverse(b, y, {1}), {1}));
  return b.finish();
}

// Read across what is written, beside what is not.
Function across(const Dims& d, DType dtype) {
  Builder b("across");
  const std::size_t n = d.size();
  Dims turned = d;
  std::swap(turned[n - 1], turned[n - 2]);
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[n - 1], order[n - 2]);
  const ValueId x = b.input("x", {dtype, d}), y = b.input("y", {dtype, turned});
  const ValueId t = emit::transpose(b, x, order);
  b.output("t", t);
  b.output("z", emit::add(b, emit::mul(b, t, y), t));
  return b.finish();
}

// Rows of equal pieces, and what is made of them.
Function pieces(std::int64_t rows, std::int64_t length, int parts) {
  Builder b("pieces");
  Values x;
  for (int k = 0; k < parts; ++k)
    x.push_back(b.input("x" + std::to_string(k), f32({rows, length})));
  x[0] = emit::mul(b, x[0], 2);
  const ValueId row = emit::concatenate(b, x, 1);
  b.output("row", row);
  b.output("half", emit::mul(b, row, 0.5));
  return b.finish();
}

// A body no recipe fits: reductions over middle axes, their results used again at full size.
Function tangled() {
  Builder b("tangled");
  const Dims d{5, 12, 9};
  const ValueId x = b.input("x", f32(d));
  const ValueId middle = emit::reduce_sum(b, x, {1});    // [5,9]
  const ValueId outer = emit::reduce_max(b, x, {0, 2});  // [12]
  const ValueId c = emit::sub(b, x, emit::broadcast_in_dim(b, middle, d, {0, 2}));
  const ValueId z = emit::mul(b, c, emit::broadcast_in_dim(b, outer, d, {1}));
  b.output("z", z);
  b.output("t", emit::reduce_sum(b, z, {0, 1, 2}));
  return b.finish();
}

}  // namespace

std::vector<KernelCase> map_cases() {
  std::vector<KernelCase> cases;
  for (const Dims& d : {Dims{1}, Dims{7}, Dims{3, 5}, Dims{77}, Dims{1000, 3}, Dims{300000}}) {
    cases.push_back({"chain" + sizes(d), chain(d), RecipeKind::map});
    cases.push_back({"update" + sizes(d), update(d), RecipeKind::map, {0, 1}});
    cases.push_back({"state first" + sizes(d), update_state_first(d), RecipeKind::map, {1, 0}});
  }
  for (auto [r, c] : {std::pair{1, 1}, {7, 3}, {3, 77}, {1000, 10}, {2, 200000}}) {
    cases.push_back({"broadcasts" + sizes({r, c}), broadcasts(r, c), RecipeKind::map});
  }
  cases.push_back({"structural", structural(), RecipeKind::map});
  for (auto [rows, length, parts] :
       {std::tuple{3, 16, 2}, {7, 40, 3}, {1, 64, 2}, {300, 96, 4}, {5, 33, 2}, {4, 8, 9}}) {
    cases.push_back(
        {"pieces" + sizes({rows, length, parts}), pieces(rows, length, parts), RecipeKind::map});
  }
  for (const Dims& d : {Dims{8, 16}, Dims{48, 64}, Dims{3, 40, 32}, Dims{33, 40}, Dims{300, 320}}) {
    cases.push_back({"across" + sizes(d), across(d, DType::f32), RecipeKind::map});
    cases.push_back(
        {"whole across" + sizes(d), across(d, DType::i32), RecipeKind::map, {}, 0, -99, 99});
  }
  for (std::int64_t n : {5, 13, 40, 77, 256}) {
    cases.push_back({"backwards " + std::to_string(n), backwards(n), RecipeKind::map});
  }
  cases.push_back({"over zero", over_zero(0.0), RecipeKind::map});
  cases.push_back({"over minus zero", over_zero(-0.0), RecipeKind::map});
  for (RecipeKind kind : {RecipeKind::map, RecipeKind::rows, RecipeKind::columns}) {
    cases.push_back({"tangled", tangled(), kind, {}, 1e-4});
  }
  return cases;
}

namespace {

// ---- contract ----

// x w + bias, relu; layouts 0 NN, 1 NT, 2 TN, 3 TT.
Function linear(std::int64_t m, std::int64_t n, std::int64_t k, int layout) {
  Builder b("linear");
  const bool tl = layout >= 2, tr = layout % 2 == 1;
  const ValueId x = b.input("x", f32(tl ? Dims{k, m} : Dims{m, k}));
  const ValueId w = b.input("w", f32(tr ? Dims{n, k} : Dims{k, n}));
  const ValueId bias = b.input("bias", f32({n}));
  const ValueId d = emit::dot_general(b, x, w, {{}, {}, {tl ? 0 : 1}, {tr ? 1 : 0}});
  const ValueId z = emit::add(b, d, emit::broadcast_in_dim(b, bias, {m, n}, {1}));
  b.output("z", emit::max(b, z, emit::zeros_like(b, z)));
  return b.finish();
}

// dw = x^T dy, then SGD with momentum: both updated in place
Function weight_step(std::int64_t batch, std::int64_t m, std::int64_t n) {
  Builder b("weight_step");
  const ValueId x = b.input("x", f32({batch, m})), dy = b.input("dy", f32({batch, n}));
  const ValueId w = b.input("w", f32({m, n})), v = b.input("v", f32({m, n}));
  const ValueId g = emit::dot_general(b, x, dy, {{}, {}, {0}, {0}});
  const ValueId v2 = emit::add(b, emit::mul(b, v, 0.9), g);
  b.output("w", emit::sub(b, w, emit::mul(b, v2, 0.01)));
  b.output("v", v2);
  return b.finish();
}

// dx = (dy masked by h > 0) w^T: a prologue
Function masked(std::int64_t m, std::int64_t n, std::int64_t k) {
  Builder b("masked");
  const ValueId dy = b.input("dy", f32({m, k})), h = b.input("h", f32({m, k}));
  const ValueId w = b.input("w", f32({n, k}));
  const ValueId g = emit::select(b, emit::compare(b, "gt", h, 0), dy, emit::zeros_like(b, dy));
  b.output("dx", emit::dot_general(b, g, w, {{}, {}, {1}, {1}}));
  return b.finish();
}

// Two batch axes that cannot merge, the heads in the middle: [B,T,H,D] x [B,S,H,D] -> [B,H,T,S]
Function scores(std::int64_t t, std::int64_t s, std::int64_t d) {
  Builder b("scores");
  const ValueId q = b.input("q", f32({2, t, 3, d})), k = b.input("k", f32({2, s, 3, d}));
  const ValueId p = emit::dot_general(b, q, k, {{0, 2}, {0, 2}, {3}, {3}});
  b.output("p", emit::mul(b, p, 0.125));
  return b.finish();
}

// Several rows, columns and inner axes
Function many_axes() {
  Builder b("many_axes");
  const ValueId x = b.input("x", f32({3, 4, 5, 6})), y = b.input("y", f32({6, 7, 4, 2}));
  b.output("z", emit::dot_general(b, x, y, {{}, {}, {1, 3}, {2, 0}}));
  return b.finish();
}

// The product of a product: the inner one must be whole before.
Function chained(std::int64_t n) {
  Builder b("chained");
  const ValueId x = b.input("x", f32({n, n})), y = b.input("y", f32({n, n}));
  const ValueId xy = emit::dot_general(b, x, y, {{}, {}, {1}, {0}});
  b.output("z", emit::dot_general(b, xy, y, {{}, {}, {1}, {0}}));
  return b.finish();
}

Function integer_product() {
  Builder b("integers");
  const ValueId x = b.input("x", i32({33, 20})), y = b.input("y", i32({20, 17}));
  b.output("z", emit::dot_general(b, x, y, {{}, {}, {1}, {0}}));
  return b.finish();
}

Function repeated_inner(std::int64_t m, std::int64_t n, std::int64_t k) {
  Builder b("repeated_inner");
  const ValueId x = b.input("x", f32({m})), y = b.input("y", f32({n}));
  b.output("z", emit::dot_general(b, emit::broadcast_in_dim(b, x, {m, k}, {0}),
                                  emit::broadcast_in_dim(b, y, {k, n}, {1}), {{}, {}, {1}, {0}}));
  return b.finish();
}

}  // namespace

std::vector<KernelCase> contract_cases() {
  std::vector<KernelCase> cases;
  const auto kind = RecipeKind::contract;
  for (auto [m, n, k] : {std::tuple{3, 5, 7}, {40, 33, 20}}) {
    cases.push_back({"repeated inner" + sizes({m, n, k}), repeated_inner(m, n, k), kind});
  }
  for (auto [m, n, k] : {std::tuple{1, 1, 1},
                         {3, 5, 2},
                         {1, 100, 33},
                         {100, 1, 33},
                         {7, 77, 33},
                         {64, 10, 9},
                         {100, 96, 96},
                         {32, 128, 64},
                         {33, 50, 128},
                         {2, 7, 64},
                         {3, 272, 32},  // the right factor streams by
                         {9, 432, 48},
                         {16, 800, 16},
                         {10, 1024, 32},  // its rows lie whole pages apart
                         {1, 272, 64},    // a row times a matrix: row by row
                         {1, 2048, 160},
                         {200, 200, 70}}) {
    for (int layout = 0; layout < 4; ++layout) {
      cases.push_back(
          {"linear " + std::to_string(layout) + sizes({m, n, k}), linear(m, n, k, layout), kind});
    }
    cases.push_back({"weight step" + sizes({m, n, k}), weight_step(k, m, n), kind, {2, 3}});
    cases.push_back({"masked" + sizes({m, n, k}), masked(m, n, k), kind});
  }
  // By pieces of the inner axis, where the right factor is read along its rows: sums of 512.
  for (int layout = 0; layout < 4; ++layout) {
    cases.push_back(
        {"pieces " + std::to_string(layout), linear(17, 784, 512, layout), kind, {}, 1e-4});
  }
  cases.push_back({"pieces, masked", masked(18, 800, 520), kind, {}, 1e-4});
  cases.push_back({"scores", scores(7, 9, 16), kind});
  cases.push_back({"scores", scores(64, 48, 32), kind});
  cases.push_back({"scores", scores(9, 50, 64), kind});
  cases.push_back({"many axes", many_axes(), kind});
  cases.push_back({"chained", chained(5), kind});
  cases.push_back({"chained", chained(50), kind, {}, 1e-4});
  cases.push_back({"integers", integer_product(), kind, {}, 0, -100, 100});
  return cases;
}

namespace {

// ---- rows ----

Function softmax(std::int64_t rows, std::int64_t columns) {
  Builder b("softmax");
  const Dims d{rows, columns};
  const ValueId x = b.input("x", f32(d));
  const ValueId m = emit::reduce_max(b, x, {1});
  const ValueId e = emit::exp(b, emit::sub(b, x, emit::broadcast_in_dim(b, m, d, {0})));
  const ValueId s = emit::reduce_sum(b, e, {1});
  b.output("y", emit::div(b, e, emit::broadcast_in_dim(b, s, d, {0})));
  b.output("max", m);
  b.output("sum", s);
  return b.finish();
}

// Two kept axes that a broadcast keeps apart, two reduced ones likewise.
Function layered(std::int64_t a, std::int64_t c, std::int64_t d, std::int64_t e) {
  Builder b("layered");
  const Dims dims{a, c, d, e};
  const ValueId x = b.input("x", f32(dims));
  const ValueId u = b.input("u", f32({c})), v = b.input("v", f32({e}));
  const ValueId y = emit::mul(b, x, emit::broadcast_in_dim(b, v, dims, {3}));
  const ValueId s = emit::reduce_sum(b, y, {2, 3});
  const ValueId t = emit::add(b, s, emit::broadcast_in_dim(b, u, {a, c}, {1}));
  b.output("z", emit::sub(b, y, emit::broadcast_in_dim(b, t, dims, {0, 1})));
  b.output("t", t);
  return b.finish();
}

// Loss per row and its mean: a total of numbers of rows.
Function mean_of_rows(std::int64_t rows, std::int64_t columns) {
  Builder b("mean_of_rows");
  const Dims d{rows, columns};
  const ValueId x = b.input("x", f32(d));
  const ValueId m = emit::reduce_max(b, x, {1});
  const ValueId z = emit::sub(b, x, emit::broadcast_in_dim(b, m, d, {0}));
  const ValueId lse = emit::log(b, emit::reduce_sum(b, emit::exp(b, z), {1}));
  b.output("loss", emit::mul(b, emit::reduce_sum(b, lse, {0}), 1.0 / static_cast<double>(rows)));
  b.output("y", emit::sub(b, z, emit::broadcast_in_dim(b, lse, d, {0})));
  return b.finish();
}

Function best(std::int64_t rows, std::int64_t columns) {
  Builder b("best");
  const ValueId x = b.input("x", f32({rows, columns}));
  b.output("max", b.emit(op_argmax, {x}, Attributes::of(AxisAttributes{1})));
  b.output("min", b.emit(op_argmin, {x}, Attributes::of(AxisAttributes{1})));
  b.output("top", emit::reduce_max(b, x, {1}));
  return b.finish();
}

Function total(std::int64_t n) {
  Builder b("total");
  const ValueId x = b.input("x", f32({n}));
  b.output("y", emit::reduce_sum(b, emit::mul(b, x, x), {0}));
  return b.finish();
}

// Nothing in these sums moves with the loop they are over.
Function repeated_rows(std::int64_t rows, std::int64_t columns) {
  Builder b("repeated_rows");
  const ValueId x = b.input("x", f32({rows}));
  const ValueId y = emit::broadcast_in_dim(b, x, {rows, columns}, {0});
  b.output("sum", emit::reduce_sum(b, y, {1}));
  b.output("square", emit::reduce_sum(b, emit::mul(b, y, y), {1}));
  b.output("product", emit::reduce_prod(b, y, {1}));
  return b.finish();
}
Function repeated_total(std::int64_t n) {
  Builder b("repeated_total");
  b.output("y", emit::reduce_sum(b, emit::broadcast_scalar(b, b.input("x", f32({})), {n}), {0}));
  return b.finish();
}

}  // namespace

std::vector<KernelCase> rows_cases() {
  std::vector<KernelCase> cases;
  const auto kind = RecipeKind::rows;
  for (auto [r, c] : {std::pair{3, 5}, {4, 64}, {1, 77}}) {
    cases.push_back(
        {"repeated rows" + sizes({r, c}), repeated_rows(r, c), kind, {}, 1e-4, 0.9, 1.1});
  }
  for (std::int64_t n : {3, 200, 1000000}) {
    cases.push_back({"repeated total " + std::to_string(n), repeated_total(n), kind, {}, 1e-3});
  }
  for (auto [r, c] : {std::pair{1, 1}, {5, 3}, {32, 10}, {333, 77}, {64, 1000}, {3, 8}, {1, 33}}) {
    cases.push_back({"softmax" + sizes({r, c}), softmax(r, c), kind});
    cases.push_back({"mean of rows" + sizes({r, c}), mean_of_rows(r, c), kind, {}, 1e-4});
    cases.push_back({"best" + sizes({r, c}), best(r, c), kind});
  }
  cases.push_back({"layered", layered(3, 4, 5, 7), kind});
  cases.push_back({"layered", layered(20, 40, 6, 33), kind, {}, 1e-4});
  cases.push_back({"layered", layered(1, 2, 1, 40), kind});
  for (std::int64_t n : {1, 7, 100, 100003, 3000000}) {
    cases.push_back({"total " + std::to_string(n), total(n), kind, {}, 1e-4});
  }
  return cases;
}

namespace {

// ---- columns ----

Function column_sums(std::int64_t rows, std::int64_t columns) {
  Builder b("columns");
  const Dims d{rows, columns};
  const ValueId x = b.input("x", f32(d)), y = b.input("y", f32(d)),
                w = b.input("w", f32({columns}));
  const ValueId s = emit::reduce_sum(b, x, {0});
  b.output("w", emit::sub(b, w, emit::mul(b, s, 0.1)));
  b.output("xy", emit::reduce_sum(b, emit::mul(b, x, y), {0}));
  return b.finish();
}

Function pairs(std::int64_t n) {  // all pairs of particles in the plane
  Builder b("pairs");
  const Dims pair{n, n}, vec{n, n, 2};
  const ValueId r = b.input("r", f32({n, 2}));
  const ValueId d = emit::sub(b, emit::broadcast_in_dim(b, r, vec, {0, 2}),
                              emit::broadcast_in_dim(b, r, vec, {1, 2}));
  const ValueId r2 = emit::add(b, emit::reduce_sum(b, emit::mul(b, d, d), {2}), 0.5);
  const ValueId f = emit::div(b, emit::fill_like(b, 1, r2), r2);
  const ValueId fd = emit::mul(b, emit::broadcast_in_dim(b, f, vec, {0, 1}), d);
  b.output("force", emit::reduce_sum(b, fd, {1}));
  b.output("energy", emit::reduce_sum(b, emit::reduce_sum(b, f, {1}), {0}));
  return b.finish();
}

Function middle(std::int64_t a, std::int64_t r, std::int64_t c) {
  Builder b("middle");
  const ValueId x = b.input("x", f32({a, r, c}));
  b.output("max", emit::reduce_max(b, x, {1}));
  b.output("product", emit::reduce_prod(b, x, {1}));
  return b.finish();
}

Function repeated_columns(std::int64_t rows, std::int64_t columns) {
  Builder b("repeated_columns");
  const ValueId x = b.input("x", f32({columns}));
  b.output("y", emit::reduce_sum(b, emit::broadcast_in_dim(b, x, {rows, columns}, {1}), {0}));
  return b.finish();
}

}  // namespace

std::vector<KernelCase> columns_cases() {
  std::vector<KernelCase> cases;
  const auto kind = RecipeKind::columns;
  for (auto [r, c] : {std::pair{3, 5}, {77, 64}, {1000, 9}}) {
    cases.push_back({"repeated columns" + sizes({r, c}), repeated_columns(r, c), kind, {}, 1e-4});
  }
  for (auto [r, c] :
       {std::pair{1, 1}, {5, 3}, {32, 10}, {333, 77}, {64, 1000}, {9000, 5}, {1000, 1024}}) {
    cases.push_back({"column sums" + sizes({r, c}), column_sums(r, c), kind, {2, -1}, 2e-4});
  }
  for (std::int64_t n : {2, 7, 64, 100}) {
    cases.push_back({"pairs " + std::to_string(n), pairs(n), kind, {}, 2e-4});
  }
  cases.push_back({"middle", middle(3, 5, 7), kind});
  cases.push_back({"middle", middle(10, 20, 100), kind, {}, 1e-4, 0.5, 1.5});
  return cases;
}

namespace {

// ---- scatter and gather ----

Function scatter(const Dims& x, const Dims& indices, std::int64_t axis, const char* mode) {
  Builder b("scatter");
  Dims updates(x.begin(), x.begin() + axis);
  updates.insert(updates.end(), indices.begin(), indices.end());
  updates.insert(updates.end(), x.begin() + axis + 1, x.end());
  const ValueId a = b.input("x", f32(x)), i = b.input("i", i32(indices));
  const ValueId u = b.input("u", f32(updates));
  const ValueId s = emit::scatter(b, a, i, emit::mul(b, u, 2), {axis, mode});
  b.output("y", emit::add(b, s, 1));
  b.output("back", emit::gather(b, s, i, {axis, mode}));
  return b.finish();
}

// One index and one row of updates, again and again.
Function repeated_scatter(std::int64_t count) {
  Builder b("repeated_scatter");
  const ValueId x = b.input("x", f32({4, 9})), i = b.input("i", i32({})),
                u = b.input("u", f32({9}));
  b.output("y", emit::scatter(b, x, emit::broadcast_scalar(b, i, {count}),
                              emit::broadcast_in_dim(b, u, {count, 9}, {1}), {0, "drop"}));
  return b.finish();
}

}  // namespace

std::vector<KernelCase> scatter_cases() {
  std::vector<KernelCase> cases;
  cases.push_back({"repeated scatter", repeated_scatter(5), RecipeKind::scatter, {}, 2e-5, 0, 3});
  for (const char* mode : {"clip", "drop"}) {
    const auto add = [&](const Dims& x, const Dims& i, std::int64_t axis) {
      cases.push_back({std::string(mode) + sizes(x),
                       scatter(x, i, axis, mode),
                       RecipeKind::scatter,
                       {},
                       1e-5,
                       -4,
                       12});
    };
    add({9}, {5}, 0);
    add({9, 7}, {30}, 0);
    add({3, 8}, {4, 2}, 1);
    add({4, 9, 33}, {17}, 1);
    add({7}, {}, 0);
  }
  return cases;
}

}  // namespace heddle::testing
