// Compiled programs: the whole way from C++ to results, against the interpreter.
#include <cmath>

#include "heddle/frontend/heddle.h"
#include "heddle/graph/operation.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

TEST(Compile, several_programs_live_side_by_side) {
  std::vector<std::unique_ptr<Executable>> all;
  for (int i = 1; i <= 4; ++i) {
    all.push_back(
        compile(trace([i](const Tensor& x) { return x * static_cast<double>(i) + exp(x); },
                      {f32({3})}, {.name = "f"})));
  }
  const std::vector<Literal> x{make_literal<float>({3}, {0, 1, -1})};
  for (int i = 1; i <= 4; ++i) {
    const std::vector<double> y = to_doubles(all[static_cast<std::size_t>(i - 1)]->run("f", x)[0]);
    EXPECT_NEAR(y[1], i + std::exp(1.0), 1e-6) << i;
  }
}

TEST(Compile, for_another_machine_is_refused) {
  const Program p = trace([](const Tensor& x) { return exp(x); }, {f32({3})});
  for (const char* target : {"arm-64-linux", "x86-64-osx"}) {
    const std::string text = testing::expect_error<NotAvailableError>(
        [&] { compile(p, {.target = parse_target(target)}); });
    EXPECT_NE(text.find(target), std::string::npos) << text;
  }
}

TEST(Compile, arguments_are_never_changed) {
  Params params;
  params["w"] = make_tensor(splat(f32({4}), 2));
  auto loss = [](const Params& p, const Tensor& x) { return sum(p["w"] * x); };
  const Program step = train_step(loss, params, optim::sgd(0.5), {f32({4})}, {.inputs = {"x"}});
  const std::vector<Literal> arguments{splat(f32({4}), 3), splat(f32({4}), 2)};
  const std::vector<Literal> results = compile(step)->run(step.entry().name, arguments);
  EXPECT_EQ(to_doubles(arguments[1]), (std::vector<double>{2, 2, 2, 2}));
  EXPECT_EQ(to_doubles(results[1]), (std::vector<double>{0.5, 0.5, 0.5, 0.5}));
}

#if defined(__x86_64__)
// Some CPUs take a hundred times as long over denormal numbers in products.
TEST(Compile, denormals_are_zeros_to_products_alone) {
  const Type square = f32({16, 16});
  const Program p = trace(
      [](const Tensor& x, const Tensor& y) {
        return std::vector<Tensor>{matmul(x, y), x + x};
      },
      {square, square}, {.name = "f"});
  const std::vector<Literal> results =
      compile(p)->run("f", std::vector<Literal>{splat(square, 1e-39), splat(square, 1)});
  EXPECT_EQ(to_doubles(results[0]), std::vector<double>(256, 0.0));
  EXPECT_EQ(to_doubles(results[1]), std::vector<double>(256, static_cast<double>(2 * 1e-39f)));
}
#endif

// Programs of every dtype, from the call to the compiled result.
TEST(Compile, every_dtype_runs) {
  for (DType t : kAllDTypes) {
    if (t == DType::boolean) continue;
    const Program p = trace(
        [](const Tensor& x, const Tensor& y) {
          const Tensor z = x * y + reduce_max(x, {1}, true);
          return std::vector<Tensor>{z, sum(z, {0}), matmul(x, transpose(y)),
                                     where(x < y, x, convert(y < 2, x.type().dtype)), argmax(x, 1)};
        },
        {Type{t, {3, 5}}, Type{t, {3, 5}}}, {.name = "f"});
    std::vector<Literal> arguments;
    for (std::uint64_t seed : {1, 2}) {
      arguments.push_back(convert(uniform(f64({3, 5}), is_signed(t) ? 9 : 3, seed, "x"), t));
    }
    const std::vector<Literal> found = compile(p)->run("f", arguments),
                               expected = interpret(p, "f", arguments);
    const double tolerance = t == DType::bf16 ? 8e-3 : t == DType::f16 ? 1e-3 : 1e-6;
    for (std::size_t o = 0; o < found.size(); ++o) {
      const std::vector<double> f = to_doubles(found[o]), e = to_doubles(expected[o]);
      for (std::size_t i = 0; i < e.size(); ++i) {
        const double allowed = is_floating(t) ? tolerance * (1 + std::fabs(e[i])) : 0;
        EXPECT_NEAR(f[i], e[i], allowed) << name_of(t) << " output " << o;
      }
    }
  }
}

TEST(Compile, whole_numbers_beyond_double_stay_exact) {  // F5
  const Program p = trace(
      [](const Tensor& x) {
        const Tensor big = constant(make_literal<std::int64_t>({}, {9007199254740993}));
        return std::vector<Tensor>{big + x, rem(x, big), shift_right(big, x)};
      },
      {Type{DType::i64, {2}}}, {.name = "f"});
  const std::vector<Literal> r =
      compile(p)->run("f", std::vector{make_literal<std::int64_t>({2}, {0, 9007199254740994})});
  EXPECT_EQ(view<std::int64_t>(r[0])[0], 9007199254740993);
  EXPECT_EQ(view<std::int64_t>(r[1])[1], 1);
  EXPECT_EQ(view<std::int64_t>(r[2])[0], 9007199254740993);
  EXPECT_EQ(view<std::int64_t>(r[2])[1], 0);
}

TEST(Compile, edges_of_programs_in_a_narrow_dtype) {  // F15
  const Program p = trace(
      [](const Tensor& x, const Tensor& y) {
        const Tensor both = concatenate({x, y}, 0), unused = exp(x);
        (void)unused;
        return std::vector<Tensor>{x, both, both, x + slice(both, {2}, {4})};
      },
      {Type{DType::f16, {2}}, Type{DType::f16, {2}}}, {.name = "f"});
  const std::vector<Literal> in{convert(make_literal<float>({2}, {1, -0.f}), DType::f16),
                                convert(make_literal<float>({2}, {65504, 2}), DType::f16)};
  EXPECT_EQ(compile(p)->run("f", in), interpret(p, "f", in));
}

struct Digits {
  Params params;
  static Tensor loss(const Params& p, const Tensor& x, const Tensor& y) {
    const Tensor h = relu(nn::linear(p, "layer2", relu(nn::linear(p, "layer1", x))));
    return cross_entropy(nn::linear(p, "layer3", h), y);
  }
  Digits() {
    nn::init_linear(params, "layer1", 64, 128, 1);
    nn::init_linear(params, "layer2", 128, 64, 1);
    nn::init_linear(params, "layer3", 64, 10, 1);
  }
  static std::vector<Literal> batch(std::uint64_t seed) {
    std::vector<std::int32_t> labels;
    for (std::uint64_t i = 0; i < 32; ++i)
      labels.push_back(static_cast<std::int32_t>((i * 7 + seed) % 10));
    return {uniform(f32({32, 64}), 1, seed, "x"),
            make_literal<std::int32_t>({32}, std::span<const std::int32_t>(labels))};
  }
  std::vector<Literal> arguments(std::uint64_t seed) const {
    std::vector<Literal> all = batch(seed);
    for (const auto& [path, tensor] : params.leaves()) all.push_back(concrete(tensor)->literal());
    return all;
  }
};

TEST(Digits, step_is_at_most_sixteen_kernels) {
  const Digits d;
  const Program step =
      train_step(Digits::loss, d.params, optim::adam(2e-3), {f32({32, 64}), i32({32})});
  EXPECT_LE(lower(step, Target::host()).plan.functions[0].steps.size(), 16u);
}

double norm(const std::vector<double>& v) {
  double total = 0;
  for (double x : v) total += x * x;
  return std::sqrt(total);
}

TEST(Digits, first_gradients_are_the_interpreters) {
  const Digits d;
  const Program loss = trace(Digits::loss, d.params, {f32({32, 64}), i32({32})},
                             {.name = "loss", .outputs = {"loss"}});
  std::vector<std::string> wrt;
  for (const std::string& path : d.params.paths()) wrt.push_back("params." + path);
  const Program gradient = grad(loss, wrt);
  const std::vector<Literal> arguments = d.arguments(5);
  const std::vector<Literal> found = compile(gradient)->run(gradient.entry().name, arguments),
                             expected = interpret(gradient, gradient.entry().name, arguments);
  for (std::size_t g = 0; g < found.size(); ++g) {
    std::vector<double> difference = to_doubles(found[g]);
    const std::vector<double> reference = to_doubles(expected[g]);
    for (std::size_t i = 0; i < reference.size(); ++i) difference[i] -= reference[i];
    EXPECT_LE(norm(difference), 1e-5 * norm(reference)) << wrt[g];
  }
}

TEST(Digits, hundred_steps_lose_like_the_interpreter) {
  const Digits d;
  const Program step =
      train_step(Digits::loss, d.params, optim::sgd(0.05), {f32({32, 64}), i32({32})});
  const std::unique_ptr<Executable> compiled = compile(step);
  std::vector<Literal> found = d.arguments(0), expected = found;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::vector<Literal> batch = Digits::batch(i % 7);
    for (std::size_t b = 0; b < 2; ++b) found[b] = expected[b] = batch[b];
    const std::vector<Literal> f = compiled->run(step.entry().name, found),
                               e = interpret(step, step.entry().name, expected);
    const double loss = element_as_double(e[0], 0);
    ASSERT_NEAR(element_as_double(f[0], 0), loss, 1e-5 * loss) << "step " << i;
    std::copy(f.begin() + 1, f.end(), found.begin() + 2);
    std::copy(e.begin() + 1, e.end(), expected.begin() + 2);
  }
}

TEST(Digits, bits_do_not_depend_on_threads) {
  const Digits d;
  const Program step =
      train_step(Digits::loss, d.params, optim::adam(2e-3), {f32({32, 64}), i32({32})});
  std::vector<Literal> arguments = d.arguments(3);
  for (std::size_t i = arguments.size(); i < step.entry().inputs.size(); ++i) {
    arguments.push_back(splat(step.entry().type(step.entry().inputs[i].value), 0));
  }
  CompileOptions one, four;
  one.threads = 1;
  four.threads = 4;
  const std::vector<Literal> a = compile(step, one)->run(step.entry().name, arguments),
                             b = compile(step, four)->run(step.entry().name, arguments);
  for (std::size_t o = 0; o < a.size(); ++o) EXPECT_EQ(a[o], b[o]) << step.entry().outputs[o].name;
}

TEST(Gradients, OfNamesInBraces) {
  const Program p = trace([](const Tensor& w, const Tensor& b) { return sum(w * w * b); },
                          {f32({2}), f32({2})}, {.name = "f", .inputs = {"w", "b"}});
  const std::string name = "b";
  EXPECT_EQ(grad(p, {"w", "b"}).entry().outputs.size(), 2u);
  EXPECT_EQ(grad(p, {"w"}).entry().outputs.size(), 1u);
  EXPECT_EQ(grad(p, name).entry().outputs[0].name, "d_b");
  EXPECT_EQ(vjp(p, {"b", "w"}).entry().outputs.size(), 3u);
  EXPECT_EQ(jvp(p, {"w", "b"}).entry().inputs.size(), 4u);
  EXPECT_EQ(hvp(p, {"w", "b"}).entry().inputs.size(), 4u);
  EXPECT_EQ(value_and_grad(p, {"w", "b"}).entry().outputs.size(), 3u);
}

}  // namespace
}  // namespace heddle
