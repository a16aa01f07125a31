// Runs the steps of a function. All descriptors exist since create; a call sets the pointers of its
// arguments and goes through the table.
#include "heddle/runtime/core/core.h"

namespace hdcore {
namespace {

const char* what_runs(const hd_instance& instance, const hd_step& step) {
  static const char* const kKinds[] = {"kernel", "copy", "call", "cond", "while", "scan"};
  if (step.kind == HD_STEP_KERNEL) return instance.plan->kernels[step.kernel].name;
  return step.kind <= HD_STEP_SCAN ? kKinds[step.kind] : "unknown";
}

}  // namespace

const hd_buffer& table_of(const hd_instance& instance, const FunctionState& f, const hd_step& step,
                          uint32_t position) {
  const hd_plan& plan = *instance.plan;
  return plan.buffers[f.function->first_buffer + plan.args[step.first_arg + position]];
}

HalideBuffer& buffer_of(const StepState& step, uint32_t position) {
  return *static_cast<HalideBuffer*>(step.argv[1 + position]);
}

Text& describe_step(Text& text, const hd_instance& instance, const FunctionState& f,
                    uint32_t number) {
  const hd_step& step = *f.steps[number].step;
  text << instance.artifact->name << "." << (f.signature ? f.signature->name : "?") << ": step "
       << number << " (" << what_runs(instance, step);
  const char* source = instance.plan->sources[step.source];
  return text << (*source ? ": " : "") << source << ")";
}

int fail_fault(hd_instance& instance, const FunctionState& f, uint32_t number) {
  Text text(instance.message, sizeof instance.message);
  describe_step(text, instance, f, number) << ": a checked operation overflowed";
  return HD_FAULT;
}

namespace {

// Axis 0 is the innermost; equal extents.
void copy_axes(const HalideBuffer& from, const HalideBuffer& to, int axis, const uint8_t* in,
               uint8_t* out, size_t size) {
  if (axis < 0) {
    memcpy(out, in, size);
    return;
  }
  const Dimension &a = from.dim[axis], &b = to.dim[axis];
  if (axis == 0 && a.stride == 1 && b.stride == 1) {
    memcpy(out, in, size * static_cast<size_t>(a.extent));
    return;
  }
  if (axis == 0 && a.stride == 0 && b.stride == 1 && a.extent > 0) {  // one element repeated
    const size_t all = size * static_cast<size_t>(a.extent);
    memcpy(out, in, size);
    for (size_t done = size; done < all; done *= 2) {
      memcpy(out + done, out, done < all - done ? done : all - done);
    }
    return;
  }
  for (int64_t i = 0; i < a.extent; ++i) {
    copy_axes(from, to, axis - 1, in + i * a.stride * static_cast<int64_t>(size),
              out + i * b.stride * static_cast<int64_t>(size), size);
  }
}

// The first element that is no finite number, or null.
const uint8_t* find_nonfinite(const HalideBuffer& buffer, int axis, const uint8_t* at,
                              uint32_t dtype) {
  if (axis < 0) return is_finite_element(dtype, at) ? nullptr : at;
  const Dimension& d = buffer.dim[axis];
  for (int64_t i = 0; i < d.extent; ++i) {
    const uint8_t* found =
        find_nonfinite(buffer, axis - 1, at + i * d.stride * int64_t{size_of(dtype)}, dtype);
    if (found) return found;
  }
  return nullptr;
}

int check_finite(hd_instance& instance, const FunctionState& f, uint32_t number) {
  const StepState& state = f.steps[number];
  for (uint32_t i = 0; i < state.step->n_outputs; ++i) {
    const uint32_t position = state.step->n_inputs + i;
    const hd_buffer& table = table_of(instance, f, *state.step, position);
    if (table.dtype < HD_F16) continue;
    const HalideBuffer& buffer = buffer_of(state, position);
    const uint8_t* elements = buffer.host;
    if (instance.plan->device) {
      if (const int status = fetch_output(instance, f, number, position)) return status;
      elements = instance.device.staging;
    }
    const uint8_t* at = find_nonfinite(buffer, buffer.dimensions - 1, elements, table.dtype);
    if (!at) continue;
    const double value = element_as_double(table.dtype, at, 0);
    Text text(instance.message, sizeof instance.message);
    describe_step(text, instance, f, number)
        << " made a value that is " << value << " in its output " << i << ", ";
    text.add_type(table.dtype, table.rank, instance.plan->dims + table.first_dim);
    return HD_NONFINITE;
  }
  return HD_OK;
}

int check_fault(hd_instance& instance, const FunctionState& f, uint32_t number) {
  const StepState& state = f.steps[number];
  if (state.step->fault < 0) return HD_OK;
  if (instance.plan->device) {  // looked at when the run ends
    fetch_flag(instance, f, number);
    return HD_OK;
  }
  int32_t flag;
  memcpy(&flag, buffer_of(state, static_cast<uint32_t>(state.step->fault)).host, sizeof flag);
  return flag ? fail_fault(instance, f, number) : HD_OK;
}

void call_hook(const hd_instance& instance, uint32_t function, uint32_t number, uint32_t end) {
  const hd_step& step = *instance.functions[function].steps[number].step;
  const hd_plan& plan = *instance.plan;
  const bool is_kernel = step.kind == HD_STEP_KERNEL;
  const hd_step_event event = {end,
                               function,
                               number,
                               step.wave,
                               what_runs(instance, step),
                               plan.sources[step.source],
                               plan.nodes + step.first_node,
                               step.n_nodes,
                               0,
                               is_kernel ? plan.kernels[step.kernel].bytes : 0,
                               is_kernel ? plan.kernels[step.kernel].flops : 0};
  instance.options.step_hook(instance.options.step_user, &event);
}

int fail_step(hd_instance& instance, const FunctionState& f, uint32_t number, int status,
              int detail) {
  Text text(instance.message, sizeof instance.message);
  describe_step(text, instance, f, number);
  if (status == HD_UNSUPPORTED) {
    text << ": steps of this kind are not supported by this runtime";
  } else if (status == HD_CANCELLED) {
    text << ": cancelled";
  } else if (detail) {
    text << ": the kernel returned " << detail;
  } else {
    text << ": the kernel asked for more scratch than announced, or reported an error";
  }
  return status;
}

void copy(const hd_instance& instance, const hd_buffer& table, const HalideBuffer& from,
          const HalideBuffer& to) {
  const uint32_t size = size_of(table.dtype);
  if (const hd_device* device = instance.plan->device) {  // both are dense
    device->copy(from.device, to.device,
                 count_elements(instance.plan->dims + table.first_dim, table.rank) * size);
  } else {
    copy_axes(from, to, from.dimensions - 1, from.host, to.host, size);
  }
}

int run_step(hd_instance& instance, const FunctionState& f, uint32_t number) {
  const StepState& state = f.steps[number];
  if (state.step->kind > HD_STEP_COPY) return fail_step(instance, f, number, HD_UNSUPPORTED, 0);
  if (state.empty) return HD_OK;
  if (state.step->kind == HD_STEP_COPY) {
    copy(instance, table_of(instance, f, *state.step, 0), buffer_of(state, 0), buffer_of(state, 1));
    return instance.plan->device ? check_launched(instance, f, number) : HD_OK;
  }
  const DenormalsAsZeros mode(state.step->flags & HD_DENORMALS_AS_ZEROS);
  const int returned = state.run(state.argv);
  const int status = __atomic_load_n(&instance.kernel_status, __ATOMIC_RELAXED);
  if (returned || status)
    return fail_step(instance, f, number, status ? status : HD_KERNEL_FAILED, returned);
  return instance.plan->device ? check_launched(instance, f, number) : HD_OK;
}

int run_watched(hd_instance& instance, uint32_t function, uint32_t number) {
  const FunctionState& f = instance.functions[function];
  if (instance.options.cancel && *instance.options.cancel)
    return fail_step(instance, f, number, HD_CANCELLED, 0);
  if (instance.options.step_hook) call_hook(instance, function, number, 0);
  int status = run_step(instance, f, number);
  if (instance.options.step_hook) {
    if (!status && instance.plan->device) status = wait_for_step(instance, f, number);
    call_hook(instance, function, number, 1);
  }
  if (!status) status = check_fault(instance, f, number);
  if (!status && instance.options.flags & HD_CHECK_NAN) status = check_finite(instance, f, number);
  return status;
}

int run_steps(hd_instance& instance, uint32_t function) {
  const FunctionState& f = instance.functions[function];
  const hd_options& o = instance.options;
  const bool watched = o.cancel || o.step_hook || o.flags & HD_CHECK_NAN || f.has_faults;
  for (uint32_t i = 0; i < f.function->n_steps; ++i) {
    const int status = watched ? run_watched(instance, function, i) : run_step(instance, f, i);
    if (status) return status;
  }
  return HD_OK;
}

}  // namespace

int execute(hd_instance& instance, uint32_t function) {
  const FunctionState& f = instance.functions[function];
  const bool on_device = instance.plan->device;
  for (uint32_t i = 0; i < f.n_patches; ++i) {
    const Patch& p = f.patches[i];
    if (on_device) {
      const hd_memory given = f.device.given[p.tensor];
      p.buffer->device = given ? given : f.device.own[p.tensor];
    } else {
      p.buffer->host = static_cast<uint8_t*>(f.pointers[p.tensor]) + p.offset;
    }
  }
  instance.kernel_status = 0;
  instance.main.used = 0;
  instance.main.n_blocks = 0;
  return on_device ? run_on_device(instance, function, run_steps) : run_steps(instance, function);
}

}  // namespace hdcore
