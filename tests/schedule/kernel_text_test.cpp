// Kernel texts, axes, stages, targets: plain data.
#include <gtest/gtest.h>

#include "heddle/graph/emit.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"
#include "heddle/schedule/collapse.h"
#include "heddle/schedule/kernel.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

Type f32(Dims dims) { return {DType::f32, std::move(dims)}; }
const Target kAvx2 = parse_target("x86-64-linux-avx-avx2-f16c-fma-sse41");

std::vector<Port> dense(const Function& f, bool inputs) {
  std::vector<Port> ports;
  if (inputs) {
    for (const Input& i : f.inputs) ports.push_back({dense_strides(f.type(i.value).dims)});
  } else {
    for (const Output& o : f.outputs) ports.push_back({dense_strides(f.type(o.value).dims)});
  }
  return ports;
}
Kernel kernel_of(const Function& f, RecipeKind kind) {
  return make_kernel(f, dense(f, true), dense(f, false), kind, kAvx2);
}

Function softmax(const std::string& name, const std::string& input) {
  Builder b(name);
  const Dims d{32, 10};
  const ValueId x = b.input(input, f32(d)), m = emit::reduce_max(b, x, {1});
  const ValueId e = emit::exp(b, emit::sub(b, x, emit::broadcast_in_dim(b, m, d, {0})));
  const ValueId s = emit::reduce_sum(b, e, {1});
  b.output(input + "_out", emit::div(b, e, emit::broadcast_in_dim(b, s, d, {0})));
  return b.finish();
}

TEST(KernelText, IsReadBackAsItWasPrinted) {
  Kernel kernel = kernel_of(softmax("f", "x"), RecipeKind::rows);
  kernel.out[0].shares = 0;
  kernel.sequential = true;
  for (RecipeKind kind : {RecipeKind::map, RecipeKind::rows, RecipeKind::scatter}) {
    kernel.recipe = choose_recipe(kind, kernel.body, kAvx2);
    const std::string text = to_text(kernel);
    const Kernel again = parse_kernel(text);
    EXPECT_EQ(to_text(again), text);
    EXPECT_EQ(again.stages, kernel.stages);
    EXPECT_EQ(again.recipe, kernel.recipe);
    EXPECT_EQ(again.in, kernel.in);
    EXPECT_EQ(again.out, kernel.out);
    EXPECT_TRUE(again.sequential);
    EXPECT_EQ(kernel_symbol(again), kernel_symbol(kernel));
  }
}

TEST(KernelText, OfAScanIsReadBackAndItsOuterAxesCollapse) {
  Builder b("f");
  const ValueId x = b.input("x", f32({3, 5, 40, 2, 8}));
  b.output("y", b.emit(op_cumsum, {x}, Attributes::of(CumulativeAttributes{2, true, false})));
  const Kernel kernel = kernel_of(b.finish(), RecipeKind::fibres);
  EXPECT_TRUE(std::holds_alternative<Fibres>(kernel.recipe));
  EXPECT_EQ(to_text(parse_kernel(to_text(kernel))), to_text(kernel));
  const Function collapsed = collapse_axes(kernel.body);
  EXPECT_EQ(to_text(collapsed.type(collapsed.outputs[0].value)), "f32[15,40,16]");
  const auto a = collapsed.nodes[0].attributes.as<CumulativeAttributes>();
  EXPECT_EQ(a.axis, 1);
  EXPECT_TRUE(a.reverse);
}

TEST(KernelText, HasNoNamesOfTheUsers) {
  const Kernel a = kernel_of(softmax("loss", "logits"), RecipeKind::rows);
  const Kernel b = kernel_of(softmax("other", "x"), RecipeKind::rows);
  EXPECT_EQ(to_text(a), to_text(b));
  EXPECT_EQ(kernel_symbol(a).size(), 4u + 24u);
  EXPECT_EQ(to_text(a), R"(func @kernel(x0: f32[32,10]) -> (y0: f32[32,10]) {
  %0 = reduce_max(x0) {axes = [1]} : f32[32]
  %1 = broadcast_in_dim(%0) {axes = [0], dims = dims[32,10]} : f32[32,10]
  %2 = sub(x0, %1) : f32[32,10]
  %3 = exp(%2) : f32[32,10]
  %4 = reduce_sum(%3) {axes = [1]} : f32[32]
  %5 = broadcast_in_dim(%4) {axes = [0], dims = dims[32,10]} : f32[32,10]
  %6 = div(%3, %5) : f32[32,10]
  return %6
}
schedule {
  target "x86-64-linux-avx-avx2-f16c-fma-sse41"
  in [10,1]
  out [10,1]
  rows lanes=32 grain=32 split=1 ahead=true
  stage %0 per_block automatic
  stage %3 per_block automatic
  stage %4 per_block automatic
}
)");
}

TEST(KernelText, SaysWhereItIsWrong) {
  const std::string good = to_text(kernel_of(softmax("f", "x"), RecipeKind::rows));
  for (std::size_t n = 0; n + 2 < good.size(); n += 7) {
    EXPECT_THROW(parse_kernel(good.substr(0, n)), ParseError) << n;
  }
  auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"lanes=32", "lanes=x"},
                                 {"stage %3", "stage %77"},
                                 {"per_block", "nowhere"},
                                 {"in [10,1]", "in [1]"},
                                 {"out [10,1]", "out"},
                                 {"rows lanes", "circles lanes"},
                                 {"grain=32", "grain=-1"}}) {
    EXPECT_THROW(parse_kernel(broken(from, to)), ParseError) << to;
  }
  EXPECT_THROW(parse_kernel(broken("avx2", "avx3")), ValueError);
}

TEST(Collapse, ElementwiseKernelsBecomeVectors) {
  Builder b("f");
  const ValueId x = b.input("x", f32({3, 4, 5})), y = b.input("y", f32({3, 4, 5}));
  b.output("z", emit::mul(b, emit::add(b, x, y), 2));
  const Function f = collapse_axes(kernel_of(b.finish(), RecipeKind::map).body);
  for (const Input& in : f.inputs) EXPECT_EQ(to_text(f.type(in.value)), "f32[60]");
}

TEST(Collapse, KeepsApartWhatOperationsTellApart) {
  Builder b("f");
  const Dims d{2, 3, 4, 5};
  const ValueId x = b.input("x", f32(d)), u = b.input("u", f32({4, 5}));
  const ValueId y = emit::add(b, x, emit::broadcast_in_dim(b, u, d, {2, 3}));
  b.output("sum", emit::reduce_sum(b, y, {0, 1}));
  b.output("y", y);
  const Kernel kernel = kernel_of(b.finish(), RecipeKind::columns);
  const Function f = collapse_axes(kernel.body);
  EXPECT_EQ(to_text(f.type(f.inputs[0].value)), "f32[6,20]");
  EXPECT_EQ(to_text(f.type(f.inputs[1].value)), "f32[20]");
  // A port that is not dense keeps its axes.
  Kernel strided = kernel;
  strided.in[0].strides = {120, 40, 10, 1};
  const Function g = collapse_axes(strided).body;
  EXPECT_EQ(to_text(g.type(g.inputs[0].value)), "f32[6,4,5]");
}

TEST(Collapse, ComputesTheSame) {
  Builder b("f");
  const Dims d{2, 3, 4};
  const ValueId x = b.input("x", f32(d)), w = b.input("w", f32({3, 4, 5}));
  const ValueId p = emit::dot_general(b, x, w, {{}, {}, {1, 2}, {0, 1}});
  const ValueId s = emit::slice(b, emit::reshape(b, p, {5, 2}), {1, 0}, {4, 2}, {1, 1});
  b.output("y", emit::concatenate(b, Values{s, emit::reverse(b, s, {0})}, 0));
  b.output("t", emit::transpose(b, x, {1, 2, 0}));
  const Kernel kernel = kernel_of(b.finish(), RecipeKind::map);
  const Function f = collapse_axes(kernel.body);
  std::vector<Literal> in, collapsed;
  for (std::size_t i = 0; i < 2; ++i) {
    const Type& type = kernel.body.type(kernel.body.inputs[i].value);
    std::vector<float> v(static_cast<std::size_t>(element_count(type)));
    for (std::size_t e = 0; e < v.size(); ++e) v[e] = static_cast<float>((e * 7 + i) % 11) - 5;
    in.push_back(make_literal<float>(type.dims, v));
    collapsed.push_back(make_literal<float>(f.type(f.inputs[i].value).dims, v));
  }
  EXPECT_EQ(to_text(f.type(f.inputs[0].value)), "f32[2,12]");
  const auto want = interpret(Program({kernel.body}), "kernel", in);
  const auto got = interpret(Program({f}), "kernel", collapsed);
  for (std::size_t o = 0; o < want.size(); ++o) EXPECT_EQ(to_doubles(got[o]), to_doubles(want[o]));
}

TEST(Stages, SumsOfOneLevelShareALoop) {
  Builder b("f");
  const Dims d{64, 100};
  const ValueId x = b.input("x", f32(d)), y = b.input("y", f32(d));
  b.output("sx", emit::reduce_sum(b, x, {0}));
  b.output("sy", emit::reduce_sum(b, emit::mul(b, x, y), {0}));
  const Kernel k = kernel_of(b.finish(), RecipeKind::columns);
  ASSERT_EQ(k.stages.size(), 1u);
  EXPECT_EQ(k.stages[0].values.size(), 2u);
}

TEST(Recipe, ChoosesAMapForWhatDoesNotFit) {
  Builder b("f");
  const ValueId x = b.input("x", f32({5, 6, 7}));
  b.output("y", emit::reduce_sum(b, x, {1}));
  b.output("z", emit::reduce_sum(b, x, {0}));
  const Function f = b.finish();
  EXPECT_TRUE(std::holds_alternative<Map>(kernel_of(f, RecipeKind::rows).recipe));
  EXPECT_TRUE(std::holds_alternative<Map>(kernel_of(f, RecipeKind::contract).recipe));
}

TEST(Recipe, TheNextRowIsFetchedWhereRowsStayInTheCache) {
  const auto is_fetched = [](std::int64_t columns) {
    Builder b("f");
    const ValueId x = b.input("x", f32({4, columns}));
    b.output("y", emit::reduce_sum(b, emit::exp(b, x), {1}));
    return std::get<Rows>(kernel_of(b.finish(), RecipeKind::rows).recipe).ahead;
  };
  EXPECT_TRUE(is_fetched(10));
  EXPECT_TRUE(is_fetched(1024));
  EXPECT_FALSE(is_fetched(1 << 20));
}

TEST(Recipe, SmallKernelsAreOneTask) {
  Builder b("f");
  b.output("y", emit::exp(b, b.input("x", f32({1000}))));
  EXPECT_EQ(std::get<Map>(kernel_of(b.finish(), RecipeKind::map).recipe).grain, 1000);
}

TEST(Targets, ArePrintedAsTheyAreRead) {
  for (const char* text : {"x86-64-linux", "x86-64-linux-avx-avx2-f16c-fma-sse41",
                           "arm-64-osx-metal", "arm-64-linux-arm_dot_prod"}) {
    EXPECT_EQ(to_text(parse_target(text)), text);
  }
  EXPECT_EQ(parse_target("x86-64-linux-sse41-avx").features,
            (std::vector<std::string>{"avx", "sse41"}));
  EXPECT_EQ(parse_target("arm-64-osx-metal").carrier, "metal");
  for (const char* text : {"", "x86", "x86-64-windows", "x86-64-linux-neon", "arm-64-osx-avx2"}) {
    EXPECT_THROW(parse_target(text), ValueError) << text;
  }
  EXPECT_EQ(kAvx2.vector_floats(), 8);
  EXPECT_EQ(kAvx2.vector_registers(), 16);
}

TEST(Targets, FeaturesBringWhatTheyNeed) {
  EXPECT_EQ(to_text(parse_target("x86-64-linux-fma")), "x86-64-linux-avx-fma-sse41");
  EXPECT_EQ(to_text(parse_target("x86-64-linux-avx512")),
            "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41");
  const Target rapids = parse_target("x86-64-linux-avx512_sapphirerapids");
  EXPECT_TRUE(rapids.has("avx512_skylake"));
  EXPECT_FALSE(rapids.has("avx512_zen4")) << "whose code has SSE4A";
}

TEST(Targets, TheEnvironmentMakesTheHostSmaller) {
  ::setenv("HEDDLE_TARGET_FEATURES", "sse41,no_such_feature", 1);
  testing::expect_error<ValueError>([] { Target::host(); }, "'no_such_feature'");
  ::setenv("HEDDLE_TARGET_FEATURES", "sse41,arm_fp16", 1);
  const Target small = Target::host();
  ::setenv("HEDDLE_TARGET_FEATURES", "", 1);
  const Target none = Target::host();
  ::unsetenv("HEDDLE_TARGET_FEATURES");
  EXPECT_LE(small.features.size(), 1u);
  EXPECT_TRUE(none.features.empty());
}

}  // namespace
}  // namespace heddle
