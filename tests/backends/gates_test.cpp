// Products that are read through their gates (schedule/gates.h): kernels on regular and ragged
// sizes, against the interpreter.
#include "heddle/schedule/gates.h"

#include <gtest/gtest.h>

#include "backends/cases.h"
#include "heddle/schedule/kernel.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/prepare.h"

namespace heddle::testing {
namespace {

struct Cell {
  std::int64_t gates, m, k, width;
  DType dtype = DType::f32;
  std::vector<std::int64_t> order{};  ///< of slices; empty: each once
  bool two_outputs = true;
  bool transposed = false;  ///< the right factor
};

ValueId slice_of(Builder& b, ValueId whole, std::int64_t gate, const Cell& c) {
  return emit::slice(b, whole, {0, gate * c.width}, {c.m, (gate + 1) * c.width}, {1, 1});
}

// A state that remembers by the first gate, adds to itself by the others, and what it shows.
Function cell(const Cell& c) {
  Builder b("cell");
  const std::int64_t n = c.gates * c.width;
  const ValueId x = b.input("x", {c.dtype, {c.m, n}}), h = b.input("h", {c.dtype, {c.m, c.k}});
  const ValueId w = b.input("w", {c.dtype, c.transposed ? Dims{n, c.k} : Dims{c.k, n}});
  const ValueId before = b.input("c", {c.dtype, {c.m, c.width}});
  const ValueId sums = emit::add(
      b, x,
      emit::dot_general(b, h, w, {.lhs_contract = {1}, .rhs_contract = {c.transposed ? 1 : 0}}));
  std::vector<std::int64_t> order = c.order;
  for (std::int64_t g = 0; c.order.empty() && g < c.gates; ++g) order.push_back(g);
  ValueId state = emit::mul(b, emit::logistic(b, slice_of(b, sums, order[0], c)), before);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const ValueId gate = slice_of(b, sums, order[i], c);
    state = emit::add(b, i % 2 ? state : emit::neg(b, state), emit::tanh(b, gate));
  }
  const ValueId shown =
      emit::mul(b, emit::tanh(b, state), emit::mul(b, slice_of(b, sums, order.back(), c), 0.5));
  if (c.two_outputs) b.output("state", state);
  b.output("shown", shown);
  return b.finish();
}

Function in_panels(const Function& body) {
  const std::optional<Factor> factor = right_factor(body);
  EXPECT_TRUE(factor);
  const Type& type = body.type(body.inputs[factor->input].value);
  const std::optional<PackedFactor> packed = pack_factor(type, *factor->inner);
  EXPECT_TRUE(packed);
  return with_panels(body, *factor, packed->panels);
}

std::string name_of(const Cell& c, const std::string& form) {
  std::string name = form + " " + std::to_string(c.gates) + " gates " +
                     to_text(Dims{c.m, c.k, c.width}) + " " + std::string(name_of(c.dtype));
  for (std::int64_t g : c.order) name += " " + std::to_string(g);
  return name;
}

KernelCase plain(const Cell& c) {
  const double tolerance = c.dtype == DType::f32 ? 5e-5 : 1e-12;
  return {name_of(c, "plain"), cell(c), RecipeKind::contract, {}, tolerance, -1, 1};
}
KernelCase prepared(const Cell& c) {
  KernelCase made = plain(c);
  made.name = name_of(c, "prepared");
  made.body = in_panels(made.body);
  return made;
}

std::vector<KernelCase> gate_cases() {
  std::vector<KernelCase> cases;
  const DType f64 = DType::f64;
  for (std::int64_t m : {2, 5, 8, 33}) {
    for (std::int64_t gates : {2, 3, 4}) {
      for (DType dtype : {DType::f32, f64}) {
        cases.push_back(prepared({gates, m, 24, 32, dtype}));
        cases.push_back(plain({gates, m, 24, 32, dtype}));
      }
    }
  }
  // Slices in another order, one not read, one read twice; one output.
  for (const std::vector<std::int64_t>& order :
       std::vector<std::vector<std::int64_t>>{{3, 1, 0, 2}, {1, 3, 2}, {2, 0, 3, 0, 1}, {2, 1}}) {
    cases.push_back(prepared({4, 7, 20, 48, DType::f32, order}));
    cases.push_back(plain({4, 7, 20, 48, DType::f32, order, false}));
  }
  // Widths that are no whole tiles.
  for (std::int64_t width : {16, 20, 100}) {
    cases.push_back(plain({3, 6, 10, width}));
    cases.push_back(plain({2, 9, 16, width, f64}));
  }
  cases.push_back(plain({4, 6, 24, 20, DType::f32, {}, true, true}));
  // The right factor streams by; it is read by pieces; it is many tasks.
  cases.push_back(plain({4, 8, 64, 128}));
  cases.push_back(plain({3, 16, 48, 112}));
  cases.push_back(plain({3, 33, 512, 272}));
  cases.push_back(plain({2, 17, 512, 390, f64}));
  cases.push_back(prepared({4, 33, 128, 256}));
  cases.push_back(prepared({4, 8, 128, 128}));
  return cases;
}

TEST(GateKernels, AgreeWithTheInterpreter) { check_cases(gate_cases(), false); }
TEST(GateKernels, StayInsideTheirBuffers) { check_cases(gate_cases(), true); }

// What is compared above is made in tiles.
TEST(GateKernels, AreContractions) {
  for (const KernelCase& c : gate_cases()) {
    const Kernel kernel = kernel_of(c.body, c.kind);
    EXPECT_TRUE(std::holds_alternative<Contract>(kernel.recipe)) << c.name;
    EXPECT_TRUE(gates_of(kernel.body, *main_contraction(kernel.body))) << c.name;
  }
}

// Devices have no tiles for gates.
TEST(GateKernels, AreMapsOnDevices) {
  const Function body = cell({4, 8, 16, 32});
  Target target = Target::host();
  target.carrier = "opencl";
  EXPECT_TRUE(std::holds_alternative<Map>(choose_recipe(RecipeKind::contract, body, target)));
}

}  // namespace
}  // namespace heddle::testing
