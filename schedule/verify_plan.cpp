#include <map>

#include "heddle/schedule/memory.h"
#include "heddle/schedule/plan.h"

namespace heddle {
namespace {

class PlanVerifier {
 public:
  PlanVerifier(const Plan& plan, const FunctionPlan& f) : plan_(plan), f_(f) {}

  void run() {
    for (const Buffer& b : f_.buffers) buffer(b);
    for (step_ = 0; step_ < f_.steps.size(); ++step_) {
      if (const auto* k = std::get_if<KernelStep>(&f_.steps[step_].what)) kernel(*k);
      if (const auto* c = std::get_if<CopyStep>(&f_.steps[step_].what)) copy(*c);
    }
  }

 private:
  void expect(bool holds, const std::string& rule) const {
    if (!holds) {
      throw InternalError({.message = "verify: plan of @" + f_.name + " step " +
                                      std::to_string(step_) + ": " + rule});
    }
  }

  void buffer(const Buffer& b) const {
    const std::int64_t end = b.offset.constant() + byte_count(b.type);
    const std::int64_t alignment = plan_.target.on_device()
                                       ? buffer_alignment(plan_.target)
                                       : static_cast<std::int64_t>(size_of(b.type.dtype));
    expect(b.offset.constant() % alignment == 0, "a buffer that is not aligned");
    expect(b.strides.size() == b.type.rank(), "strides of another rank");
    if (b.space == Space::arena)
      expect(end <= f_.arena_bytes.constant(), "a buffer beyond the arena");
    if (b.space == Space::constant) expect(b.index < plan_.constants.size(), "an unknown constant");
    if (b.space == Space::argument)
      expect(b.index < f_.inputs.size() + f_.outputs.size(), "an unknown argument");
  }

  void kernel(const KernelStep& k) {
    expect(k.kernel < plan_.kernels.size(), "an unknown kernel");
    const Kernel& kernel = plan_.kernels[k.kernel];
    expect(k.buffers.size() == kernel.in.size() + kernel.out.size(), "a wrong number of buffers");
    for (std::size_t i = 0; i < k.buffers.size(); ++i) {
      const bool input = i < kernel.in.size();
      const ValueId port =
          input ? kernel.body.inputs[i].value : kernel.body.outputs[i - kernel.in.size()].value;
      expect(f_.buffers[k.buffers[i]].type == kernel.body.type(port),
             "a buffer of another type than its port");
      if (input) read(k.buffers[i]);
    }
    for (std::size_t i = kernel.in.size(); i < k.buffers.size(); ++i) write(k.buffers[i]);
  }

  void copy(const CopyStep& c) {
    expect(f_.buffers[c.from].type == f_.buffers[c.to].type, "a copy between types");
    read(c.from);
    write(c.to);
  }

  // What the arena holds: byte ranges that a buffer was written to, of which nothing was written
  // over since. A read must find all its bytes in such: in one, or in parts that lie side by side.
  void write(std::uint32_t b) {
    const Buffer& buffer = f_.buffers[b];
    if (buffer.space != Space::arena) return;
    const std::int64_t begin = buffer.offset.constant(), end = begin + byte_count(buffer.type);
    for (auto it = held_.begin(); it != held_.end();) {
      it = it->first < end && it->second > begin ? held_.erase(it) : std::next(it);
    }
    held_[begin] = end;
  }
  void read(std::uint32_t b) const {
    const Buffer& buffer = f_.buffers[b];
    if (buffer.space != Space::arena) return;
    const std::int64_t end = buffer.offset.constant() + byte_count(buffer.type);
    for (std::int64_t at = buffer.offset.constant(); at < end;) {
      auto it = held_.upper_bound(at);
      expect(it != held_.begin() && std::prev(it)->second > at,
             "a read of arena memory that something else has overwritten, or nothing has written");
      at = std::prev(it)->second;
    }
  }

  const Plan& plan_;
  const FunctionPlan& f_;
  std::size_t step_ = 0;
  std::map<std::int64_t, std::int64_t> held_;
};

}  // namespace

void verify(const Plan& plan) {
  for (const FunctionPlan& f : plan.functions) PlanVerifier(plan, f).run();
}

}  // namespace heddle
