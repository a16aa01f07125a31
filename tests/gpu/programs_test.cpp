// Whole programs, planned for the test device, kernel by kernel on the device: against the
// interpreter.
#include "gpu/programs.h"

#include <gtest/gtest.h>

#include "gpu/device_runner.h"
#include "heddle/backends/lower.h"
#include "heddle/frontend/nn.h"
#include "heddle/frontend/ops.h"
#include "heddle/frontend/optim.h"
#include "heddle/frontend/trace.h"
#include "heddle/graph/interpret.h"
#include "support/run_plan.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

class DeviceProgram {
 public:
  explicit DeviceProgram(const Program& program)
      : plan_(lower(program, device::target()).plan), runner_(plan_.kernels) {}

  std::vector<Literal> run(std::span<const Literal> inputs) {
    return PlanRunner(plan_, plan_.functions[0],
                      [&](std::size_t kernel, const std::vector<Literal>& in) {
                        return checked(kernel, in);
                      })
        .run(inputs);
  }

 private:
  // Each kernel alone gives what its body says.
  std::vector<Literal> checked(std::size_t kernel, const std::vector<Literal>& in) {
    std::vector<Literal> got = runner_.run(kernel, in);
    const Function& body = plan_.kernels[kernel].body;
    const auto want = interpret(Program({body}), body.name, in);
    for (std::size_t o = 0; o < want.size(); ++o) {
      const bool f = is_floating(want[o].type.dtype);
      expect_close(got[o], want[o], f ? 1e-4 : 0, f ? 1e-5 : 0,
                   to_text(plan_.kernels[kernel]) + "output " + std::to_string(o));
    }
    return got;
  }

  Plan plan_;
  DeviceRunner runner_;
};

void check(const std::string& name, const Program& program, double tolerance = 2e-5,
           double low = -2, double high = 2) {
  std::vector<Literal> inputs;
  for (const Input& in : program.entry().inputs) {
    const auto seed = static_cast<unsigned>(7 + inputs.size());
    inputs.push_back(random_literal(program.entry().type(in.value), seed, low, high));
  }
  const auto want = interpret(program, program.entry().name, inputs);
  const auto got = DeviceProgram(program).run(inputs);
  for (std::size_t o = 0; o < want.size(); ++o) {
    const double t = is_floating(want[o].type.dtype) ? tolerance : 0;
    expect_close(got[o], want[o], t, t, name + " output " + std::to_string(o));
  }
}

TEST(DevicePrograms, StatisticsOfRows) {
  for (const Dims& d : {Dims{33, 5}, Dims{7, 64}, Dims{3, 100}, Dims{2, 1000}, Dims{1, 1}}) {
    const std::int64_t n = d.back().constant();
    const std::string size = " " + to_text(d);
    check("softmax" + size, trace([](const Tensor& x) { return softmax(x); }, {heddle::f32(d)}));
    check("log_softmax" + size,
          trace([](const Tensor& x) { return log_softmax(x); }, {heddle::f32(d)}));
    check(
        "layer_norm" + size,
        trace([](const Tensor& x, const Tensor& s, const Tensor& t) { return layer_norm(x, s, t); },
              {heddle::f32(d), heddle::f32({n}), heddle::f32({n})}),
        2e-4);
  }
}

TEST(DevicePrograms, ScansSortsAndIndices) {
  for (const Dims& d : {Dims{5}, Dims{3, 77}, Dims{4, 130, 3}}) {
    const std::string size = " " + to_text(d);
    check("cumsum" + size, trace([](const Tensor& x) { return cumsum(x, 0); }, {heddle::f32(d)}),
          1e-4);
    check("cumsum i32" + size,
          trace([](const Tensor& x) { return cumsum(x, -1); }, {heddle::i32(d)}), 0, -100, 100);
    check("sort" + size, trace([](const Tensor& x) { return sort(x, -1); }, {heddle::f32(d)}));
  }
  check("gather", gather_rows(), 0, 0, 8);
  check("scatter_add", add_to_rows(), 1e-6, 0, 8);
}

TEST(DevicePrograms, Convolutions) {
  for (std::int64_t groups : {1, 2}) {
    for (std::int64_t stride : {1, 2}) {
      const auto f = [=](const Tensor& x, const Tensor& w) {
        return relu(conv(
            x, w, {.strides = {stride, stride}, .low = {1, 1}, .high = {1, 1}, .groups = groups}));
      };
      check("conv " + std::to_string(groups) + " " + std::to_string(stride),
            trace(f, {heddle::f32({2, 4, 13, 11}), heddle::f32({6, 4 / groups, 3, 3})}), 1e-4);
    }
  }
  check("max_pool", trace(
                        [](const Tensor& x) {
                          return max_pool(x, {2, 2});
                        },
                        {heddle::f32({2, 3, 10, 8})}));
}

// One head of attention with a causal mask, by its parts.
TEST(DevicePrograms, Attention) {
  const auto attention = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    const Tensor scores = matmul(q, transpose(k, {0, 2, 1})) * 0.125f;
    return matmul(softmax(scores), v);
  };
  for (std::int64_t t : {7, 40}) {
    check("attention " + std::to_string(t),
          trace(attention,
                {heddle::f32({3, t, 16}), heddle::f32({3, t, 16}), heddle::f32({3, t, 24})}),
          1e-4);
  }
}

// Losses of the device's steps and of the interpreter's.
TEST(DevicePrograms, TrainingSteps) {
  Params params;
  nn::init_linear(params, "layer1", 20, 33, 1);
  nn::init_linear(params, "layer2", 33, 10, 1);
  const auto loss = [](const Params& p, const Tensor& x, const Tensor& y) {
    return cross_entropy(nn::linear(p, "layer2", relu(nn::linear(p, "layer1", x))), y);
  };
  const Program program =
      train_step(loss, params, optim::adam(2e-3), {heddle::f32({17, 20}), heddle::i32({17})},
                 {.inputs = {"x", "y"}});
  DeviceProgram device(program);
  const Function& f = program.entry();
  std::vector<Literal> inputs;
  for (const Input& in : f.inputs) {
    const bool label = in.name == "y", state = in.name.starts_with("adam");
    const double high = state ? 0 : label ? 10 : 0.3;
    inputs.push_back(random_literal(f.type(in.value), static_cast<unsigned>(inputs.size()),
                                    state || label ? 0 : -0.3, high));
  }
  std::vector<Literal> own = inputs;
  for (int step = 0; step < 5; ++step) {
    const auto want = interpret(program, f.name, inputs), got = device.run(own);
    for (std::size_t o = 0; o < want.size(); ++o) {
      expect_close(got[o], want[o], 1e-4, 1e-6,
                   "step " + std::to_string(step) + " " + f.outputs[o].name);
      for (std::size_t i = 0; i < f.inputs.size(); ++i) {
        if (f.inputs[i].name == f.outputs[o].name) inputs[i] = want[o], own[i] = got[o];
      }
    }
  }
}

}  // namespace
}  // namespace heddle::testing
