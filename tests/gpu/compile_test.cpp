// Whole programs on the test device, through `compile`: against the interpreter, and a training
// run against the CPU.
#include "heddle/backends/compile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "backends/kernel_runner.h"
#include "eager/extension_support.h"
#include "gpu/programs.h"
#include "heddle/backends/worker.h"
#include "heddle/frontend/checked.h"
#include "heddle/frontend/nn.h"
#include "heddle/frontend/ops.h"
#include "heddle/frontend/optim.h"
#include "heddle/frontend/trace.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/interpret.h"
#include "heddle/schedule/carrier_types.h"
#include "support/expect_error.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

std::unique_ptr<Executable> on_device(const Program& program, bool check_nan = false) {
  device::prepare({});
  return compile(program, {.target = device::target(), .check_nan = check_nan});
}

std::vector<Literal> random_inputs(const Program& program, double low, double high) {
  std::vector<Literal> inputs;
  for (const Input& in : program.entry().inputs) {
    const auto seed = static_cast<unsigned>(7 + inputs.size());
    inputs.push_back(random_literal(program.entry().type(in.value), seed, low, high));
  }
  return inputs;
}

void check(const std::string& name, const Program& program, double tolerance = 2e-5,
           double low = -2, double high = 2) {
  const std::vector<Literal> inputs = random_inputs(program, low, high);
  const auto want = interpret(program, program.entry().name, inputs);
  const auto executable = on_device(program);
  for (int run = 0; run < 2; ++run) {
    const auto got = executable->run(program.entry().name, inputs);
    for (std::size_t o = 0; o < want.size(); ++o) {
      const double t = is_floating(want[o].type.dtype) ? tolerance : 0;
      expect_close(got[o], want[o], t, t, name + " output " + std::to_string(o));
    }
  }
}

Tensor mlp(const Params& params, const Tensor& x) {
  return nn::linear(params, "layer2", relu(nn::linear(params, "layer1", x)));
}

Program mlp_step() {
  Params params;
  nn::init_linear(params, "layer1", 20, 33, 1);
  nn::init_linear(params, "layer2", 33, 10, 1);
  const auto loss = [](const Params& p, const Tensor& x, const Tensor& y) {
    return cross_entropy(mlp(p, x), y);
  };
  return train_step(loss, params, optim::adam(2e-3), {heddle::f32({17, 20}), heddle::i32({17})},
                    {.inputs = {"x", "y"}});
}

TEST(CompiledForDevice, MlpGradientStep) {
  const auto before = device::live_allocations();
  check("mlp", mlp_step(), 1e-4, 0, 0.3);
  EXPECT_EQ(device::live_allocations(), before);
}

TEST(CompiledForDevice, StatisticsOfRows) {
  check("softmax", trace([](const Tensor& x) { return softmax(x); }, {heddle::f32({33, 100})}));
  check("layer_norm",
        trace([](const Tensor& x, const Tensor& s, const Tensor& t) { return layer_norm(x, s, t); },
              {heddle::f32({7, 65}), heddle::f32({65}), heddle::f32({65})}),
        2e-4);
}

// A block of a transformer: attention of two heads, then a layer of its own, and the gradient.
TEST(CompiledForDevice, TransformerBlock) {
  const auto block = [](const Tensor& x, const Tensor& qkv, const Tensor& up, const Tensor& down,
                        const Tensor& scale, const Tensor& shift) {
    const Tensor all = matmul(layer_norm(x, scale, shift), qkv);
    const auto heads = [&](std::int64_t part) {
      const Tensor own = slice(all, {0, 16 * part}, {12, 16 * (part + 1)});
      return transpose(reshape(own, {12, 2, 8}), {1, 0, 2});
    };
    const Tensor scores = matmul(heads(0), transpose(heads(1), {0, 2, 1})) * 0.35f;
    const Tensor mixed = transpose(matmul(softmax(scores), heads(2)), {1, 0, 2});
    const Tensor y = x + reshape(mixed, {12, 16});
    return y + matmul(gelu(matmul(layer_norm(y, scale, shift), up)), down);
  };
  const std::vector<Type> types{heddle::f32({12, 16}), heddle::f32({16, 48}), heddle::f32({16, 64}),
                                heddle::f32({64, 16}), heddle::f32({16}),     heddle::f32({16})};
  check("block", trace(block, types), 2e-4, -0.5, 0.5);
  const auto loss = [&](const Tensor& x, const Tensor& qkv, const Tensor& up, const Tensor& down,
                        const Tensor& scale, const Tensor& shift) {
    const Tensor y = block(x, qkv, up, down, scale, shift);
    return sum(y * y);
  };
  const Program gradient = grad(trace(loss, types), std::vector<std::string>{"x0", "x1", "x2"});
  check("gradient of the block", gradient, 1e-3, -0.5, 0.5);
}

TEST(CompiledForDevice, ConvolutionsScansSortsAndIndices) {
  const auto convolution = [](const Tensor& x, const Tensor& w) {
    return relu(conv(x, w, {.strides = {2, 1}, .low = {1, 1}, .high = {1, 1}}));
  };
  check("conv", trace(convolution, {heddle::f32({2, 4, 13, 11}), heddle::f32({6, 4, 3, 3})}), 1e-4);
  check("cumsum", trace([](const Tensor& x) { return cumsum(x, 0); }, {heddle::f32({77, 3})}),
        1e-4);
  check("cumsum i32", trace([](const Tensor& x) { return cumsum(x, -1); }, {heddle::i32({5, 77})}),
        0, -100, 100);
  check("max_pool", trace(
                        [](const Tensor& x) {
                          return max_pool(x, {2, 2});
                        },
                        {heddle::f32({2, 3, 10, 8})}));
  check("sort", trace([](const Tensor& x) { return sort(x, -1); }, {heddle::f32({3, 77})}), 0);
  check("gather", gather_rows(), 0, 0, 8);
  check("scatter_add", add_to_rows(), 1e-6, 0, 8);
}

// Outputs that are inputs, constants, empty, or the same value twice: copies on the device.
TEST(CompiledForDevice, CopiesConstantsAndEmptyArrays) {
  const auto f = [](const Tensor& x, const Tensor& e) {
    const Tensor y = x * 2.0f;
    return std::vector<Tensor>{x, y, y, reshape(x, {6}), e, constant(splat(heddle::f32({3}), 1.5))};
  };
  check("copies", trace(f, {heddle::f32({2, 3}), heddle::f32({0, 4})}), 0);
}

// ---- what can go wrong ----

TEST(CompiledForDevice, FaultsNameTheStep) {
  const Program checked =
      trace([](const Tensor& x) { return checked::add(x, x) * 2; }, {heddle::i32({5})});
  if (!carrier_has(DType::i64, device::target())) {  // checked arithmetic takes i64
    expect_error<Error>([&] { on_device(checked); }, "i64");
    return;
  }
  const auto executable = on_device(checked);
  EXPECT_EQ(executable->run("main", std::vector<Literal>{splat(heddle::i32({5}), 7)})[0],
            splat(heddle::i32({5}), 28));
  const std::vector<Literal> big{splat(heddle::i32({5}), 2000000000)};
  expect_error<OverflowError>([&] { executable->run("main", big); }, "checked");
  EXPECT_EQ(executable->run("main", std::vector<Literal>{splat(heddle::i32({5}), 7)})[0],
            splat(heddle::i32({5}), 28));
}

TEST(CompiledForDevice, NanNamesTheStep) {
  const auto watched =
      on_device(trace([](const Tensor& x) { return log(x) + 1.0f; }, {heddle::f32({5})}), true);
  expect_error<RuntimeError>(
      [&] { watched->run("main", std::vector<Literal>{splat(heddle::f32({5}), -1)}); }, "nan");
}

TEST(CompiledForDevice, RefusalsNameWhatIsNeeded) {
  const Program program = trace([](const Tensor& x) { return exp(x); }, {heddle::f32({5})});
  CompileOptions options{.target = device::target(), .generic = true};
  expect_error<NotImplementedError>([&] { compile(program, options); }, device::target().carrier);
  options = {.target = device::target()};
  const OperationDefinition& opaque = define_unary("opaque_there", {.vjp = kNonDifferentiable});
  const Program extended =
      trace([&](Tensor t) -> Tensor { return opaque({t}); }, {heddle::f32({3})});
  const std::string text = expect_error<UnsupportedOperationPlan>(
      [&] { compile(extended, options); }, "compile for " + options.target.carrier);
  EXPECT_NE(text.find("acme.opaque_there"), std::string::npos) << text;
  options.target.carrier = "vulkan";
  expect_error<NotAvailableError>([&] { compile(program, options); }, "'vulkan'");
}

TEST(CompiledForDevice, TooMuchForTheDeviceIsAnErrorAndNothingIsLeft) {
  const auto before = device::live_allocations();
  const Program program = trace(
      [](const Tensor& x) {
        return broadcast_to(x, {1 << 20, 1 << 19}) * 2.0f;
      },
      {heddle::f32({1})});
  expect_error<RuntimeError>([&] { on_device(program); },
                             "no memory on " + device::target().carrier);
  EXPECT_EQ(device::live_allocations(), before);
}

TEST(OpenClPrograms, CompiledTwiceTheKernelsAreTheSameBytes) {
  const Plan plan = lower(mlp_step(), device::target()).plan;
  const auto once = compile_kernels(plan.kernels, Cache(), {}),
             twice = compile_kernels(plan.kernels, Cache(), {});
  ASSERT_EQ(once.size(), twice.size());
  for (std::size_t k = 0; k < once.size(); ++k) {
    EXPECT_EQ(once[k].symbol, twice[k].symbol);
    EXPECT_TRUE(once[k].object == twice[k].object) << once[k].symbol;
  }
}

// ---- several at once ----

TEST(CompiledForDevice, TwoExecutablesInOneProcess) {
  const Program a = trace([](const Tensor& x) { return softmax(x); }, {heddle::f32({5, 9})});
  const Program b = trace([](const Tensor& x, const Tensor& y) { return matmul(x, y); },
                          {heddle::f32({13, 9}), heddle::f32({9, 21})});
  const auto first = on_device(a), second = on_device(b);
  const auto in_a = random_inputs(a, -2, 2), in_b = random_inputs(b, -2, 2);
  for (int run = 0; run < 3; ++run) {
    expect_close(first->run("main", in_a)[0], interpret(a, "main", in_a)[0], 2e-5, 1e-6, "softmax");
    expect_close(second->run("main", in_b)[0], interpret(b, "main", in_b)[0], 2e-5, 1e-5, "matmul");
  }
}

// ---- the digits example ----

struct Digits {
  std::vector<float> x;
  std::vector<std::int32_t> y;
};

// The first so many lines.
Digits read_digits(std::size_t lines) {
  std::ifstream file(HEDDLE_SOURCE_DIR "/examples/digits/digits.csv");
  Digits d;
  std::string line;
  while (d.y.size() < lines && std::getline(file, line)) {
    std::istringstream fields(line);
    std::string field;
    for (int p = 0; p < 64 && std::getline(fields, field, ','); ++p) {
      d.x.push_back(std::stof(field) / 16);
    }
    std::getline(fields, field);
    d.y.push_back(std::stoi(field));
  }
  return d;
}

template <class T>
Literal literal_of(const Type& type, const T* from) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
  std::memcpy(bytes.data(), from, bytes.size());
  return literal_from_bytes(type, std::move(bytes));
}

Program digits_step() {
  Params params;
  nn::init_linear(params, "layer1", 64, 128, 1);
  nn::init_linear(params, "layer2", 128, 64, 1);
  nn::init_linear(params, "layer3", 64, 10, 1);
  const auto loss = [](const Params& p, const Tensor& x, const Tensor& y) {
    const Tensor h = relu(nn::linear(p, "layer2", relu(nn::linear(p, "layer1", x))));
    return cross_entropy(nn::linear(p, "layer3", h), y);
  };
  return train_step(loss, params, optim::adam(2e-3), {heddle::f32({32, 64}), heddle::i32({32})},
                    {.inputs = {"x", "y"}});
}

std::vector<double> train(Executable& executable, const Function& f, const Digits& digits,
                          std::size_t steps) {
  std::vector<Literal> state;
  for (const Input& in : f.inputs) {
    const Type& type = f.type(in.value);
    const bool weight = in.name.starts_with("params") && in.name.ends_with(".w");
    const double limit = weight ? std::sqrt(6.0 / static_cast<double>(type.dims[0].constant())) : 0;
    state.push_back(weight
                        ? random_literal(type, static_cast<unsigned>(state.size()), -limit, limit)
                        : splat(type, 0));
  }
  std::vector<double> losses;
  const std::size_t batches = digits.y.size() / 32;
  for (std::size_t s = 0; s < steps; ++s) {
    const std::size_t at = s % batches * 32;
    for (std::size_t i = 0; i < f.inputs.size(); ++i) {
      const Type& type = f.type(f.inputs[i].value);
      if (f.inputs[i].name == "x") state[i] = literal_of(type, &digits.x[at * 64]);
      if (f.inputs[i].name == "y") state[i] = literal_of(type, &digits.y[at]);
    }
    const std::vector<Literal> out = executable.run(f.name, state);
    for (std::size_t o = 0; o < out.size(); ++o) {
      for (std::size_t i = 0; i < f.inputs.size(); ++i) {
        if (f.inputs[i].name == f.outputs[o].name) state[i] = out[o];
      }
    }
    losses.push_back(element_as_double(out[0], 0));
  }
  return losses;
}

TEST(CompiledForDevice, DigitsTrainAsOnTheCpu) {
  const Digits digits = read_digits(320);
  ASSERT_EQ(digits.y.size(), 320u);
  const Program step = digits_step();
  const auto cpu = compile(step), device = on_device(step);
  const auto want = train(*cpu, step.entry(), digits, 100);
  const auto got = train(*device, step.entry(), digits, 100);
  for (std::size_t s = 0; s < want.size(); ++s) {
    EXPECT_NEAR(got[s], want[s], 1e-4 * want[s]) << "step " << s;
  }
  EXPECT_LT(got.back(), 0.2 * got.front());
}

}  // namespace
}  // namespace heddle::testing
