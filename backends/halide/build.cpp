#include "heddle/backends/halide/build.h"

#include <algorithm>

#include "heddle/backends/halide/across.h"
#include "heddle/backends/halide/conversion.h"
#include "heddle/backends/halide/gpu/apply.h"
#include "heddle/backends/halide/gpu/device_math.h"
#include "heddle/backends/halide/gpu/limits.h"
#include "heddle/backends/halide/gpu/thread_registers.h"
#include "heddle/backends/halide/gpu/whole_updates.h"
#include "heddle/backends/halide/kernel_builder.h"
#include "heddle/backends/halide/rare.h"
#include "heddle/backends/halide/scratch.h"
#include "heddle/backends/halide/tail_masks.h"
#include "heddle/schedule/carrier_types.h"
#include "heddle/schedule/collapse.h"
#include "heddle/schedule/loops.h"
#include "heddle/schedule/recipes/choose.h"
#include "heddle/schedule/winograd.h"

namespace heddle::halide {
namespace {

// Limits are counts, so that what compiles depends on nothing but the kernel.
constexpr std::size_t kMostNodes = 2000;
constexpr std::size_t kMostRank = 8;

void check_limits(const Kernel& kernel) {
  if (kernel.body.nodes.size() > kMostNodes) {
    throw CompileError({.message = "the kernel is too large",
                        .field = "body",
                        .found = std::to_string(kernel.body.nodes.size()) + " operations",
                        .needed = "at most " + std::to_string(kMostNodes)});
  }
  for (const Type& t : kernel.body.types) {
    if (t.rank() > kMostRank) {
      throw CompileError({.message = "a value of too many axes",
                          .field = "body",
                          .found = to_text(t),
                          .needed = "rank at most " + std::to_string(kMostRank)});
    }
  }
  for (const Type& t : kernel.body.types) {
    internal_check(std::count(t.dims.begin(), t.dims.end(), Dim(0)) == 0,
                   "an empty tensor in a kernel");
  }
}

bool fits(const Kernel& k) {
  if (std::holds_alternative<Rows>(k.recipe)) return row_axes(k.body).has_value();
  if (std::holds_alternative<Columns>(k.recipe)) return fits_columns(k.body);
  if (std::holds_alternative<Contract>(k.recipe)) return main_contraction(k.body).has_value();
  if (std::holds_alternative<Fibres>(k.recipe)) return fibre_node(k.body) != nullptr;
  if (std::holds_alternative<Winograd>(k.recipe)) return winograd_convolution(k.body) != nullptr;
  return true;
}

// The kernel as it is scheduled: axes collapsed. Ports that are not dense may leave more axes than
// its recipe was chosen for; then a Map does it.
Kernel prepared(const Kernel& kernel) {
  if (is_symbolic(kernel.body)) return kernel;
  Kernel k = collapse_axes(kernel);
  if (fits(k)) return k;
  k.recipe = choose_map(k.body, k.target);
  k.stages = place_stages(k.body, k.recipe);
  return k;
}

Halide::Target halide_target(const Target& target, bool checked) {
  const std::string wanted =
      checked ? "-no_runtime-user_context" : "-no_runtime-no_asserts-no_bounds_query-user_context";
  // f64 is a device's choice in OpenCL C; ours is that it is there. (16-bit floats are integers to
  // a kernel: devices without them will do.)
  const std::string more = target.carrier == "opencl" ? "-cl_doubles" : "";
  return Halide::Target(to_text(target) + more + wanted);
}

// The buffers of outputs that are computed together.
std::map<std::string, std::size_t> tuples_of(const KernelBuilder& b) {
  std::map<std::string, std::size_t> tuples;
  for (std::size_t g = 0; g < b.outputs.size(); ++g) {
    for (const auto& buffer : b.outputs[g].f.output_buffers()) tuples[buffer.name()] = g;
  }
  return tuples;
}

std::vector<Halide::Argument> arguments_of(const KernelBuilder& b) {
  std::vector<Halide::Argument> arguments;
  for (const Halide::ImageParam& p : b.inputs) arguments.push_back(p);
  return arguments;
}

// The entry takes its arguments in the order of the ports; Halide has made them in the order of
// the output Funcs.
Halide::Module in_port_order(const Halide::Module& module, const KernelBuilder& b,
                             const std::string& name) {
  std::vector<std::size_t> position;  // of each output port among the pipeline's outputs
  position.resize(b.kernel.out.size());
  std::size_t next = 0;
  for (const OutputGroup& g : b.outputs) {
    for (std::size_t port : g.ports) position[port] = next++;
  }
  Halide::Module result(module.name(), module.target());
  result.set_any_strict_float(module.any_strict_float());  // else LLVM may reorder strict sums
  for (Halide::Internal::LoweredFunc f : module.functions()) {
    if (f.name == name) {
      const std::size_t first = f.args.size() - position.size();
      const auto outputs =
          std::vector(f.args.begin() + static_cast<std::ptrdiff_t>(first), f.args.end());
      for (std::size_t p = 0; p < position.size(); ++p) f.args[first + p] = outputs[position[p]];
    }
    result.append(f);
  }
  for (const auto& buffer : module.buffers()) result.append(buffer);
  return result;
}

}  // namespace

KernelFacts compile_kernel(const Kernel& kernel, const std::string& object_path, bool checked) {
  check_limits(kernel);
  const std::string name = kernel_symbol(kernel);
  const Kernel k = prepared(kernel);
  set_native_halves(!k.target.on_device() && k.target.has("f16c"));
  KernelBuilder b(k);
  if (k.target.on_device()) {
    check_carrier_types(k.body, k.target);
    gpu::apply(b);
  } else {
    std::visit(
        [&]<class R>(const R& recipe) {
          if constexpr (!std::is_same_v<R, External>) apply(b, recipe);
        },
        k.recipe);
  }
  std::vector<Halide::Func> outputs;
  for (const OutputGroup& g : b.outputs) outputs.push_back(g.f);
  Halide::Pipeline pipeline(outputs);
  TailMasks masks(outputs[0].output_buffers()[0].name());
  BlocksAcross across;
  RareLanes rare;
  ScratchCounter scratch;
  gpu::ThreadRegisters registers(b.thread_registers);
  gpu::WholeUpdates updates(tuples_of(b));
  gpu::DeviceMath math;
  gpu::Limits limits(k.target.carrier, carrier_has(DType::f64, k.target));
  if (k.target.on_device()) {
    pipeline.add_custom_lowering_pass(&registers, [] {});
    pipeline.add_custom_lowering_pass(&updates, [] {});
    pipeline.add_custom_lowering_pass(&math, [] {});
    pipeline.add_custom_lowering_pass(&limits, [] {});
  } else {
    pipeline.add_custom_lowering_pass(&masks, [] {});
    pipeline.add_custom_lowering_pass(&across, [] {});
    pipeline.add_custom_lowering_pass(&b.ahead, [] {});
    // What depends on symbols comes from the heap, uncounted.
    if (!is_symbolic(k.body)) pipeline.add_custom_lowering_pass(&scratch, [] {});
    pipeline.add_custom_lowering_pass(&rare,
                                      [] {});  // last: Halide finds no bounds of its branches
  }
  const Halide::Module module =
      pipeline.compile_to_module(arguments_of(b), name, halide_target(k.target, checked),
                                 Halide::LinkageType::ExternalPlusArgv);
  in_port_order(module, b, name).compile({{Halide::OutputFileType::object, object_path}});
  return {name + "_argv",   scratch.once(),        scratch.task(),       limits.launches(),
          limits.threads(), limits.shared_bytes(), limits.device_bytes()};
}

}  // namespace heddle::halide
