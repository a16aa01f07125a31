// Concatenations that nothing computes: their parts are computed where they belong.
#ifndef HEDDLE_SCHEDULE_JOINS_H_
#define HEDDLE_SCHEDULE_JOINS_H_

#include <map>
#include <vector>

#include "heddle/schedule/body.h"
#include "heddle/schedule/layout.h"
#include "heddle/schedule/order.h"

namespace heddle {

struct Join {
  struct Part {
    ValueId value;
    std::int64_t offset = 0;  ///< bytes into the whole
  };
  ValueId whole;
  std::vector<Part> copied;  ///< that have a place of their own
};

/// By group: those that are one concatenation along a leading axis, of which at least half need not
/// be copied. What its parts are views of is laid out in its storage then: values that kernels of
/// the function compute, no outputs. Order of groups stays as it is.
std::map<std::size_t, Join> place_parts(const Function& function, const Grouping& grouping,
                                        const std::vector<GroupBody>& bodies,
                                        const std::vector<InPlace>& in_place,
                                        std::vector<Layout>& layouts);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_JOINS_H_
