#include "runtime/queued_device.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace heddle::testing::queued {
namespace {

struct Memory {
  std::unique_ptr<std::byte[]> own;
  std::byte* data;
  hd_memory parent;  // 0: its own
  int views = 0;
};

struct State {
  std::map<hd_memory, Memory> memories;
  std::vector<std::function<void()>> queue;
  std::vector<std::string> calls, faults;
  int fail_at = -1, counted = 0;
  hd_memory last = 0;
  bool absent = false, running = false, waited = false;
  std::string error;
};
State state;

bool fails() { return state.counted++ == state.fail_at; }
void expect(bool holds, const char* rule) {
  if (!holds) state.faults.emplace_back(rule);
}
std::byte* data(hd_memory m) {
  expect(state.memories.count(m) == 1, "a memory that is not alive");
  return state.memories.count(m) ? state.memories.at(m).data : nullptr;
}

// What follows a failure does not happen. Whose memory it is, is settled now: a view may be
// released before the work is done.
void ask(const std::string& what, std::function<void()> work) {
  expect(state.running, "a call outside of a run");
  state.calls.push_back(what);
  state.waited = false;
  if (!state.error.empty()) return;
  if (fails()) {
    state.error = what + " broke";
  } else {
    state.queue.push_back(std::move(work));
  }
}

int open(char* why, std::size_t size) {
  if (state.absent) std::strncpy(why, "install one", size);
  return state.absent ? HD_NO_DEVICE : HD_OK;
}

hd_memory add(Memory memory) {
  state.memories.emplace(++state.last, std::move(memory));
  return state.last;
}
hd_memory allocate(std::uint64_t bytes) {
  state.calls.emplace_back("allocate");
  expect(bytes > 0, "memory of no bytes");
  if (fails()) return 0;
  auto own = std::make_unique<std::byte[]>(bytes);
  std::memset(own.get(), 0xff, bytes);
  std::byte* at = own.get();
  return add({std::move(own), at, 0});
}
hd_memory view(hd_memory memory, std::uint64_t offset, std::uint64_t bytes) {
  state.calls.emplace_back("view");
  expect(bytes > 0 && offset % kAlignment == 0, "a view of nothing, or beside the alignment");
  if (fails()) return 0;
  ++state.memories.at(memory).views;
  return add({nullptr, data(memory) + offset, memory});
}
void release(hd_memory memory) {
  const auto found = state.memories.find(memory);
  expect(found != state.memories.end(), "released twice");
  if (found == state.memories.end()) return;
  expect(found->second.views == 0, "released before its views");
  if (found->second.parent != 0) --state.memories.at(found->second.parent).views;
  state.memories.erase(found);
}

void begin() {
  expect(!state.running, "a run within a run");
  state.running = true;
}
void end() {
  expect(state.running && state.waited, "an end without a wait");
  state.running = false;
}

void write(hd_memory to, std::uint64_t offset, const void* from, std::uint64_t bytes) {
  ask("write", [=, at = data(to)] { std::memcpy(at + offset, from, bytes); });
}
void read(hd_memory from, std::uint64_t offset, void* to, std::uint64_t bytes) {
  ask("read", [=, at = data(from)] { std::memcpy(to, at + offset, bytes); });
}
void copy(hd_memory from, hd_memory to, std::uint64_t bytes) {
  ask("copy", [=, in = data(from), out = data(to)] { std::memcpy(out, in, bytes); });
}
int failed() { return state.error.empty() ? 0 : 1; }

int wait(char* why, std::size_t size) {
  state.calls.emplace_back("wait");
  state.waited = true;
  for (const auto& work : std::exchange(state.queue, {})) work();
  if (state.error.empty() && fails()) state.error = "it was unplugged";
  if (state.error.empty()) return HD_OK;
  std::strncpy(why, state.error.c_str(), size);
  state.error.clear();
  return HD_DEVICE_FAILED;
}

int load(void**, const char*, int) { return HD_OK; }
void fail(const char* what) {
  if (state.error.empty()) state.error = std::string("no ") + what;
}

void compute(const std::string& name, std::byte* in, std::byte* out, int count) {
  const auto* x = reinterpret_cast<const float*>(in);
  auto* y = reinterpret_cast<float*>(out);
  bool big = false;
  for (int i = 0; i < count; ++i) {
    if (name == kAddOne) y[i] = x[i] + 1;
    if (name == kTwice) y[i] = x[i] * 2;
    if (name == kRoot) y[i] = std::sqrt(x[i]);
    big |= x[i] > 100;
  }
  const std::int32_t flag = big ? 1 : 0;
  if (name == kIsBig) std::memcpy(out, &flag, sizeof flag);
}

int launch_named(void*, const char* name, const std::int32_t*, const std::int32_t*, int,
                 const void*, void** arguments, const std::int8_t*) {
  const auto& in = *static_cast<hd_kernel_buffer*>(arguments[0]);
  const auto& out = *static_cast<hd_kernel_buffer*>(arguments[1]);
  expect(in.host == nullptr && out.host == nullptr, "a kernel that gets memory of the host");
  int count = 1;
  for (int d = 0; d < in.dimensions; ++d) count *= in.dim[d].extent;
  ask(name, [name = std::string(name), x = data(in.device), y = data(out.device), count] {
    compute(name, x, y, count);
  });
  return HD_OK;
}

}  // namespace

const hd_device device = {"queued", kAlignment, open, allocate, view, release, begin,        end,
                          write,    read,       copy, failed,   wait, load,    launch_named, fail};

void reset(int fail_at, bool absent) {
  state = State{};
  state.fail_at = fail_at;
  state.absent = absent;
}
int fallible_calls() { return state.counted; }
std::vector<std::string> take_calls() { return std::exchange(state.calls, {}); }
int live_memories() { return static_cast<int>(state.memories.size()); }
std::vector<std::string> faults() { return state.faults; }

}  // namespace heddle::testing::queued
