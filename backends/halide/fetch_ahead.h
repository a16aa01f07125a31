// Rows of inputs that are asked for while the row before them is computed.
#ifndef HEDDLE_BACKENDS_HALIDE_FETCH_AHEAD_H_
#define HEDDLE_BACKENDS_HALIDE_FETCH_AHEAD_H_

#include <Halide.h>

#include <cstdint>
#include <map>
#include <string>

namespace heddle::halide {

/// A custom lowering pass: where a stage reads whole lines of an input, those that lie `distance`
/// elements behind them are fetched. Addresses past an input's end do no harm.
class FetchAhead final : public Halide::Internal::IRMutator {
 public:
  void add(const std::string& stage, const std::string& input, std::int64_t distance) {
    distances_[stage][input] = distance;
  }

 protected:
  using Halide::Internal::IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::ProducerConsumer* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* let) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* store) override;

 private:
  Halide::Internal::Stmt behind_fetches(const Halide::Expr& read,
                                        const Halide::Internal::Stmt& statement) const;

  std::map<std::string, std::map<std::string, std::int64_t>> distances_;
  const std::map<std::string, std::int64_t>* inside_ = nullptr;
};

}  // namespace heddle::halide

#endif  // HEDDLE_BACKENDS_HALIDE_FETCH_AHEAD_H_
