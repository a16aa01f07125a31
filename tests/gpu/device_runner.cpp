#include "gpu/device_runner.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heddle/backends/file.h"
#include "heddle/backends/process.h"
#include "heddle/backends/worker.h"
#include "heddle/graph/interpret.h"
#include "heddle/schedule/collapse.h"
#include "support/kernel_buffer.h"
#include "support/test_device.h"

namespace heddle::testing {
namespace {

// One argument in device memory.
struct Argument {
  Buffer buffer;
  std::vector<BufferDimension> dimensions;
  std::size_t bytes = 0;
};

Argument argument_of(const Type& type, const Port& port, std::uint64_t memory) {
  Argument a;
  const auto extents = constant_extents(type.dims), strides = constant_extents(port.strides);
  for (std::size_t d = extents.size(); d-- > 0;) {
    a.dimensions.push_back(
        {0, static_cast<std::int32_t>(extents[d]), static_cast<std::int32_t>(strides[d]), 0});
  }
  a.bytes = static_cast<std::size_t>(byte_count(type));
  a.buffer.device = memory != 0 ? memory : device::allocate(a.bytes);
  a.buffer.interface = device::interface();
  a.buffer.type = buffer_type(type.dtype);
  a.buffer.dimensions = static_cast<std::int32_t>(a.dimensions.size());
  return a;
}

// Each body with the first and the last of its sizes.
std::vector<KernelCase> sample_of(const std::vector<KernelCase>& cases) {
  const auto body = [](const KernelCase& c) { return c.name.substr(0, c.name.find('[')); };
  std::vector<KernelCase> sample;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto same = [&](const KernelCase& c) { return body(c) == body(cases[i]); };
    const auto at = cases.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::none_of(cases.begin(), at, same) || std::none_of(at + 1, cases.end(), same))
      sample.push_back(cases[i]);
  }
  return sample;
}

}  // namespace

DeviceRunner::DeviceRunner(std::vector<Kernel> kernels) : kernels_(std::move(kernels)) {
  objects_ = compile_kernels(kernels_, Cache::open(), {});
  const std::string base = folder_.path() + "/";
  std::vector<std::string> link = link_command(objects_, folder_.path());
  for (std::string& object : device::glue(folder_.path())) link.push_back(std::move(object));
  device::prepare(objects_);
  const ProcessResult linked = run_process(link, base + "link", 300);
  if (!linked.succeeded()) throw RuntimeError({.message = linked.error_text});
  library_ = ::dlopen((base + "kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) throw RuntimeError({.message = ::dlerror()});
}

DeviceRunner::~DeviceRunner() {
  if (library_ != nullptr) ::dlclose(library_);
}

std::vector<Literal> DeviceRunner::run(std::size_t kernel, std::span<const Literal> inputs) {
  const std::size_t live = device::live_allocations();
  const Kernel k = collapse_axes(kernels_[kernel]);
  const Function& types = kernels_[kernel].body;
  auto entry =
      reinterpret_cast<int (*)(void**)>(::dlsym(library_, objects_[kernel].symbol.c_str()));
  if (entry == nullptr) throw RuntimeError({.message = "no symbol " + objects_[kernel].symbol});
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < k.in.size(); ++i) {
    arguments.push_back(argument_of(k.body.type(k.body.inputs[i].value), k.in[i], 0));
    device::write(arguments[i].buffer.device, *inputs[i].bytes);
  }
  for (std::size_t o = 0; o < k.out.size(); ++o) {
    const int shares = k.out[o].shares;
    const std::uint64_t memory =
        shares < 0 ? 0 : arguments[static_cast<std::size_t>(shares)].buffer.device;
    arguments.push_back(argument_of(k.body.type(k.body.outputs[o].value), k.out[o], memory));
  }
  void* context = device::context();
  std::vector<void*> argv{&context};
  for (Argument& a : arguments) {
    a.buffer.dim = a.dimensions.data();
    argv.push_back(&a.buffer);
  }
  EXPECT_EQ(entry(argv.data()), 0) << to_text(k);
  for (const std::string& fault : device::take_faults())
    ADD_FAILURE() << fault << "\n" << to_text(k);
  std::vector<Literal> results;
  for (std::size_t o = 0; o < k.out.size(); ++o) {
    const Argument& a = arguments[k.in.size() + o];
    results.push_back(literal_from_bytes(types.type(types.outputs[o].value),
                                         device::read(a.buffer.device, a.bytes)));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool shared = i >= k.in.size() && k.out[i - k.in.size()].shares >= 0;
    if (!shared) device::release(arguments[i].buffer.device);
  }
  EXPECT_EQ(device::live_allocations(), live) << to_text(k);
  return results;
}

void check_on_device(std::vector<KernelCase> cases, std::int64_t most) {
  std::erase_if(cases, [&](const KernelCase& c) {
    return std::any_of(c.body.types.begin(), c.body.types.end(),
                       [&](const Type& t) { return element_count(t) > most; });
  });
  if (device::target().carrier == "opencl") cases = sample_of(cases);
  std::vector<Kernel> kernels;
  for (const KernelCase& c : cases)
    kernels.push_back(kernel_of(c.body, c.kind, c.shares, device::target().carrier));
  DeviceRunner runner(kernels);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const KernelCase& c = cases[i];
    const std::vector<Literal> inputs = inputs_of(c);
    const auto want = interpret(Program({c.body}), c.body.name, inputs);
    const auto got = runner.run(i, inputs);
    for (std::size_t o = 0; o < want.size(); ++o) {
      const double t = is_floating(want[o].type.dtype) ? c.tolerance : 0;
      expect_close(got[o], want[o], t, t, c.name + " output " + std::to_string(o));
    }
    EXPECT_LE(runner.object(i).threads, 256) << c.name;
  }
}

}  // namespace heddle::testing
