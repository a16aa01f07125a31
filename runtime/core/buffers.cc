// Calls whose tensors lie in buffers of the plan's device, made by somebody else.
#include "heddle/runtime/core/core.h"

namespace hdcore {
namespace {

int refuse(hd_instance& instance, const hd_signature& s, uint32_t tensor, const char* why) {
  begin_message(instance, s) << "argument '" << s.tensors[tensor].name << "' " << why << " on "
                             << instance.plan->device->name;
  return HD_INVALID;
}

int wrap(hd_instance& instance, const hd_signature& s, uint32_t tensor,
         const hd_device_buffer& found) {
  const FunctionState& f = *instance.device.wrapped;
  const hd_device& device = *instance.plan->device;
  const hd_tensor_spec& t = s.tensors[tensor];
  const uint64_t bytes = tensor_bytes(s, tensor);
  if (!bytes) return HD_OK;
  if (!found.buffer) return refuse(instance, s, tensor, "is null");
  if (found.offset & (device.alignment - 1))
    return refuse(instance, s, tensor, "begins where no array may");
  f.device.given[tensor] = device.wrap(found.buffer, found.offset, bytes);
  if (f.device.given[tensor]) return HD_OK;
  Text text = begin_message(instance, s);
  text << "argument '" << t.name << "': expected ";
  text.add_type(t.dtype, t.rank, s.dims + t.first_dim)
      << ", got a buffer of " << device.name << " that has not " << bytes << " bytes from "
      << found.offset << " on";
  return HD_MISMATCH;
}

bool overlap(const hd_signature& s, const hd_device_buffer* buffers, uint32_t a, uint32_t b) {
  const hd_device_buffer &x = buffers[a], &y = buffers[b];
  return x.buffer && x.buffer == y.buffer && x.offset < y.offset + tensor_bytes(s, b) &&
         y.offset < x.offset + tensor_bytes(s, a);
}

int check_overlaps(hd_instance& instance, const hd_signature& s, const hd_device_buffer* buffers) {
  const uint32_t n = s.n_inputs + s.n_outputs;
  for (uint32_t out = s.n_inputs; out < n; ++out) {
    for (uint32_t i = 0; i < n; ++i) {
      if (i == out || static_cast<int32_t>(i) == s.tensors[out].shares) continue;
      if (overlap(s, buffers, out, i))
        return refuse_overlap(instance, s, s.tensors[out].name, s.tensors[i].name);
    }
  }
  return HD_OK;
}

// Takes the place of the donated input that it shares.
int share(hd_instance& instance, const hd_signature& s, uint32_t out,
          const hd_device_buffer* buffers) {
  const auto input = static_cast<uint32_t>(s.tensors[out].shares);
  const hd_device_buffer &own = buffers[out], &donated = buffers[input];
  if (own.buffer && (own.buffer != donated.buffer || own.offset != donated.offset)) {
    begin_message(instance, s) << "output '" << s.tensors[out].name
                               << "' replaces the donated argument '" << s.tensors[input].name
                               << "': pass the same place, or null";
    return HD_INVALID;
  }
  const FunctionState& f = *instance.device.wrapped;
  f.device.given[out] = f.device.given[input];
  return HD_OK;
}

}  // namespace

int check_buffers(hd_instance& instance, uint32_t function, const hd_device_buffer* buffers,
                  uint32_t count) {
  const hd_signature* s = find_signature(instance, function, count, true);
  if (!s) return HD_INVALID;
  const hd_device* device = instance.plan->device;
  if (!device || !device->wrap) {
    begin_message(instance, *s) << (device ? device->name : "the CPU")
                                << " takes no buffers that somebody else made";
    return HD_UNSUPPORTED;
  }
  if (const int status = check_overlaps(instance, *s, buffers)) return status;
  FunctionState& f = instance.functions[function];
  for (uint32_t i = 0; i < count; ++i) {
    f.device.given[i] = 0;
    f.pointers[i] = nullptr;
  }
  instance.device.wrapped = &f;
  for (uint32_t i = 0; i < count; ++i) {
    const int status = s->tensors[i].shares < 0 ? wrap(instance, *s, i, buffers[i])
                                                : share(instance, *s, i, buffers);
    if (status) return status;
  }
  return HD_OK;
}

void unwrap(hd_instance& instance) {
  const FunctionState* f = instance.device.wrapped;
  if (!f) return;
  instance.device.wrapped = nullptr;
  const hd_signature& s = *f->signature;
  for (uint32_t i = 0; i < s.n_inputs + s.n_outputs; ++i) {
    if (s.tensors[i].shares < 0 && f->device.given[i])
      instance.plan->device->release(f->device.given[i]);
  }
}

}  // namespace hdcore
