#include "cross/machines.h"

#include <cstdlib>
#include <sstream>

#include "absl/strings/str_replace.h"
#include "heddle/backends/artifact/machine_tools.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/frontend/heddle.h"

namespace heddle::testing {
namespace {

// The build's zig, with a cache of the build's own.
[[maybe_unused]] const int tools_are_set = [] {
  setenv("HEDDLE_ZIG", HEDDLE_ZIG_PATH, 0);
  setenv("ZIG_GLOBAL_CACHE_DIR", HEDDLE_BINARY_DIR "/zig-cache", 0);
  return 0;
}();

Tensor loss(const Params& params, const Tensor& x, const Tensor& y) {
  return cross_entropy(nn::linear(params, "two", tanh(nn::linear(params, "one", x))), y);
}

Program training() {
  Params params;
  nn::init_linear(params, "one", 20, 33, 1);
  nn::init_linear(params, "two", 33, 10, 1);
  return train_step(loss, params, optim::adam(1e-2), {f32({32, 20}), i32({32})},
                    {.inputs = {"x", "y"}});
}

Tensor energy(const Tensor& r) {
  const Tensor difference = reshape(r, {16, 1, 3}) - reshape(r, {1, 16, 3});
  return sum(exp(-sum(difference * difference, {2})));
}

Literal large_constant() {
  std::vector<double> values;
  for (int i = 0; i < 64; ++i) values.push_back(0.25 * i - 3);
  return make_literal<double>({64}, values);
}

std::vector<Tensor> mixed(const Tensor& d, const Tensor& h, const Tensor& n) {
  return {cumsum(d * constant(large_constant())), sort(h * h),
          convert(h, DType::bf16) * convert(h, DType::bf16), n * n + n,
          convert(sum(convert(n, DType::i64)), DType::f64) + reduce_max(d)};
}

constexpr char kMain[] = R"(
#include <stdio.h>
#include <string.h>
#include "$name.h"
static float x[32 * 20], params[$name_params_count], adam[$name_adam_count], r[48], dr[48];
static int32_t y[32];
static double d[64], sums[64], total;
static uint16_t h[64], sorted[64], b[64];
static int16_t n[64], m[64];
static int fail($name_t *instance) { printf("%s\n", $name_error(instance)); return 1; }
int main(int argc, char **argv) {
  $name_options options = {.size = sizeof options, .threads = 2};
  $name_t *instance = $name_create(&options);
  if (!instance) return fail(NULL);
  for (int i = 0; i < 32 * 20; ++i) x[i] = (float)(i * 31 % 17) / 16.0f - 0.5f;
  for (int i = 0; i < 32; ++i) y[i] = i % 10;
  for (int i = 0; i < $name_params_count; ++i) params[i] = (float)(i * 7919 % 1000 - 500) / 2000.0f;
  float loss = 0, e = 0;
  for (int i = 0; i < 50; ++i) {
    if ($name_train_step(instance, x, y, params, adam, &loss)) return fail(instance);
    printf("%.9g\n", loss);
  }
  for (int i = 0; i < 48; ++i) r[i] = (float)(i * 13 % 29) / 8.0f;
  if ($name_forces(instance, r, &e, dr)) return fail(instance);
  printf("%.9g\n", e);
  for (int i = 0; i < 48; ++i) printf("%.9g\n", dr[i]);
  for (int i = 0; i < 64; ++i) {
    d[i] = 0.5 * i - 7;
    h[i] = (uint16_t)(0x3000 + i * 97 % 3000);
    n[i] = (int16_t)(i * 1237 % 200 - 100);
  }
  if ($name_mixed(instance, d, h, n, sums, sorted, b, m, &total)) return fail(instance);
  for (int i = 0; i < 64; ++i) printf("%.17g\n%d\n%d\n%d\n", sums[i], sorted[i], b[i], m[i]);
  printf("%.17g\n", total);
  const int status = argc == 2 ? $name_selftest(instance, argv[1]) : -1;
  printf("selftest %d\n%s", status, $name_error(instance));
  $name_destroy(instance);
  return status;
}
)";

}  // namespace

std::vector<std::string> export_all(const std::string& name,
                                    const std::vector<std::string>& targets,
                                    const std::string& folder) {
  const Program value =
      trace(energy, {f32({16, 3})}, {.name = "e", .inputs = {"r"}, .outputs = {"e"}});
  const Program all = trace(mixed, {f64({64}), Type{DType::f16, {64}}, Type{DType::i16, {64}}},
                            {.name = "mixed",
                             .inputs = {"d", "h", "n"},
                             .outputs = {"sums", "sorted", "b", "m", "total"}});
  return export_library(
      {{"train_step", training()}, {"forces", value_and_grad(value, "r")}, {"mixed", all}},
      {.name = name, .targets = targets, .folder = folder});
}

std::vector<std::string> export_narrow(const std::string& name,
                                       const std::vector<std::string>& targets,
                                       const std::string& folder) {
  const Program value =
      trace(energy, {f32({16, 3})}, {.name = "e", .inputs = {"r"}, .outputs = {"e"}});
  return export_library({{"step", training()}, {"forces", value_and_grad(value, "r")}},
                        {.name = name, .targets = targets, .folder = folder});
}

std::string main_source(const std::string& name) {
  return absl::StrReplaceAll(kMain, {{"$name", name}});
}

std::vector<double> numbers_of(const std::string& printed) {
  std::vector<double> numbers;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line) && !line.starts_with("selftest");) {
    numbers.push_back(std::strtod(line.c_str(), nullptr));
  }
  return numbers;
}

void link_program(const std::string& triple, const std::string& source, const std::string& folder,
                  const std::vector<std::string>& libraries, const std::string& output) {
  put_file(folder, output + ".c", std::string_view(source));
  std::vector<std::string> command = tools_for(triple).cc;
  command.insert(command.end(), {"-std=c11", "-O2", "-g0", "-Wall", "-Wextra", "-Wpedantic",
                                 "-Werror", "-I.", "-o", output, output + ".c"});
  command.insert(command.end(), libraries.begin(), libraries.end());
  command.insert(command.end(), {"-lpthread", "-lm"});
  run_tool(command, folder);
}

bool can_run_arm() {
  return std::string_view(HEDDLE_QEMU_ARM) != "" && std::filesystem::exists(HEDDLE_ARM_ROOT);
}

std::string run_arm(const std::vector<std::string>& command, const std::string& folder) {
  std::vector<std::string> all = {HEDDLE_QEMU_ARM, "-L", HEDDLE_ARM_ROOT};
  all.insert(all.end(), command.begin(), command.end());
  return run_tool(all, folder);
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  return try_read_file(path.string()).value();
}

}  // namespace heddle::testing
