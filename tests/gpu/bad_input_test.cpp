// What can be wrong with a program for Metal, its library or its GPU: one error each, which names
// function, operation, element type and carrier as far as there are any; then the host goes on, on
// the CPU and on the GPU.
#include <gtest/gtest.h>

#include <functional>

#include "backends/kernel_runner.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/backends/compile.h"
#include "heddle/backends/file.h"
#include "heddle/frontend/export.h"
#include "heddle/frontend/heddle.h"
#include "heddle/runtime/runtime.hpp"
#include "support/metal/device.h"
#include "support/run_again.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

using Words = std::vector<std::string>;

Program step_of(std::function<Tensor(const Tensor&)> f, const Type& type) {
  return trace(f, {type}, {.name = "step", .inputs = {"x"}, .outputs = {"y"}});
}
// Of a constant of its own: nobody has built its shader before.
Program fresh_step() {
  static double constant = 2.5;
  constant += 1;
  return step_of([](const Tensor& x) { return exp(x) + constant; }, heddle::f32({40}));
}
const std::vector<Literal>& some_input() {
  static const std::vector<Literal> x = {splat(heddle::f32({40}), 0.5)};
  return x;
}
void run_there(const Program& p) {
  compile(p, {.target = device::target()})->run("step", some_input());
}

// The library of a program, altered.
class Library {
 public:
  explicit Library(const Program& p) {
    export_library({{"step", p}}, {.name = "net", .targets = {"host-metal"}, .folder = path()});
    bytes_ = *try_read_file(path() + "/net.so");
  }
  std::string path() const { return folder_.path(); }
  std::vector<std::byte>& bytes() { return bytes_; }
  void run() {
    put_file(path(), "altered.so", std::span<const std::byte>(bytes_));
    LoadedArtifact artifact(path() + "/altered.so");
    float x[40] = {}, y[40];
    void* const arguments[] = {x, y};
    artifact.instance().run(0, std::span<void* const>(arguments));
  }

 private:
  TemporaryFolder folder_;
  std::vector<std::byte> bytes_;
};

void run_with_half_a_shader() {
  Library library(fresh_step());
  const std::string_view all(reinterpret_cast<const char*>(library.bytes().data()),
                             library.bytes().size());
  library.bytes()[all.find("kernel void ") + 60] = std::byte{0};
  library.run();
}
void run_half_a_library() {
  Library library(fresh_step());
  library.bytes().resize(library.bytes().size() / 2);
  library.run();
}

struct BadInput {
  const char* name;
  std::function<void()> misuse;
  Words words;
};

void to_f64() {
  run_there(step_of([](const Tensor& x) { return convert(convert(x, DType::f64), DType::f32); },
                    heddle::f32({40})));
}
void of_i64() {
  run_there(step_of([](const Tensor& x) { return x + x; }, Type{DType::i64, {40}}));
}
void long_sort() {
  run_there(step_of([](const Tensor& x) { return sort(x); }, heddle::f32({2, 5000})));
}
// Of the device's failures: what fails, and why.
std::function<void()> failing(const char* method, const char* why) {
  return [=] {
    metal::fail_next(method, why);
    run_there(fresh_step());
  };
}
void without_room_for_a_tensor() {
  metal::fail_next("newBufferWithLength:options:");
  full({40}, 1, {.carrier = "metal"});
}
void with_a_released_tensor() {
  const Tensor x = full({40}, 1, {.carrier = "metal"});
  release(x);
  exp(x);
}
void on_a_carrier_that_is_not_there() {
  Target target = device::target();
  target.carrier = "vulkan";
  compile(fresh_step(), {.target = target});
}

const BadInput kBadInputs[] = {
    {"f64", to_f64, {"function 'step'", "convert", "f64[40]", "metal"}},
    {"i64", of_i64, {"function 'step'", "inputs[0].dtype", "i64[40]", "metal"}},
    {"a sort beyond the limit",
     long_sort,
     {"function 'step'", "sort", "[2,5000]", "at most 4096", "metal"}},
    {"a refused shader",
     failing("newLibraryWithSource:options:error:", "program_source:3: no"),
     {"heddle.step: step 0", "exp", "f32[40]", "on metal", "program_source:3: no"}},
    {"a refused pipeline",
     failing("newComputePipelineStateWithFunction:error:", "too big"),
     {"heddle.step: step 0", "exp", "f32[40]", "on metal", "too big"}},
    {"no memory for a program",
     failing("newBufferWithLength:options:", ""),
     {"function 'step'", "no memory on metal", " bytes"}},
    {"no memory for a tensor", without_room_for_a_tensor, {"no memory on metal", "160 bytes"}},
    {"a lost device",
     failing("commit", "caused GPU hang"),
     {"heddle.step: step 0", "exp", "f32[40]", "on metal", "caused GPU hang"}},
    {"a released tensor", with_a_released_tensor, {"[exp]", "released"}},
    {"no such carrier", on_a_carrier_that_is_not_there, {"'vulkan'", "cpu, opencl or metal"}},
    {"half a shader",
     run_with_half_a_shader,
     {"net.step: step 0", "exp", "f32[40]", "on metal", "building shaders"}},
    {"half a library", run_half_a_library, {"altered.so"}},
};

std::string error_of(const BadInput& bad) {
  try {
    bad.misuse();
  } catch (const Error& e) {
    return e.what();
  } catch (const StatusError& e) {
    return e.what();
  }
  return "no error";
}

TEST(BadInputs, AreOneErrorEachAndTheHostGoesOn) {
  device::prepare({});
  const Program p = fresh_step();
  const double wanted = to_doubles(interpret(p, "step", some_input())[0])[39];
  for (const BadInput& bad : kBadInputs) {
    const std::string text = error_of(bad);
    for (const std::string& word : bad.words) {
      EXPECT_NE(text.find(word), std::string::npos) << bad.name << ": " << word << " in\n" << text;
    }
    EXPECT_EQ(metal::take_faults(), std::vector<std::string>()) << bad.name;
    for (const Target& target : {Target::host(), device::target()}) {
      const auto again = compile(p, {.target = target});
      EXPECT_NEAR(to_doubles(again->run("step", some_input())[0])[39], wanted, 1e-6) << bad.name;
    }
  }
}

TEST(BadInputs, WithoutAGpuTheCpuGoesOn) {
  if (std::getenv("HEDDLE_TEST_NO_GPU") == nullptr) {
    EXPECT_EQ(run_again("HEDDLE_TEST_NO_GPU=1"), 0);
    return;
  }
  metal::set_absent(true);
  const Program p = fresh_step();
  for (const auto& misuse : {std::function<void()>([&] { run_there(p); }),
                             std::function<void()>([] { full({4}, 1, {.carrier = "metal"}); })}) {
    const std::string text = error_of({"", misuse, {}});
    EXPECT_NE(text.find("carrier metal: this system has no GPU"), std::string::npos) << text;
  }
  EXPECT_NO_THROW(compile(p)->run("step", some_input()));
  metal::set_absent(false);
  EXPECT_NO_THROW(run_there(p));
}

}  // namespace
}  // namespace heddle::testing
