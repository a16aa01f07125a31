// A group as a kernel body: a function of its own, whose inputs and outputs are the kernel's ports.
#ifndef HEDDLE_SCHEDULE_BODY_H_
#define HEDDLE_SCHEDULE_BODY_H_

#include "heddle/schedule/group.h"

namespace heddle {

struct GroupBody {
  Function body;
  Values in, out;                    ///< the grouped function's values behind the ports
  std::vector<std::uint32_t> nodes;  ///< of the group: those that it computes
  bool external = false;             ///< a kernel from outside computes it
};

/// Free nodes, small constants and what is repeated are copied in; what other groups compute else,
/// views, inputs and large constants become inputs. `needed`: by value of the function, whether it
/// must be written to memory.
GroupBody make_body(const Function& function, const Grouping& grouping, std::size_t group,
                    const std::vector<bool>& needed);

/// Which values must be in memory: outputs, operands of views, results read by another group, all
/// results of kernels from outside.
std::vector<bool> needed_in_memory(const Function& function, const Grouping& grouping);

/// Whether every read of input `in` of the body is element by element at the output's own index, so
/// that an output of equal extents may overwrite it.
bool reads_own_index_only(const Function& body, std::size_t in, const Dims& output);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_BODY_H_
