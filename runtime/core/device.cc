// Plans whose kernels run on a device. Its memory is made at create:
//   prepared constants | arena | arrays between launches | arguments of the function that runs
// as one block with a view for each buffer and each tensor, and one memory per constant: the
// artifact's own bytes, where the device can use them. A run
// sends inputs, asks for its steps one after the other, fetches outputs and waits once.
#include "heddle/runtime/core/core.h"

namespace hdcore {
namespace {

struct Block {
  uint64_t arena, arrays, arguments, bytes;
};

uint64_t aligned(const hd_plan& plan, uint64_t bytes) {
  const uint64_t step = plan.device->alignment;
  return (bytes + step - 1) / step * step;
}
// A view has at least a byte.
uint64_t some(uint64_t bytes) { return bytes ? bytes : 1; }

uint64_t argument_bytes(const hd_plan& plan, const hd_signature& s) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < s.n_inputs + s.n_outputs; ++i) {
    if (s.tensors[i].shares < 0) bytes += aligned(plan, some(tensor_bytes(s, i)));
  }
  return bytes;
}

Block block_of(const hd_artifact& artifact, const hd_plan& plan, uint32_t flags) {
  uint64_t arena = 0, arrays = 0, arguments = 0;
  for (uint32_t i = 0; i < plan.n_functions; ++i) {
    const uint64_t bytes = aligned(plan, plan.functions[i].arena_bytes);
    if (bytes > arena) arena = bytes;
  }
  for (uint32_t i = 0; i < artifact.n_signatures && !(flags & HD_DEVICE_TENSORS); ++i) {
    const uint64_t bytes = argument_bytes(plan, artifact.signatures[i]);
    if (bytes > arguments) arguments = bytes;
  }
  for (uint32_t i = 0; i < plan.n_kernels; ++i) {
    const uint64_t bytes = aligned(plan, plan.kernels[i].device_bytes);
    if (bytes > arrays) arrays = bytes;
  }
  const uint64_t begin = aligned(plan, plan.prepared_bytes), behind = begin + arena + arrays;
  // Behind it all there is room for views of no elements.
  return {begin, begin + arena, behind, behind + arguments + aligned(plan, 1)};
}

bool is_used(const hd_plan& plan, uint32_t constant) {
  for (uint32_t i = 0; i < plan.n_buffers; ++i) {
    if (plan.buffers[i].space == HD_CONSTANT && plan.buffers[i].index == constant) return true;
  }
  return false;
}

// Large ones that the device can use where they are; 0: it has to have a copy.
hd_memory map(const hd_device& device, const hd_constant& constant) {
  constexpr uint64_t kLeast = 16384;  // a page
  return device.map && constant.bytes >= kLeast ? device.map(constant.data, constant.bytes) : 0;
}

// Makes an instance's memory; false when there is no room.
class Maker {
 public:
  explicit Maker(hd_instance& instance)
      : instance_(instance),
        artifact_(*instance.artifact),
        plan_(*instance.plan),
        device_(*plan_.device),
        block_(block_of(artifact_, plan_, instance.options.flags)) {}

  bool make() {
    instance_.device.block = device_.allocate(block_.bytes);
    if (!instance_.device.block || !make_constants()) return false;
    instance_.device.stack.begin = block_.arrays;
    instance_.device.stack.capacity = block_.arguments - block_.arrays;
    for (uint32_t i = 0; i < plan_.n_functions; ++i) {
      if (!place_tensors(i) || !place_buffers(instance_.functions[i])) return false;
    }
    return make_staging();
  }

 private:
  bool make_constants() {
    for (uint32_t i = 0; i < artifact_.n_constants; ++i) {
      if (!is_used(plan_, i)) continue;
      hd_memory& memory = instance_.device.constants[i];
      memory = map(device_, artifact_.constants[i]);
      instance_.device.mapped[i] = memory != 0;
      if (!memory) memory = device_.allocate(some(artifact_.constants[i].bytes));
      if (!memory) return false;
    }
    return true;
  }

  hd_memory view(uint64_t offset, uint64_t bytes) {
    const hd_memory made = device_.view(instance_.device.block, offset, some(bytes));
    if (made) instance_.device.views[instance_.device.n_views++] = made;
    return made;
  }

  // What @prepare makes lies where the tables say, everything else one behind the other.
  bool place_tensors(uint32_t number) {
    const FunctionState& f = instance_.functions[number];
    if (!f.signature) return true;
    const hd_signature& s = *f.signature;
    const bool prepares = static_cast<int64_t>(number) == artifact_.prepare;
    if (instance_.options.flags & HD_DEVICE_TENSORS && !prepares) return true;
    uint64_t at = block_.arguments;
    for (uint32_t i = 0; i < s.n_inputs + s.n_outputs; ++i) {
      const hd_tensor_spec& t = s.tensors[i];
      const uint64_t bytes = tensor_bytes(s, i);
      f.device.own[i] =
          t.shares >= 0 ? f.device.own[t.shares] : view(prepares ? t.offset : at, bytes);
      if (!f.device.own[i]) return false;
      if (t.shares < 0) at += aligned(plan_, some(bytes));
    }
    return true;
  }

  bool place_buffers(FunctionState& f) {
    for (uint32_t i = 0; i < f.function->n_buffers; ++i) {
      const hd_buffer& table = plan_.buffers[f.function->first_buffer + i];
      if (table.space == HD_ARGUMENT) continue;
      HalideBuffer& buffer = f.buffers[i];
      buffer.device =
          table.space == HD_CONSTANT
              ? instance_.device.constants[table.index]
              : view((table.space == HD_ARENA ? block_.arena : 0) + table.offset,
                     span_of(table, plan_.dims + table.first_dim) * size_of(table.dtype));
      if (!buffer.device) return false;
    }
    return true;
  }

  bool make_staging() {
    if (!(instance_.options.flags & HD_CHECK_NAN)) return true;
    uint64_t most = 1;
    for (uint32_t i = 0; i < plan_.n_buffers; ++i) {
      const hd_buffer& b = plan_.buffers[i];
      const uint64_t bytes = span_of(b, plan_.dims + b.first_dim) * size_of(b.dtype);
      if (bytes > most) most = bytes;
    }
    const hd_options& o = instance_.options;
    instance_.device.staging_bytes = most;
    instance_.device.staging =
        static_cast<uint8_t*>(o.allocate(o.allocator_user, most, HD_ALIGNMENT));
    return instance_.device.staging != nullptr;
  }

  hd_instance& instance_;
  const hd_artifact& artifact_;
  const hd_plan& plan_;
  const hd_device& device_;
  const Block block_;
};

int send_constants(const hd_instance& instance, char* why, size_t size) {
  const hd_device& device = *instance.plan->device;
  device.begin();
  for (uint32_t i = 0; i < instance.artifact->n_constants; ++i) {
    const hd_constant& c = instance.artifact->constants[i];
    const hd_memory to = instance.device.constants[i];
    if (to && c.bytes && !instance.device.mapped[i]) device.write(to, 0, c.data, c.bytes);
  }
  const int status = device.wait(why, size);
  device.end();
  return status;
}

// Whether a tensor of a call comes from the host, or goes there.
bool travels(const FunctionState& f, uint32_t tensor) {
  return !f.device.given[tensor] && tensor_bytes(*f.signature, tensor) != 0;
}

void send_inputs(const hd_device& device, const FunctionState& f) {
  for (uint32_t i = 0; i < f.signature->n_inputs; ++i) {
    if (!travels(f, i)) continue;
    device.write(f.device.own[i], 0, f.pointers[i], tensor_bytes(*f.signature, i));
  }
}

void fetch_outputs(const hd_device& device, const FunctionState& f) {
  const hd_signature& s = *f.signature;
  for (uint32_t i = s.n_inputs; i < s.n_inputs + s.n_outputs; ++i) {
    if (travels(f, i)) device.read(f.device.own[i], 0, f.pointers[i], tensor_bytes(s, i));
  }
}

// With what it makes: "net.step: step 3 (k7: exp net.cpp:12) -> f32[40]".
Text& describe_result(Text& text, const hd_instance& instance, const FunctionState& f,
                      uint32_t number) {
  describe_step(text, instance, f, number);
  const hd_step& step = *f.steps[number].step;
  if (!step.n_outputs) return text;
  const hd_buffer& table = table_of(instance, f, step, step.n_inputs);
  text << " -> ";
  return text.add_type(table.dtype, table.rank, instance.plan->dims + table.first_dim);
}

// The message of a failure is there already when `status` is not HD_OK. All steps were asked for by
// now: which of them it was the device does not say.
int wait(hd_instance& instance, const FunctionState& f, int status) {
  char why[1024] = "";
  const int failed = instance.plan->device->wait(why, sizeof why);
  if (status || !failed) return status;
  Text text(instance.message, sizeof instance.message);
  if (f.function->n_steps) {
    describe_result(text, instance, f, f.function->n_steps - 1) << " or before it";
  } else {
    text << instance.artifact->name << "." << f.signature->name;
  }
  text << " on " << instance.plan->device->name << ": " << why;
  return HD_DEVICE_FAILED;
}

int check_flags(hd_instance& instance, const FunctionState& f) {
  for (uint32_t i = 0; f.has_faults && i < f.function->n_steps; ++i) {
    if (f.steps[i].step->fault >= 0 && f.device.flags[i]) return fail_fault(instance, f, i);
  }
  return HD_OK;
}

}  // namespace

hd_memory take_array(void* context, uint64_t bytes) {
  hd_instance& instance = *static_cast<Context*>(context)->instance;
  const hd_device& device = *instance.plan->device;
  ArrayStack& stack = instance.device.stack;
  const uint64_t size = aligned(*instance.plan, some(bytes));
  const bool fits = stack.n < kMaxBlocks && size <= stack.capacity - stack.used;
  const hd_memory view =
      fits ? device.view(instance.device.block, stack.begin + stack.used, some(bytes)) : 0;
  if (!view) {
    device.fail("memory for an array between launches");
    return 0;
  }
  stack.arrays[stack.n++] = {view, stack.used, false};
  stack.used += size;
  return view;
}

// What was queued for it is done before what is queued for the next array in its place.
void give_array(void* context, hd_memory array) {
  hd_instance& instance = *static_cast<Context*>(context)->instance;
  instance.plan->device->release(array);
  ArrayStack& stack = instance.device.stack;
  for (int i = stack.n; i-- > 0;) {
    if (stack.arrays[i].view != array || stack.arrays[i].freed) continue;
    stack.arrays[i].freed = true;
    break;
  }
  while (stack.n && stack.arrays[stack.n - 1].freed) stack.used = stack.arrays[--stack.n].offset;
}

int open_device(hd_instance& instance, Text& text) {
  const hd_device* device = instance.plan->device;
  if (!device) return HD_OK;
  const char* name = instance.artifact->name;
  char why[1024] = "";
  if (device->open(why, sizeof why)) {
    text << name << ": " << device->name << ": " << why;
    return HD_NO_DEVICE;
  }
  if (!Maker(instance).make()) {
    text << name << ": no memory on " << device->name << ": needed are "
         << hd_device_bytes(instance.artifact, instance.plan, instance.options.flags) << " bytes";
    return HD_DEVICE_FAILED;
  }
  if (!send_constants(instance, why, sizeof why)) return HD_OK;
  text << name << ": sending constants to " << device->name << ": " << why;
  return HD_DEVICE_FAILED;
}

void close_device(hd_instance& instance) {
  const hd_device* device = instance.plan->device;
  if (!device) return;
  DeviceMemory& memory = instance.device;
  while (memory.n_views) device->release(memory.views[--memory.n_views]);
  for (uint32_t i = 0; memory.constants && i < instance.artifact->n_constants; ++i) {
    if (memory.constants[i]) device->release(memory.constants[i]);
  }
  if (memory.block) device->release(memory.block);
  const hd_options& o = instance.options;
  if (memory.staging) o.release(o.allocator_user, memory.staging, memory.staging_bytes);
}

int run_on_device(hd_instance& instance, uint32_t function,
                  int (*run_steps)(hd_instance& instance, uint32_t function)) {
  const FunctionState& f = instance.functions[function];
  const hd_device& device = *instance.plan->device;
  instance.device.stack.used = 0;
  instance.device.stack.n = 0;
  device.begin();
  send_inputs(device, f);
  int status = device.failed() ? wait(instance, f, HD_OK) : run_steps(instance, function);
  if (!status) fetch_outputs(device, f);
  status = wait(instance, f, status);
  device.end();
  return status ? status : check_flags(instance, f);
}

int wait_for_step(hd_instance& instance, const FunctionState& f, uint32_t step) {
  char why[1024] = "";
  if (!instance.plan->device->wait(why, sizeof why)) return HD_OK;
  Text text(instance.message, sizeof instance.message);
  describe_result(text, instance, f, step) << " on " << instance.plan->device->name << ": " << why;
  return HD_DEVICE_FAILED;
}

int check_launched(hd_instance& instance, const FunctionState& f, uint32_t step) {
  return instance.plan->device->failed() ? wait_for_step(instance, f, step) : HD_OK;
}

void fetch_flag(hd_instance& instance, const FunctionState& f, uint32_t step) {
  const StepState& state = f.steps[step];
  const HalideBuffer& flag = buffer_of(state, static_cast<uint32_t>(state.step->fault));
  instance.plan->device->read(flag.device, 0, &f.device.flags[step], sizeof(int32_t));
}

int fetch_output(hd_instance& instance, const FunctionState& f, uint32_t step, uint32_t position) {
  const StepState& state = f.steps[step];
  const hd_buffer& table = table_of(instance, f, *state.step, position);
  const uint64_t elements = span_of(table, instance.plan->dims + table.first_dim);
  if (!elements) return HD_OK;
  instance.plan->device->read(buffer_of(state, position).device, 0, instance.device.staging,
                              elements * size_of(table.dtype));
  return wait_for_step(instance, f, step);
}

}  // namespace hdcore

uint64_t hd_device_bytes(const hd_artifact* artifact, const hd_plan* plan, uint32_t flags) {
  if (!plan->device) return 0;
  uint64_t bytes = hdcore::block_of(*artifact, *plan, flags).bytes;
  for (uint32_t i = 0; i < artifact->n_constants; ++i) {
    if (hdcore::is_used(*plan, i))
      bytes += hdcore::aligned(*plan, hdcore::some(artifact->constants[i].bytes));
  }
  return bytes;
}
