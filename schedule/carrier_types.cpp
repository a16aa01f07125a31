#include "heddle/schedule/carrier_types.h"

#include "heddle/graph/error.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

[[noreturn]] void fail(const Function& function, const Target& target, const Type& type,
                       std::string operation, std::string field, Location where) {
  throw CompileError({.message = "function '" + function.name + "': carrier " + target.carrier +
                                 " has no " + std::string(name_of(type.dtype)),
                      .operation = std::move(operation),
                      .field = std::move(field),
                      .found = to_text(type),
                      .needed = "an element type of at most 32 bits",
                      .where = where});
}

}  // namespace

bool carrier_has(DType dtype, const Target& target) {
  return target.carrier != "metal" || size_of(dtype) <= 4;
}

void check_carrier_types(const Function& function, const Target& target) {
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    const Type& type = function.type(function.inputs[i].value);
    if (carrier_has(type.dtype, target)) continue;
    fail(function, target, type, "", "inputs[" + std::to_string(i) + "].dtype", {});
  }
  for (const Node& node : function.nodes) {
    for (std::size_t r = 0; r < node.results.size(); ++r) {
      const Type& type = function.type(node.results[r]);
      if (carrier_has(type.dtype, target)) continue;
      fail(function, target, type, std::string(node.op->name),
           "results[" + std::to_string(r) + "].dtype", node.where);
    }
  }
}

}  // namespace heddle
