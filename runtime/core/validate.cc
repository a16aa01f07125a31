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
    hash.add_numbers(k.flops, k.bytes, k.scratch_once, k.scratch_task);
  }
  for (uint32_t i = 0; i < p.n_sources; ++i) hash.add(p.sources[i]);
  hash.add_numbers(p.prepared_bytes, p.scratch_once, p.scratch_task);
}

// The bytes from the first to past the last element, or ~0 when the table is nonsense.
uint64_t span_of(const int64_t* extents, const int64_t* strides, uint32_t rank, uint32_t dtype) {
  constexpr int64_t kLimit = 0x7fffffff;  // Halide's coordinates are int32
  if (rank > HD_MAX_RANK || !size_of(dtype)) return ~uint64_t{0};
  uint64_t last = 0;
  bool empty = false;
  for (uint32_t i = 0; i < rank; ++i) {
    const int64_t stride = strides ? strides[i] : 0;
    if (extents[i] < 0 || extents[i] > kLimit || stride < 0 || stride > kLimit) return ~uint64_t{0};
    if (extents[i] == 0)
      empty = true;
    else
      last += static_cast<uint64_t>(extents[i] - 1) * static_cast<uint64_t>(stride);
  }
  return empty ? 0 : (last + 1) * size_of(dtype);
}

bool valid_signature(const hd_signature& s) {
  for (uint32_t i = 0; i < s.n_inputs + s.n_outputs; ++i) {
    const hd_tensor_spec& t = s.tensors[i];
    if (t.argument >= s.n_arguments || t.rank > HD_MAX_RANK || !size_of(t.dtype)) return false;
    if (uint64_t{t.first_dim} + t.rank > s.n_dims) return false;
    for (uint32_t d = 0; d < t.rank; ++d) {
      if (s.dims[t.first_dim + d] < 0) return false;
    }
    const uint64_t bytes = count_elements(s.dims + t.first_dim, t.rank) * size_of(t.dtype);
    const hd_argument& a = s.arguments[t.argument];
    if (t.offset > a.bytes || bytes > a.bytes - t.offset || t.offset % size_of(t.dtype))
      return false;
    if (t.shares >= 0 && (i < s.n_inputs || t.shares >= static_cast<int32_t>(s.n_inputs) ||
                          !s.tensors[t.shares].donated)) {
      return false;
    }
  }
  return true;
}

// The bytes a buffer's storage has.
uint64_t capacity_of(const hd_artifact& artifact, const hd_plan& plan, uint32_t function,
                     const hd_buffer& b) {
  switch (b.space) {
    case HD_ARGUMENT: {
      if (function >= artifact.n_signatures) return 0;
      const hd_signature& s = artifact.signatures[function];
      if (b.index >= s.n_inputs + s.n_outputs) return 0;
      const hd_tensor_spec& t = s.tensors[b.index];
      return count_elements(s.dims + t.first_dim, t.rank) * size_of(t.dtype);
    }
    case HD_CONSTANT:
      return b.index < artifact.n_constants ? artifact.constants[b.index].bytes : 0;
    case HD_PREPARED:
      return plan.prepared_bytes;
    case HD_ARENA:
      return plan.functions[function].arena_bytes;
  }
  return 0;
}

const hd_buffer& buffer_at(const hd_plan& p, const hd_function& f, const hd_step& s,
                           uint32_t position) {
  return p.buffers[f.first_buffer + p.args[s.first_arg + position]];
}

bool same_type(const hd_plan& p, const hd_buffer& a, const hd_buffer& b) {
  return a.dtype == b.dtype && a.rank == b.rank &&
         memcmp(p.dims + a.first_dim, p.dims + b.first_dim, a.rank * sizeof(int64_t)) == 0;
}

bool valid_step(const hd_plan& p, const hd_function& f, const hd_step& s) {
  const uint64_t n = uint64_t{s.n_inputs} + s.n_outputs;
  if (s.first_arg + n > p.n_args || uint64_t{s.first_node} + s.n_nodes > p.n_nodes ||
      s.source >= p.n_sources)
    return false;
  if (s.fault >= static_cast<int64_t>(n)) return false;
  if (s.kind == HD_STEP_KERNEL && s.kernel >= p.n_kernels) return false;
  if (s.kind == HD_STEP_COPY && (s.n_inputs != 1 || s.n_outputs != 1)) return false;
  for (uint32_t i = 0; i < n; ++i) {
    if (p.args[s.first_arg + i] >= f.n_buffers) return false;
  }
  return s.kind != HD_STEP_COPY || same_type(p, buffer_at(p, f, s, 0), buffer_at(p, f, s, 1));
}

bool valid_function(const hd_artifact& artifact, const hd_plan& p, uint32_t number) {
  const hd_function& f = p.functions[number];
  if (uint64_t{f.first_step} + f.n_steps > p.n_steps ||
      uint64_t{f.first_buffer} + f.n_buffers > p.n_buffers)
    return false;
  for (uint32_t i = 0; i < f.n_buffers; ++i) {
    const hd_buffer& b = p.buffers[f.first_buffer + i];
    if (uint64_t{b.first_dim} + 2u * b.rank > p.n_dims) return false;
    const uint64_t bytes =
        span_of(p.dims + b.first_dim, p.dims + b.first_dim + b.rank, b.rank, b.dtype);
    const uint64_t capacity = capacity_of(artifact, p, number, b);
    if (b.offset > capacity || bytes > capacity - b.offset) return false;
  }
  for (uint32_t i = 0; i < f.n_steps; ++i) {
    if (!valid_step(p, f, p.steps[f.first_step + i])) return false;
  }
  return true;
}

bool valid_prepare(const hd_artifact& artifact) {
  if (artifact.prepare < 0) return true;
  if (artifact.prepare >= static_cast<int32_t>(artifact.n_signatures)) return false;
  const hd_signature& s = artifact.signatures[artifact.prepare];
  if (s.n_inputs || s.n_arguments != 1) return false;
  for (uint32_t i = 0; i < artifact.n_plans; ++i) {
    if (artifact.plans[i].prepared_bytes != s.arguments[0].bytes) return false;
  }
  return true;
}

const char* find_defect(const hd_artifact& artifact) {
  for (uint32_t i = 0; i < artifact.n_signatures; ++i) {
    if (!valid_signature(artifact.signatures[i])) return artifact.signatures[i].name;
  }
  if (!valid_prepare(artifact)) return "prepare";
  for (uint32_t i = 0; i < artifact.n_plans; ++i) {
    const hd_plan& p = artifact.plans[i];
    if (p.n_functions < artifact.n_signatures) return p.features;
    for (uint32_t k = 0; k < p.n_kernels; ++k) {
      if (!p.kernels[k].run || p.kernels[k].scratch_once > p.scratch_once ||
          p.kernels[k].scratch_task > p.scratch_task) {
        return p.kernels[k].name;
      }
    }
    for (uint32_t f = 0; f < p.n_functions; ++f) {
      if (!valid_function(artifact, p, f))
        return f < artifact.n_signatures ? artifact.signatures[f].name : "a sub-plan";
    }
  }
  return nullptr;
}

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
  if (const char* defect = find_defect(artifact)) {
    text << artifact.name << ": the tables are wrong at '" << defect << "'";
    return HD_BAD_ARTIFACT;
  }
  return HD_OK;
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
