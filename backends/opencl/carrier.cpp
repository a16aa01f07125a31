#include "heddle/backends/opencl/carrier.h"

#include "absl/strings/str_cat.h"
#include "heddle/backends/device.h"
#include "heddle/backends/eager/carrier_kernels.h"
#include "heddle/backends/eager/compiled_function.h"
#include "heddle/backends/eager/pack.h"
#include "heddle/backends/eager/transfer.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

Target opencl_target() {
  Target target = Target::host();
  target.carrier = "opencl";
  return target;
}

const hd_device& opencl_device() {
  static const Target target = opencl_target();
  return *find_device(target);
}

// ---- storage ----

hd_memory& memory_of(const StorageHandle& handle) { return *static_cast<hd_memory*>(handle.get()); }

StorageHandle allocate(std::int64_t bytes) {
  const hd_memory memory =
      opencl_device().allocate(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1)));
  if (memory == 0) {
    throw RuntimeError(
        {.message = "no memory on opencl for a tensor", .found = absl::StrCat(bytes, " bytes")});
  }
  return std::make_shared<hd_memory>(memory);
}

// A run of its own.
template <class Work>
void run_transfer(Work work) {
  const hd_device& device = opencl_device();
  char why[1024] = "";
  device.begin();
  work(device);
  const int status = device.wait(why, sizeof why);
  device.end();
  if (status != HD_OK) throw RuntimeError({.message = absl::StrCat("opencl: ", why)});
}

void read(const StorageHandle& handle, std::size_t offset, std::span<std::byte> into) {
  run_transfer([&](const hd_device& device) {
    device.read(memory_of(handle), offset, into.data(), into.size());
  });
}
void write(const StorageHandle& handle, std::size_t offset, std::span<const std::byte> from) {
  run_transfer([&](const hd_device& device) {
    device.write(memory_of(handle), offset, from.data(), from.size());
  });
}

StorageProvider storage() {
  return {.supports_dtype = [](DType) { return true; },
          .physical_size = [](const Type& type) { return byte_count(type); },
          .allocate = allocate,
          .release = [](const StorageHandle& h) { opencl_device().release(memory_of(h)); },
          .read = read,
          .write = write};
}

// ---- programs ----

// Ready to run any number of times, from any number of threads.
class DeviceFunction {
 public:
  explicit DeviceFunction(const Function& f) : compiled_(f, opencl_target()) {
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

MaybeComposite prepare(const Carrier& carrier, const Invocation& inv) {
  if (inv.plan.accumulation == Accumulation::sequential) {
    return Unsupported("it sums in an order of its own");
  }
  if (!inv.mutated.empty()) return Unsupported("it computes values and changes no operand");
  for (const ResultSpec& r : inv.results) {
    if (r.alias_of) return Unsupported("its results are tensors of their own");
  }
  std::shared_ptr<DeviceFunction> function;
  try {
    function = std::make_shared<DeviceFunction>(inv.body);
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

ProgramFunction prepare_program(const Carrier& carrier, const Function& f) {
  auto function = std::make_shared<DeviceFunction>(f);
  return [function, &carrier](std::span<const Tensor> inputs, Location) {
    return function->run(inputs, carrier);
  };
}

}  // namespace

const Carrier& opencl_carrier() {
  static const Carrier& opencl =
      add_carrier({.name = "opencl",
                   .composite = CompositeProvider{.result_carriers = result_carriers,
                                                  .prepare = prepare,
                                                  .prepare_program = prepare_program},
                   .storage = storage()});
  return opencl;
}

}  // namespace heddle
