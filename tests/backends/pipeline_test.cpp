// The nine passes, each with the text it gives for one program; and the pipeline around them.
#include "heddle/backends/pipeline.h"

#include <gtest/gtest.h>

#include "heddle/backends/lower.h"
#include "heddle/graph/builder.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/passes/passes.h"
#include "heddle/graph/text.h"
#include "heddle/schedule/layout.h"
#include "support/run_plan.h"

namespace heddle {
namespace {

// Every pass has something to do in it.
constexpr const char* kProgram = R"(func @f(x: f32[2,3], w: f32[3,4]) -> (y: f32[8]) {
  %0 = transpose(x) {permutation = [1, 0]} : f32[3,2]
  %1 = transpose(%0) {permutation = [1, 0]} : f32[2,3]
  %2 = constant 2 : f32[]
  %3 = constant 3 : f32[]
  %4 = add(%2, %3) : f32[]
  %5 = broadcast_in_dim(%4) {dims = dims[2,4], axes = []} : f32[2,4]
  %6 = dot_general(%1, w) {lhs_contract = [1], rhs_contract = [0], lhs_batch = [], rhs_batch = []} : f32[2,4]
  %7 = mul(%6, %5) : f32[2,4]
  %8 = mul(%5, %6) : f32[2,4]
  %9 = add(%7, %8) : f32[2,4]
  %10 = exp(%9) : f32[2,4]
  %11 = reshape(%9) {dims = dims[8]} : f32[8]
  return %11
}
)";

struct Golden {
  const char* pass;
  const char* text;
};
constexpr Golden kGolden[] = {
    {"canonicalize", R"(func @f(x: f32[2,3], w: f32[3,4]) -> (y: f32[8]) {
  %0 = transpose(x) {permutation = [1, 0]} : f32[3,2]
  %1 = constant 0x1p+1 : f32[]
  %2 = constant 0x1.8p+1 : f32[]
  %3 = add(%1, %2) : f32[]
  %4 = broadcast_in_dim(%3) {axes = [], dims = dims[2,4]} : f32[2,4]
  %5 = dot_general(x, w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]} : f32[2,4]
  %6 = mul(%5, %4) : f32[2,4]
  %7 = mul(%4, %5) : f32[2,4]
  %8 = add(%6, %7) : f32[2,4]
  %9 = exp(%8) : f32[2,4]
  %10 = reshape(%8) {dims = dims[8]} : f32[8]
  return %10
}
)"},
    {"sums", nullptr},  // as before it
    {"shape_inference", nullptr},
    {"constant_folding", R"(func @f(x: f32[2,3], w: f32[3,4]) -> (y: f32[8]) {
  %0 = transpose(x) {permutation = [1, 0]} : f32[3,2]
  %1 = constant 0x1p+1 : f32[]
  %2 = constant 0x1.8p+1 : f32[]
  %3 = constant 0x1.4p+2 : f32[]
  %4 = broadcast_in_dim(%3) {axes = [], dims = dims[2,4]} : f32[2,4]
  %5 = dot_general(x, w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]} : f32[2,4]
  %6 = mul(%5, %4) : f32[2,4]
  %7 = mul(%4, %5) : f32[2,4]
  %8 = add(%6, %7) : f32[2,4]
  %9 = exp(%8) : f32[2,4]
  %10 = reshape(%8) {dims = dims[8]} : f32[8]
  return %10
}
)"},
    {"common_subexpression_elimination", R"(func @f(x: f32[2,3], w: f32[3,4]) -> (y: f32[8]) {
  %0 = transpose(x) {permutation = [1, 0]} : f32[3,2]
  %1 = constant 0x1p+1 : f32[]
  %2 = constant 0x1.8p+1 : f32[]
  %3 = constant 0x1.4p+2 : f32[]
  %4 = broadcast_in_dim(%3) {axes = [], dims = dims[2,4]} : f32[2,4]
  %5 = dot_general(x, w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]} : f32[2,4]
  %6 = mul(%5, %4) : f32[2,4]
  %7 = add(%6, %6) : f32[2,4]
  %8 = exp(%7) : f32[2,4]
  %9 = reshape(%7) {dims = dims[8]} : f32[8]
  return %9
}
)"},
    {"pairs", nullptr},
    {"dead_node_elimination", R"(func @f(x: f32[2,3], w: f32[3,4]) -> (y: f32[8]) {
  %0 = constant 0x1.4p+2 : f32[]
  %1 = broadcast_in_dim(%0) {axes = [], dims = dims[2,4]} : f32[2,4]
  %2 = dot_general(x, w) {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]} : f32[2,4]
  %3 = mul(%2, %1) : f32[2,4]
  %4 = add(%3, %3) : f32[2,4]
  %5 = reshape(%4) {dims = dims[8]} : f32[8]
  return %5
}
)"},
    {"layout_assignment", R"(@f
  x: f32[2,3] strides [3, 1]
  w: f32[3,4] strides [4, 1]
  %0: f32[] strides []
  %1: f32[2,4] strides [4, 1]
  %2: f32[2,4] strides [4, 1]
  %3: f32[2,4] strides [4, 1]
  %4: f32[2,4] strides [4, 1]
  %5: f32[8] strides [1] view of %4
)"},
    {"operator_fusion", R"(@f
group 0 contract [2,4]: dot_general mul add
)"},
    {"memory_planning", R"(plan for x86-64-linux-sse41

function @f  arena 0 bytes, 1 steps
  0: kernel0(x:f32[2,3], w:f32[3,4]) -> (out:y:f32[2,4])
      dot_general+mul+add  64 flops, 104 bytes
)"},
    {"backend_lowering", R"(// kernel0 hd_kc761dd2b3215335ef729cce5
func @kernel(x0: f32[2,3], x1: f32[3,4]) -> (y0: f32[2,4]) {
  %0 = dot_general(x0, x1) {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]} : f32[2,4]
  %1 = constant 0x1.4p+2 : f32[]
  %2 = broadcast_in_dim(%1) {axes = [], dims = dims[2,4]} : f32[2,4]
  %3 = mul(%0, %2) : f32[2,4]
  %4 = add(%3, %3) : f32[2,4]
  return %4
}
schedule {
  target "x86-64-linux-sse41"
  in [3,1] [4,1]
  out [4,1]
  contract mr=4 nr=8 lhs=none rhs=panel columns_outer=true dots=false panels=1 piece=0 ahead=0 grain=1
  stage %0 per_tile automatic
}

)"},
};

using Stage = std::pair<std::string, std::string>;
std::vector<Stage> stages_of(const Program& program, const Target& target) {
  std::vector<Stage> texts;
  lower(program, target,
        [&](std::string_view stage, double, const std::function<std::string()>& text) {
          texts.emplace_back(stage, text());
        });
  return texts;
}

TEST(Passes, InTheirOrderWithTheirTexts) {  // part 2C
  const std::vector<Stage> stages =
      stages_of(parse(kProgram, "passes.heddle"), parse_target("x86-64-linux-sse41"));
  std::vector<std::string> names;
  for (const Stage& s : stages) names.push_back(s.first);
  EXPECT_EQ(names, stage_names());
  const std::size_t first = stages.size() - std::size(kGolden);
  const char* text = "";
  for (std::size_t g = 0; g < std::size(kGolden); ++g) {
    if (kGolden[g].text) text = kGolden[g].text;
    EXPECT_EQ(stages[first + g].first, kGolden[g].pass);
    EXPECT_EQ(stages[first + g].second, text) << kGolden[g].pass;
  }
}

TEST(Passes, GiveTheSameTextTwice) {
  const Program p = parse(kProgram, "passes.heddle");
  EXPECT_EQ(stages_of(p, Target::host()), stages_of(p, Target::host()));
  const Program once = canonicalize(p);
  EXPECT_EQ(to_text(canonicalize(once)), to_text(once));
}

TEST(Passes, FusionKeepsTheValues) {
  const Program p = parse(kProgram, "passes.heddle");
  const std::vector<Literal> arguments{
      make_literal<float>({2, 3}, {1, -2, 3, 0.5f, 0, -1}),
      make_literal<float>({3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})};
  const Lowered lowered = lower(p, Target::host());
  testing::PlanRunner runner(lowered.plan, lowered.plan.functions[0]);
  EXPECT_EQ(runner.run(arguments)[0], interpret(p, "f", arguments)[0]);
}

// A function that says another type than its node infers.
Program broken_program(const Program& like) {
  Function f = like.entry();
  f.types[f.nodes[0].results[0].index].dtype = DType::f64;
  return Program({std::move(f)});
}

TEST(Pipeline, NamesThePassThatBreaksAProgramOnce) {
  std::string seen;
  const StageObserver observer = [&](std::string_view stage, double,
                                     const std::function<std::string()>& text) {
    seen = std::string(stage) + text();
  };
  const Pipeline pipeline(observer);
  const Program p =
      parse("func @f(x: f32[2]) -> (y: f32[2]) {\n  %0 = neg(x) : f32[2]\n  return %0\n}\n", "f");
  try {
    pipeline.pass("broken", p, broken_program);
    FAIL() << "a broken program passed";
  } catch (const InternalError& e) {
    EXPECT_EQ(e.detail().message,
              "pass 'broken': verify: @f node 0 (neg) from f:2: result is f64[2], inferred f32[2]");
  }
  // The observer saw it before it was refused.
  EXPECT_EQ(seen.substr(0, 6), "broken");
  EXPECT_NE(seen.find("f64[2]"), std::string::npos);
  EXPECT_THROW(shape_inference(broken_program(p)), InternalError);
}

}  // namespace
}  // namespace heddle
