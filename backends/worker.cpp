#include "heddle/backends/worker.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "heddle/backends/file.h"
#include "heddle/backends/process.h"
#include "heddle/graph/error.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/text.h"
#include "heddle/runtime/core/abi.h"

namespace heddle {
namespace {

// ---- a kernel object as bytes: its facts as text, an empty line, the object ----

constexpr std::string_view kFactsEnd = "\n\n";

std::optional<std::string_view> fact(std::string_view facts, std::string_view name) {
  while (!facts.empty()) {
    const std::string_view line = facts.substr(0, facts.find('\n'));
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ') {
      return line.substr(name.size() + 1);
    }
    facts.remove_prefix(std::min(facts.size(), line.size() + 1));
  }
  return std::nullopt;
}

// Nothing when the facts are not what a worker writes.
std::optional<KernelObject> unpack(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = text.find(kFactsEnd);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view facts = text.substr(0, end);
  const auto symbol = fact(facts, "symbol");
  const auto once = fact(facts, "scratch_once"), task = fact(facts, "scratch_task");
  if (!symbol || !once || !task) return std::nullopt;
  KernelObject object;
  object.symbol = std::string(*symbol);
  const auto number = [&](std::string_view name) {
    return std::strtoll(std::string(fact(facts, name).value_or("0")).c_str(), nullptr, 10);
  };
  object.scratch_once = number("scratch_once"), object.scratch_task = number("scratch_task");
  object.launches = number("launches"), object.threads = number("threads");
  object.shared_bytes = number("shared_bytes"), object.device_bytes = number("device_bytes");
  const auto start = bytes.begin() + static_cast<std::ptrdiff_t>(end + kFactsEnd.size());
  object.object.assign(start, bytes.end());
  return object;
}

// One distinct kernel and what it became.
struct Job {
  const Kernel* kernel;
  std::string text;
  CacheKey key;
  std::optional<KernelObject> object;
};

class Compilation {
 public:
  Compilation(const Cache& cache, const WorkerOptions& options, const Plan* plan)
      : cache_(cache),
        options_(options),
        plan_(plan),
        worker_(options.worker.empty() ? worker_path() : options.worker),
        identity_(worker_identity(worker_)) {}

  std::vector<KernelObject> run(std::span<const Kernel> kernels) {
    std::vector<std::size_t> job_of;
    std::map<std::string, std::size_t> known;
    for (const Kernel& k : kernels) {
      if (std::holds_alternative<External>(k.recipe)) continue;
      std::string text = to_text(k);
      const auto [place, is_new] = known.emplace(text, jobs_.size());
      if (is_new) add_job(k, std::move(text));
      job_of.push_back(place->second);
    }
    look_up();
    compile_missing();
    std::vector<KernelObject> objects;
    auto job = job_of.begin();
    for (const Kernel& k : kernels) {
      const auto* external = std::get_if<External>(&k.recipe);
      objects.push_back(external ? KernelObject{*external->object, external->symbol}
                                 : *jobs_[*job++].object);
    }
    return objects;
  }

 private:
  void add_job(const Kernel& kernel, std::string text) {
    const std::string_view parts[] = {"kernel", text, identity_};
    jobs_.push_back({&kernel, std::move(text), cache_key(parts), std::nullopt});
  }
  void report(const Job& job) {
    const std::lock_guard lock(mutex_);
    ++done_;
    if (options_.progress) {
      options_.progress(done_, static_cast<int>(jobs_.size()), kernel_label(*job.kernel));
    }
  }
  void look_up() {
    if (options_.checked) return;
    for (Job& job : jobs_) {
      if (const auto bytes = cache_.get(job.key)) job.object = unpack(*bytes);
      if (job.object) report(job);
    }
  }

  void compile_missing() {
    std::vector<Job*> missing;
    for (Job& job : jobs_) {
      if (!job.object) missing.push_back(&job);
    }
    if (missing.empty()) return;
    const TemporaryFolder folder;
    std::atomic<std::size_t> next{0};
    auto work = [&] {
      for (std::size_t i = next++; i < missing.size() && !stop_; i = next++) {
        compile_one(*missing[i], folder.path() + "/" + std::to_string(i));
      }
    };
    std::vector<std::thread> threads;
    const std::size_t jobs = std::min(missing.size(), job_count());
    for (std::size_t t = 0; t < jobs; ++t) threads.emplace_back(work);
    for (std::thread& t : threads) t.join();
    // Several may have failed: the error is that of the first kernel in order, whatever the timing.
    for (Job* job : missing) {
      if (const auto e = errors_.find(job); e != errors_.end()) std::rethrow_exception(e->second);
    }
    if (!options_.checked) cache_.trim(Cache::size_limit());
  }
  std::size_t job_count() const {
    if (options_.jobs > 0) return static_cast<std::size_t>(options_.jobs);
    return std::max(1u, std::thread::hardware_concurrency());
  }

  void compile_one(Job& job, const std::string& base) {
    try {
      const std::vector<std::byte> bytes = run_worker(job, base);
      job.object = unpack(bytes);
      if (!job.object) fail(job, "its worker gave no facts", "");
      if (!options_.checked) cache_.put(job.key, bytes);
      report(job);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      errors_[&job] = std::current_exception();
      stop_ = true;
    }
  }
  std::vector<std::byte> run_worker(const Job& job, const std::string& base) {
    if (!try_write_file(base + ".kernel", std::as_bytes(std::span(job.text)))) {
      fail(job, "cannot write its text: " + system_error(), "");
    }
    std::vector<std::string> command{worker_};
    if (options_.checked) command.emplace_back("--check");
    command.push_back(base + ".kernel");
    command.push_back(base + ".o");
    const ProcessResult result = run_process(command, base, options_.most_seconds);
    if (!result.succeeded()) fail(job, result.how_it_ended(), result.error_text);
    const auto object = try_read_file(base + ".o");
    if (!object) fail(job, "its worker wrote no object", result.error_text);
    std::string facts = result.output_text;
    while (!facts.empty() && facts.back() == '\n') facts.pop_back();
    facts += kFactsEnd;
    const auto head = std::as_bytes(std::span(facts));
    std::vector<std::byte> bytes(head.begin(), head.end());
    bytes.insert(bytes.end(), object->begin(), object->end());
    return bytes;
  }
  [[noreturn]] void fail(const Job& job, const std::string& how, std::string words) const {
    while (!words.empty() && words.back() == '\n') words.pop_back();
    Location where;
    for (const Node& n : job.kernel->body.nodes) {
      if (where == Location{}) where = n.where;
    }
    throw CompileError({.message = user_of(job) + "kernel " + kernel_symbol(*job.kernel) + " (" +
                                   kernel_label(*job.kernel) + results_of(job) +
                                   ") does not compile: " + how +
                                   (words.empty() ? "" : ": " + words),
                        .operation = "compile",
                        .where = where});
  }

  // " -> f32[5,9]".
  static std::string results_of(const Job& job) {
    std::string text;
    const Function& body = job.kernel->body;
    for (const Output& o : body.outputs) {
      text += (text.empty() ? " -> " : ", ") + to_text(body.type(o.value));
    }
    return text;
  }
  std::string user_of(const Job& job) const {
    if (plan_ == nullptr) return "";
    const auto number = static_cast<std::size_t>(job.kernel - plan_->kernels.data());
    for (const FunctionPlan& f : plan_->functions) {
      for (const Step& step : f.steps) {
        const auto* k = std::get_if<KernelStep>(&step.what);
        if (k != nullptr && k->kernel == number) return "function '" + f.name + "': ";
      }
    }
    return "";
  }

  const Cache& cache_;
  const WorkerOptions& options_;
  const Plan* plan_;
  std::string worker_, identity_;
  std::vector<Job> jobs_;
  std::mutex mutex_;
  int done_ = 0;
  std::atomic<bool> stop_{false};
  std::map<const Job*, std::exception_ptr> errors_;
};

}  // namespace

std::vector<KernelObject> compile_kernels(std::span<const Kernel> kernels, const Cache& cache,
                                          const WorkerOptions& options) {
  if (kernels.empty()) return {};
  return Compilation(cache, options, nullptr).run(kernels);
}

std::vector<KernelObject> compile_kernels(const Plan& plan, const Cache& cache,
                                          const WorkerOptions& options) {
  if (plan.kernels.empty()) return {};
  return Compilation(cache, options, &plan).run(plan.kernels);
}

std::string worker_identity(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(path);
  if (found != known.end()) return found->second;
  const auto file = try_read_file(path);
  if (!file) {
    throw NotAvailableError({.message = "cannot read the compile worker '" + path + "'",
                             .operation = "compile",
                             .needed = "heddle-kernelc; HEDDLE_KERNELC names its path"});
  }
  const std::string identity = hex(sha256(*file)) + " halide " HEDDLE_HALIDE_VERSION " abi " +
                               std::to_string(HD_ABI) + "." + std::to_string(HD_FORMAT);
  return known[path] = identity;
}

std::string kernel_label(const Kernel& kernel) {
  std::string label(name_of(kernel.recipe));
  std::string_view separator = ": ";
  for (const Node& n : kernel.body.nodes) {
    if (n.op->strict.pattern == Pattern::broadcast) continue;
    label += std::string(separator) + std::string(n.op->name);
    separator = "+";
  }
  return label;
}

}  // namespace heddle
