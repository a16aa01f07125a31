// The order of a function's groups, and which outputs can overwrite their donated inputs.
#ifndef HEDDLE_SCHEDULE_ORDER_H_
#define HEDDLE_SCHEDULE_ORDER_H_

#include "heddle/schedule/body.h"
#include "heddle/schedule/layout.h"

namespace heddle {

struct InPlace {
  std::size_t output = 0, input = 0;  ///< of the function
  bool direct = false;  ///< the kernel writes into the input's storage; else a copy at the end does
};

struct Order {
  std::vector<std::size_t> groups;  ///< indices into Grouping::groups
  std::vector<InPlace> in_place;    ///< one per donated input that has an output of its name
};

/// ValueError when a donated input and the output of its name differ in type.
Order order_groups(const Function& function, const std::vector<Layout>& layouts,
                   const std::vector<GroupBody>& bodies);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_ORDER_H_
