#include "support/metal/objects.h"

#include <algorithm>
#include <set>
#include <utility>

#include "support/metal/device.h"

namespace heddle::testing::metal {

std::recursive_mutex mutex;

namespace {

// Never destroyed: programs release what they keep when the process ends, in no order.
std::set<const void*>& alive = *new std::set<const void*>;
std::vector<std::string>& faults = *new std::vector<std::string>;
std::map<std::string, std::string>& failures =  // of the next call of a method
    *new std::map<std::string, std::string>;
std::map<std::string, int>& calls = *new std::map<std::string, int>;  // since they were taken
int commits = 0;
bool absent = false;
using Pools = std::vector<std::vector<Object*>>;
Pools& thread_pools() {
  thread_local Pools* const pools = new Pools;
  return *pools;
}

}  // namespace

Object::Object(const char* k) : kind(k) { alive.insert(this); }
Object::~Object() { alive.erase(this); }

Commands::~Commands() {
  for (Object* o : used) release(o);
}
Encoder::Encoder(const char* k, Commands& c) : Object(k), commands(c) {
  retain(&c);
  commands.open = this;
}
Encoder::~Encoder() {
  if (!ended) add_fault("an encoder is gone that never ended");
  release(&commands);
}

void add_fault(const std::string& what) { faults.push_back(what); }

Object* retain(Object* object) {
  ++object->references;
  return object;
}
void release(Object* object) {
  if (--object->references == 0) delete object;
}
Object* autorelease(Object* object) {
  if (thread_pools().empty()) {
    add_fault(std::string(object->kind) + " is left behind with no pool in place");
  } else {
    thread_pools().back().push_back(object);
  }
  return object;
}
bool is_alive(const void* object) { return alive.count(object) > 0; }

bool fails_now(const std::string& method, std::string& why) {
  const auto found = failures.find(method);
  if (found == failures.end()) return false;
  why = found->second;
  failures.erase(found);
  return true;
}
bool is_absent() { return absent; }
void count_commit() { ++commits; }
void count_call(const std::string& method) { ++calls[method]; }

bool in_use(const Buffer* buffer) {
  return std::any_of(alive.begin(), alive.end(), [&](const void* o) {
    const auto* commands = dynamic_cast<const Commands*>(static_cast<const Object*>(o));
    return commands != nullptr && !commands->done &&
           std::count(commands->used.begin(), commands->used.end(), buffer) > 0;
  });
}

std::vector<std::string> take_faults() {
  const std::lock_guard lock(mutex);
  return std::exchange(faults, {});
}
int take_commits() {
  const std::lock_guard lock(mutex);
  return std::exchange(commits, 0);
}
int take_calls(const std::string& method) {
  const std::lock_guard lock(mutex);
  return std::exchange(calls[method], 0);
}
int live_objects(const std::string& kind) {
  const std::lock_guard lock(mutex);
  return static_cast<int>(std::count_if(alive.begin(), alive.end(), [&](const void* o) {
    return kind == static_cast<const Object*>(o)->kind;
  }));
}
void* new_buffer(std::size_t bytes) {
  const std::lock_guard lock(mutex);
  return static_cast<Object*>(new Buffer(bytes));
}
std::byte* contents(void* buffer) {
  return static_cast<Buffer*>(static_cast<Object*>(buffer))->start;
}
void release_buffer(void* buffer) {
  const std::lock_guard lock(mutex);
  release(static_cast<Object*>(buffer));
}
void fail_next(const std::string& method, const std::string& why) {
  const std::lock_guard lock(mutex);
  failures[method] = why;
}
void set_absent(bool now) { absent = now; }

}  // namespace heddle::testing::metal

namespace metal = heddle::testing::metal;

extern "C" {

void* objc_autoreleasePoolPush() {
  metal::thread_pools().emplace_back();
  return reinterpret_cast<void*>(metal::thread_pools().size());
}
void objc_autoreleasePoolPop(void* pool) {
  const std::lock_guard lock(metal::mutex);
  if (metal::thread_pools().size() != reinterpret_cast<std::size_t>(pool)) {
    metal::add_fault("pools end in another order than they began");
  }
  if (metal::thread_pools().empty()) return;
  for (metal::Object* o : metal::thread_pools().back()) metal::release(o);
  metal::thread_pools().pop_back();
}

}  // extern "C"
