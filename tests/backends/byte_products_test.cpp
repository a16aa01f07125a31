// Products of bytes that are summed in i32: exact, whatever instruction adds them up.
#include <gtest/gtest.h>

#include "backends/cases.h"
#include "heddle/backends/compile.h"
#include "heddle/backends/worker.h"
#include "heddle/graph/op_attributes.h"
#include "heddle/schedule/make_plan.h"
#include "heddle/schedule/narrow_factors.h"

namespace heddle::testing {
namespace {

struct Bytes {
  DType left, right;
  std::int64_t m, n, k;
  int layout = 0;  ///< 0 NN, 1 NT, 2 TN, 3 TT, 4: two batches of NT
};

std::string text_of(const Bytes& p) {
  return std::string(name_of(p.left)) + " x " + std::string(name_of(p.right)) + " " +
         std::to_string(p.layout) + " " + to_text(Dims{p.m, p.n, p.k});
}

// x y + 1
Function product(const Bytes& p) {
  Builder b("bytes");
  const bool tl = p.layout == 2 || p.layout == 3, tr = p.layout == 1 || p.layout >= 3;
  Dims x{tl ? p.k : p.m, tl ? p.m : p.k}, y{tr ? p.n : p.k, tr ? p.k : p.n};
  DotAttributes a{{}, {}, {tl ? 0 : 1}, {tr ? 1 : 0}};
  if (p.layout == 4) {
    x.insert(x.begin(), 2), y.insert(y.begin(), 2);
    a = {{0}, {0}, {2}, {2}};
  }
  const ValueId left = emit::convert(b, b.input("x", {p.left, x}), DType::i32);
  const ValueId right = emit::convert(b, b.input("y", {p.right, y}), DType::i32);
  b.output("z", emit::add(b, emit::dot_general(b, left, right, a), 1));
  return b.finish();
}

std::vector<Bytes> ragged() {
  std::vector<Bytes> all;
  for (auto [m, n, k] : {std::tuple{2, 2, 1},
                         {3, 5, 2},
                         {7, 77, 33},
                         {65, 10, 9},
                         {100, 96, 95},
                         {33, 50, 128},
                         {6, 64, 4},
                         {17, 130, 70}}) {
    for (int layout = 0; layout < 5; ++layout) {
      for (DType l : {DType::i8, DType::u8}) {
        for (DType r : {DType::i8, DType::u8}) all.push_back({l, r, m, n, k, layout});
      }
    }
  }
  return all;
}

Literal bytes(const Type& type, unsigned seed) {
  const bool is_signed = type.dtype == DType::i8;
  return random_literal(type, seed, is_signed ? -128 : 0, is_signed ? 128 : 256);
}
std::vector<Literal> inputs_of(const Function& f) {
  std::vector<Literal> inputs;
  for (const Input& in : f.inputs) {
    inputs.push_back(bytes(f.type(in.value), 11 + static_cast<unsigned>(inputs.size())));
  }
  return inputs;
}

Kernel kernel_for(const Function& f, const Target& target) {
  std::vector<Port> in, out;
  for (const Input& i : f.inputs) in.push_back({dense_strides(f.type(i.value).dims)});
  for (const Output& o : f.outputs) out.push_back({dense_strides(f.type(o.value).dims)});
  return make_kernel(f, in, out, RecipeKind::contract, target);
}
int depth_of(const Kernel& k) {
  const auto dot = std::find_if(k.body.nodes.begin(), k.body.nodes.end(),
                                [](const Node& n) { return n.op == &op_dot_general; });
  const auto factors = byte_factors(k.body, *dot, k.target);
  return std::holds_alternative<Contract>(k.recipe) && factors ? factors->depth : 1;
}

// This machine's, and the same without what it has beyond AVX2, or beyond SSE4.1.
std::vector<Target> targets_here() {
  std::vector<Target> all{Target::host()};
  if (all[0].has("avx512_cannonlake")) all.push_back(parse_target("x86-64-linux-avx512_skylake"));
  if (all[0].has("avx2")) all.push_back(parse_target("x86-64-linux-avx2"));
  if (all[0].has("sse41")) all.push_back(parse_target("x86-64-linux-sse41"));
  return all;
}

// Every `step`-th case: a number that has no factor in common with how many kinds there are.
void check(const Target& target, std::size_t step, bool checked) {
  SCOPED_TRACE(to_text(target));
  std::vector<Kernel> kernels;
  std::vector<Bytes> cases = ragged();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < cases.size(); i += step) cases[kept++] = cases[i];
  cases.resize(kept);
  for (const Bytes& p : cases) kernels.push_back(kernel_for(product(p), target));
  KernelRunner runner(kernels, checked);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Function f = product(cases[i]);
    const std::vector<Literal> inputs = inputs_of(f);
    const Literal want = interpret(Program({f}), f.name, inputs)[0];
    EXPECT_TRUE(runner.run(i, inputs, 2)[0] == want) << text_of(cases[i]);
    for (Guard guard : {Guard::before, Guard::behind}) {
      if (!checked) {
        EXPECT_TRUE(runner.run_guarded(i, inputs, guard)[0] == want) << text_of(cases[i]);
      }
    }
  }
}

TEST(ByteProducts, AgreeWithTheInterpreter) {
  const std::vector<Target> targets = targets_here();
  for (std::size_t i = 0; i < targets.size(); ++i) check(targets[i], i == 0 ? 1 : 7, false);
}
TEST(ByteProducts, StayInsideTheirBuffers) { check(Target::host(), 3, true); }

// Every pair of the least and the greatest, as long as sums may be: no instruction saturates.
TEST(ByteProducts, ExtremesAreExact) {
  constexpr std::int64_t kLongest = 32768;
  for (const Target& target : targets_here()) {
    for (auto [l, r] : {std::pair{DType::i8, DType::i8},
                        {DType::i8, DType::u8},
                        {DType::u8, DType::i8},
                        {DType::u8, DType::u8}}) {
      const Bytes p{l, r, 8, 20, kLongest, 0};
      const Kernel kernel = kernel_for(product(p), target);
      KernelRunner runner({kernel});
      const auto ends = [](DType d) {
        return d == DType::i8 ? std::pair{-128, 127} : std::pair{0, 255};
      };
      for (const int x : {ends(l).first, ends(l).second}) {
        for (const int y : {ends(r).first, ends(r).second}) {
          const auto filled = [](const Type& type, int value) {
            return literal_from_bytes(
                type, std::vector<std::byte>(static_cast<std::size_t>(byte_count(type)),
                                             static_cast<std::byte>(value)));
          };
          const std::vector<Literal> in{filled({l, {p.m, p.k}}, x), filled({r, {p.k, p.n}}, y)};
          const auto want = static_cast<double>(x * y * kLongest + 1);
          for (const double z : to_doubles(runner.run(0, in)[0])) {
            ASSERT_EQ(z, want) << text_of(p) << " of " << x << " and " << y << " on "
                               << to_text(target);
          }
        }
      }
    }
  }
}

// ---- the instructions, in objects for machines that need not be this one ----

// Prefix of 512-bit vectors: opcode map, then 66 and no W.
std::size_t count_wide(const std::vector<std::byte>& object, unsigned map, unsigned opcode) {
  std::size_t count = 0;
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(object[i]); };
  for (std::size_t i = 0; i + 5 < object.size(); ++i) {
    count += at(i) == 0x62 && (at(i + 1) & 7) == map && (at(i + 2) & 0x87) == 0x05 &&
             (at(i + 3) & 0x60) == 0x40 && at(i + 4) == opcode;
  }
  return count;
}

TEST(ByteProducts, UseTheInstructionThatSumsFour) {
  constexpr unsigned kVpdpbusd = 0x50;
  for (DType left : {DType::i8, DType::u8}) {
    const Function f = product({left, DType::i8, 96, 128, 64, 0});
    const std::vector<Kernel> kernels{kernel_for(f, parse_target("x86-64-linux-avx512_zen4")),
                                      kernel_for(f, parse_target("x86-64-linux-avx512_skylake"))};
    EXPECT_EQ(depth_of(kernels[0]), 4);
    EXPECT_EQ(depth_of(kernels[1]), 2);
    const auto objects = compile_kernels(kernels, Cache());
    const auto& tile = std::get<Contract>(kernels[0].recipe);
    EXPECT_GE(count_wide(objects[0].object, 2, kVpdpbusd),
              static_cast<std::size_t>(tile.mr * tile.nr / 16));
    EXPECT_EQ(count_wide(objects[1].object, 2, kVpdpbusd), 0u);
  }
}

TEST(ByteProducts, OtherProductsAreAsTheyWere) {
  const Target zen4 = parse_target("x86-64-linux-avx512_zen4");
  const DType i8 = DType::i8;
  EXPECT_EQ(depth_of(kernel_for(product({i8, i8, 8, 20, 32769}), zen4)), 1) << "sums leave i32";
  EXPECT_EQ(depth_of(kernel_for(product({i8, DType::i16, 8, 20, 64}), zen4)), 1);
  EXPECT_EQ(depth_of(kernel_for(product({i8, i8, 8, 20, 64}), parse_target("arm-64-linux"))), 1);
}

// A program widens its tensors; the plan does not store what is wide.
TEST(ByteProducts, AreOneKernel) {
  for (int layout = 0; layout < 5; ++layout) {
    const Program program({product({DType::i8, DType::i8, 40, 64, 32, layout})});
    const Plan plan = make_plan(program, parse_target("x86-64-linux-avx512_zen4"), nullptr,
                                {.prepare = true, .slices = true});
    ASSERT_EQ(plan.kernels.size(), 1u);
    EXPECT_EQ(depth_of(plan.kernels[0]), 4);
  }
}

// Layers of a network in bytes: constant weights, sums in i32, back to bytes.
Program layers() {
  Builder b("layers");
  ValueId x = b.input("x", {DType::i8, {30, 70}});
  std::int64_t inner = 70;
  for (const std::int64_t n : {48, 33}) {
    const ValueId w = b.constant(bytes({DType::i8, {inner, n}}, static_cast<unsigned>(n)));
    const ValueId sums =
        emit::dot_general(b, emit::convert(b, x, DType::i32), emit::convert(b, w, DType::i32),
                          {.lhs_contract = {1}, .rhs_contract = {0}});
    x = emit::convert(b, emit::max(b, sums, emit::zeros_like(b, sums)), DType::i8);
    inner = n;
  }
  b.output("y", x);
  return Program({b.finish()});
}

TEST(ByteProducts, AreLayersOfANetwork) {
  const Program program = layers();
  const auto compiled = compile(program);
  for (const Kernel& k : compiled->plan().kernels) {
    if (std::holds_alternative<Contract>(k.recipe)) {
      EXPECT_EQ(depth_of(k),
                depth_of(kernel_for(product({DType::i8, DType::i8, 8, 20, 64}), Target::host())));
    }
  }
  const std::vector<Literal> in{bytes({DType::i8, {30, 70}}, 3)};
  EXPECT_TRUE(compiled->run("layers", in)[0] == interpret(program, "layers", in)[0]);
}

}  // namespace
}  // namespace heddle::testing
