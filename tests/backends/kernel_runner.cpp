#include "backends/kernel_runner.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>

#include "heddle/backends/process.h"
#include "heddle/backends/worker.h"
#include "heddle/graph/scalar_convert.h"
#include "heddle/runtime/core/abi.h"
#include "heddle/schedule/collapse.h"
#include "support/kernel_buffer.h"

namespace heddle::testing {
namespace {

// ---- the services kernels call ----

struct Context {
  hd_context base;
  int threads = 1;
  std::int64_t held = 0;
  std::int64_t most = 0;                    // of this context
  std::atomic<std::int64_t>* most_in_task;  // of all tasks' contexts
};

constexpr std::size_t kFence = 64;

void* allocate(void* context, std::size_t bytes) {
  auto& c = *static_cast<Context*>(context);
  const std::size_t size = (bytes + 63) / 64 * 64;
  c.held += static_cast<std::int64_t>(size);
  c.most = std::max(c.most, c.held);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, size + 2 * kFence));
  std::memcpy(memory, &size, sizeof(size));
  return memory + kFence;
}
void release(void* context, void* pointer) {
  auto& c = *static_cast<Context*>(context);
  std::size_t size = 0;
  std::memcpy(&size, static_cast<std::byte*>(pointer) - kFence, sizeof(size));
  c.held -= static_cast<std::int64_t>(size);
  std::free(static_cast<std::byte*>(pointer) - kFence);
}
void report(void*, const char* text) { ADD_FAILURE() << text; }

int do_par_for(void* context, hd_task_fn task, int first, int count, std::uint8_t* closure) {
  auto& c = *static_cast<Context*>(context);
  std::atomic<int> next{first}, status{0};
  auto work = [&] {
    Context own{c.base, 1, 0, 0, c.most_in_task};
    for (int i = next++; i < first + count; i = next++) {
      if (const int s = task(&own, i, closure); s != 0) status = s;
    }
    std::int64_t seen = c.most_in_task->load();
    while (own.most > seen && !c.most_in_task->compare_exchange_weak(seen, own.most)) {
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < c.threads; ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return status;
}

const hd_services kServices = {do_par_for, allocate, release, report};

void must_run(const std::vector<std::string>& command, const std::string& base) {
  const ProcessResult result = run_process(command, base, 300);
  if (!result.succeeded()) {
    throw RuntimeError(
        {.message = command[0] + ": " + result.how_it_ended() + "\n" + result.error_text});
  }
}

// Compiles what kernels call into the library they are linked to.
void add_glue(std::vector<std::string>& link, const std::string& source, const std::string& base) {
  must_run({"c++", "-std=c++20", "-O1", "-fPIC", "-c", "-I", HEDDLE_BINARY_DIR "/include", source,
            "-o", base + ".o"},
           base);
  link.push_back(base + ".o");
}

}  // namespace

struct KernelRunner::Call {
  Call(const Kernel& kernel, std::span<const Literal> inputs, std::optional<Guard> guarded = {})
      : guard(guarded) {
    const Kernel k = collapse_axes(kernel);
    for (std::size_t i = 0; i < k.in.size(); ++i) {
      add(k.body.type(k.body.inputs[i].value), k.in[i], inputs[i].bytes->data());
    }
    for (std::size_t o = 0; o < k.out.size(); ++o) {
      const Type& type = k.body.type(k.body.outputs[o].value);
      if (k.out[o].shares >= 0) {
        buffers.push_back(buffers[static_cast<std::size_t>(k.out[o].shares)]);
        memory.push_back(memory[static_cast<std::size_t>(k.out[o].shares)]);
        sizes.push_back(byte_count(type));
      } else {
        add(type, k.out[o], nullptr);
      }
    }
  }
  // Memory is poisoned on both sides: aligned in the middle of a page, or at an end of its pages.
  void add(const Type& type, const Port& port, const std::byte* data) {
    const auto bytes = static_cast<std::size_t>(byte_count(type));
    const std::size_t room = guard ? bytes : bytes + 2 * kFence;
    auto block = std::make_shared<GuardedMemory>(room, guard.value_or(Guard::before));
    auto* start = block->data();
    if (!guard) {
      std::fill(start, start + room, std::byte{0xAB});
      start += kFence;
    }
    if (data != nullptr) std::memcpy(start, data, bytes);
    auto dims = std::make_shared<std::vector<BufferDimension>>();
    const auto extents = constant_extents(type.dims), strides = constant_extents(port.strides);
    for (std::size_t a = extents.size(); a-- > 0;) {
      dims->push_back(
          {0, static_cast<std::int32_t>(extents[a]), static_cast<std::int32_t>(strides[a]), 0});
    }
    Buffer b;
    b.host = reinterpret_cast<std::uint8_t*>(start);
    b.type = buffer_type(type.dtype);
    b.dimensions = static_cast<std::int32_t>(dims->size());
    b.dim = dims->data();
    buffers.push_back(b);
    memory.push_back(block);
    dimensions.push_back(dims);
    sizes.push_back(static_cast<std::int64_t>(bytes));
  }
  bool fences_intact(std::size_t i) const {
    if (!memory[i]->rest_is_intact()) return false;
    if (guard) return true;
    const std::byte *begin = memory[i]->data(), *behind = begin + kFence + sizes[i];
    const auto is_fence = [](std::byte b) { return b == std::byte{0xAB}; };
    return std::all_of(begin, begin + kFence, is_fence) &&
           std::all_of(behind, behind + kFence, is_fence);
  }
  std::vector<void*> arguments(void** context) {
    std::vector<void*> argv{context};
    for (Buffer& b : buffers) argv.push_back(&b);
    return argv;
  }

  std::optional<Guard> guard;
  std::vector<Buffer> buffers;
  std::vector<std::shared_ptr<GuardedMemory>> memory;
  std::vector<std::shared_ptr<std::vector<BufferDimension>>> dimensions;
  std::vector<std::int64_t> sizes;
};

std::vector<std::string> link_command(const std::vector<KernelObject>& objects,
                                      const std::string& folder) {
  std::vector<std::string> link{"c++", "-shared", "-o", folder + "/kernels.so"};
  for (std::size_t i = 0; i < objects.size(); ++i) {
    bool repeated = false;
    for (std::size_t j = 0; j < i; ++j) repeated |= objects[j].symbol == objects[i].symbol;
    if (repeated) continue;
    const std::string name = std::to_string(i) + ".o";
    put_file(folder, name, std::span(objects[i].object));
    link.push_back(folder + "/" + name);
  }
  return link;
}

KernelRunner::KernelRunner(std::vector<Kernel> kernels, bool checked)
    : kernels_(std::move(kernels)), checked_(checked) {
  WorkerOptions options;
  options.checked = checked;
  objects_ = compile_kernels(kernels_, Cache(), options);
  const std::string base = folder_.path() + "/";
  std::vector<std::string> link = link_command(objects_, folder_.path());
  add_glue(link, HEDDLE_SOURCE_DIR "/runtime/core/halide_glue.cc", base + "glue");
  if (checked) add_glue(link, HEDDLE_SOURCE_DIR "/tests/backends/checked_glue.cc", base + "checks");
  link.insert(link.end(), {"-lm", "-ldl", "-lpthread"});
  must_run(link, base + "link");
  library_ = ::dlopen((base + "kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) throw RuntimeError({.message = ::dlerror()});
}

KernelRunner::~KernelRunner() {
  if (library_ != nullptr) ::dlclose(library_);
}

std::vector<Literal> KernelRunner::run(std::size_t kernel, std::span<const Literal> inputs,
                                       int threads) {
  Call call(kernels_[kernel], inputs);
  return run_call(kernel, call, threads);
}
std::vector<Literal> KernelRunner::run_guarded(std::size_t kernel, std::span<const Literal> inputs,
                                               Guard guard) {
  Call call(kernels_[kernel], inputs, guard);
  const std::string text = "outside of a buffer:\n" + to_text(kernels_[kernel]);
  const FaultNote note(text);
  return run_call(kernel, call, 1);
}

std::vector<Literal> KernelRunner::run_call(std::size_t kernel, Call& call, int threads) {
  const Kernel& k = kernels_[kernel];
  const KernelObject& object = objects_[kernel];
  auto entry = reinterpret_cast<int (*)(void**)>(::dlsym(library_, object.symbol.c_str()));
  if (entry == nullptr) throw RuntimeError({.message = "no symbol " + object.symbol});
  std::atomic<std::int64_t> in_task{0};
  Context context{{&kServices}, threads, 0, 0, &in_task};
  void* pointer = &context;
  std::vector<void*> argv = call.arguments(&pointer);
  EXPECT_EQ(entry(argv.data()), 0) << to_text(k);
  if (!checked_) {
    EXPECT_LE(context.most, object.scratch_once) << to_text(k);
    EXPECT_LE(in_task.load(), object.scratch_task) << to_text(k);
    EXPECT_EQ(context.held, 0);
  }
  std::vector<Literal> results;
  for (std::size_t o = 0; o < k.out.size(); ++o) {
    const std::size_t b = k.in.size() + o;
    EXPECT_TRUE(call.fences_intact(b)) << "written beside output " << o << "\n" << to_text(k);
    const auto* host = reinterpret_cast<const std::byte*>(call.buffers[b].host);
    results.push_back(
        literal_from_bytes(k.body.type(k.body.outputs[o].value), {host, host + call.sizes[b]}));
  }
  return results;
}

double KernelRunner::seconds(std::size_t kernel, std::span<const Literal> inputs, int threads,
                             int times) {
  auto entry =
      reinterpret_cast<int (*)(void**)>(::dlsym(library_, objects_[kernel].symbol.c_str()));
  Call call(kernels_[kernel], inputs);
  std::atomic<std::int64_t> in_task{0};
  Context context{{&kServices}, threads, 0, 0, &in_task};
  void* pointer = &context;
  std::vector<void*> argv = call.arguments(&pointer);
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    entry(argv.data());
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

Kernel kernel_of(const Function& body, RecipeKind kind, std::vector<int> shares,
                 const std::string& carrier) {
  std::vector<Port> in, out;
  for (const Input& i : body.inputs) in.push_back({dense_strides(body.type(i.value).dims)});
  for (const Output& o : body.outputs) out.push_back({dense_strides(body.type(o.value).dims)});
  for (std::size_t o = 0; o < shares.size(); ++o) out[o].shares = shares[o];
  Target target = Target::host();
  target.carrier = carrier;
  return make_kernel(body, in, out, kind, target);
}

Literal random_literal(const Type& type, unsigned seed, double low, double high) {
  std::mt19937 generator(seed);
  std::vector<std::byte> bytes(static_cast<std::size_t>(byte_count(type)));
  dispatch_dtype(type.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    auto* elements = reinterpret_cast<T*>(bytes.data());
    for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
      const double unit = static_cast<double>(generator()) / 4294967296.0;
      const double x = low + unit * (high - low);
      if constexpr (std::is_same_v<T, bool>) {
        elements[i] = unit < 0.5;
      } else {
        elements[i] = convert_element<T>(std::is_integral_v<T> ? std::floor(x) : x);
      }
    }
  });
  return literal_from_bytes(type, std::move(bytes));
}

void expect_close(const Literal& got, const Literal& want, double rtol, double atol,
                  const std::string& what) {
  ASSERT_EQ(to_text(got.type), to_text(want.type)) << what;
  const std::vector<double> g = to_doubles(got), w = to_doubles(want);
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (std::isnan(w[i]) && std::isnan(g[i])) continue;
    if (g[i] == w[i]) continue;
    const double difference = std::fabs(g[i] - w[i]);
    ASSERT_TRUE(difference <= atol + rtol * std::fabs(w[i]))
        << what << ": element " << i << " is " << g[i] << ", should be " << w[i];
  }
}

}  // namespace heddle::testing
