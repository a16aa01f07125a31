// Inside of the core. A strict dialect: it compiles with -fno-exceptions -fno-rtti
// -fno-threadsafe-statics and links with libc, libm and pthread alone, which it reaches by its own
// prototypes, so that one source serves every target's compiler without that target's headers. All
// sources of this folder but halide_glue.cc make one translation unit in an export.
#ifndef HEDDLE_RUNTIME_CORE_CORE_H_
#define HEDDLE_RUNTIME_CORE_CORE_H_

#include "heddle/runtime/core/abi.h"
#include "heddle/runtime/core/numbers.h"

extern "C" {
void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);
int strcmp(const char* a, const char* b);
size_t strlen(const char* text);
}

namespace hdcore {

using Dimension = hd_kernel_dimension;
using HalideBuffer = hd_kernel_buffer;
static_assert(sizeof(Dimension) == 16 && sizeof(HalideBuffer) == 56, "Halide 21's layout");

inline uint64_t round_up(uint64_t bytes) {
  return (bytes + HD_ALIGNMENT - 1) & ~uint64_t{HD_ALIGNMENT - 1};
}
// A stack of scratch with a line before and behind: Halide may read 8 bytes past either end of an
// allocation.
inline uint64_t scratch_region(uint64_t bytes) {
  return bytes ? round_up(bytes) + 2 * HD_ALIGNMENT : 0;
}

// Denormal numbers are zeros to this thread's arithmetic until the end of the scope.
class DenormalsAsZeros {
 public:
#if defined(__x86_64__)
  explicit DenormalsAsZeros(bool wanted) : before_(__builtin_ia32_stmxcsr()), wanted_(wanted) {
    if (wanted_) __builtin_ia32_ldmxcsr(before_ | kBoth);
  }
  ~DenormalsAsZeros() {
    if (wanted_) __builtin_ia32_ldmxcsr(before_);
  }
  static bool here() { return (__builtin_ia32_stmxcsr() & kBoth) == kBoth; }

 private:
  static constexpr unsigned kBoth = 0x8040;  // FTZ: results; DAZ: operands
  unsigned before_;
  bool wanted_;
#else
  explicit DenormalsAsZeros(bool) {}
  static bool here() { return false; }

 public:
#endif
  DenormalsAsZeros(const DenormalsAsZeros&) = delete;
  DenormalsAsZeros& operator=(const DenormalsAsZeros&) = delete;
};

uint32_t size_of(uint32_t dtype);  // 0 for a number that is no dtype
const char* name_of(uint32_t dtype);
constexpr uint64_t kMostElements = uint64_t{1} << 56;            // more is nonsense
uint64_t count_elements(const int64_t* extents, uint32_t rank);  // at most kMostElements

// ---- message.cc ----
// Builds a text in a caller's buffer, where what does not fit is cut, or in memory that grows.
// Locale-independent.
class Text {
 public:
  Text(char* data, size_t size) : data_(data), size_(size) {
    if (size_) data_[0] = 0;
  }
  // By the options' allocator: whoever makes it releases `data`, `size` bytes.
  explicit Text(const hd_options& memory) : memory_(&memory) {}
  Text& operator<<(const char* text);
  Text& operator<<(int64_t value);
  Text& operator<<(uint64_t value);
  Text& operator<<(int32_t value) { return *this << static_cast<int64_t>(value); }
  Text& operator<<(uint32_t value) { return *this << static_cast<uint64_t>(value); }
  Text& operator<<(double value);  // three significant digits
  Text& add_type(uint32_t dtype, uint32_t rank, const int64_t* extents);
  size_t length() const { return length_; }
  char* data() const { return data_; }
  size_t size() const { return size_; }
  bool cut() const { return cut_; }

 private:
  void add(char c);
  bool grow();
  char* data_ = nullptr;
  size_t size_ = 0, length_ = 0;
  const hd_options* memory_ = nullptr;
  bool cut_ = false;
};

// ---- threads.cc, scratch.cc ----
constexpr int kMaxBlocks = 64;

// A thread's view of one run: where its scratch comes from. Kernels get it as Halide's user
// context.
struct Context {
  hd_context head;  // first: the kernels' side knows this much
  hd_instance* instance;
  uint8_t* base;
  uint64_t capacity, used;
  uint64_t block[kMaxBlocks];  // offsets; the lowest bit marks a freed one
  int n_blocks;
  bool in_task;
};
extern const hd_services kServices;
void* allocate_scratch(void* context, size_t bytes);
void release_scratch(void* context, void* pointer);

int count_cpus();
int actual_threads(int wanted);
int do_par_for(void* context, hd_task_fn task, int first, int count, uint8_t* closure);
hd_pool* create_pool(int threads, const hd_options& options);
void destroy_pool(hd_pool* pool);
int pool_threads(const hd_pool& pool);  // workers + 1

// ---- exec.cc ----
struct Patch {  // a descriptor whose pointer changes from call to call
  HalideBuffer* buffer;
  uint64_t offset;
  uint32_t tensor;
};
// The tensors of a function on a device. Null where there is none.
struct DeviceTensors {
  hd_memory* own;    // views of the instance's memory, for tensors that come from the host
  hd_memory* given;  // by the call that runs; 0: it comes from the host
  int32_t* flags;    // per step: what its fault flag held
};
struct StepState {
  void** argv;  // argv[0]: &instance->main; argv[1..]: descriptors
  hd_kernel_fn run;
  const hd_step* step;
  bool empty;  // no output has an element
};
struct FunctionState {
  const hd_function* function;
  const hd_signature* signature;  // null: a sub-plan
  HalideBuffer* buffers;
  Patch* patches;
  StepState* steps;
  void** pointers;  // per tensor of the signature, for the call that runs
  DeviceTensors device;
  uint32_t n_patches;
  bool has_faults;
};
int execute(hd_instance& instance, uint32_t function);
const hd_buffer& table_of(const hd_instance& instance, const FunctionState& f, const hd_step& step,
                          uint32_t position);
HalideBuffer& buffer_of(const StepState& step, uint32_t position);
Text& describe_step(Text& text, const hd_instance& instance, const FunctionState& f,
                    uint32_t number);
int fail_fault(hd_instance& instance, const FunctionState& f, uint32_t number);

// ---- device.cc ----
// Arrays between a kernel's launches: a stack, as scratch is.
struct ArrayStack {
  struct Array {
    hd_memory view;
    uint64_t offset;
    bool freed;
  };
  uint64_t begin, capacity, used;
  Array arrays[kMaxBlocks];
  int n;
};
hd_memory take_array(void* context, uint64_t bytes);
void give_array(void* context, hd_memory array);

// Memory of a plan's device, all made at create: one block of prepared constants, arena, arrays
// between launches and the arguments of the function that runs, and one memory per constant.
struct DeviceMemory {
  hd_memory block;
  ArrayStack stack;
  hd_memory* constants;
  bool* mapped;      // per constant: it is the artifact's own bytes, not a copy
  hd_memory* views;  // of the block
  uint32_t n_views;
  uint8_t* staging;  // HD_CHECK_NAN: room for any step's output
  uint64_t staging_bytes;
  FunctionState* wrapped;  // whose call gave buffers of the device's own kind; null: none
};
int open_device(hd_instance& instance, Text& text);
void close_device(hd_instance& instance);
// What a call of hd_run_buffers gives, as memories of the function's tensors, and their end.
int check_buffers(hd_instance& instance, uint32_t function, const hd_device_buffer* buffers,
                  uint32_t count);
void unwrap(hd_instance& instance);
// Sends what the caller gives, runs the steps, fetches what the caller gets.
int run_on_device(hd_instance& instance, uint32_t function,
                  int (*run_steps)(hd_instance& instance, uint32_t function));
// After a step was asked for. HD_DEVICE_FAILED when something has failed by now.
int check_launched(hd_instance& instance, const FunctionState& f, uint32_t step);
int wait_for_step(hd_instance& instance, const FunctionState& f, uint32_t step);
void fetch_flag(hd_instance& instance, const FunctionState& f, uint32_t step);
// An output's elements, in the staging memory.
int fetch_output(hd_instance& instance, const FunctionState& f, uint32_t step, uint32_t position);

// ---- instance.cc ----
int fail_null(const char* text);  // HD_INVALID; the text is hd_error(NULL)'s
void forget_report(hd_instance& instance);

// ---- check.cc, validate.cc, cpu.cc ----
int check_artifact(const hd_artifact& artifact, Text& text);
uint64_t tensor_bytes(const hd_signature& signature, uint32_t tensor);
// The elements from a buffer's first to past its last, at most kMostElements.
uint64_t span_of(const hd_buffer& buffer, const int64_t* extents_then_strides);
// The signature of a function that callers may run, or null with a message: it takes `found`
// tensors or arguments.
const hd_signature* find_signature(hd_instance& instance, uint32_t function, uint32_t found,
                                   bool tensors);
Text begin_message(hd_instance& instance, const hd_signature& s);
int refuse_overlap(hd_instance& instance, const hd_signature& s, const char* a, const char* b);
int check_arguments(hd_instance& instance, uint32_t function, void* const* arguments,
                    uint32_t count);
int check_tensors(hd_instance& instance, uint32_t function, const hd_tensor* tensors,
                  uint32_t count);
// The first plan whose features are there and in both masks: `mask`, HEDDLE_CPU_FEATURES.
int pick_plan(const hd_artifact& artifact, const char* mask, const hd_plan*& plan, Text& text);
uint64_t checksum_signatures(const hd_artifact& artifact);
uint64_t hash_bytes(uint64_t hash, const void* data, size_t bytes);
constexpr uint64_t kHashStart = 0xcbf29ce484222325u;

}  // namespace hdcore

struct hd_instance {
  const hd_artifact* artifact;
  const hd_plan* plan;
  hd_options options;
  void* self;  // argv[0] of every kernel points here; it points to main
  hdcore::Context main;
  hdcore::Context* lanes;  // one per thread, the caller's first
  int n_lanes;
  hd_pool* pool;
  hdcore::FunctionState* functions;
  hdcore::DeviceMemory device;
  uint8_t* workspace;
  uint64_t workspace_bytes, block_bytes;
  bool owns_workspace, owns_pool;
  uint32_t busy;
  int32_t kernel_status;  // set by any thread of a run
  char message[4096];
  char* report;  // of the last self-test; null: none
  uint64_t report_bytes;
};

#endif  // HEDDLE_RUNTIME_CORE_CORE_H_
