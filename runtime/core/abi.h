// The binary interface of an artifact: the tables a compiled program consists of, and the functions
// that run them. C11 and C++; nothing but stdint and stddef. The structs are written into
// artifacts: a change of layout is a new HD_ABI.
//
// hd_artifact > hd_signature per function: what callers see, equal for all feature sets
//             > hd_plan per CPU feature set > hd_function per function > hd_step > kernel and its
//             hd_buffers
// All pointers of the tables point into read-only memory that outlives every instance.
#ifndef HEDDLE_RUNTIME_CORE_ABI_H_
#define HEDDLE_RUNTIME_CORE_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_MAGIC 0x4c444448u /* "HDDL" */
#define HD_ABI 3u            /* layout of these structs: must be equal */
#define HD_FORMAT 2u         /* meaning of the fields: an older one runs, a newer one is refused */
#define HD_ALIGNMENT 64u     /* of the workspace and of every arena buffer */
#define HD_MAX_RANK 16

/* What a call returns. The text is hd_error(instance). */
enum {
  HD_OK = 0,
  HD_INVALID = 1,   /* a null or misaligned pointer, wrong option, wrong number of arguments */
  HD_MISMATCH = 2,  /* a tensor of another dtype, rank, extent or layout than the function takes */
  HD_OVERLAP = 3,   /* an output lies over an argument it may not share storage with */
  HD_BUSY = 4,      /* another call of this instance is running */
  HD_CANCELLED = 5, /* the cancel flag was set; outputs and donated arguments hold anything */
  HD_FAULT = 6,     /* a checked operation (integer overflow) failed */
  HD_NONFINITE = 7, /* HD_CHECK_NAN found a NaN or an infinity */
  HD_KERNEL_FAILED = 8, /* a kernel returned an error, or asked for more scratch than announced */
  HD_UNSUPPORTED = 9,   /* a step of a kind that this runtime cannot run */
  HD_NO_MEMORY = 10,
  HD_BAD_ARTIFACT = 11,    /* another ABI or format, or a broken table */
  HD_WRONG_CPU = 12,       /* no plan of the artifact fits this CPU */
  HD_BAD_FILE = 13,        /* missing, truncated, altered, or of another program */
  HD_SELFTEST_FAILED = 14, /* results outside the tolerance; hd_error has a line per function */
  HD_NO_DEVICE = 15, /* the plan's device is not on this machine; hd_error says what to install */
  HD_DEVICE_FAILED = 16 /* it has no memory left, was lost, or does not take a kernel: hd_error has
                           its words. The instance stays usable, and so does every other. */
};

/* Element types: heddle::DType. */
enum {
  HD_BOOL = 1,
  HD_I8,
  HD_I16,
  HD_I32,
  HD_I64,
  HD_U8,
  HD_U16,
  HD_U32,
  HD_U64,
  HD_F16,
  HD_BF16,
  HD_F32,
  HD_F64
};

/* ---- Tables ---- */

/* An operand of a kernel: Halide 21's halide_buffer_t. dim[0] is the last, contiguous axis. code:
   0 int, 1 uint (bool has 1 or 8 bits), 2 float, 4 bfloat. */
typedef struct {
  int32_t min, extent, stride; /* in elements */
  uint32_t flags;
} hd_kernel_dimension;
typedef struct {
  uint64_t device;
  const void* device_interface;
  uint8_t* host;
  uint64_t flags;
  uint8_t code, bits;
  uint16_t lanes;
  int32_t dimensions;
  hd_kernel_dimension* dim;
  void* padding;
} hd_kernel_buffer;

/* A kernel as Halide's NAME_argv: argv[0] points to the user context, argv[1..] are
   hd_kernel_buffer*, inputs first. Built with no_runtime, no_asserts, no_bounds_query,
   user_context. */
typedef int (*hd_kernel_fn)(void** argv);

/* Scratch: each halide_malloc of s bytes takes s rounded up to 64; nested ones add up. */
typedef struct {
  hd_kernel_fn run;
  const char* name;
  uint64_t flops, bytes; /* of one run, for profiles */
  uint64_t scratch_once; /* by the calling thread, outside parallel loops */
  uint64_t scratch_task; /* by one task of a parallel loop */
  uint64_t device_bytes; /* of the arrays between its launches on a device, each rounded up to the
                            device's alignment */
} hd_kernel;

enum { HD_ARGUMENT = 0, HD_CONSTANT = 1, HD_PREPARED = 2, HD_ARENA = 3 };

/* Storage of a value. `dims` of the plan holds its extents, then its strides in elements, outermost
 * axis first. */
typedef struct {
  uint8_t space, dtype, rank, reserved;
  uint32_t index; /* HD_ARGUMENT: tensor of the signature; HD_CONSTANT: constant; else 0 */
  uint32_t first_dim;
  uint32_t reserved2;
  uint64_t offset; /* in bytes from the start of that storage; on a device a multiple of its
                      alignment, and 0 in arguments and constants */
  uint64_t reserved3;
} hd_buffer;

enum {
  HD_STEP_KERNEL = 0,
  HD_STEP_COPY = 1,
  HD_STEP_CALL = 2,
  HD_STEP_COND = 3,
  HD_STEP_WHILE = 4,
  HD_STEP_SCAN = 5
};

/* A step's flag: while it runs, denormal numbers are zeros to the arithmetic of all its threads,
   where that is a mode of a thread (x86-64) and some CPUs are slow without it. */
enum { HD_DENORMALS_AS_ZEROS = 1 };

/* Buffers of a step: plan->args[first_arg ..], inputs first, as numbers within the function. A copy
 * has one of each. */
typedef struct {
  uint16_t kind, n_inputs, n_outputs, flags;
  uint32_t wave; /* steps of equal wave may run side by side */
  uint32_t kernel;
  uint32_t first_arg;
  uint32_t sub[2]; /* functions of the plan: callee; yes, no; test, body; body */
  uint32_t source; /* plan->sources: the operations and lines this step computes */
  int32_t fault;   /* position among the step's buffers of an i32 that must be 0; -1: none */
  uint32_t first_node, n_nodes; /* plan->nodes: the program's nodes this step computes */
} hd_step;

typedef struct {
  uint32_t first_step, n_steps;
  uint32_t first_buffer, n_buffers;
  uint64_t arena_bytes;
} hd_function;

/* Memory of a device, or a view of a part of one: what the `device` of a kernel's buffer holds. 0
   is none. */
typedef uint64_t hd_memory;

/* What the kernels of a plan run on when that is not the CPU: one device of the process. Any thread
   may call. What a run asks for, between begin and end, is queued and happens in the order of the
   calls. The first thing that fails is kept, and nothing that is asked for after it happens, until
   `wait` has told it. */
typedef struct {
  const char* name;   /* "opencl" */
  uint64_t alignment; /* of views in their memory: a power of two */
  /* Before all else, any number of times. HD_OK, or HD_NO_DEVICE and in `why` what to install. */
  int (*open)(char* why, size_t size);
  hd_memory (*allocate)(uint64_t bytes); /* not 0 bytes. 0: there is no room. */
  hd_memory (*view)(hd_memory memory, uint64_t offset, uint64_t bytes); /* 0: there is no room */
  void (*release)(hd_memory memory_or_view); /* views first; what was asked for with one still
                                                 happens */
  void (*begin)(void); /* waits for the end of another run: never within one */
  void (*end)(void);   /* after a wait */
  /* The host's bytes stay where they are until the next wait. */
  void (*write)(hd_memory to, uint64_t offset, const void* from, uint64_t bytes);
  void (*read)(hd_memory from, uint64_t offset, void* to, uint64_t bytes);
  void (*copy)(hd_memory from, hd_memory to, uint64_t bytes); /* from and to share nothing */
  int (*failed)(void);                 /* not 0: something has, as far as is known by now */
  int (*wait)(char* why, size_t size); /* for all that was asked for; HD_OK, or HD_DEVICE_FAILED */
  /* What kernels call: halide_glue.cc. `kinds` describes the arguments as the kernels of that
     device do; a failure is kept. */
  int (*load)(void** module, const char* text, int size);
  int (*launch)(void* module, const char* name, const int32_t blocks[3], const int32_t threads[3],
                int shared_bytes, const void* kinds, void** arguments, const int8_t* is_buffer);
  void (*fail)(const char* what); /* as if something that was asked for had failed */
  /* NULL, or: the host's bytes as memory without a copy of them, until it is released; so long they
     stay where they are and as they are. 0: not these bytes. */
  hd_memory (*map)(const void* bytes, uint64_t size);
  /* NULL, or: a buffer of the device's own kind (id<MTLBuffer>) from `offset` on, a multiple of the
     alignment, as memory. 0: it holds fewer bytes, or there is no room. */
  hd_memory (*wrap)(void* buffer, uint64_t offset, uint64_t bytes);
} hd_device;

typedef struct {
  const char* features;         /* "avx2,fma,f16c"; empty: any CPU of the architecture */
  const hd_function* functions; /* the signatures' functions in their order, then sub-plans */
  const hd_step* steps;
  const hd_buffer* buffers;
  const uint32_t* args;
  const uint32_t* nodes;
  const int64_t* dims;
  const hd_kernel* kernels;
  const char* const* sources;
  uint32_t n_functions, n_steps, n_buffers, n_args, n_nodes, n_dims, n_kernels, n_sources;
  uint64_t prepared_bytes;
  uint64_t scratch_once, scratch_task; /* largest of the kernels */
  const hd_device* device;             /* NULL: the CPU */
} hd_plan;

enum { HD_IN = 1, HD_OUT = 2 };

/* One pointer of the C function: a tensor, or a tree of tensors at fixed offsets. */
typedef struct {
  const char* name;
  uint64_t bytes;
  uint32_t access; /* HD_IN, HD_OUT, or both: updated in place */
  uint32_t alignment;
} hd_argument;

/* One tensor of a function; dense, row-major. */
typedef struct {
  const char* name;  /* "x", "params.w1" */
  uint32_t argument; /* the pointer that holds it */
  uint8_t dtype, rank;
  uint8_t donated; /* input: its storage is overwritten by the output that shares it */
  uint8_t reserved;
  int32_t
      shares; /* output: the donated input (tensor number) whose storage it replaces; -1: none */
  uint32_t first_dim; /* signature->dims: its extents, outermost first */
  uint64_t offset;    /* bytes from the argument's start */
} hd_tensor_spec;

typedef struct {
  const char* name;
  const char* doc;
  const hd_argument* arguments;
  const hd_tensor_spec* tensors; /* inputs, then outputs */
  const int64_t* dims;
  uint32_t n_arguments, n_inputs, n_outputs, n_dims;
} hd_signature;

typedef struct {
  const void* data; /* aligned for its elements */
  uint64_t bytes;
} hd_constant;

/* The ONE symbol that a shared artifact exports: `hd_artifact`. */
typedef struct {
  uint32_t magic, abi, format;
  uint32_t n_signatures, n_plans, n_constants;
  int32_t prepare; /* the signature (one output tree: the prepared block) that runs once per
                      instance; -1: none */
  uint32_t reserved;
  uint64_t checksum; /* hd_checksum of the tables */
  const char* name;
  const hd_signature* signatures;
  const hd_plan* plans; /* best first: the first whose features the CPU has is taken */
  const hd_constant* constants;
} hd_artifact;

/* What kernels need while they run: the user context that argv[0] points to starts with this table,
   so that kernels of one build run under the core of another. */
typedef int (*hd_task_fn)(void* context, int index, uint8_t* closure);
typedef struct {
  int (*do_par_for)(void* context, hd_task_fn task, int first, int count, uint8_t* closure);
  void* (*allocate)(void* context, size_t bytes); /* scratch; never NULL */
  void (*release)(void* context, void* pointer);
  void (*error)(void* context, const char* text);
  hd_memory (*take_array)(void* context, uint64_t bytes); /* between two launches; 0: it failed */
  void (*give_array)(void* context, hd_memory array);
} hd_services;
typedef struct {
  const hd_services* services;
  const hd_device* device; /* the plan's */
} hd_context;

/* ---- Calls ---- */

typedef struct hd_instance hd_instance;
typedef struct hd_pool hd_pool;

/* What a step hook sees, once before and once after each step. */
typedef struct {
  uint32_t end; /* 0: before, 1: after */
  uint32_t function, step, wave;
  const char* kernel; /* or "copy" */
  const char* source;
  const uint32_t* nodes;
  uint32_t n_nodes;
  uint32_t reserved;
  uint64_t bytes, flops;
} hd_step_event;

/* Runs task(context, i) for i in [0, n), on any threads, and returns when all are done. */
typedef void (*hd_parallel_for)(void* user, int n, void (*task)(void* context, int i),
                                void* context);

/* HD_HEAP_SCRATCH: scratch beyond what the plan announces comes from the heap and is no error:
   kernels whose extents are symbols cannot announce theirs. HD_DEVICE_TENSORS: of a plan with a
   device; every call gives tensors that are there, and no room is made for others. */
enum { HD_CHECK_NAN = 1, HD_HEAP_SCRATCH = 2, HD_DEVICE_TENSORS = 4 };

/* All zero but `size` is the default. Grows at the end only. */
typedef struct {
  uint32_t size;   /* sizeof(hd_options) */
  int32_t threads; /* 0: one per CPU; large numbers are cut to twice the CPUs (at least 8) */
  uint32_t flags;  /* HD_CHECK_NAN, HD_HEAP_SCRATCH, HD_DEVICE_TENSORS */
  uint32_t reserved;
  void*
      workspace; /* the caller's, aligned to 64, the instance's until hd_destroy; NULL: allocated */
  uint64_t workspace_bytes; /* at least hd_workspace_bytes */
  void* (*allocate)(void* user, size_t bytes,
                    size_t alignment); /* both or none; called in create only */
  void (*release)(void* user, void* pointer, size_t bytes);
  void* allocator_user;
  hd_parallel_for parallel_for; /* instead of own threads */
  void* parallel_user;
  hd_pool* pool;                  /* threads shared with other instances; must outlive them */
  const volatile int32_t* cancel; /* not 0: the run ends with HD_CANCELLED before its next step */
  void (*step_hook)(void* user, const hd_step_event* event);
  void* step_user;
  const char* cpu_features; /* "sse41,avx": only these of the CPU's features count (so does
                               HEDDLE_CPU_FEATURES); NULL: all; HD_INVALID for an unknown name */
  char* message;            /* receives the text of a failed create */
  uint64_t message_bytes;
} hd_options;

/* A tensor as the generic call takes it. Of a plan with a device, tensors may be there already:
   then `device` is their memory or a view of it (hd_device), from its first byte on, `data` is not
   looked at, and nothing is sent or fetched. Outputs are there when the call returns. */
typedef struct {
  void* data;
  const int64_t* shape;
  const int64_t* strides; /* in elements; NULL: dense row-major. Anything else is refused. */
  uint32_t dtype, rank;
  hd_memory device; /* 0: host memory */
} hd_tensor;

/* A tensor in a buffer of the device's own kind: id<MTLBuffer>, from `offset` on, a multiple of 512
   (what DLPack has as data and byte_offset of a tensor on kDLMetal). */
typedef struct {
  void* buffer;
  uint64_t offset;
} hd_device_buffer;

/* Makes an instance: checks the artifact, picks the plan, allocates, prepares constants. NULL
   options: defaults. On failure *instance is NULL and the text is in options->message and in
   hd_error(NULL). */
int hd_create(const hd_artifact* artifact, const hd_options* options, hd_instance** instance);
void hd_destroy(hd_instance* instance);

/* Runs function number `function` with one pointer per hd_argument of its signature. Pointers carry
   no extents: checked are NULL, alignment and overlap. One call at a time per instance. No
   allocation. */
int hd_run(hd_instance* instance, uint32_t function, void* const* arguments, uint32_t n_arguments);

/* The same with one hd_tensor per tensor of the signature, inputs then outputs; dtype and every
   extent are checked. An output that shares a donated input has that input's data or NULL. */
int hd_run_tensors(hd_instance* instance, uint32_t function, const hd_tensor* tensors,
                   uint32_t n_tensors);

/* The same with each tensor in a buffer of the plan's device; nothing is sent or fetched, and the
   results are there when the call returns. Buffers that are too small are HD_MISMATCH, devices
   without such buffers HD_UNSUPPORTED. An output that shares a donated input has that input's place
   or NULL. */
int hd_run_buffers(hd_instance* instance, uint32_t function, const hd_device_buffer* buffers,
                   uint32_t n_buffers);

/* The number of a function, or -1. */
int hd_find_function(const hd_artifact* artifact, const char* name);

/* The exact bytes of the workspace for so many threads on this CPU: prepared constants + arena +
 * scratch; of a plan with a device scratch alone, as the others are there. 0: refused. */
uint64_t hd_workspace_bytes(const hd_artifact* artifact, int threads);
uint64_t hd_plan_workspace_bytes(const hd_plan* plan, int actual_threads);

/* What an instance takes on its device: prepared constants + arena + arrays between launches, of
   the kernel that has most + the largest function's arguments (not with HD_DEVICE_TENSORS), each
   tensor and each part rounded up to its alignment, + constants (those that it maps take none). 0:
   on the CPU. */
uint64_t hd_device_bytes(const hd_artifact* artifact, const hd_plan* plan, uint32_t flags);

int hd_threads(const hd_instance* instance);          /* the actual number; of NULL 0 */
const char* hd_features(const hd_instance* instance); /* of the plan that was picked */
const hd_artifact* hd_artifact_of(const hd_instance* instance);

/* The text of the last failure (NULL: of the last failed create in this copy of the runtime), after
 * hd_selftest as much of its report as fits. Never NULL. */
const char* hd_error(const hd_instance* instance);

/* Runs every case of a .check file (FORMAT.md). Its report has a line per function, also on success. */
int hd_selftest(hd_instance* instance, const char* check_file);
/* The report of the last hd_selftest, whole: as snprintf, at most `size` bytes with the end are
   written to `text`, and returned is the length of all, without the end. */
size_t hd_report(const hd_instance* instance, char* text, size_t size);

/* A pool of threads - 1 workers for several instances. NULL: no memory or no threads. */
hd_pool* hd_pool_create(int threads);
void hd_pool_destroy(hd_pool* pool);

/* The features of this CPU in the compiler's names, as "sse41,avx,avx2,fma,f16c"; returns the
 * length. */
size_t hd_cpu_features(char* text, size_t size);

/* FNV-1a over everything in the tables but pointers and the contents of constants. */
uint64_t hd_checksum(const hd_artifact* artifact);

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_RUNTIME_CORE_ABI_H_
