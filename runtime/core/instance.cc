// Instances: made once with everything they will ever need, then run without allocating.
// An instance is one block (this struct, contexts, descriptors) and one workspace:
//   prepared constants | arena | scratch of the calling thread | scratch of each thread's tasks
#include "heddle/runtime/core/core.h"

extern "C" {
int posix_memalign(void** pointer, size_t alignment, size_t bytes);
void free(void* pointer);
#ifdef __linux__
int madvise(void* begin, size_t bytes, int advice);
#endif
}

namespace hdcore {
namespace {

char create_message[1024];
uint32_t create_message_lock;

// Whole pages of 2 MB, where the system has them: one fault for each when it is touched first, not
// 512, and a packed factor does not run out of translations.
void prefer_huge_pages(void* begin, size_t bytes) {
#ifdef __linux__
  constexpr int kHugePages = 14;
  madvise(begin, bytes, kHugePages);  // refused: small pages
#else
  (void)begin, (void)bytes;
#endif
}

void* allocate_default(void*, size_t bytes, size_t alignment) {
  constexpr size_t kHugePage = size_t{1} << 21;
  const size_t whole = bytes / kHugePage * kHugePage;
  if (whole) alignment = kHugePage;
  void* pointer = nullptr;
  if (posix_memalign(&pointer, alignment, bytes ? bytes : alignment) != 0) return nullptr;
  if (whole) prefer_huge_pages(pointer, whole);
  return pointer;
}
void release_default(void*, void* pointer, size_t) { free(pointer); }

// Keeps the text of a failure without an instance for hd_error(NULL); the last one wins.
void keep_message(const char* text) {
  while (__atomic_exchange_n(&create_message_lock, 1, __ATOMIC_ACQUIRE)) {
  }
  Text(create_message, sizeof create_message) << text;
  __atomic_store_n(&create_message_lock, 0, __ATOMIC_RELEASE);
}

int fail_create(const hd_options& options, const char* text, int status) {
  Text(options.message, options.message ? options.message_bytes : 0) << text;
  keep_message(text);
  return status;
}

// The caller's options as this version of the struct; fields a caller does not know are zero.
int read_options(const hd_options* given, hd_options& options, Text& text) {
  memset(&options, 0, sizeof options);
  if (given) {
    if (given->size < 2 * sizeof(uint32_t)) {
      text << "options.size is " << given->size << "; set it to the size of the struct";
      return HD_INVALID;
    }
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    for (size_t i = sizeof options; i < given->size; ++i) {
      if (!reinterpret_cast<const uint8_t*>(given)[i]) continue;
      text << "options of " << given->size << " bytes use a field that this runtime ("
           << uint64_t{sizeof options} << " bytes) does not know";
      return HD_INVALID;
    }
  }
  if (options.flags & ~uint32_t{HD_CHECK_NAN | HD_HEAP_SCRATCH | HD_DEVICE_TENSORS} ||
      options.reserved) {
    text << "options.flags or options.reserved hold bits that this runtime does not know";
    return HD_INVALID;
  }
  if (options.threads < 0) {
    text << "options.threads is " << options.threads << "; 0 is one per CPU";
    return HD_INVALID;
  }
  if (!options.allocate != !options.release) {
    text << "options.allocate and options.release come together";
    return HD_INVALID;
  }
  if (!options.allocate) {
    options.allocate = allocate_default;
    options.release = release_default;
  }
  return HD_OK;
}

// Hands out parts of a block; with a null base it only counts.
struct Layout {
  uint8_t* base;
  uint64_t used = 0;
  template <class T>
  T* take(uint64_t count) {
    used = round_up(used);
    T* part = base ? reinterpret_cast<T*>(base + used) : nullptr;
    used += count * sizeof(T);
    return part;
  }
};

uint8_t type_code(uint32_t dtype) {  // halide_type_code_t
  if (dtype == HD_BF16) return 4;
  if (dtype >= HD_F16) return 2;
  return dtype >= HD_U8 || dtype == HD_BOOL ? 1 : 0;
}

uint32_t count_dims(const hd_plan& plan, const hd_function& f) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < f.n_buffers; ++i) count += plan.buffers[f.first_buffer + i].rank;
  return count;
}

uint32_t count_patches(const hd_plan& plan, const hd_function& f) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < f.n_buffers; ++i)
    count += plan.buffers[f.first_buffer + i].space == HD_ARGUMENT;
  return count;
}

uint8_t* storage_of(const hd_instance& instance, const hd_buffer& b) {
  if (instance.plan->device) return nullptr;
  switch (b.space) {
    case HD_CONSTANT: {
      const void* data = instance.artifact->constants[b.index].data;
      return static_cast<uint8_t*>(const_cast<void*>(data)) + b.offset;
    }
    case HD_PREPARED:
      return instance.workspace + b.offset;
    case HD_ARENA:
      return instance.workspace + round_up(instance.plan->prepared_bytes) + b.offset;
  }
  return nullptr;
}

void build_buffer(const hd_instance& instance, const hd_buffer& table, HalideBuffer& buffer,
                  Dimension* dims) {
  buffer = {};
  buffer.host = storage_of(instance, table);
  buffer.code = type_code(table.dtype);
  buffer.bits = static_cast<uint8_t>(table.dtype == HD_BOOL ? 1 : 8 * size_of(table.dtype));
  buffer.lanes = 1;
  buffer.dimensions = table.rank;
  buffer.dim = dims;
  const int64_t* extents = instance.plan->dims + table.first_dim;
  for (uint32_t d = 0; d < table.rank; ++d) {
    const uint32_t axis = table.rank - 1u - d;  // Halide counts axes from the innermost
    dims[d] = {0, static_cast<int32_t>(extents[axis]),
               static_cast<int32_t>(extents[table.rank + axis]), 0};
  }
}

void build_step(hd_instance& instance, const FunctionState& f, const hd_step& step,
                StepState& state, Layout& layout) {
  const hd_plan& plan = *instance.plan;
  const uint32_t n = uint32_t{step.n_inputs} + step.n_outputs;
  void** argv = layout.take<void*>(1 + n);
  if (!layout.base) return;
  state = {argv, step.kind == HD_STEP_KERNEL ? plan.kernels[step.kernel].run : nullptr, &step,
           step.n_outputs > 0};
  argv[0] = &instance.self;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t number = plan.args[step.first_arg + i];
    const hd_buffer& b = plan.buffers[f.function->first_buffer + number];
    argv[1 + i] = &f.buffers[number];
    if (i >= step.n_inputs && count_elements(plan.dims + b.first_dim, b.rank)) state.empty = false;
  }
}

void build_function(hd_instance& instance, uint32_t number, FunctionState& f, Layout& layout) {
  const hd_plan& plan = *instance.plan;
  const hd_function& function = plan.functions[number];
  const bool has_signature = number < instance.artifact->n_signatures;
  f.function = &function;
  f.signature = has_signature ? &instance.artifact->signatures[number] : nullptr;
  f.buffers = layout.take<HalideBuffer>(function.n_buffers);
  Dimension* dims = layout.take<Dimension>(count_dims(plan, function));
  f.patches = layout.take<Patch>(count_patches(plan, function));
  f.steps = layout.take<StepState>(function.n_steps);
  const uint32_t n_tensors = f.signature ? f.signature->n_inputs + f.signature->n_outputs : 0;
  f.pointers = layout.take<void*>(n_tensors);
  if (plan.device) {
    f.device.own = layout.take<hd_memory>(n_tensors);
    f.device.given = layout.take<hd_memory>(n_tensors);
    f.device.flags = layout.take<int32_t>(function.n_steps);
  }
  f.n_patches = 0;
  f.has_faults = false;
  for (uint32_t i = 0; layout.base && i < function.n_buffers; ++i) {
    const hd_buffer& table = plan.buffers[function.first_buffer + i];
    build_buffer(instance, table, f.buffers[i], dims);
    dims += table.rank;
    if (table.space == HD_ARGUMENT)
      f.patches[f.n_patches++] = {&f.buffers[i], table.offset, table.index};
  }
  for (uint32_t i = 0; i < function.n_steps; ++i) {
    const hd_step& step = plan.steps[function.first_step + i];
    if (step.fault >= 0) f.has_faults = true;
    StepState unused;
    build_step(instance, f, step, layout.base ? f.steps[i] : unused, layout);
  }
}

void build_device(hd_instance& instance, Layout& layout) {
  uint64_t views = instance.plan->n_buffers;
  for (uint32_t i = 0; i < instance.artifact->n_signatures; ++i) {
    const hd_signature& s = instance.artifact->signatures[i];
    views += s.n_inputs + s.n_outputs;
  }
  instance.device.constants = layout.take<hd_memory>(instance.artifact->n_constants);
  instance.device.mapped = layout.take<bool>(instance.artifact->n_constants);
  instance.device.views = layout.take<hd_memory>(views);
}

// All parts of the block behind the instance itself.
void build(hd_instance& instance, Layout& layout) {
  if (instance.plan->device) build_device(instance, layout);
  const uint32_t n = instance.plan->n_functions;
  instance.lanes = layout.take<Context>(static_cast<uint64_t>(instance.n_lanes));
  instance.functions = layout.take<FunctionState>(n);
  for (uint32_t i = 0; i < n; ++i) {
    FunctionState unused;
    build_function(instance, i, layout.base ? instance.functions[i] : unused, layout);
  }
}

void set_context(Context& context, hd_instance& instance, uint8_t*& at, uint64_t bytes,
                 bool in_task) {
  memset(&context, 0, sizeof context);
  context.head.services = &kServices;
  context.head.device = instance.plan->device;
  context.instance = &instance;
  context.in_task = in_task;
  context.capacity = round_up(bytes);
  context.base = bytes ? at + HD_ALIGNMENT : at;
  at += scratch_region(bytes);
}

void set_contexts(hd_instance& instance) {
  const hd_plan& plan = *instance.plan;
  const uint64_t arena = hd_plan_workspace_bytes(&plan, 0) - scratch_region(plan.scratch_once);
  uint8_t* at = instance.workspace + arena;
  set_context(instance.main, instance, at, plan.scratch_once, false);
  for (int i = 0; i < instance.n_lanes; ++i)
    set_context(instance.lanes[i], instance, at, plan.scratch_task, true);
  instance.self = &instance.main;
}

int take_workspace(hd_instance& instance, Text& text) {
  const hd_options& o = instance.options;
  const char* name = instance.artifact->name;
  instance.workspace_bytes = hd_plan_workspace_bytes(instance.plan, instance.n_lanes);
  if (!o.workspace) {
    instance.workspace =
        static_cast<uint8_t*>(o.allocate(o.allocator_user, instance.workspace_bytes, HD_ALIGNMENT));
    instance.owns_workspace = instance.workspace != nullptr;
    if (instance.workspace) return HD_OK;
    text << name << ": no memory for the workspace of " << instance.workspace_bytes << " bytes";
    return HD_NO_MEMORY;
  }
  if (o.workspace_bytes < instance.workspace_bytes) {
    text << name << ": the workspace has " << o.workspace_bytes << " bytes; "
         << instance.workspace_bytes << " are needed for " << instance.n_lanes
         << (instance.n_lanes == 1 ? " thread" : " threads");
    return HD_INVALID;
  }
  if (reinterpret_cast<uintptr_t>(o.workspace) % HD_ALIGNMENT) {
    text << name << ": the workspace is not aligned to " << HD_ALIGNMENT << " bytes";
    return HD_INVALID;
  }
  instance.workspace = static_cast<uint8_t*>(o.workspace);
  return HD_OK;
}

int take_pool(hd_instance& instance, Text& text) {
  instance.pool = instance.options.pool;
  if (instance.pool || instance.options.parallel_for || instance.n_lanes == 1) return HD_OK;
  instance.pool = create_pool(instance.n_lanes, instance.options);
  instance.owns_pool = instance.pool != nullptr;
  if (instance.pool) return HD_OK;
  text << instance.artifact->name << ": no memory for the thread pool";
  return HD_NO_MEMORY;
}

int run_prepare(hd_instance& instance) {
  const int32_t prepare = instance.artifact->prepare;
  if (prepare < 0) return HD_OK;
  const hd_signature& s = instance.artifact->signatures[prepare];
  FunctionState& f = instance.functions[prepare];
  for (uint32_t i = 0; i < s.n_outputs; ++i) {
    f.pointers[i] = instance.workspace + s.tensors[i].offset;
    if (instance.plan->device) f.device.given[i] = f.device.own[i];
  }
  return execute(instance, static_cast<uint32_t>(prepare));
}

// A block of memory for the instance and its tables, built but for the workspace.
hd_instance* allocate_instance(const hd_artifact& artifact, const hd_plan& plan,
                               const hd_options& options, int lanes) {
  hd_instance count;
  count.artifact = &artifact;
  count.plan = &plan;
  count.n_lanes = lanes;
  Layout counter{nullptr};
  counter.take<hd_instance>(1);
  build(count, counter);
  void* memory = options.allocate(options.allocator_user, counter.used, HD_ALIGNMENT);
  if (!memory) return nullptr;
  memset(memory, 0, counter.used);
  hd_instance* instance = static_cast<hd_instance*>(memory);
  instance->artifact = &artifact;
  instance->plan = &plan;
  instance->options = options;
  instance->n_lanes = lanes;
  instance->block_bytes = counter.used;
  return instance;
}

int fill_instance(hd_instance& instance, Text& text) {
  if (const int status = take_workspace(instance, text)) return status;
  if (const int status = take_pool(instance, text)) return status;
  Layout layout{reinterpret_cast<uint8_t*>(&instance)};
  layout.take<hd_instance>(1);
  build(instance, layout);
  set_contexts(instance);
  if (const int status = open_device(instance, text)) return status;
  const int status = run_prepare(instance);
  if (status) text << instance.message;
  return status;
}

int create(const hd_artifact* artifact, const hd_options& options, hd_instance*& instance,
           Text& text) {
  if (!artifact) {
    text << "the artifact is null";
    return HD_INVALID;
  }
  if (const int status = check_artifact(*artifact, text)) return status;
  const hd_plan* plan = nullptr;
  if (const int status = pick_plan(*artifact, options.cpu_features, plan, text)) return status;
  int lanes = plan->device ? 1 : actual_threads(options.threads);
  if (options.pool && !plan->device) {
    const int most = pool_threads(*options.pool);
    lanes = options.threads <= 0 || lanes > most ? most : lanes;
  }
  instance = allocate_instance(*artifact, *plan, options, lanes);
  if (!instance) {
    text << artifact->name << ": no memory for an instance";
    return HD_NO_MEMORY;
  }
  return fill_instance(*instance, text);
}

template <class Check>
int run_checked(hd_instance* instance, uint32_t function, Check check) {
  if (!instance) return fail_null("the instance is null");
  if (__atomic_exchange_n(&instance->busy, 1, __ATOMIC_ACQUIRE)) return HD_BUSY;
  instance->message[0] = 0;
  int status = check(*instance);
  if (!status) status = execute(*instance, function);
  unwrap(*instance);
  __atomic_store_n(&instance->busy, 0, __ATOMIC_RELEASE);
  return status;
}

}  // namespace

int fail_null(const char* text) {
  keep_message(text);
  return HD_INVALID;
}

void forget_report(hd_instance& instance) {
  if (!instance.report) return;
  const hd_options& o = instance.options;
  o.release(o.allocator_user, instance.report, instance.report_bytes);
  instance.report = nullptr;
}

}  // namespace hdcore

using namespace hdcore;

int hd_create(const hd_artifact* artifact, const hd_options* given, hd_instance** instance) {
  char message[1024];
  Text text(message, sizeof message);
  hd_options options;
  hd_instance* made = nullptr;
  int status = read_options(given, options, text);
  if (!instance) return fail_create(options, "the place for the instance is null", HD_INVALID);
  *instance = nullptr;
  if (!status) status = create(artifact, options, made, text);
  if (!status) {
    *instance = made;
    return HD_OK;
  }
  hd_destroy(made);
  return fail_create(options, message, status);
}

void hd_destroy(hd_instance* instance) {
  if (!instance) return;
  if (instance->owns_pool) destroy_pool(instance->pool);
  close_device(*instance);
  forget_report(*instance);
  const hd_options options = instance->options;
  if (instance->owns_workspace)
    options.release(options.allocator_user, instance->workspace, instance->workspace_bytes);
  options.release(options.allocator_user, instance, instance->block_bytes);
}

int hd_run(hd_instance* instance, uint32_t function, void* const* arguments, uint32_t n_arguments) {
  return run_checked(instance, function, [&](hd_instance& i) {
    return check_arguments(i, function, arguments, n_arguments);
  });
}

int hd_run_tensors(hd_instance* instance, uint32_t function, const hd_tensor* tensors,
                   uint32_t n_tensors) {
  return run_checked(instance, function, [&](hd_instance& i) {
    return check_tensors(i, function, tensors, n_tensors);
  });
}

int hd_run_buffers(hd_instance* instance, uint32_t function, const hd_device_buffer* buffers,
                   uint32_t n_buffers) {
  return run_checked(instance, function, [&](hd_instance& i) {
    return check_buffers(i, function, buffers, n_buffers);
  });
}

int hd_find_function(const hd_artifact* artifact, const char* name) {
  for (uint32_t i = 0; i < artifact->n_signatures; ++i) {
    if (static_cast<int64_t>(i) != artifact->prepare &&
        strcmp(artifact->signatures[i].name, name) == 0)
      return static_cast<int>(i);
  }
  return -1;
}

uint64_t hd_plan_workspace_bytes(const hd_plan* plan, int actual_threads) {
  const uint64_t scratch =
      scratch_region(plan->scratch_once) +
      static_cast<uint64_t>(actual_threads) * scratch_region(plan->scratch_task);
  if (plan->device) return scratch;
  uint64_t arena = 0;
  for (uint32_t i = 0; i < plan->n_functions; ++i) {
    const uint64_t bytes = round_up(plan->functions[i].arena_bytes);
    if (bytes > arena) arena = bytes;
  }
  return round_up(plan->prepared_bytes) + arena + scratch;
}

uint64_t hd_workspace_bytes(const hd_artifact* artifact, int threads) {
  char message[256];
  Text text(message, sizeof message);
  if (check_artifact(*artifact, text)) return 0;
  const hd_plan* plan = nullptr;
  if (pick_plan(*artifact, nullptr, plan, text)) return 0;
  return hd_plan_workspace_bytes(plan, plan->device ? 1 : actual_threads(threads));
}

int hd_threads(const hd_instance* instance) { return instance ? instance->n_lanes : 0; }
const char* hd_features(const hd_instance* instance) { return instance->plan->features; }
const hd_artifact* hd_artifact_of(const hd_instance* instance) { return instance->artifact; }
const char* hd_error(const hd_instance* instance) {
  return instance ? instance->message : create_message;
}

hd_pool* hd_pool_create(int threads) {
  hd_options options;
  memset(&options, 0, sizeof options);
  options.allocate = allocate_default;
  options.release = release_default;
  return create_pool(actual_threads(threads), options);
}

void hd_pool_destroy(hd_pool* pool) { destroy_pool(pool); }
