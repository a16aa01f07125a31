#include "heddle/backends/on_device/carrier.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "heddle/backends/device.h"
#include "heddle/backends/eager/carrier_kernels.h"
#include "heddle/backends/eager/compiled_function.h"
#include "heddle/backends/eager/pack.h"
#include "heddle/backends/eager/transfer.h"
#include "heddle/graph/operation.h"
#include "heddle/schedule/carrier_types.h"

namespace heddle {
namespace {

// A device, opened when it is first asked for.
class Device {
 public:
  explicit Device(const char* carrier) : target_(Target::host()) { target_.carrier = carrier; }
  const Target& target() const { return target_; }
  const std::string& name() const { return target_.carrier; }
  const hd_device& functions() {
    const hd_device* known = functions_.load();
    if (known == nullptr) functions_ = known = find_device(target_);
    return *known;
  }

 private:
  Target target_;
  std::atomic<const hd_device*> functions_{nullptr};
};

// ---- storage ----

hd_memory& memory_of(const StorageHandle& handle) { return *static_cast<hd_memory*>(handle.get()); }

StorageHandle allocate(Device& device, std::int64_t bytes) {
  const hd_memory memory =
      device.functions().allocate(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1)));
  if (memory == 0) {
    throw RuntimeError({.message = absl::StrCat("no memory on ", device.name(), " for a tensor"),
                        .found = absl::StrCat(bytes, " bytes")});
  }
  return std::make_shared<hd_memory>(memory);
}

// A run of its own.
template <class Work>
void run_transfer(Device& device, Work work) {
  const hd_device& functions = device.functions();
  char why[1024] = "";
  functions.begin();
  work(functions);
  const int status = functions.wait(why, sizeof why);
  functions.end();
  if (status != HD_OK) throw RuntimeError({.message = absl::StrCat(device.name(), ": ", why)});
}

StorageProvider storage(Device& device) {
  return {.supports_dtype = [&](DType dtype) { return carrier_has(dtype, device.target()); },
          .physical_size = [](const Type& type) { return byte_count(type); },
          .allocate = [&](std::int64_t bytes) { return allocate(device, bytes); },
          .release = [&](const StorageHandle& h) { device.functions().release(memory_of(h)); },
          .read =
              [&](const StorageHandle& h, std::size_t offset, std::span<std::byte> into) {
                run_transfer(device, [&](const hd_device& functions) {
                  functions.read(memory_of(h), offset, into.data(), into.size());
                });
              },
          .write =
              [&](const StorageHandle& h, std::size_t offset, std::span<const std::byte> from) {
                run_transfer(device, [&](const hd_device& functions) {
                  functions.write(memory_of(h), offset, from.data(), from.size());
                });
              }};
}

// ---- programs ----

// Ready to run any number of times, from any number of threads.
class DeviceFunction {
 public:
  DeviceFunction(const Function& f, const Target& target) : compiled_(f, target, true) {
    for (const Input& in : f.inputs) add(f.type(in.value));
    for (const Output& out : f.outputs) add(f.type(out.value));
    n_inputs_ = f.inputs.size();
  }

  std::vector<Tensor> run(std::span<const Tensor> inputs, const Carrier& carrier) {
    std::vector<Tensor> all;
    for (const Tensor& t : inputs) {
      all.push_back(storage_handle(t) == nullptr ? copied(t, carrier) : t);
    }
    for (std::size_t i = n_inputs_; i < types_.size(); ++i) {
      all.push_back(new_tensor(types_[i], carrier));
    }
    std::vector<StorageHandle> handles;  // keep what another thread may release meanwhile
    std::vector<hd_tensor> tensors;
    for (std::size_t i = 0; i < all.size(); ++i) {
      handles.push_back(storage_handle(all[i]));
      if (handles.back() == nullptr) {
        throw ReleasedError({.message = "this tensor was released", .found = to_text(types_[i])});
      }
      tensors.push_back({.data = nullptr,
                         .shape = shapes_[i].data(),
                         .strides = nullptr,
                         .dtype = static_cast<std::uint32_t>(types_[i].dtype),
                         .rank = static_cast<std::uint32_t>(types_[i].rank()),
                         .device = memory_of(handles.back())});
    }
    compiled_.run(std::span<const hd_tensor>(tensors));
    return {all.begin() + static_cast<std::ptrdiff_t>(n_inputs_), all.end()};
  }

 private:
  void add(const Type& type) {
    types_.push_back(type);
    shapes_.push_back(constant_extents(type.dims));
  }

  CompiledFunction compiled_;
  std::vector<Type> types_;
  std::vector<std::vector<std::int64_t>> shapes_;
  std::size_t n_inputs_ = 0;
};

// ---- the carrier ----

std::vector<const Carrier*> result_carriers(const Carrier& carrier, const Invocation& inv) {
  return std::vector<const Carrier*>(inv.results.size(), &carrier);
}

MaybeComposite prepare(const Target& target, const Carrier& carrier, const Invocation& inv) {
  if (inv.plan.accumulation == Accumulation::sequential) {
    return Unsupported("it sums in an order of its own");
  }
  if (!inv.mutated.empty()) return Unsupported("it computes values and changes no operand");
  for (const ResultSpec& r : inv.results) {
    if (r.alias_of) return Unsupported("its results are tensors of their own");
  }
  for (const Type& type : inv.body.types) {
    if (carrier_has(type.dtype, target)) continue;
    return Unsupported(absl::StrCat("it has no ", std::string(name_of(type.dtype))));
  }
  std::shared_ptr<DeviceFunction> function;
  try {
    function = std::make_shared<DeviceFunction>(inv.body, target);
  } catch (const NotImplementedError& e) {
    return Unsupported(e.what());
  }
  return PreparedComposite{
      [function, &carrier](const Invocation&, Operands operands, Location) -> Submitted {
        std::vector<Tensor> inputs;
        for (const Operand& o : operands) {
          if (const Tensor* t = std::get_if<Tensor>(&o)) inputs.push_back(*t);
        }
        return ProviderResult(function->run(inputs, carrier));
      }};
}

ProgramFunction prepare_program(const Target& target, const Carrier& carrier, const Function& f) {
  auto function = std::make_shared<DeviceFunction>(f, target);
  return [function, &carrier](std::span<const Tensor> inputs, Location) {
    return function->run(inputs, carrier);
  };
}

CarrierDefinition definition(Device& device) {
  return {.name = device.name(),
          .composite = CompositeProvider{.result_carriers = result_carriers,
                                         .prepare =
                                             [&](const Carrier& carrier, const Invocation& inv) {
                                               return prepare(device.target(), carrier, inv);
                                             },
                                         .prepare_program =
                                             [&](const Carrier& carrier, const Function& f) {
                                               return prepare_program(device.target(), carrier, f);
                                             }},
          .storage = storage(device)};
}

}  // namespace

const Carrier& opencl_carrier() {
  static Device device("opencl");
  static const Carrier& carrier = add_carrier(definition(device));
  return carrier;
}
const Carrier& metal_carrier() {
  static Device device("metal");
  static const Carrier& carrier = add_carrier(definition(device));
  return carrier;
}

}  // namespace heddle
