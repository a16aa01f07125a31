// A trace without a frontend.
#ifndef HEDDLE_TESTS_OPS_TRACED_H_
#define HEDDLE_TESTS_OPS_TRACED_H_

#include <memory>
#include <string>

#include "heddle/graph/builder.h"
#include "heddle/graph/tensor.h"

namespace heddle::ops_test {

/// A trace with its inputs.
struct Traced {
  std::shared_ptr<Builder> builder = std::make_shared<Builder>("f");

  Tensor input(const std::string& name, Type type) {
    const ValueId v = builder->input(name, type);
    return {std::move(type), std::make_shared<TraceStorage>(builder, v)};
  }
  Program finish(const Tensor& result) {
    builder->output("y", traced(result)->value());
    return Program({builder->finish()});
  }
};

}  // namespace heddle::ops_test

#endif  // HEDDLE_TESTS_OPS_TRACED_H_
