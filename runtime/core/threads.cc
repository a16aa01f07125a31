// The pool. One job at a time: the tasks of one parallel loop, handed out by an atomic counter. The
// caller works too.
//
// `state` is generation | open | limit | joined. A worker joins by raising `joined` in one
// compare-and-swap, which fails once the caller has closed the job, so nobody touches a job that is
// over. `joined` is also the worker's lane: the context with its scratch. Workers spin for a while
// after a job, because the next step of the run comes soon, and then park.
#include "heddle/runtime/core/core.h"

extern "C" {
int pthread_create(uintptr_t* thread, const void* attributes, void* (*start)(void*),
                   void* argument);
int pthread_join(uintptr_t thread, void** result);
int pthread_mutex_init(void* mutex, const void* attributes);
int pthread_mutex_destroy(void* mutex);
int pthread_mutex_lock(void* mutex);
int pthread_mutex_unlock(void* mutex);
int pthread_cond_init(void* condition, const void* attributes);
int pthread_cond_destroy(void* condition);
int pthread_cond_wait(void* condition, void* mutex);
int pthread_cond_broadcast(void* condition);
#ifdef __APPLE__
long sysconf(int name);
#else
int sched_getaffinity(int process, size_t bytes, void* mask);
#endif
int clock_gettime(int clock, void* time);
}

namespace hdcore {
namespace {

struct Job {
  hd_task_fn task;
  uint8_t* closure;
  hd_instance* instance;
  int first, count;
  int32_t next, status;
  bool denormals_as_zeros;  // as the caller has it
};

constexpr int64_t kSpinNanoseconds = 40000;
constexpr uint64_t kOpen = uint64_t{1} << 31;
constexpr uint64_t kJoinedMask = 0xffff;

uint32_t generation(uint64_t state) { return static_cast<uint32_t>(state >> 32); }
uint64_t joined(uint64_t state) { return state & kJoinedMask; }
uint64_t limit(uint64_t state) { return state >> 16 & 0x7fff; }

}  // namespace
}  // namespace hdcore

struct hd_pool {
  uint64_t state;
  uint32_t finished, parked, waiting, stop, in_use;
  int32_t n_workers;
  int64_t spin;
  hdcore::Job job;
  void (*release)(void* user, void* pointer, size_t bytes);
  void* allocator_user;
  size_t bytes;
  // Larger than any platform's pthread types, and opaque here.
  alignas(64) unsigned char mutex[128];
  alignas(64) unsigned char wake[128];
  alignas(64) unsigned char done[128];
  uintptr_t threads[1];  // n_workers of them
};

namespace hdcore {
namespace {

int64_t now() {
#ifdef __APPLE__
  constexpr int kMonotonic = 6;
#else
  constexpr int kMonotonic = 1;
#endif
  long time[2] = {0, 0};
  clock_gettime(kMonotonic, time);
  return static_cast<int64_t>(time[0]) * 1000000000 + time[1];
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

bool cancelled(const hd_instance& instance) {
  return instance.options.cancel && *instance.options.cancel;
}

// Takes tasks until none is left. The first error stops the rest.
void work(Job& job, Context& context) {
  const DenormalsAsZeros mode(job.denormals_as_zeros);
  for (;;) {
    const int i = __atomic_fetch_add(&job.next, 1, __ATOMIC_RELAXED);
    if (i >= job.count || __atomic_load_n(&job.status, __ATOMIC_RELAXED)) return;
    const int status =
        cancelled(*job.instance) ? HD_CANCELLED : job.task(&context, job.first + i, job.closure);
    if (status) __atomic_store_n(&job.status, status, __ATOMIC_RELAXED);
  }
}

// Waits for a job newer than `seen`, or the end.
uint64_t wait_for_job(hd_pool& pool, uint32_t seen) {
  const int64_t start = pool.spin ? now() : 0;
  for (int64_t turns = 1;; ++turns) {
    const uint64_t state = __atomic_load_n(&pool.state, __ATOMIC_ACQUIRE);
    if (generation(state) != seen || __atomic_load_n(&pool.stop, __ATOMIC_ACQUIRE)) return state;
    pause();
    if (!pool.spin || (turns % 64 == 0 && now() - start > pool.spin)) break;
  }
  pthread_mutex_lock(pool.mutex);
  __atomic_fetch_add(&pool.parked, 1, __ATOMIC_SEQ_CST);
  uint64_t state;
  while (generation(state = __atomic_load_n(&pool.state, __ATOMIC_SEQ_CST)) == seen &&
         !__atomic_load_n(&pool.stop, __ATOMIC_ACQUIRE)) {
    pthread_cond_wait(pool.wake, pool.mutex);
  }
  __atomic_fetch_sub(&pool.parked, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(pool.mutex);
  return state;
}

// The lane of this worker in the job of `state`, or -1 when it is closed or full.
int join(hd_pool& pool, uint64_t state) {
  while (state & kOpen && joined(state) < limit(state)) {
    if (__atomic_compare_exchange_n(&pool.state, &state, state + 1, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      return static_cast<int>(joined(state)) + 1;
    }
  }
  return -1;
}

void* run_worker(void* argument) {
  hd_pool& pool = *static_cast<hd_pool*>(argument);
  uint32_t seen = 0;
  for (;;) {
    const uint64_t state = wait_for_job(pool, seen);
    if (__atomic_load_n(&pool.stop, __ATOMIC_ACQUIRE)) return nullptr;
    seen = generation(state);
    const int lane = join(pool, state);
    if (lane < 0) continue;
    work(pool.job, pool.job.instance->lanes[lane]);
    __atomic_fetch_add(&pool.finished, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool.waiting, __ATOMIC_SEQ_CST)) {
      pthread_mutex_lock(pool.mutex);
      pthread_cond_broadcast(pool.done);
      pthread_mutex_unlock(pool.mutex);
    }
  }
}

void open_job(hd_pool& pool, uint64_t workers) {
  __atomic_store_n(&pool.finished, 0, __ATOMIC_RELAXED);
  const uint64_t last = __atomic_load_n(&pool.state, __ATOMIC_RELAXED);
  const uint64_t next = uint64_t{generation(last) + 1} << 32;
  __atomic_store_n(&pool.state, next | kOpen | workers << 16, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n(&pool.parked, __ATOMIC_SEQ_CST)) return;
  pthread_mutex_lock(pool.mutex);
  pthread_cond_broadcast(pool.wake);
  pthread_mutex_unlock(pool.mutex);
}

// Nobody may join any more; returns when those who did are through.
void close_job(hd_pool& pool) {
  const uint64_t workers = joined(__atomic_fetch_and(&pool.state, ~kOpen, __ATOMIC_ACQ_REL));
  const int64_t start = workers && pool.spin ? now() : 0;
  for (int64_t turns = 1; __atomic_load_n(&pool.finished, __ATOMIC_ACQUIRE) != workers; ++turns) {
    pause();
    if (pool.spin && (turns % 64 != 0 || now() - start < pool.spin)) continue;
    pthread_mutex_lock(pool.mutex);
    __atomic_store_n(&pool.waiting, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&pool.finished, __ATOMIC_SEQ_CST) != workers)
      pthread_cond_wait(pool.done, pool.mutex);
    __atomic_store_n(&pool.waiting, 0, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(pool.mutex);
  }
}

// One call of the caller's own parallel-for: each index is one lane that takes tasks until none is
// left.
void run_lane(void* job, int lane) {
  Job& work_of = *static_cast<Job*>(job);
  work(work_of, work_of.instance->lanes[lane]);
}

bool claim(hd_pool* pool) {
  uint32_t free_value = 0;
  return pool && __atomic_compare_exchange_n(&pool->in_use, &free_value, 1, false, __ATOMIC_ACQUIRE,
                                             __ATOMIC_RELAXED);
}

}  // namespace

int do_par_for(void* user_context, hd_task_fn task, int first, int count, uint8_t* closure) {
  Context& context = *static_cast<Context*>(user_context);
  hd_instance& instance = *context.instance;
  Job job = {task, closure, &instance, first, count, 0, 0, DenormalsAsZeros::here()};
  const int lanes = instance.n_lanes < count ? instance.n_lanes : count;
  if (context.in_task) {  // a loop inside a task: this thread does it
    work(job, context);
  } else if (lanes > 1 && instance.options.parallel_for) {
    instance.options.parallel_for(instance.options.parallel_user, lanes, run_lane, &job);
  } else if (lanes > 1 && claim(instance.pool)) {
    hd_pool& pool = *instance.pool;
    pool.job = job;
    open_job(pool, static_cast<uint64_t>(lanes - 1));
    work(pool.job, instance.lanes[0]);
    close_job(pool);
    job.status = pool.job.status;
    __atomic_store_n(&pool.in_use, 0, __ATOMIC_RELEASE);
  } else {
    work(job, instance.lanes[0]);
  }
  if (job.status)
    __atomic_store_n(&instance.kernel_status,
                     job.status == HD_CANCELLED ? HD_CANCELLED : HD_KERNEL_FAILED,
                     __ATOMIC_RELAXED);
  return job.status;
}

int count_cpus() {
#ifdef __APPLE__
  const long online = sysconf(58);  // _SC_NPROCESSORS_ONLN
  return online > 0 ? static_cast<int>(online) : 1;
#else
  uint64_t mask[128] = {};  // up to 8192 CPUs
  if (sched_getaffinity(0, sizeof mask, mask) != 0) return 1;
  int count = 0;
  for (uint64_t word : mask) {
    for (int i = 0; i < 64; ++i) count += static_cast<int>(word >> i & 1);
  }
  return count ? count : 1;
#endif
}

int actual_threads(int wanted) {
  const int cpus = count_cpus();
  const int most = cpus > 4 ? 2 * cpus : 8;
  if (wanted <= 0) return cpus;
  return wanted < most ? wanted : most;
}

hd_pool* create_pool(int threads, const hd_options& options) {
  const int n_workers = threads - 1;
  const size_t bytes = sizeof(hd_pool) + static_cast<size_t>(n_workers) * sizeof(uintptr_t);
  void* memory = options.allocate(options.allocator_user, bytes, HD_ALIGNMENT);
  if (!memory) return nullptr;
  memset(memory, 0, bytes);
  hd_pool* pool = static_cast<hd_pool*>(memory);
  pool->bytes = bytes;
  pool->release = options.release;
  pool->allocator_user = options.allocator_user;
  pool->spin = threads <= count_cpus() ? kSpinNanoseconds : 0;
  pthread_mutex_init(pool->mutex, nullptr);
  pthread_cond_init(pool->wake, nullptr);
  pthread_cond_init(pool->done, nullptr);
  // Fewer threads than wanted is no error: the caller's thread alone can do all the work.
  while (pool->n_workers < n_workers &&
         pthread_create(&pool->threads[pool->n_workers], nullptr, run_worker, pool) == 0) {
    ++pool->n_workers;
  }
  return pool;
}

int pool_threads(const hd_pool& pool) { return pool.n_workers + 1; }

void destroy_pool(hd_pool* pool) {
  if (!pool) return;
  pthread_mutex_lock(pool->mutex);
  __atomic_store_n(&pool->stop, 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(pool->wake);
  pthread_mutex_unlock(pool->mutex);
  for (int i = 0; i < pool->n_workers; ++i) pthread_join(pool->threads[i], nullptr);
  pthread_mutex_destroy(pool->mutex);
  pthread_cond_destroy(pool->wake);
  pthread_cond_destroy(pool->done);
  pool->release(pool->allocator_user, pool, pool->bytes);
}

}  // namespace hdcore
