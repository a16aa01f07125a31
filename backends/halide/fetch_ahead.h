// What is asked for while what comes before it is computed: rows of inputs and of outputs, parts of
// panels.
#ifndef HEDDLE_BACKENDS_HALIDE_FETCH_AHEAD_H_
#define HEDDLE_BACKENDS_HALIDE_FETCH_AHEAD_H_

#include <Halide.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle::halide {

/// A custom lowering pass. Addresses past the end of what is read do no harm.
class FetchAhead final : public Halide::Internal::IRMutator {
 public:
  /// Where a stage reads whole lines of an input, those that lie `distance` elements behind them
  /// are fetched.
  void add(const std::string& stage, const std::string& input, std::int64_t distance) {
    stages_[stage][input].push_back({input, distance, false});
  }
  /// There the lines of an output at the same place are fetched, too: its stores need not wait.
  void add_output(const std::string& stage, const std::string& input, const std::string& output) {
    stages_[stage][input].push_back({output, 0, true});
  }
  /// What a loop over this reduction variable loads as vectors, others in each iteration, is
  /// fetched so many iterations before.
  void add_loop(const std::string& variable, int iterations) { loops_[variable] = iterations; }

  struct Fetch {
    std::string buffer;
    std::int64_t distance;  ///< elements
    bool for_writing;
  };
  using Fetches = std::map<std::string, std::vector<Fetch>>;  ///< by the input that is read

 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::ProducerConsumer* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* let) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* store) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* loop) override;

 private:
  std::vector<Halide::Internal::Stmt> fetches_of(const Halide::Expr& read);

  std::map<std::string, Fetches> stages_;
  const Fetches* inside_ = nullptr;
  std::map<std::string, Halide::Expr> last_;  ///< where the last load of each input began
  std::map<std::string, int> loops_;
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_FETCH_AHEAD_H_
