// The call path: binding, homes of tensors, dtype plans, broadcasting and bodies, and the order in
// which a call's faults are reported (requirements 3.5).
#include "heddle/graph/call.h"

#include <functional>

#include "heddle/graph/text.h"
#include "ops/support.h"
#include "ops/traced.h"

namespace heddle::ops_test {
namespace {

constexpr Location kHere{"/home/user/model.cpp", 41};

Tensor call_one(const Operation& op, std::vector<Operand> operands, Attributes options = {}) {
  return call(op, operands, std::move(options), kHere).at(0);
}
DtypePlan plan_of(const Operation& op, const std::vector<Operand>& operands,
                  Attributes options = {}) {
  return plan(heddle::bind(op, operands, std::move(options), kHere));
}
Type t(DType dtype, Dims dims = {}) { return {dtype, std::move(dims)}; }

// Fails unless `f` throws an E at that step of a call made here, with those words.
template <class E>
void expect_error(const std::function<void()>& f, int step, const std::string& words) {
  try {
    f();
    ADD_FAILURE() << "no error; expected: " << words;
  } catch (const E& e) {
    EXPECT_EQ(e.detail().step, step) << e.what();
    EXPECT_EQ(e.detail().where, kHere) << e.what();
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

// Promotion -------------------------------------------------------------------------------------

TEST(promotion, follows_its_rules) {
  for (DType a : kAllDTypes) {
    EXPECT_EQ(promote(a, a), a);
    EXPECT_EQ(promote(a, DType::boolean), a);
    for (DType b : kAllDTypes) {
      SCOPED_TRACE(std::string(name_of(a)) + " and " + std::string(name_of(b)));
      const DType m = promote(a, b);
      EXPECT_EQ(m, promote(b, a));
      EXPECT_GE(size_of(m), is_floating(a) == is_floating(b) && m != DType::f32
                                ? std::max(size_of(a), size_of(b))
                                : 1u);
      if (is_floating(a) && !is_floating(b)) {
        EXPECT_EQ(m, a);
      }
      if (is_floating(a) && is_floating(b) && size_of(a) != size_of(b)) {
        EXPECT_EQ(m, size_of(a) > size_of(b) ? a : b);
      }
      if (!is_integer(a) || !is_integer(b)) continue;
      if (is_signed(a) == is_signed(b)) {
        EXPECT_EQ(m, size_of(a) >= size_of(b) ? a : b);
      } else {
        const DType u = is_signed(a) ? b : a, s = is_signed(a) ? a : b;
        if (u == DType::u64) {
          EXPECT_EQ(m, DType::f32);
        } else {
          EXPECT_TRUE(is_signed(m));
          EXPECT_EQ(size_of(m), std::max(size_of(s), 2 * size_of(u)));
        }
      }
    }
  }
  EXPECT_EQ(promote(DType::f16, DType::bf16), DType::f32);
}

TEST(promotion, weak_scalars_never_widen) {  // 2A.2
  Traced trace;
  for (DType d : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor x = trace.input("x" + std::to_string(static_cast<int>(d)), t(d, {2}));
    for (const Operand& weak : std::vector<Operand>{std::int64_t{3}, 0.5, true}) {
      EXPECT_EQ(plan_of(op_add, {x, weak}).output, d);
      EXPECT_EQ(plan_of(op_mul, {weak, x}).output, d);
    }
  }
  const Tensor i = trace.input("i", t(DType::i32, {2}));
  EXPECT_EQ(plan_of(op_mul, {i, std::int64_t{3}}).output, DType::i32);
  EXPECT_EQ(plan_of(op_mul, {std::int64_t{3}, i}).output, DType::i32);
  EXPECT_EQ(plan_of(op_mul, {i, 0.5}).output, DType::f32);
  EXPECT_EQ(plan_of(op_mul, {i, true}).output, DType::f32);
  EXPECT_EQ(plan_of(op_add, {i, std::int64_t{3}}).arithmetic, Arithmetic::wrapping);
  const DtypePlan p = plan_of(op_add, {i, 0.5});
  EXPECT_EQ(p.operands[0].dtype, DType::i32);
  EXPECT_EQ(p.operands[0].convert_to, DType::f32);
  EXPECT_EQ(p.operands[1].dtype, std::nullopt);
}

TEST(promotion, per_operation) {  // 2A.3
  Traced trace;
  const Tensor i = trace.input("i", t(DType::i32, {2})), x = trace.input("x", t(DType::f32, {2}));
  const Tensor b = trace.input("b", t(DType::boolean, {2}));
  EXPECT_EQ(plan_of(op_add, {i, x}).output, DType::f32);
  EXPECT_EQ(plan_of(op_div, {i, i}).output, DType::f32);
  EXPECT_EQ(plan_of(op_pow, {i, i}).output, DType::f32);
  EXPECT_EQ(plan_of(op_pow, {i, std::int64_t{2}}).output, DType::i32);
  EXPECT_EQ(plan_of(op_pow, {i, std::int64_t{-1}}).output, DType::f32);
  EXPECT_EQ(plan_of(op_pow, {std::int64_t{2}, i}).output, DType::f32);
  EXPECT_EQ(plan_of(op_relu, {i}).output, DType::i32);
  EXPECT_EQ(plan_of(op_exp, {i}).output, DType::f32);
  EXPECT_EQ(plan_of(op_silu, {i}).output, DType::f32);
  expect_error<TypeError>(
      [&] { plan_of(op_sqrt, {i}); }, 14,
      "[sqrt] model.cpp:41: unsupported dtype; operands[0].dtype: found i32, needed a floating");
  expect_error<TypeError>([&] { plan_of(op_floor, {i}); }, 14,
                          "[floor] model.cpp:41: unsupported dtype; operands[0].dtype: found i32");
  expect_error<TypeError>([&] { plan_of(op_add, {b, b}); }, 14, "operands[0].dtype: found bool");
  expect_error<TypeError>([&] { plan_of(op_neg, {b}); }, 14, "operands[0].dtype: found bool");
  EXPECT_EQ(plan_of(op_mul, {b, x}).output, DType::f32);
  EXPECT_EQ(plan_of(op_reduce_sum, {b}).output, DType::i32);
  EXPECT_EQ(plan_of(op_reduce_sum, {i}).accumulation, Accumulation::exact_integer);
  EXPECT_EQ(plan_of(op_reduce_sum, {x}).accumulation, Accumulation::floating);
  EXPECT_EQ(plan_of(op_mean, {i}).output, DType::f32);
  EXPECT_EQ(plan_of(op_and_, {b, true}).output, DType::boolean);
  expect_error<TypeError>([&] { plan_of(op_and_, {b, x}); }, 14, "operands[1].dtype: found f32");
  EXPECT_EQ(plan_of(op_select, {b, i, 0.5}).output, DType::f32);
  EXPECT_EQ(plan_of(op_select, {b, std::int64_t{1}, std::int64_t{0}}).output, DType::i32);
  expect_error<TypeError>(
      [&] {
        plan_of(op_select, {x, x, x});
      },
      14, "operands[0].dtype: found f32, needed bool");
  const Attributes lt({{"direction", std::string("lt")}});
  EXPECT_EQ(plan_of(op_compare, {i, 0.5}, lt).output, DType::boolean);
  EXPECT_EQ(plan_of(op_compare, {i, 0.5}, lt).compute, DType::f32);
}

TEST(promotion, a_weak_integer_must_fit) {
  Traced trace;
  const Tensor u = trace.input("u", t(DType::u8, {2})), x = trace.input("x", t(DType::f32, {2}));
  expect_error<OverflowError>(
      [&] {
        plan_of(op_add, {u, std::int64_t{256}});
      },
      14, "operands[1]: found 256, needed a number of u8");
  expect_error<OverflowError>(
      [&] {
        plan_of(op_add, {u, std::int64_t{-1}});
      },
      14, "operands[1]: found -1, needed a number of u8");
  EXPECT_EQ(plan_of(op_add, {u, std::int64_t{255}}).output, DType::u8);
  EXPECT_EQ(plan_of(op_add, {x, std::int64_t{1} << 40}).output, DType::f32);
}

// Bodies ----------------------------------------------------------------------------------------

/// What a call gives on these values, as doubles.
std::vector<double> run_call(const Operation& op, const std::vector<Literal>& values,
                             const std::vector<Operand>& weak_tail = {}, Attributes options = {},
                             std::string* type = nullptr) {
  Traced trace;
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < values.size(); ++i) {
    operands.push_back(trace.input("x" + std::to_string(i), values[i].type));
  }
  operands.insert(operands.end(), weak_tail.begin(), weak_tail.end());
  const Tensor y = call_one(op, operands, std::move(options));
  if (type) *type = to_text(y.type());
  return to_doubles(run(trace.finish(y), values)[0]);
}
using Numbers = std::vector<double>;
using Axes = std::vector<std::int64_t>;

TEST(surface, broadcasts_right_aligned) {
  std::string type;
  const Literal x = tensor(DType::f32, {2, 1}, {1, 2});
  EXPECT_EQ(run_call(op_add, {x, floats({10, 20, 30})}, {}, {}, &type),
            Numbers({11, 21, 31, 12, 22, 32}));
  EXPECT_EQ(type, "f32[2,3]");
  EXPECT_EQ(run_call(op_sub, {x}, {0.5}), Numbers({0.5, 1.5}));
  EXPECT_EQ(run_call(op_add, {tensor(DType::f32, {0, 3}, {}), floats({1, 2, 3})}), Numbers());
}

TEST(surface, negative_indices_count_from_the_end) {  // F1
  const Literal x = floats({1, 2, 3, 4, 5});
  EXPECT_EQ(run_call(op_gather, {x, ints({-1, -3, 0})}), Numbers({5, 3, 1}));
  EXPECT_EQ(run_call(op_gather, {x}, {std::int64_t{-2}}), Numbers({4}));
  EXPECT_EQ(run_call(op_gather, {vector_of(DType::u8, {7, 8})}, {std::int64_t{-1}}), Numbers({8}));
  EXPECT_EQ(run_call(op_gather, {x, vector_of(DType::i64, {-1, 1})}), Numbers({5, 2}));
  EXPECT_EQ(run_call(op_gather, {x, vector_of(DType::u8, {4})}), Numbers({5}));
  EXPECT_EQ(run_call(op_scatter, {x, ints({-1, -1}), floats({10, 20})}), Numbers({1, 2, 3, 4, 35}));
  const Literal m = tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_call(op_gather, {m, ints({-1})}, {}, Attributes({{"axis", std::int64_t{-1}}})),
            Numbers({3, 6}));
  const Attributes tail(
      {{"starts", Axes{-2, -3}}, {"limits", Axes{99, -1}}, {"strides", Axes{1, 1}}});
  EXPECT_EQ(run_call(op_slice, {m}, {}, tail), Numbers({1, 2, 4, 5}));
}

TEST(surface, reductions_take_any_axes) {
  const Literal m = tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  std::string type;
  EXPECT_EQ(run_call(op_reduce_sum, {m}), Numbers({21}));
  EXPECT_EQ(run_call(op_reduce_sum, {m}, {}, Attributes({{"axes", Axes{-1}}})), Numbers({6, 15}));
  EXPECT_EQ(
      run_call(op_mean, {m}, {}, Attributes({{"axes", Axes{1, 0}}, {"keepdims", true}}), &type),
      Numbers({3.5}));
  EXPECT_EQ(type, "f32[1,1]");
  EXPECT_EQ(run_call(op_reduce_max, {m}, {}, Attributes({{"axes", Axes{}}})), to_doubles(m));
  EXPECT_EQ(run_call(op_argmax, {m}, {}, Attributes({{"axis", std::int64_t{-1}}})),
            Numbers({2, 2}));
  const auto softmax = run_call(op_softmax, {floats({0, 0})});
  EXPECT_EQ(softmax, Numbers({0.5, 0.5}));
}

TEST(surface, shapes) {
  const Literal m = tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  std::string type;
  run_call(op_reshape, {m}, {}, Attributes({{"dims", Dims{3, -1}}}), &type);
  EXPECT_EQ(type, "f32[3,2]");
  EXPECT_EQ(run_call(op_transpose, {m}), Numbers({1, 4, 2, 5, 3, 6}));
  run_call(op_broadcast_in_dim, {m}, {}, Attributes({{"dims", Dims{4, 2, 3}}}), &type);
  EXPECT_EQ(type, "f32[4,2,3]");
  EXPECT_EQ(run_call(op_concatenate, {ints({1}), floats({2}), ints({3})}, {},
                     Attributes({{"axis", std::int64_t{-1}}})),
            Numbers({1, 2, 3}));
  expect_error<ValueError>(
      [&] {
        run_call(op_reshape, {m}, {}, Attributes({{"dims", Dims{4, -1}}}));
      },
      15, "no extent fits for -1; options.dims");
  expect_error<ValueError>(
      [&] {
        run_call(op_reshape, {m}, {}, Attributes({{"dims", Dims{-1, -1}}}));
      },
      15, "only one extent may be -1; options.dims");
  expect_error<ValueError>(
      [&] {
        run_call(op_reduce_sum, {m}, {}, Attributes({{"axes", Axes{1, -1}}}));
      },
      15, "an axis is named twice; options.axes: found [1, -1]");
}

TEST(surface, matmul_broadcasts_leading_axes) {
  std::string type;
  const Literal x = tensor(DType::f32, {2, 1, 2}, {1, 2, 3, 4});
  const Literal y = tensor(DType::f32, {2, 1}, {10, 100});
  EXPECT_EQ(run_call(op_matmul, {x, y}, {}, {}, &type), Numbers({210, 430}));
  EXPECT_EQ(type, "f32[2,1,1]");
  const Literal plain = tensor(DType::f32, {1, 2}, {1, 2});
  const Literal batch = tensor(DType::f32, {2, 2, 1}, {1, 1, 10, 10});
  EXPECT_EQ(run_call(op_matmul, {plain, batch}, {}, {}, &type), Numbers({3, 30}));
  EXPECT_EQ(type, "f32[2,1,1]");
  EXPECT_EQ(run_call(op_matmul, {tensor(DType::i32, {1, 1}, {2}), tensor(DType::i32, {1, 1}, {3})},
                     {}, {}, &type),
            Numbers({6}));
  EXPECT_EQ(type, "i32[1,1]");
}

TEST(surface, whole_powers_are_multiplications) {
  Traced trace;
  const Tensor x = trace.input("x", t(DType::f32, {3}));
  const Tensor y = call_one(op_pow, {x, std::int64_t{12}});
  const Program p = trace.finish(y);
  for (const Node& n : p.entry().nodes) EXPECT_EQ(n.op, &op_mul);
  EXPECT_EQ(p.entry().nodes.size(), 4u);
  EXPECT_EQ(to_doubles(run(p, {floats({2, -1, 0})})[0]), Numbers({4096, 1, 0}));
  EXPECT_EQ(run_call(op_pow, {floats({kNaN, 2})}, {std::int64_t{0}}), Numbers({1, 1}));
  EXPECT_EQ(run_call(op_pow, {floats({4, 9})}, {0.5}), Numbers({2, 3}));
  EXPECT_EQ(run_call(op_pow, {floats({4, 2})}, {std::int64_t{-1}}), Numbers({0.25, 0.5}));
}

TEST(surface, large_weak_integers_are_exact) {
  Traced trace;
  const Tensor x = trace.input("x", t(DType::i64, {1}));
  const Tensor y = call_one(op_add, {x, std::int64_t{9007199254740993}});
  const Literal zero = make_literal<std::int64_t>({1}, {0});
  EXPECT_EQ(view<std::int64_t>(run(trace.finish(y), {zero})[0])[0], 9007199254740993);
}

TEST(surface, symbolic_extents_trace) {
  Traced trace;
  const Dim n = Dim::symbol("n");
  const Tensor x = trace.input("x", t(DType::f32, {n, 4}));
  const Tensor y = call_one(op_mean, {call_one(op_mul, {x, 2.0})}, Attributes({{"axes", Axes{0}}}));
  EXPECT_EQ(to_text(y.type()), "f32[4]");
}

TEST(surface, nodes_carry_the_line_of_the_call) {
  Traced trace;
  const Tensor y = call_one(op_exp, {trace.input("x", t(DType::i32, {2}))});
  const Program p = trace.finish(y);
  for (const Node& node : p.entry().nodes) EXPECT_EQ(node.where, kHere);
}

// Errors ----------------------------------------------------------------------------------------

TEST(call_errors, matmul_says_where_each_extent_comes_from) {
  Traced trace;
  const Tensor x = trace.input("x", t(DType::f32, {32, 784})),
               y = trace.input("y", t(DType::f32, {512, 10}));
  try {
    call_one(op_matmul, {x, y});
    ADD_FAILURE();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(),
                 "[matmul] model.cpp:41: inner extents differ: x is f32[32,784], y is "
                 "f32[512,10]; K is 784 from x and 512 from y");
  }
}

TEST(call_errors, shapes_that_do_not_broadcast) {
  Traced trace;
  const Tensor x = trace.input("x", t(DType::f32, {2, 3})),
               y = trace.input("y", t(DType::f32, {4}));
  expect_error<ValueError>(
      [&] {
        call_one(op_add, {x, y});
      },
      15,
      "[add] model.cpp:41: shapes do not broadcast: x is f32[2,3], y is "
      "f32[4]");
}

TEST(call_errors, binding) {  // A3
  Traced trace;
  const Tensor x = trace.input("x", t(DType::f32, {2}));
  expect_error<TypeError>([&] { call_one(op_exp, {x, x}); }, 1, "found 2, needed 1");
  expect_error<TypeError>(
      [&] {
        call_one(op_exp, {x}, Attributes({{"fast", true}}));
      },
      2, "unknown option; options.fast, needed no options");
  expect_error<TypeError>([&] { call_one(op_convert, {x}); }, 3, "missing option; options.to");
  expect_error<TypeError>(
      [&] { call_one(op_exp, {2.0}); }, 4,
      "wrong kind of operand 'x'; operands[0]: found a number, needed a tensor");
  expect_error<TypeError>([&] { call_one(op_exp, {Tensor()}); }, 4, "empty tensor");
  expect_error<TypeError>([&] { call_one(op_add, {1.0, 2.0}); }, 4, "needed a tensor");
  expect_error<TypeError>(
      [&] {
        call_one(op_softmax, {x}, Attributes({{"axis", std::string("last")}}));
      },
      4, "option of the wrong kind; options.axis: found \"last\", needed an integer");
  expect_error<TypeError>([&] { call_one(op_constant, {}); }, 1, "internal to programs");
}

TEST(call_errors, homes_of_tensors) {
  Traced trace, other;
  const Tensor x = trace.input("x", t(DType::f32, {2})), y = other.input("y", t(DType::f32, {2}));
  const Tensor known = make_tensor(floats({1, 2}));
  expect_error<ValueError>([&] { call_one(op_add, {x, known}); }, 9, "hd::constant");
  expect_error<ValueError>([&] { call_one(op_add, {known, x}); }, 9, "operands[0] ('x')");
  expect_error<ValueError>([&] { call_one(op_add, {x, y}); }, 9, "tensors of two traces");
  Tensor late;
  {
    Traced ended;
    late = ended.input("z", t(DType::f32, {2}));
  }
  expect_error<ReleasedError>([&] { call_one(op_exp, {late}); }, 18, "has ended");
  expect_error<ReleasedError>([&] { call_one(op_add, {late, x}); }, 18, "operands[0] ('x')");
  expect_error<NotImplementedError>([&] { call_one(op_exp, {known}); }, 21, "carrier");
}

TEST(call_errors, a_traced_tensor_is_no_condition) {
  Traced trace;
  const Tensor x = trace.input("x", t(DType::f32));
  const Tensor less =
      call_one(op_compare, {x, 1.0}, Attributes({{"direction", std::string("lt")}}));
  try {
    if (less) ADD_FAILURE();
    ADD_FAILURE();
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("model.cpp:41"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("hd::where"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(static_cast<bool>(make_tensor(scalar(DType::f32, 2))));
  EXPECT_FALSE(static_cast<bool>(make_tensor(scalar(DType::boolean, 0))));
}

// A call of dot_general with any set of faults reports the one with the lowest step.
struct Faults {
  int step;
  const char* name;
};
constexpr Faults kFaults[] = {{1, "count"}, {2, "option"}, {3, "missing"}, {4, "kind"},
                              {9, "home"},  {14, "dtype"}, {15, "shape"},  {18, "released"}};

int step_of_call_with(unsigned faults) {
  const auto has = [&](int step) {
    for (std::size_t i = 0; i < std::size(kFaults); ++i) {
      if (kFaults[i].step == step) return (faults >> i & 1u) != 0;
    }
    return false;
  };
  Traced trace;
  const DType dtype = has(14) ? DType::boolean : DType::f32;
  const Type left = t(dtype, {2, 3}), right = t(dtype, {has(15) ? 4 : 3, 2});
  std::vector<Operand> operands = {trace.input("x", left), trace.input("y", right)};
  Traced ended;
  if (has(18)) operands[1] = ended.input("z", right);
  if (has(9)) operands[0] = make_tensor(splat(left, 1));
  if (has(4)) operands[1] = 2.0;
  if (has(1)) operands.push_back(1.0);
  std::vector<Attributes::Entry> options = {
      {"lhs_batch", Axes{}}, {"rhs_batch", Axes{}}, {"lhs_contract", Axes{1}}};
  if (!has(3)) options.push_back({"rhs_contract", Axes{0}});
  if (has(2)) options.push_back({"bogus", true});
  ended.builder.reset();
  try {
    call(op_dot_general, operands, Attributes(options), kHere);
    return 0;
  } catch (const Error& e) {
    return e.detail().step;
  }
}

TEST(call_errors, the_earliest_fault_is_reported) {
  EXPECT_EQ(step_of_call_with(0), 0);
  for (unsigned faults = 1; faults < 1u << std::size(kFaults); ++faults) {
    int first = 0;
    for (std::size_t i = std::size(kFaults); i-- > 0;) {
      if (faults >> i & 1u) first = kFaults[i].step;
    }
    EXPECT_EQ(step_of_call_with(faults), first) << "faults " << faults;
  }
}

}  // namespace
}  // namespace heddle::ops_test
