// What a call is checked for before anything runs: the generic form in full, the typed form for
// what raw pointers can tell.
#include "heddle/runtime/core/core.h"

namespace hdcore {

Text begin_message(hd_instance& instance, const hd_signature& s) {
  Text text(instance.message, sizeof instance.message);
  text << instance.artifact->name << "." << s.name << ": ";
  return text;
}

const hd_signature* find_signature(hd_instance& instance, uint32_t function, uint32_t found,
                                   bool tensors) {
  const hd_artifact& artifact = *instance.artifact;
  if (function >= artifact.n_signatures || static_cast<int64_t>(function) == artifact.prepare) {
    Text(instance.message, sizeof instance.message)
        << artifact.name << ": there is no function number " << function << "; there are "
        << artifact.n_signatures;
    return nullptr;
  }
  const hd_signature& s = artifact.signatures[function];
  const uint32_t needed = tensors ? s.n_inputs + s.n_outputs : s.n_arguments;
  if (found == needed) return &s;
  begin_message(instance, s) << "takes " << needed << (tensors ? " tensors" : " arguments")
                             << ", got " << found;
  return nullptr;
}

int refuse_overlap(hd_instance& instance, const hd_signature& s, const char* a, const char* b) {
  begin_message(instance, s) << "argument '" << a << "' is written and overlaps argument '" << b
                             << "'";
  return HD_OVERLAP;
}

namespace {

struct Range {
  uintptr_t begin, end;
};

Range range_of(const void* pointer, uint64_t bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(pointer);
  return {begin, begin + bytes};
}
bool overlap(Range a, Range b) { return a.begin < b.end && b.begin < a.end; }

int refuse_pointer(hd_instance& instance, const hd_signature& s, const char* name,
                   const void* pointer, uint32_t alignment) {
  Text text = begin_message(instance, s);
  text << "argument '" << name << "' is ";
  if (pointer)
    text << "not aligned to " << alignment << " bytes";
  else
    text << "null";
  return HD_INVALID;
}

int refuse_host(hd_instance& instance, const hd_signature& s, const char* name) {
  begin_message(instance, s) << "argument '" << name << "' is in host memory; this instance takes "
                             << "tensors that are on its device";
  return HD_INVALID;
}

int refuse_tensor(hd_instance& instance, const hd_signature& s, uint32_t number,
                  const hd_tensor& found) {
  const hd_tensor_spec& t = s.tensors[number];
  Text text = begin_message(instance, s);
  text << (number < s.n_inputs ? "argument '" : "output '") << t.name << "': expected ";
  text.add_type(t.dtype, t.rank, s.dims + t.first_dim) << ", got ";
  if (found.rank > HD_MAX_RANK || (found.rank && !found.shape)) {
    text << name_of(found.dtype) << " of rank " << found.rank
         << (found.shape ? "" : " without a shape");
  } else {
    text.add_type(found.dtype, found.rank, found.shape);
  }
  return HD_MISMATCH;
}

bool is_dense(const hd_tensor& t) {
  int64_t stride = 1;
  for (uint32_t i = t.rank; t.strides && i-- > 0;) {
    if (t.shape[i] != 1 && t.strides[i] != stride) return false;
    stride *= t.shape[i];
  }
  return true;
}

bool has_type(const hd_signature& s, const hd_tensor_spec& t, const hd_tensor& found) {
  if (found.dtype != t.dtype || found.rank != t.rank || (t.rank && !found.shape)) return false;
  for (uint32_t i = 0; i < t.rank; ++i) {
    if (found.shape[i] != s.dims[t.first_dim + i]) return false;
  }
  return true;
}

int check_tensor(hd_instance& instance, const hd_signature& s, uint32_t number,
                 const hd_tensor& found) {
  const hd_tensor_spec& t = s.tensors[number];
  if (!has_type(s, t, found)) return refuse_tensor(instance, s, number, found);
  if (found.device && !instance.plan->device) {
    begin_message(instance, s) << "argument '" << t.name
                               << "' lives on a device; this artifact takes host memory";
    return HD_UNSUPPORTED;
  }
  const bool empty = tensor_bytes(s, number) == 0;
  if (!empty && !is_dense(found)) {
    begin_message(instance, s) << "argument '" << t.name << "' is not dense and row-major";
    return HD_MISMATCH;
  }
  if (found.device) return HD_OK;
  if (instance.options.flags & HD_DEVICE_TENSORS && !empty && t.shares < 0)
    return refuse_host(instance, s, t.name);
  const uintptr_t address = reinterpret_cast<uintptr_t>(found.data);
  if ((!found.data && !empty && t.shares < 0) || address % size_of(t.dtype)) {
    return refuse_pointer(instance, s, t.name, found.data, size_of(t.dtype));
  }
  return HD_OK;
}

// Where a call's tensors are: the same storage for what lives on a device is the same handle.
struct Places {
  void** pointers;
  hd_memory* given;  // null: all are in host memory

  hd_memory device(uint32_t i) const { return given ? given[i] : 0; }
  bool same(uint32_t a, uint32_t b) const {
    return pointers[a] == pointers[b] && device(a) == device(b);
  }
  bool overlapping(const hd_signature& s, uint32_t a, uint32_t b) const {
    if (device(a) || device(b)) return device(a) == device(b);
    return overlap(range_of(pointers[a], tensor_bytes(s, a)),
                   range_of(pointers[b], tensor_bytes(s, b)));
  }
};

// An output that shares a donated input takes its storage, whether the caller names it or not.
int check_sharing(hd_instance& instance, const hd_signature& s, uint32_t number,
                  const Places& places) {
  const hd_tensor_spec& t = s.tensors[number];
  if (t.shares < 0) return HD_OK;
  const uint32_t input = static_cast<uint32_t>(t.shares);
  if ((places.pointers[number] || places.device(number)) && !places.same(number, input)) {
    begin_message(instance, s) << "output '" << t.name << "' replaces the donated argument '"
                               << s.tensors[input].name << "': pass the same storage, or null";
    return HD_INVALID;
  }
  places.pointers[number] = places.pointers[input];
  if (places.given) places.given[number] = places.given[input];
  return HD_OK;
}

int check_tensor_overlaps(hd_instance& instance, const hd_signature& s, const Places& places) {
  const uint32_t n = s.n_inputs + s.n_outputs;
  for (uint32_t out = s.n_inputs; out < n; ++out) {
    for (uint32_t i = 0; i < n; ++i) {
      if (i == out || static_cast<int32_t>(i) == s.tensors[out].shares ||
          (i >= s.n_inputs && i > out))
        continue;
      if (!places.overlapping(s, out, i)) continue;
      return refuse_overlap(instance, s, s.tensors[out].name, s.tensors[i].name);
    }
  }
  return HD_OK;
}

}  // namespace

int check_arguments(hd_instance& instance, uint32_t function, void* const* arguments,
                    uint32_t count) {
  const hd_signature* s = find_signature(instance, function, count, false);
  if (!s) return HD_INVALID;
  for (uint32_t i = 0; i < count; ++i) {
    const hd_argument& a = s->arguments[i];
    if (instance.options.flags & HD_DEVICE_TENSORS && a.bytes)
      return refuse_host(instance, *s, a.name);
    const bool misaligned = reinterpret_cast<uintptr_t>(arguments[i]) & (a.alignment - 1);
    if ((!arguments[i] && a.bytes) || misaligned)
      return refuse_pointer(instance, *s, a.name, arguments[i], a.alignment);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!(s->arguments[i].access & HD_OUT)) continue;
    const Range written = range_of(arguments[i], s->arguments[i].bytes);
    for (uint32_t j = 0; j < count; ++j) {
      if (i == j || !overlap(written, range_of(arguments[j], s->arguments[j].bytes))) continue;
      return refuse_overlap(instance, *s, s->arguments[i].name, s->arguments[j].name);
    }
  }
  const FunctionState& f = instance.functions[function];
  void** pointers = f.pointers;
  for (uint32_t i = 0; i < s->n_inputs + s->n_outputs; ++i) {
    if (f.device.given) f.device.given[i] = 0;
    pointers[i] = static_cast<uint8_t*>(arguments[s->tensors[i].argument]) + s->tensors[i].offset;
  }
  return HD_OK;
}

int check_tensors(hd_instance& instance, uint32_t function, const hd_tensor* tensors,
                  uint32_t count) {
  const hd_signature* s = find_signature(instance, function, count, true);
  if (!s) return HD_INVALID;
  const FunctionState& f = instance.functions[function];
  const Places places = {f.pointers, f.device.given};
  for (uint32_t i = 0; i < count; ++i) {
    if (const int status = check_tensor(instance, *s, i, tensors[i])) return status;
    places.pointers[i] = tensors[i].device ? nullptr : tensors[i].data;
    if (places.given) places.given[i] = tensors[i].device;
  }
  for (uint32_t i = s->n_inputs; i < count; ++i) {
    if (const int status = check_sharing(instance, *s, i, places)) return status;
  }
  return check_tensor_overlaps(instance, *s, places);
}

}  // namespace hdcore
