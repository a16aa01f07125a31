// The text of shaders: equal from two compilations, accepted by a strict compiler, and without
// questions in the loop of a product.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "backends/recipe_cases.h"
#include "gpu/device_runner.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/backends/file.h"
#include "heddle/backends/process.h"
#include "heddle/backends/worker.h"
#include "heddle/graph/op_attributes.h"
#include "support/metal/device.h"

namespace heddle::testing {
namespace {

// Of 2 heads: 64 deep, in tiles of 64 x 64.
Function attention() {
  Builder b("attention");
  Values operands;
  for (const char* name : {"q", "k", "v"}) operands.push_back(b.input(name, f32({2, 130, 64})));
  const Values results =
      b.add(op_attention, operands, Attributes::of(AttentionAttributes{.causal = true}));
  b.output("y", results[0]);
  b.output("logsumexp", results[1]);
  return b.finish();
}

std::vector<Kernel> some_kernels(const std::string& carrier) {
  std::vector<Kernel> kernels;
  for (const auto& cases :
       {map_cases(), rows_cases(), columns_cases(), contract_cases(), scatter_cases()}) {
    for (std::size_t i = 0; i < cases.size(); i += 8) {
      const KernelCase& c = cases[i];
      kernels.push_back(kernel_of(c.body, c.kind, c.shares, carrier));
    }
  }
  kernels.push_back(kernel_of(attention(), RecipeKind::row_block, {}, carrier));
  return kernels;
}

TEST(Shaders, AreEqualFromTwoCompilations) {
  const std::vector<Kernel> kernels = some_kernels("metal");
  const auto first = compile_kernels(kernels, Cache(), {}),
             second = compile_kernels(kernels, Cache(), {.jobs = 1});
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    EXPECT_FALSE(metal::shader_text(first[k].object).empty());
    EXPECT_TRUE(first[k].object == second[k].object) << to_text(kernels[k]);
    EXPECT_GE(first[k].launches, 1);
    EXPECT_LE(first[k].threads, 256);
    EXPECT_LE(first[k].shared_bytes, 32768);
  }
}

// What runs here is what a Mac is given.
TEST(Shaders, AreThoseOfAMac) {
  std::vector<Kernel> here = some_kernels("metal"), mac;
  here.resize(12);
  for (const Kernel& k : here) {
    const auto kind = static_cast<RecipeKind>(k.recipe.index());
    mac.push_back(make_kernel(k.body, k.in, k.out, kind, parse_target("arm-64-osx-metal")));
  }
  const auto own = compile_kernels(here, Cache::open(), {}),
             other = compile_kernels(mac, Cache::open(), {});
  for (std::size_t k = 0; k < here.size(); ++k) {
    EXPECT_EQ(metal::shader_text(own[k].object), metal::shader_text(other[k].object))
        << to_text(here[k]);
  }
}

// Address spaces apart, no double, no half, no vectors of numbers.
TEST(Shaders, AStrictCompilerAcceptsThem) {
  if (std::system("clang++ --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no clang++";
  for (const KernelObject& o : compile_kernels(some_kernels("metal"), Cache::open(), {})) {
    const std::string text = metal::shader_text(o.object);
    EXPECT_EQ(metal::complaints(text, "clang++"), "") << text;
  }
}

TEST(Shaders, AStrictCompilerRefusesOthers) {
  if (std::system("clang++ --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no clang++";
  const std::string head =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void _k(uint3 b, uint3 t, device float *x, threadgroup int4* s)\n{\n";
  for (const char* line :
       {"x[0] = double(1);", "half h = half(); h = h * h;", "float4 v = float4(1);",
        "threadgroup float* p = (threadgroup float*)s; x = p;",
        "bool c = select(true, false, x[0] < 1);"}) {
    EXPECT_NE(metal::complaints(head + line + "\n}\n", "clang++"), "") << line;
  }
  EXPECT_EQ(metal::complaints(head + "x[0] = max(x[1], 1.f);\n}\n", "clang++"), "");
}

// The complaints of clang about a kernel's OpenCL C; "none" when there is no such text.
std::string opencl_complaints(const KernelObject& kernel, const std::string& folder) {
  const std::string_view all(reinterpret_cast<const char*>(kernel.object.data()),
                             kernel.object.size());
  const std::size_t begin = all.find("/*OpenCL C");
  if (begin == std::string_view::npos) return "none";
  const std::string_view text = all.substr(begin, all.find('\0', begin) - begin);
  EXPECT_EQ(text.find("cl_khr_fp16"), std::string_view::npos) << "not every device has halves";
  put_file(folder, "kernel.cl", text);
  const ProcessResult result =
      run_process({"clang", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header",
                   "-fsyntax-only", "-w", folder + "/kernel.cl"},
                  folder + "/clang", 60);
  return result.succeeded() ? "" : result.how_it_ended() + result.error_text;
}

Function dtype_chain(DType dtype) {
  Builder b("chain");
  const ValueId x = b.input("x", {dtype, {7, 100}}), y = b.input("y", {dtype, {7, 100}});
  b.output("max", emit::max(b, x, emit::mul(b, x, y)));
  b.output("sum", emit::reduce_sum(b, y, {1}));
  b.output("scan", b.emit(op_cumsum, {x}, Attributes::of(CumulativeAttributes{.axis = 1})));
  return b.finish();
}

// Other numbers than Metal's too.
TEST(Shaders, OpenClKernelsAreC) {
  if (std::system("clang --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no clang";
  std::vector<Kernel> kernels = some_kernels("opencl");
  for (DType d : {DType::f64, DType::i64, DType::u64, DType::f16, DType::bf16}) {
    kernels.push_back(kernel_of(dtype_chain(d), RecipeKind::map, {}, "opencl"));
  }
  const TemporaryFolder folder;
  for (const KernelObject& o : compile_kernels(kernels, Cache::open(), {})) {
    EXPECT_EQ(opencl_complaints(o, folder.path()), "");
    EXPECT_LE(o.threads, 256);
    EXPECT_LE(o.shared_bytes, 32768);
  }
}

// 0.1 of f64 has other digits than 0.1 of f32.
TEST(Shaders, OpenClConstantsKeepTheirDigits) {
  Builder b("tenth");
  b.output("y", emit::mul(b, b.input("x", {DType::f64, {5}}), 0.1));
  const auto objects = compile_kernels(
      std::vector{kernel_of(b.finish(), RecipeKind::map, {}, "opencl")}, Cache::open(), {});
  const std::string_view all(reinterpret_cast<const char*>(objects[0].object.data()),
                             objects[0].object.size());
  EXPECT_NE(all.find(std::to_string(std::bit_cast<std::uint64_t>(0.1))), std::string_view::npos);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// The text of the first loop whose variable's name begins so.
std::string loop_over(const std::string& text, const std::string& variable) {
  const std::size_t begin = text.find("for (int " + variable);
  return text.substr(begin, text.find("} // for", begin) - begin);
}
std::string shader_of(const Function& body, RecipeKind kind) {
  const auto objects =
      compile_kernels(std::vector{kernel_of(body, kind, {}, "metal")}, Cache::open(), {});
  return metal::shader_text(objects[0].object);
}

// Each thread has 16 sums, for which it loads 8 numbers an inner index.
void expect_loads_and_multiplications(const std::string& loop, const std::string& sums) {
  EXPECT_EQ(count_of(loop, "((threadgroup float *)"), 8u) << loop;
  EXPECT_EQ(count_of(loop, "fma("), 16u) << loop;
  EXPECT_EQ(count_of(loop, sums), 32u) << loop;
  for (const char* question : {"if (", "min(", "max(", "select(", " / ", " % ", "_x0[", "_x1["}) {
    EXPECT_EQ(count_of(loop, question), 0u) << question << "\n" << loop;
  }
}

TEST(Shaders, TheLoopOfAProductOnlyLoadsAndMultiplies) {
  Builder b("product");
  const ValueId x = b.input("x", f32({100, 70})), y = b.input("y", f32({70, 130}));
  b.output("z", emit::dot_general(b, x, y, {{}, {}, {1}, {0}}));
  const std::string text = shader_of(b.finish(), RecipeKind::contract);
  expect_loads_and_multiplications(loop_over(text, "_prod2_s1_k2__x"), "_prod2_0[");
}

// One kernel, whose tiles of columns follow one another; both products are as any other's.
TEST(Shaders, TheLoopsOfAttentionOnlyLoadAndMultiply) {
  const std::string text = shader_of(attention(), RecipeKind::row_block);
  EXPECT_EQ(count_of(text, "kernel void"), 1u);
  expect_loads_and_multiplications(loop_over(text, "_prodscore0_s1_kscore0__x"), "_prodscore0_1[");
  expect_loads_and_multiplications(loop_over(text, "_prodtimes0_s1_ktimes0__x"), "_prodtimes0_4[");
}

}  // namespace
}  // namespace heddle::testing
