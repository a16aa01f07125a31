// The record behind gradients: a link per tensor, a node per recorded call.
#ifndef HEDDLE_BACKENDS_EAGER_RECORD_H_
#define HEDDLE_BACKENDS_EAGER_RECORD_H_

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "heddle/backends/eager/call_record.h"
#include "heddle/graph/tensor.h"

namespace heddle {

struct RecordedCall;

/// Of a marked tensor: where its gradient gathers. Of a result: the call that made it.
class GradientLink {
 public:
  std::shared_ptr<RecordedCall> call;  ///< null: a marked tensor
  std::size_t result = 0;              ///< of the call
  std::mutex mutex;
  std::optional<Tensor> gradient;  ///< marked tensors only
};

struct SavedTensor {
  std::size_t operand;  ///< among the tensor operands
  Tensor tensor;        ///< without a link: the record holds no cycles
  std::uint64_t version;
};

struct RecordedCall {
  ~RecordedCall();

  std::uint64_t number = 0;  ///< later calls have larger ones: an order to go back in
  std::shared_ptr<CallRecord> record;
  std::string operation;
  Location where;
  std::vector<std::size_t> wrt;                     ///< tensor operands that a gradient flows into
  std::vector<std::shared_ptr<GradientLink>> into;  ///< one per entry of wrt
  std::vector<SavedTensor> saved;
  std::vector<Tensor> outputs;  ///< without links; for gradient callbacks only
  std::vector<Type> results;
  bool freed = false;
};

/// Some operand that a derivative is defined for has a link.
bool takes_part(const Invocation& invocation, Operands operands);
/// Records a call whose results are about to be returned, when gradients are on and flow.
void record_call(const Invocation& invocation, const std::shared_ptr<CallRecord>& record,
                 Operands operands, Location where, std::vector<Tensor>& results);

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_EAGER_RECORD_H_
