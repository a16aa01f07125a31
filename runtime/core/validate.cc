// Is an artifact whole, and for this runtime? Every index and offset of the tables is checked once,
// so that a run needs no checks and a broken table cannot read outside its storage.
#include "heddle/runtime/core/core.h"

namespace hdcore {
namespace {

struct Hash {
  uint64_t value = kHashStart;
  void add(const void* data, size_t bytes) { value = hash_bytes(value, data, bytes); }
  template <class... T>
  void add_numbers(T... numbers) {
    (add(static_cast<uint64_t>(numbers)), ...);
  }
  void add(uint64_t number) { add(&number, sizeof number); }
  void add(const char* text) { add(text, strlen(text) + 1); }
};

void add_signature(Hash& hash, const hd_signature& s) {
  hash.add(s.name);
  hash.add_numbers(s.n_arguments, s.n_inputs, s.n_outputs, s.n_dims);
  hash.add(s.dims, s.n_dims * sizeof *s.dims);
  for (uint32_t i = 0; i < s.n_arguments; ++i) {
    const hd_argument& a = s.arguments[i];
    hash.add(a.name);
    hash.add_numbers(a.bytes, uint64_t{a.access}, uint64_t{a.alignment});
  }
  for (uint32_t i = 0; i < s.n_inputs + s.n_outputs; ++i) {
    const hd_tensor_spec& t = s.tensors[i];
    hash.add(t.name);
    const uint64_t fields[] = {
        t.argument, t.dtype,    t.rank, t.donated, static_cast<uint64_t>(t.shares),
        t.offset,   t.first_dim};
    hash.add(fields, sizeof fields);
  }
}

void add_plan(Hash& hash, const hd_plan& p) {
  hash.add(p.features);
  hash.add(p.functions, p.n_functions * sizeof *p.functions);
  hash.add(p.steps, p.n_steps * sizeof *p.steps);
  hash.add(p.buffers, p.n_buffers * sizeof *p.buffers);
  hash.add(p.args, p.n_args * sizeof *p.args);
  hash.add(p.nodes, p.n_nodes * sizeof *p.nodes);
  hash.add(p.dims, p.n_dims * sizeof *p.dims);
  for (uint32_t i = 0; i < p.n_kernels; ++i) {
    const hd_kernel& k = p.kernels[i];
    hash.add(k.name);
    hash.add_numbers(k.flops, k.bytes, k.scratch_once, k.scratch_task, k.device_bytes);
  }
  for (uint32_t i = 0; i < p.n_sources; ++i) hash.add(p.sources[i]);
  hash.add_numbers(p.prepared_bytes, p.scratch_once, p.scratch_task);
}

// Writes what is wrong at a place of the tables.
class Finder {
 public:
  Finder(const hd_artifact& artifact, Text& text) : artifact_(artifact), text_(text) {}

  bool find() {
    for (uint32_t i = 0; i < artifact_.n_signatures; ++i) {
      if (in_signature(artifact_.signatures[i])) return true;
    }
    if (in_prepare()) return true;
    for (uint32_t i = 0; i < artifact_.n_plans; ++i) {
      if (in_plan(artifact_.plans[i])) return true;
    }
    return false;
  }

 private:
  static constexpr int64_t kLimit = 0x7fffffff;  // Halide's coordinates are int32

  Text& at(const char* function) {
    return text_ << artifact_.name << "." << function << ": the tables are wrong: ";
  }
  // "found 7, needed at most 3".
  template <class T>
  static bool wrong(Text& text, const char* what, T found, const char* needed) {
    text << what << ": found " << found << ", needed " << needed;
    return true;
  }
  template <class T, class L>
  static bool wrong(Text& text, const char* what, T found, const char* needed, L limit) {
    text << what << ": found " << found << ", needed " << needed << " " << limit;
    return true;
  }

  // Of a tensor that its storage has no room for.
  static bool outside(Text& text, uint64_t offset, uint64_t elements, uint32_t size,
                      uint64_t capacity) {
    if (offset) text << " behind " << offset << " bytes";
    text << ": found ";
    if (elements < kMostElements)
      text << elements * size << " bytes";
    else
      text << "2^56 elements or more";
    text << ", needed at most " << (offset < capacity ? capacity - offset : 0) << " bytes";
    return true;
  }

  // ---- what callers see ----

  Text& at_tensor(const hd_signature& s, uint32_t number) {
    return at(s.name) << (number < s.n_inputs ? "argument '" : "output '") << s.tensors[number].name
                      << "': ";
  }

  bool in_signature(const hd_signature& s) {
    for (uint32_t i = 0; i < s.n_inputs + s.n_outputs; ++i) {
      if (in_form(s, i) || in_place(s, i) || in_sharing(s, i)) return true;
    }
    return false;
  }

  bool in_form(const hd_signature& s, uint32_t i) {
    const hd_tensor_spec& t = s.tensors[i];
    if (t.rank > HD_MAX_RANK)
      return wrong(at_tensor(s, i), "rank", uint32_t{t.rank}, "at most", HD_MAX_RANK);
    if (!size_of(t.dtype))
      return wrong(at_tensor(s, i), "dtype", uint32_t{t.dtype}, "the number of one");
    if (uint64_t{t.first_dim} + t.rank > s.n_dims)
      return wrong(at_tensor(s, i), "extents up to number", uint64_t{t.first_dim} + t.rank,
                   "at most", s.n_dims);
    for (uint32_t d = 0; d < t.rank; ++d) {
      const int64_t extent = s.dims[t.first_dim + d];
      if (extent >= 0) continue;
      Text& text = at_tensor(s, i) << "axis " << d << " of ";
      return wrong(text.add_type(t.dtype, t.rank, s.dims + t.first_dim), "", extent, "0 or more");
    }
    return false;
  }

  bool in_place(const hd_signature& s, uint32_t i) {
    const hd_tensor_spec& t = s.tensors[i];
    if (t.argument >= s.n_arguments)
      return wrong(at_tensor(s, i), "a pointer's number", t.argument, "less than", s.n_arguments);
    const hd_argument& a = s.arguments[t.argument];
    const uint64_t elements = count_elements(s.dims + t.first_dim, t.rank);
    if (t.offset > a.bytes || elements * size_of(t.dtype) > a.bytes - t.offset) {
      Text& text = at_tensor(s, i).add_type(t.dtype, t.rank, s.dims + t.first_dim);
      return outside(text, t.offset, elements, size_of(t.dtype), a.bytes);
    }
    if (t.offset % size_of(t.dtype))
      return wrong(at_tensor(s, i), "byte", t.offset, "a multiple of", size_of(t.dtype));
    return false;
  }

  bool in_sharing(const hd_signature& s, uint32_t i) {
    const int32_t shares = s.tensors[i].shares;
    const bool good = shares < 0 || (i >= s.n_inputs && shares < static_cast<int32_t>(s.n_inputs) &&
                                     s.tensors[shares].donated);
    return !good && wrong(at_tensor(s, i), "it shares the storage of argument number", shares,
                          "a donated one");
  }

  bool in_prepare() {
    if (artifact_.prepare < 0) return false;
    if (artifact_.prepare >= static_cast<int32_t>(artifact_.n_signatures))
      return wrong(at("prepare"), "function number", artifact_.prepare, "less than",
                   artifact_.n_signatures);
    const hd_signature& s = artifact_.signatures[artifact_.prepare];
    if (s.n_inputs) return wrong(at(s.name), "arguments", s.n_inputs, "none");
    if (s.n_arguments != 1) return wrong(at(s.name), "pointers", s.n_arguments, "one");
    for (uint32_t i = 0; i < artifact_.n_plans; ++i) {
      const uint64_t bytes = artifact_.plans[i].prepared_bytes;
      if (bytes != s.arguments[0].bytes)
        return wrong(at(s.name), "prepared bytes", bytes, "", s.arguments[0].bytes);
    }
    return false;
  }

  // ---- what runs ----

  bool in_plan(const hd_plan& p) {
    if (p.n_functions < artifact_.n_signatures)
      return wrong(at(p.features), "functions of the plan", p.n_functions, "",
                   artifact_.n_signatures);
    for (uint32_t k = 0; k < p.n_kernels; ++k) {
      if (in_kernel(p, p.kernels[k])) return true;
    }
    for (uint32_t f = 0; f < p.n_functions; ++f) {
      if (in_function(p, f)) return true;
    }
    return false;
  }

  bool in_kernel(const hd_plan& p, const hd_kernel& k) {
    if (!k.run) return wrong(at(k.name), "the kernel's code", "none", "an address");
    if (k.scratch_once > p.scratch_once)
      return wrong(at(k.name), "the kernel's scratch", k.scratch_once, "at most", p.scratch_once);
    if (k.scratch_task > p.scratch_task)
      return wrong(at(k.name), "the kernel's scratch", k.scratch_task, "at most", p.scratch_task);
    return false;
  }

  const char* name_of_function(uint32_t number) const {
    return number < artifact_.n_signatures ? artifact_.signatures[number].name : "a sub-plan";
  }
  Text& at_step(uint32_t function, uint32_t step) {
    return at(name_of_function(function)) << "step " << step << ": ";
  }
  // A buffer that is an argument goes by its name.
  Text& at_buffer(const hd_plan& p, uint32_t function, uint32_t number) {
    const hd_buffer& b = p.buffers[p.functions[function].first_buffer + number];
    if (const hd_tensor_spec* t = argument_of(function, b)) {
      return at(name_of_function(function)) << "argument '" << t->name << "': ";
    }
    return at(name_of_function(function)) << "buffer " << number << ": ";
  }

  const hd_tensor_spec* argument_of(uint32_t function, const hd_buffer& b) const {
    if (b.space != HD_ARGUMENT || function >= artifact_.n_signatures) return nullptr;
    const hd_signature& s = artifact_.signatures[function];
    return b.index < s.n_inputs + s.n_outputs ? s.tensors + b.index : nullptr;
  }

  bool in_function(const hd_plan& p, uint32_t number) {
    const hd_function& f = p.functions[number];
    const char* name = name_of_function(number);
    if (uint64_t{f.first_step} + f.n_steps > p.n_steps)
      return wrong(at(name), "steps up to number", uint64_t{f.first_step} + f.n_steps, "at most",
                   p.n_steps);
    if (uint64_t{f.first_buffer} + f.n_buffers > p.n_buffers)
      return wrong(at(name), "buffers up to number", uint64_t{f.first_buffer} + f.n_buffers,
                   "at most", p.n_buffers);
    for (uint32_t i = 0; i < f.n_buffers; ++i) {
      if (in_dims(p, number, i) || in_storage(p, number, i)) return true;
    }
    for (uint32_t i = 0; i < f.n_steps; ++i) {
      if (in_step(p, number, i)) return true;
    }
    return false;
  }

  bool in_dims(const hd_plan& p, uint32_t function, uint32_t number) {
    const hd_buffer& b = p.buffers[p.functions[function].first_buffer + number];
    if (b.rank > HD_MAX_RANK)
      return wrong(at_buffer(p, function, number), "rank", uint32_t{b.rank}, "at most",
                   HD_MAX_RANK);
    if (!size_of(b.dtype))
      return wrong(at_buffer(p, function, number), "dtype", uint32_t{b.dtype}, "the number of one");
    if (uint64_t{b.first_dim} + 2u * b.rank > p.n_dims)
      return wrong(at_buffer(p, function, number), "extents up to number",
                   uint64_t{b.first_dim} + 2u * b.rank, "at most", p.n_dims);
    const int64_t* dims = p.dims + b.first_dim;
    for (uint32_t d = 0; d < 2u * b.rank; ++d) {
      if (dims[d] >= 0 && dims[d] <= kLimit) continue;
      Text& text = at_buffer(p, function, number)
                   << (d < b.rank ? "axis " : "stride of axis ") << d % b.rank << " of ";
      return wrong(text.add_type(b.dtype, b.rank, dims), "", dims[d], "0 to", kLimit);
    }
    return false;
  }

  // The bytes a buffer's storage has.
  uint64_t capacity_of(const hd_plan& plan, uint32_t function, const hd_buffer& b) const {
    switch (b.space) {
      case HD_ARGUMENT: {
        const hd_tensor_spec* t = argument_of(function, b);
        if (!t) return 0;
        const int64_t* dims = artifact_.signatures[function].dims + t->first_dim;
        return count_elements(dims, t->rank) * size_of(t->dtype);
      }
      case HD_CONSTANT:
        return b.index < artifact_.n_constants ? artifact_.constants[b.index].bytes : 0;
      case HD_PREPARED:
        return plan.prepared_bytes;
      case HD_ARENA:
        return plan.functions[function].arena_bytes;
    }
    return 0;
  }

  bool in_storage(const hd_plan& p, uint32_t function, uint32_t number) {
    const hd_buffer& b = p.buffers[p.functions[function].first_buffer + number];
    const uint64_t elements = span_of(b, p.dims + b.first_dim);
    const uint64_t capacity = capacity_of(p, function, b);
    if (b.offset <= capacity && elements * size_of(b.dtype) <= capacity - b.offset)
      return p.device && in_view(p, function, number);
    Text& text = at_buffer(p, function, number).add_type(b.dtype, b.rank, p.dims + b.first_dim);
    return outside(text, b.offset, elements, size_of(b.dtype), capacity);
  }

  // Kernels get a whole argument or constant of a device, or a view of its block.
  bool in_view(const hd_plan& p, uint32_t function, uint32_t number) {
    const hd_buffer& b = p.buffers[p.functions[function].first_buffer + number];
    if (b.space == HD_ARGUMENT || b.space == HD_CONSTANT)
      return b.offset && wrong(at_buffer(p, function, number), "on a device, byte", b.offset, "0");
    return b.offset % p.device->alignment && wrong(at_buffer(p, function, number), "byte", b.offset,
                                                   "a multiple of", p.device->alignment);
  }

  bool in_step(const hd_plan& p, uint32_t function, uint32_t number) {
    const hd_function& f = p.functions[function];
    const hd_step& s = p.steps[f.first_step + number];
    const uint64_t n = uint64_t{s.n_inputs} + s.n_outputs;
    if (s.first_arg + n > p.n_args)
      return wrong(at_step(function, number), "buffers up to number", s.first_arg + n, "at most",
                   p.n_args);
    if (uint64_t{s.first_node} + s.n_nodes > p.n_nodes)
      return wrong(at_step(function, number), "nodes up to number",
                   uint64_t{s.first_node} + s.n_nodes, "at most", p.n_nodes);
    if (s.source >= p.n_sources)
      return wrong(at_step(function, number), "source", s.source, "less than", p.n_sources);
    if (s.fault >= static_cast<int64_t>(n))
      return wrong(at_step(function, number), "the flag's place", s.fault, "less than", n);
    if (s.kind == HD_STEP_KERNEL && s.kernel >= p.n_kernels)
      return wrong(at_step(function, number), "kernel", s.kernel, "less than", p.n_kernels);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t buffer = p.args[s.first_arg + i];
      if (buffer >= f.n_buffers)
        return wrong(at_step(function, number), "buffer", buffer, "less than", f.n_buffers);
    }
    return s.kind == HD_STEP_COPY && in_copy(p, function, number);
  }

  static bool is_dense(const hd_plan& p, const hd_buffer& b) {
    const int64_t* dims = p.dims + b.first_dim;
    int64_t stride = 1;
    for (uint32_t d = b.rank; d-- > 0; stride *= dims[d]) {
      if (dims[d] != 1 && dims[b.rank + d] != stride) return false;
    }
    return true;
  }

  bool in_copy(const hd_plan& p, uint32_t function, uint32_t number) {
    const hd_function& f = p.functions[function];
    const hd_step& s = p.steps[f.first_step + number];
    if (s.n_inputs != 1 || s.n_outputs != 1)
      return wrong(at_step(function, number), "buffers of a copy",
                   uint32_t{s.n_inputs} + s.n_outputs, "one and one");
    const hd_buffer& from = p.buffers[f.first_buffer + p.args[s.first_arg]];
    const hd_buffer& to = p.buffers[f.first_buffer + p.args[s.first_arg + 1]];
    if (from.dtype == to.dtype && from.rank == to.rank &&
        memcmp(p.dims + from.first_dim, p.dims + to.first_dim, from.rank * sizeof(int64_t)) == 0)
      return p.device && !(is_dense(p, from) && is_dense(p, to)) &&
             wrong(at_step(function, number), "a copy on a device", "strides", "dense buffers");
    Text& text = at_step(function, number) << "a copy of ";
    text.add_type(from.dtype, from.rank, p.dims + from.first_dim) << " to ";
    text.add_type(to.dtype, to.rank, p.dims + to.first_dim);
    return true;
  }

  const hd_artifact& artifact_;
  Text& text_;
};

}  // namespace

uint64_t hash_bytes(uint64_t hash, const void* data, size_t bytes) {
  const uint8_t* p = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

uint64_t checksum_signatures(const hd_artifact& artifact) {
  Hash hash;
  for (uint32_t i = 0; i < artifact.n_signatures; ++i) add_signature(hash, artifact.signatures[i]);
  return hash.value;
}

uint64_t tensor_bytes(const hd_signature& s, uint32_t tensor) {
  const hd_tensor_spec& t = s.tensors[tensor];
  return count_elements(s.dims + t.first_dim, t.rank) * size_of(t.dtype);
}

uint64_t span_of(const hd_buffer& b, const int64_t* extents) {
  uint64_t last = 0;
  for (uint32_t i = 0; i < b.rank; ++i) {
    if (extents[i] == 0) return 0;
    last += static_cast<uint64_t>(extents[i] - 1) * static_cast<uint64_t>(extents[b.rank + i]);
    if (last >= kMostElements) last = kMostElements - 1;
  }
  return last + 1;
}

int check_artifact(const hd_artifact& artifact, Text& text) {
  if (artifact.magic != HD_MAGIC) {
    text << "not an artifact: magic number " << artifact.magic << " instead of " << HD_MAGIC;
    return HD_BAD_ARTIFACT;
  }
  if (artifact.abi != HD_ABI) {
    text << "artifact has ABI " << artifact.abi << ", this runtime has ABI " << HD_ABI;
    return HD_BAD_ARTIFACT;
  }
  if (artifact.format > HD_FORMAT) {
    text << artifact.name << ": artifact has format " << artifact.format
         << ", this runtime knows formats up to " << HD_FORMAT;
    return HD_BAD_ARTIFACT;
  }
  const uint64_t found = hd_checksum(&artifact);
  if (found != artifact.checksum) {
    text << artifact.name << ": the tables are damaged: checksum " << found << " instead of "
         << artifact.checksum;
    return HD_BAD_ARTIFACT;
  }
  return Finder(artifact, text).find() ? HD_BAD_ARTIFACT : HD_OK;
}

}  // namespace hdcore

uint64_t hd_checksum(const hd_artifact* artifact) {
  hdcore::Hash hash;
  hash.add(artifact->name);
  hash.add_numbers(artifact->abi, artifact->format, artifact->n_signatures, artifact->n_plans,
                   artifact->n_constants);
  hash.add(static_cast<uint64_t>(artifact->prepare));
  for (uint32_t i = 0; i < artifact->n_signatures; ++i)
    hdcore::add_signature(hash, artifact->signatures[i]);
  for (uint32_t i = 0; i < artifact->n_plans; ++i) hdcore::add_plan(hash, artifact->plans[i]);
  for (uint32_t i = 0; i < artifact->n_constants; ++i) hash.add(artifact->constants[i].bytes);
  return hash.value;
}
