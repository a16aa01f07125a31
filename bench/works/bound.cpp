#include "bench/works/bound.h"

namespace heddle::bench {

Bound::Bound(const Program& program, int threads, std::span<const Literal> inputs) {
  CompileOptions options;
  options.threads = threads;
  options.observer = environment_observer();
  executable_ = compile(program, options);
  for (const Step& step : executable_->plan().functions[0].steps) {
    flops_ += static_cast<double>(step.flops);
    bytes_ += static_cast<double>(step.bytes);
  }
  arguments_ = ArgumentMemory(hd_artifact_of(executable_->instance())->signatures[0], inputs);
}

void Bound::operator()() {
  const std::span<void* const> pointers = arguments_.pointers();
  hd_run(executable_->instance(), 0, pointers.data(), static_cast<std::uint32_t>(pointers.size()));
}

std::vector<std::byte> Bound::memory() const {
  const hd_signature& signature = hd_artifact_of(executable_->instance())->signatures[0];
  std::vector<std::byte> all;
  for (std::uint32_t a = 0; a < signature.n_arguments; ++a) {
    const auto* bytes = static_cast<const std::byte*>(arguments_.pointers()[a]);
    all.insert(all.end(), bytes, bytes + signature.arguments[a].bytes);
  }
  return all;
}

}  // namespace heddle::bench
