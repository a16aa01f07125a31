// Misuse of tracing: one clear error each, with the caller's line.
#include "heddle/frontend/heddle.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::after_place;
using testing::expect_error;

TEST(TraceErrors, a_condition_on_a_tensor) {
  const unsigned line = __LINE__ + 2;
  const std::string message = expect_error<ValueError>(
      [] { trace([](const Tensor& x) { return (x > 0.0f) ? x : -x; }, {f32({})}); });
  EXPECT_NE(message.find("trace.cpp:" + std::to_string(line)), std::string::npos) << message;
}

TEST(TraceErrors, a_captured_concrete_tensor) {
  const Tensor known = make_tensor(make_literal<float>({2}, {1, 2}));
  const unsigned line = __LINE__ + 2;
  const std::string message = expect_error<ValueError>(
      [&] { trace([&](const Tensor& x) { return x + known; }, {f32({2})}); });
  EXPECT_NE(message.find("[add] trace.cpp:" + std::to_string(line)), std::string::npos) << message;
  EXPECT_NE(message.find("hd::constant"), std::string::npos) << message;
}

TEST(TraceErrors, a_tensor_of_another_trace) {
  Tensor escaped;
  trace([&](const Tensor& x) { return escaped = exp(x); }, {f32({2})});
  expect_error<Error>([&] { trace([&](const Tensor& x) { return x + escaped; }, {f32({2})}); });
}

TEST(TraceErrors, shapes_that_do_not_fit_say_both_and_the_line) {
  const unsigned line = __LINE__ + 2;
  const std::string message = expect_error<ValueError>([] {
    trace([](const Tensor& x, const Tensor& y) { return matmul(x, y); },
          {f32({32, 784}), f32({512, 10})});
  });
  EXPECT_NE(message.find("[matmul] trace.cpp:" + std::to_string(line) + ": inner extents differ"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("f32[32,784]"), std::string::npos) << message;
  EXPECT_NE(message.find("f32[512,10]"), std::string::npos) << message;
}

TEST(TraceErrors, an_output_that_was_not_computed_here) {
  const std::string message =
      expect_error<ValueError>([] { trace([](const Tensor&) { return Tensor(); }, {f32({})}); });
  EXPECT_EQ(after_place(message),
            "trace: output 'out': found an empty tensor, needed a tensor computed in this trace (a "
            "known one "
            "enters by hd::constant)");
}

TEST(TraceErrors, names_and_arguments_in_different_numbers) {
  expect_error<ValueError>([] { trace([](const Tensor& x) { return x; }, {f32({}), f32({})}); });
  expect_error<ValueError>([] {
    trace([](const Tensor& x) { return x; }, {f32({})}, {.inputs = {"x", "y"}});
  });
}

TEST(TraceErrors, outside_a_trace) {
  expect_error<ValueError>([] { iota(i32({3}), 0); });
}

TEST(TraceErrors, a_path_that_is_not_there) {
  const Params params = [] {
    Params p;
    p["a.w"] = make_tensor(splat(f32({2}), 0));
    return p;
  }();
  EXPECT_EQ(after_place(expect_error<ValueError>([&] { params["b.w"]; })),
            "no parameter 'b.w'; there are: a.w");
}

TEST(GradErrors, of_something_that_has_no_gradient) {
  const Program p = trace([](const Tensor& x, const Tensor& i) { return x * i; },
                          {f32({3}), i32({3})}, {.inputs = {"x", "i"}});
  EXPECT_NE(expect_error<ValueError>([&] { grad(p, "x"); }).find("f32[3]"), std::string::npos);
  EXPECT_NE(expect_error<ValueError>([&] { grad(p, "z"); }).size(), 0u);
  const Program s = trace([](const Tensor& x, const Tensor& i) { return sum(x * i); },
                          {f32({3}), i32({3})}, {.inputs = {"x", "i"}});
  EXPECT_NE(expect_error<TypeError>([&] { grad(s, "i"); }).find("i32[3]"), std::string::npos);
  EXPECT_NE(expect_error<ValueError>([&] { grad(s, "z"); }).find("there are: x, i"),
            std::string::npos);
}

TEST(CompileErrors, an_extent_that_is_no_number_is_named) {
  const Program p =
      trace([](const Tensor& x) { return exp(x); }, {f64({Dim::symbol("n")})}, {.inputs = {"x"}});
  EXPECT_EQ(after_place(expect_error<NotImplementedError>([&] { compile(p); })),
            "compile for cpu: @main: input 'x': found f64[n], needed constant extents");
}

// Kernels count in 32 bits. The tables of a library say the same in their words: entry_test.cpp.
TEST(CompileErrors, extents_beyond_kernels_are_named) {
  const auto refused = [](const Type& type, const std::function<Tensor(const Tensor&)>& f) {
    const Program p = trace([&](const Tensor& x) { return f(x); }, {type}, {.inputs = {"x"}});
    return after_place(expect_error<NotImplementedError>([&] { compile(p); }));
  };
  const auto same = [](const Tensor& x) { return -x; };
  EXPECT_EQ(refused(f32({3000000000}), same),
            "compile for cpu: @main: input 'x': found f32[3000000000], needed extents of at most "
            "2147483647");
  EXPECT_EQ(
      refused(f32({2, 65536, 65536}), same),
      "compile for cpu: @main: input 'x': found f32[2,65536,65536], needed at most 2147483647 "
      "elements from one index of axis 0 to the next");
  const auto wide = [](const Tensor& x) { return sum(broadcast_to(x, {3000000000}), {0}); };
  EXPECT_NE(refused(f32({}), wide).find("result: found f32[3000000000], needed extents of at most"),
            std::string::npos);
  const Program empty = trace(same, {f32({0, 3000000000})});
  EXPECT_EQ(compile(empty)->plan().functions[0].steps.size(), 0u);
}

TEST(CompileErrors, an_argument_of_another_shape) {  // K5
  const Program p =
      trace([](const Tensor& x) { return exp(x); }, {f32({3})}, {.name = "f", .inputs = {"x"}});
  const std::unique_ptr<Executable> e = compile(p);
  const std::vector<Literal> wrong{splat(f32({4}), 0)};
  EXPECT_EQ(after_place(expect_error<ValueError>([&] { e->run("f", wrong); })),
            "@f: argument 'x': found f32[4], needed f32[3]");
  EXPECT_NE(expect_error<ValueError>([&] { e->run("g", wrong); }).find("there are: f"),
            std::string::npos);
}

TEST(RunErrors, the_first_nan_names_operation_and_line) {
  const unsigned line = __LINE__ + 3;
  const Program p = trace(
      [](const Tensor& x) {
        const Tensor bad = sum(log(x), {1});
        return matmul(reshape(bad, {1, 2}), reshape(exp(bad), {2, 1}));
      },
      {f32({2, 3})}, {.name = "f", .inputs = {"x"}});
  CompileOptions checked;
  checked.check_nan = true;
  const std::vector<Literal> negative{splat(f32({2, 3}), -1)};
  const std::string message =
      expect_error<RuntimeError>([&] { compile(p, checked)->run("f", negative); });
  EXPECT_NE(message.find("log"), std::string::npos) << message;
  EXPECT_NE(message.find("trace.cpp:" + std::to_string(line)), std::string::npos) << message;
}

TEST(ExportErrors, names_are_identifiers) {
  Library library;
  const Program p = trace([](const Tensor& x) { return exp(x); }, {f32({3})});
  expect_error<ValueError>([&] { library.add("two words", p); });
  library.add("f", p);
  expect_error<ValueError>([&] { library.add("f", p); });
  expect_error<ValueError>([&] { export_library({}, {.name = "x"}); });
  expect_error<ValueError>([&] { export_library({{"f", p}}, {.name = "1x"}); });
  expect_error<ValueError>([&] {
    export_library({{"f", p}}, {.name = "x", .targets = {"riscv"}});
  });
}

}  // namespace
}  // namespace heddle
