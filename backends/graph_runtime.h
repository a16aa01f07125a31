// Programs run as a whole or operation by operation, with a say in what happens where a carrier has
// no kernel. What it decides is counted and said; `compile` and direct calls stay strict.
#ifndef HEDDLE_BACKENDS_GRAPH_RUNTIME_H_
#define HEDDLE_BACKENDS_GRAPH_RUNTIME_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/backends/eager/runnable.h"
#include "heddle/graph/bounded_cache.h"
#include "heddle/graph/literal.h"
#include "heddle/graph/program.h"

namespace heddle {

/// Where the carrier has no kernel for an operation. none: NotImplementedError. reference: the
/// interpreter. full: the operation's decomposition, one level deep, then the interpreter.
enum class Fallback : std::uint8_t { none, reference, full };

struct GraphOptions {
  std::string carrier = "cpu";
  bool whole = true;  ///< fused and planned as one; false: one kernel per operation
  Fallback fallback = Fallback::full;
};

/// Something a carrier did not do itself, decided when a program was compiled.
struct FallbackCount {
  std::string operation, carrier;
  std::uint64_t decomposed = 0, interpreted = 0;
};

/// A compiled program. Any number of threads may run it.
class GraphExecutable {
 public:
  virtual ~GraphExecutable() = default;
  /// Results of the entry function in the order of its outputs. ValueError names the argument whose
  /// count or type differs.
  virtual std::vector<Literal> run(std::span<const Literal> arguments) const = 0;
};

class GraphRuntime {
 public:
  using Warning = std::function<void(std::string_view)>;
  /// `warning` gets one line per decision to fall back; default: stderr.
  explicit GraphRuntime(Warning warning = nullptr);

  /// From the cache when carrier, options and program text are those of an earlier call: decisions
  /// are then neither made nor counted again. At most 256 programs of 256 MiB are kept.
  std::shared_ptr<const GraphExecutable> compile(const Program& program,
                                                 const GraphOptions& options = {},
                                                 Location where = std::source_location::current());
  /// Sorted by operation and carrier.
  std::vector<FallbackCount> fallbacks() const;
  CacheStatistics cache_statistics() const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const GraphExecutable> executable;
  };
  std::shared_ptr<const GraphExecutable> make(const Program& program, const GraphOptions& options);
  std::shared_ptr<const GraphExecutable> make_whole(const Function& function,
                                                    const GraphOptions& options);
  std::shared_ptr<const GraphExecutable> make_steps(const Program& program,
                                                    const GraphOptions& options);
  std::unique_ptr<Runnable> make_step(const Function& one, const Program& program,
                                      const GraphOptions& options);
  std::unique_ptr<Runnable> decomposed(const Function& one, const Program& program,
                                       const GraphOptions& options);
  void count(std::string_view operation, const GraphOptions& options, bool decomposed);

  mutable std::mutex mutex_;
  Warning warning_;
  BoundedCache<Entry> cache_{256, std::size_t{256} << 20};
  std::map<std::pair<std::string, std::string>, FallbackCount> counts_;
};

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_GRAPH_RUNTIME_H_
