// Derivatives that other systems got wrong (cases G1..G15).
#include <functional>

#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/passes/passes.h"
#include "ops/support.h"

namespace heddle::ops_test {
namespace {

using Body = std::function<ValueId(Builder&, const Values&)>;

/// A program of f64 vectors x0, x1 ... with one output.
Program program(const std::vector<Dims>& inputs, const Body& body) {
  Builder b("f");
  Values values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(b.input("x" + std::to_string(i), {DType::f64, inputs[i]}));
  }
  b.output("y", body(b, values));
  return Program({b.finish()});
}
std::vector<std::string> names(const Program& p) {
  std::vector<std::string> result;
  for (const Input& in : p.entry().inputs) result.push_back(in.name);
  return result;
}

/// Cotangents of all inputs for a cotangent of ones.
std::vector<Literal> pull_ones(const Program& p, std::vector<Literal> arguments) {
  const Type result = p.entry().type(p.entry().outputs[0].value);
  arguments.push_back(splat(result, 1));
  std::vector<Literal> all = run(vjp(p, names(p)), arguments);
  return {all.begin() + 1, all.end()};
}

/// Columns of the Jacobian by forward mode, rows by reverse mode: [outputs][inputs].
std::vector<std::vector<double>> jacobian_forward(const Program& p, const Literal& x) {
  const Program forward = jvp(p, names(p));
  const std::size_t n = to_doubles(x).size();
  std::vector<std::vector<double>> columns;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> direction(n, 0);
    direction[i] = 1;
    const Literal v = tensor(DType::f64, x.type.dims, direction);
    columns.push_back(to_doubles(run(forward, {x, v}).at(1)));
  }
  std::vector<std::vector<double>> rows(columns.at(0).size(), std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t o = 0; o < rows.size(); ++o) rows[o][i] = columns[i][o];
  }
  return rows;
}
std::vector<std::vector<double>> jacobian_reverse(const Program& p, const Literal& x) {
  const Program reverse = vjp(p, names(p));
  const Type result = p.entry().type(p.entry().outputs[0].value);
  const auto outputs = static_cast<std::size_t>(element_count(result));
  std::vector<std::vector<double>> rows;
  for (std::size_t o = 0; o < outputs; ++o) {
    std::vector<double> seed(outputs, 0);
    seed[o] = 1;
    rows.push_back(to_doubles(run(reverse, {x, tensor(DType::f64, result.dims, seed)}).at(1)));
  }
  return rows;
}

TEST(derivative, the_branch_not_taken_has_no_influence) {  // G1
  const auto where_of = [](Body singular) {
    return program({{3}}, [=](Builder& b, const Values& x) {
      const ValueId below = emit::compare(b, "lt", x[0], 1);
      return emit::select(b, below, x[0], singular(b, x));
    });
  };
  const std::vector<double> at = {0, 1e-9, 4};
  const auto check = [&](const Body& singular, double at_four) {
    const Program p = where_of(singular);
    expect_near(pull_ones(p, {doubles(at)})[0], {1, 1, at_four}, 1e-14, 0);
    expect_near(run(jvp(p, names(p)), {doubles(at), doubles({1, 1, 1})})[1], {1, 1, at_four}, 1e-14,
                0);
  };
  check([](Builder& b, const Values& x) { return emit::sqrt(b, x[0]); }, 0.25);
  check([](Builder& b, const Values& x) { return emit::log(b, x[0]); }, 0.25);
  check([](Builder& b, const Values& x) { return emit::rsqrt(b, x[0]); }, -0.0625);
  check([](Builder& b, const Values& x) { return emit::div(b, x[0], x[0]); }, 0);
  check([](Builder& b, const Values& x) { return emit::neg(b, emit::sqrt(b, x[0])); }, -0.25);
  // The singular value behind a reshape, and two factors deep.
  check(
      [](Builder& b, const Values& x) {
        const ValueId root = emit::sqrt(b, emit::reshape(b, x[0], {3, 1}));
        return emit::reshape(b, emit::mul(b, root, root), {3});
      },
      1);
}

TEST(derivative, overflow_in_the_branch_not_taken) {  // G1
  const Program p = program({{2}}, [](Builder& b, const Values& x) {
    const ValueId small = emit::compare(b, "lt", x[0], 10);
    return emit::select(b, small, emit::exp(b, x[0]), x[0]);
  });
  expect_near(pull_ones(p, {doubles({0, 1000})})[0], {1, 1}, 1e-14, 0);
}

TEST(derivative, a_guarded_norm_of_nothing) {  // G1
  const Program p = program({{2, 2}}, [](Builder& b, const Values& x) {
    const ValueId squares = emit::reduce_sum(b, emit::mul(b, x[0], x[0]), {1});
    const ValueId norm = emit::broadcast_over(b, emit::sqrt(b, squares), {2, 2}, {1});
    const ValueId some = emit::compare(b, "gt", norm, 0);
    return emit::select(b, some, emit::div(b, x[0], norm), emit::zeros_like(b, norm));
  });
  const Literal x = tensor(DType::f64, {2, 2}, {0, 0, 3, 4});
  expect_near(pull_ones(p, {x})[0], {0, 0, 4 / 125.0, -3 / 125.0}, 1e-13, 1e-15);
}

TEST(derivative, second_order_through_where) {  // G1
  const Program p = program({{}}, [](Builder& b, const Values& x) {
    const ValueId below = emit::compare(b, "lt", x[0], 1);
    return emit::select(b, below, emit::mul(b, x[0], x[0]), emit::sqrt(b, x[0]));
  });
  const std::vector<std::string> wrt = {"x0"};
  const Literal one = scalar(DType::f64, 1);
  expect_near(run(hvp(p, wrt), {scalar(DType::f64, 0), one})[0], {2}, 1e-14, 0);
  expect_near(run(hvp(p, wrt), {scalar(DType::f64, 4), one})[0], {-1.0 / 32}, 1e-14, 0);
}

// Cotangents of the first input where the result's is one: by the composite's own rule, then
// through its decomposition.
std::vector<std::vector<double>> both_ways(const Operation& op, const std::vector<Literal>& x,
                                           const Attributes& attributes = {}) {
  std::vector<Type> types;
  for (const Literal& l : x) types.push_back(l.type);
  const Program whole = program_of(op, types, attributes), parts = expand_composites(whole);
  std::vector<std::vector<double>> found;
  for (const Program& p : {whole, parts}) {
    std::vector<Literal> arguments = x;
    arguments.push_back(splat(p.entry().type(p.entry().outputs[0].value), 1));
    found.push_back(to_doubles(run(vjp(p, "x0"), arguments).back()));
  }
  return found;
}

// Values from PyTorch 2 where it has the case (it refuses labels that are no class).
TEST(derivative, of_a_nan_is_nan) {  // F11
  const Literal logits = tensor(DType::f64, {3, 2}, {0, 0, 0, 0, 0, 0});
  for (const double bad : {-1.0, 2.0}) {
    for (const auto& d : both_ways(op_cross_entropy, {logits, ints({0, bad, 1})})) {
      expect_near(vector_of(DType::f64, d), {-1. / 6, 1. / 6, kNaN, kNaN, 1. / 6, -1. / 6}, 1e-12,
                  0);
    }
  }
  const Literal rows = tensor(DType::f64, {5, 3},
                              {kNaN, 1, 2, kInf, 0, 1, -kInf, -kInf, -kInf, -kInf, 0, 1, 1, 1, 0});
  const double n = kNaN, third = 1. / 3;
  const Attributes axis = Attributes::of(AxisAttributes{1}),
                   axes = Attributes::of(AxesAttributes{{1}});
  for (const auto& d : both_ways(op_reduce_max, {rows}, axes)) {
    expect_near(vector_of(DType::f64, d),
                {n, n, n, 1, 0, 0, third, third, third, 0, 0, 1, .5, .5, 0}, 1e-12, 0);
  }
  for (const auto& d : both_ways(op_reduce_min, {rows}, axes)) {
    expect_near(vector_of(DType::f64, d), {n, n, n, 0, 1, 0, third, third, third, 1, 0, 0, 0, 0, 1},
                1e-12, 0);
  }
  for (const Operation* op : {&op_softmax, &op_log_softmax}) {
    for (const auto& d : both_ways(*op, {rows}, axis)) {
      for (int i = 0; i < 15; ++i)
        EXPECT_EQ(std::isnan(d[static_cast<std::size_t>(i)]), i < 9) << i;
    }
  }
  const auto logsumexp = both_ways(op_logsumexp, {rows}, axis)[0];
  for (std::size_t i : {0, 1, 2, 3, 6, 7, 8}) EXPECT_TRUE(std::isnan(logsumexp[i])) << i;
  EXPECT_EQ(logsumexp[4], 0);
  EXPECT_NEAR(logsumexp[11], 0.7310585786300049, 1e-15);
}

TEST(derivative, of_a_power_of_zero) {  // G3
  const Program p =
      program({{6}, {6}}, [](Builder& b, const Values& x) { return emit::pow(b, x[0], x[1]); });
  const auto d = pull_ones(p, {doubles({0, 0, 0, 2, 0, 0}), doubles({1, 2, -1, 1, 0, -0.5})});
  expect_near(d[1], {0, 0, -kInf, 2 * std::log(2.0), 0, -kInf}, 1e-14, 0);
}

TEST(derivative, ties_share_equally) {  // G2
  const Program larger =
      program({{1}, {1}}, [](Builder& b, const Values& x) { return emit::max(b, x[0], x[1]); });
  const auto both = pull_ones(larger, {doubles({1}), doubles({1})});
  expect_same(both[0], {0.5});
  expect_same(both[1], {0.5});
  const Program smaller =
      program({{1}, {1}}, [](Builder& b, const Values& x) { return emit::min(b, x[0], x[1]); });
  expect_same(pull_ones(smaller, {doubles({1}), doubles({1})})[1], {0.5});
  const Program constant = program({{3}}, [](Builder& b, const Values& x) {
    return emit::max(b, x[0], emit::fill_like(b, 1, x[0]));
  });
  expect_same(pull_ones(constant, {doubles({0, 1, 2})})[0], {0, 0.5, 1});
  const Program reduced =
      program({{3}}, [](Builder& b, const Values& x) { return emit::reduce_max(b, x[0], {0}); });
  expect_same(pull_ones(reduced, {doubles({1, 3, 3})})[0], {0, 0.5, 0.5});
}

TEST(derivative, powers_of_zero) {  // G3
  const Program p =
      program({{4}, {4}}, [](Builder& b, const Values& x) { return emit::pow(b, x[0], x[1]); });
  const auto d = pull_ones(p, {doubles({0, 0, 2, 0}), doubles({1, 2, 1, 0})});
  expect_near(d[0], {1, 0, 1, 0}, 1e-14, 0);
  expect_near(d[1], {0, 0, 1.38629436111989, 0}, 1e-14, 1e-14);
}

TEST(derivative, mixed_second_derivatives_of_powers_are_equal) {  // G4
  const Program p =
      program({{}, {}}, [](Builder& b, const Values& x) { return emit::pow(b, x[0], x[1]); });
  const std::vector<std::string> wrt = {"x0", "x1"};
  const Program product = hvp(p, wrt);
  const Literal x = scalar(DType::f64, 23), zero = scalar(DType::f64, 0),
                one = scalar(DType::f64, 1);
  const auto along_x = run(product, {x, zero, one, zero});
  const auto along_y = run(product, {x, zero, zero, one});
  expect_near(along_x[1], {0.0434782608695652}, 1e-12, 0);
  expect_near(along_y[0], {0.0434782608695652}, 1e-12, 0);
}

TEST(derivative, powers_of_nothing_are_constant) {  // G3
  const Program p =
      program({{5}, {5}}, [](Builder& b, const Values& x) { return emit::pow(b, x[0], x[1]); });
  const auto d =
      pull_ones(p, {doubles({kNaN, 1e-310, -1e-310, kInf, -3}), doubles({0, 0, 0, 0, 0})});
  expect_near(d[0], {0, 0, 0, 0, 0}, 0, 0);
}

TEST(derivative, an_angle_near_the_origin_and_far_from_it) {
  const Program p = program({{8}, {8}}, [](Builder& b, const Values& x) {
    return b.emit(op_atan2, {x[0], x[1]});
  });
  const std::vector<double> y = {0, -0.0, 3e-200, -4e-200, 3e200, 4e200, kInf, 3},
                            x = {0, 0, 4e-200, 3e-200, -4e200, 3e200, 1, -4};
  const auto d = pull_ones(p, {doubles(y), doubles(x)});
  expect_near(d[0], {0, 0, .16e200, .12e200, -.16e-200, .12e-200, 0, -.16}, 1e-14, 0);
  expect_near(d[1], {0, 0, -.12e200, .16e200, -.12e-200, -.16e-200, 0, -.12}, 1e-14, 0);
}

TEST(derivative, second_derivatives_of_an_angle) {
  const Program p = program({{}, {}}, [](Builder& b, const Values& x) {
    return b.emit(op_atan2, {x[0], x[1]});
  });
  const Program product = hvp(p, {"x0", "x1"});
  const Literal one = scalar(DType::f64, 1), none = scalar(DType::f64, 0);
  for (const auto& [y, x] :
       std::vector<std::pair<double, double>>{{3, 4}, {4, -3}, {0, 2}, {2, 0}}) {
    const double r4 = (x * x + y * y) * (x * x + y * y);
    const double same = -2 * x * y / r4, mixed = (y * y - x * x) / r4;
    const Literal at_y = scalar(DType::f64, y), at_x = scalar(DType::f64, x);
    const auto along_y = run(product, {at_y, at_x, one, none});
    const auto along_x = run(product, {at_y, at_x, none, one});
    expect_near(along_y[0], {same}, 1e-14, 1e-15);
    expect_near(along_y[1], {mixed}, 1e-14, 1e-15);
    expect_near(along_x[0], {mixed}, 1e-14, 1e-15);
    expect_near(along_x[1], {-same}, 1e-14, 1e-15);
  }
}

TEST(derivative, activations_far_from_zero) {
  const double far = std::numeric_limits<double>::max();
  const std::vector<double> at = {-far, -1e200, -1e20, -750, 750, 1e20, 1e200, far};
  for (const Operation* op : {&op_gelu, &op_silu}) {
    for (const bool tanh : {false, true}) {
      if (tanh && op == &op_silu) continue;
      const Attributes attributes =
          op == &op_gelu ? Attributes::of(GeluAttributes{tanh}) : Attributes();
      const Program p = program_of(*op, {{DType::f64, {8}}}, attributes);
      const auto all = run(vjp(p, "x0"), {doubles(at), doubles(std::vector<double>(8, 4))});
      expect_near(all[1], {0, 0, 0, 0, 4, 4, 4, 4}, 0, 0);
      const auto along = run(jvp(p, "x0"), {doubles(at), doubles(std::vector<double>(8, 1))});
      expect_near(along[1], {0, 0, 0, 0, 1, 1, 1, 1}, 0, 0);
    }
  }
}

// m/x where m is known to be 0 or 1: by the quotient itself. A numerator of 3 is divided again.
TEST(derivative, quotients_of_masks) {
  const auto mask = [](Builder& b, const ValueId x) {
    return emit::convert(b, emit::compare(b, "gt", x, 0), DType::f64);
  };
  const std::vector<std::pair<Body, std::function<double(double)>>> numerators = {
      {[](Builder& b, const Values& x) { return emit::fill_like(b, 1, x[0]); },
       [](double) { return 1.; }},
      {[](Builder& b, const Values& x) { return emit::fill_like(b, 3, x[0]); },
       [](double) { return 3.; }},
      {[&](Builder& b, const Values& x) { return mask(b, x[0]); },
       [](double x) { return x > 0 ? 1. : 0.; }},
      {[&](Builder& b, const Values& x) {
         return emit::sub(b, emit::fill_like(b, 1, x[0]), mask(b, x[0]));
       },
       [](double x) { return x > 0 ? 0. : 1.; }}};
  const std::vector<double> at = {-3, -0.5, 0.25, 7, 1e160};
  for (const auto& [numerator, m] : numerators) {
    const Program p = program(
        {{5}}, [&](Builder& b, const Values& x) { return emit::div(b, numerator(b, x), x[0]); });
    std::vector<double> first, second;
    for (const double x : at)
      first.push_back(-m(x) / x / x), second.push_back(2 * m(x) / x / x / x);
    expect_near(pull_ones(p, {doubles(at)})[0], first, 1e-15, 0);
    const Program slopes = vjp(vjp(p, "x0"), "x0");
    const Literal ones = doubles(std::vector<double>(5, 1)), none = doubles({0, 0, 0, 0, 0});
    const auto all = run(slopes, {doubles(at), ones, none, ones});
    expect_near(all.back(), second, 1e-14, 0);
  }
}

TEST(derivative, repeated_indices_add_up) {  // G7
  const Program p = program({{3}}, [](Builder& b, const Values& x) {
    return emit::gather(b, x[0], b.constant(ints({0, 0, 1})), {0, "drop"});
  });
  expect_same(pull_ones(p, {doubles({1, 2, 3})})[0], {2, 1, 0});
}

TEST(derivative, the_diagonal) {  // G8
  const Program p = program({{4, 4}}, [](Builder& b, const Values& x) {
    const ValueId flat = emit::reshape(b, x[0], {16});
    return emit::gather(b, flat, b.constant(ints({0, 5, 10, 15})), {0, "drop"});
  });
  const Literal x = tensor(DType::f64, {4, 4}, std::vector<double>(16, 1));
  const auto all = run(vjp(p, names(p)), {x, doubles({2, 3, 5, 7})});
  expect_same(all[1], {2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 7});
}

TEST(derivative, products_with_zeros) {  // G10
  const Program p =
      program({{3}}, [](Builder& b, const Values& x) { return emit::reduce_prod(b, x[0], {0}); });
  expect_same(pull_ones(p, {doubles({0, 2, 3})})[0], {6, 0, 0});
  expect_same(pull_ones(p, {doubles({0, 0, 3})})[0], {0, 0, 0});
  const std::vector<std::string> wrt = {"x0"};
  // d2/dx0dx1 = x2, also at zeros.
  expect_same(run(hvp(p, wrt), {doubles({0, 0, 3}), doubles({1, 0, 0})})[0], {0, 3, 0});
}

TEST(derivative, forward_and_reverse_jacobians_are_equal) {  // G11
  const Program p = program({{4}}, [](Builder& b, const Values& x) {
    const ValueId positive = emit::compare(b, "gt", x[0], 0);
    const ValueId chosen = emit::select(b, positive, emit::exp(b, x[0]), emit::mul(b, x[0], x[0]));
    const ValueId norm = emit::sqrt(b, emit::reduce_sum(b, emit::mul(b, x[0], x[0]), {0}));
    const ValueId best = emit::reduce_max(b, x[0], {0});
    const ValueId scaled = emit::mul(b, chosen, emit::broadcast_scalar(b, norm, {4}));
    return emit::add(b, scaled, emit::broadcast_scalar(b, best, {4}));
  });
  const Literal x = doubles({-1.5, 0.25, 2, -0.5});
  const auto forward = jacobian_forward(p, x), reverse = jacobian_reverse(p, x);
  ASSERT_EQ(forward.size(), reverse.size());
  for (std::size_t o = 0; o < forward.size(); ++o) {
    for (std::size_t i = 0; i < forward[o].size(); ++i) {
      EXPECT_NEAR(forward[o][i], reverse[o][i], 1e-13) << o << "," << i;
    }
  }
}

TEST(derivative, broadcasts_become_sums) {  // G12
  const Program p = program({{2, 1}, {3}}, [](Builder& b, const Values& x) {
    const ValueId wide = emit::broadcast_in_dim(b, x[0], {2, 3}, {0, 1});
    return emit::mul(b, wide, emit::broadcast_in_dim(b, x[1], {2, 3}, {1}));
  });
  const auto d = pull_ones(p, {tensor(DType::f64, {2, 1}, {1, 1}), doubles({4, 4, 4})});
  expect_same(d[0], {12, 12});
  expect_same(d[1], {2, 2, 2});
}

TEST(derivative, masks_are_strict) {  // G13
  const Program clamped = program({{4}}, [](Builder& b, const Values& x) {
    const ValueId low = emit::fill_like(b, 0, x[0]), high = emit::fill_like(b, 6, x[0]);
    return b.emit(op_clamp, {x[0], low, high});
  });
  expect_same(pull_ones(clamped, {doubles({0, 6, 3, 7})})[0], {0, 0, 1, 0});
  const Program bounded = program({{5}, {5}, {5}}, [](Builder& b, const Values& x) {
    return b.emit(op_clamp, {x[0], x[1], x[2]});
  });
  const auto through = pull_ones(bounded, {doubles({-1, 3, 7, -1, kNaN}), doubles({0, 0, 0, 5, 5}),
                                           doubles({6, 6, 6, 2, 2})});  // the last two: low > high
  expect_same(through[0], {0, 1, 0, 0, 0});
  expect_same(through[1], {1, 0, 0, 0, 0});
  expect_same(through[2], {0, 0, 1, 1, 0});
  const Program rectified =
      program({{3}}, [](Builder& b, const Values& x) { return b.emit(op_relu, {x[0]}); });
  expect_same(pull_ones(rectified, {doubles({0, 1, -1})})[0], {0, 1, 0});
  const Program absolute =
      program({{2}}, [](Builder& b, const Values& x) { return emit::abs(b, x[0]); });
  for (double d : to_doubles(pull_ones(absolute, {doubles({0.0, -0.0})})[0])) EXPECT_EQ(d, 0);
}

TEST(derivative, four_derivatives_of_a_bell) {  // G15
  Program p = program({{}}, [](Builder& b, const Values& x) {
    return emit::exp(b, emit::neg(b, emit::mul(b, x[0], x[0])));
  });
  const std::vector<std::string> wrt = {"x0"};
  for (double wanted : {0.0, -2.0, 0.0, 12.0}) {
    p = grad(p, wrt);
    expect_near(run(p, {scalar(DType::f64, 0)})[0], {wanted}, 1e-14, 1e-14);
  }
}

TEST(derivative, own_reverse_rules_equal_those_of_the_decomposition) {
  std::mt19937_64 random(11);
  for (const Operation* op : built_in_operations()) {
    if (op->strict.vjp == nullptr) continue;
    for (const Workload& row : op->strict.workloads()) {
      if (row.operands[0].dtype != DType::f32) continue;
      const Program p = one_output(widen(program_of(*op, row.operands, row.attributes)));
      std::vector<Type> types;
      std::vector<std::string> wrt;
      for (const Input& in : p.entry().inputs) {
        types.push_back(p.entry().type(in.value));
        if (is_floating(types.back().dtype)) wrt.push_back(in.name);
      }
      std::vector<Literal> arguments = random_operands(row, types, random);
      const Type result = p.entry().type(p.entry().outputs[0].value);
      arguments.push_back(random_literal(result, -1, 1, random));
      const auto own = run(vjp(p, wrt), arguments);
      const auto derived = run(vjp(expand_composites(p), wrt), arguments);
      ASSERT_EQ(own.size(), derived.size());
      for (std::size_t i = 0; i < own.size(); ++i) {
        expect_near(own[i], to_doubles(derived[i]), 1e-11, 1e-12, std::string(op->name));
      }
    }
  }
}

}  // namespace
}  // namespace heddle::ops_test
