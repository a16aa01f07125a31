// From a definition to a record: the functions of the record find the definition's callbacks
// through Operation::extension.
#ifndef HEDDLE_GRAPH_EXTENSION_H_
#define HEDDLE_GRAPH_EXTENSION_H_

#include "heddle/graph/operation.h"

namespace heddle {

struct ExtensionRecord {
  explicit ExtensionRecord(const OperationDefinition& definition);
  ExtensionRecord(const ExtensionRecord&) = delete;
  ExtensionRecord& operator=(const ExtensionRecord&) = delete;

  const std::vector<Role> roles;  ///< one per tensor operand
  const Operation operation;
};

}  // namespace heddle

#endif  // HEDDLE_GRAPH_EXTENSION_H_
