// The plan: buffers, and steps over them. Plain data; the executor's tables are made from it one to
// one.
#ifndef HEDDLE_SCHEDULE_PLAN_H_
#define HEDDLE_SCHEDULE_PLAN_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "heddle/schedule/kernel.h"

namespace heddle {

/// argument: index counts the function's inputs, then its outputs. constant: index into
/// Plan::constants. prepared: the output of that number of @prepare, which runs at create. arena:
/// `offset` bytes into the arena (buffer_alignment).
enum class Space : std::uint8_t { argument, constant, prepared, arena };
struct Buffer {
  Space space = Space::arena;
  std::uint32_t index = 0;
  Dim offset;  ///< bytes from the start of the argument, constant or arena
  Type type;
  Dims strides;  ///< elements
};

struct KernelStep {
  std::uint32_t kernel = 0;            ///< into Plan::kernels
  std::vector<std::uint32_t> buffers;  ///< the kernel's in ports, then its out ports
};
struct CopyStep {
  std::uint32_t from = 0, to = 0;  ///< equal types
};
struct CallStep {
  std::uint32_t plan = 0;
};
struct CondStep {
  std::uint32_t predicate = 0, yes = 0, no = 0;
};
struct WhileStep {
  std::uint32_t test = 0, body = 0;
};
struct ScanStep {
  Dim trips;
  std::uint32_t body = 0;
};
struct Step {
  std::variant<KernelStep, CopyStep, CallStep, CondStep, WhileStep, ScanStep> what;
  std::uint32_t wave = 0;            ///< steps of one wave are independent of each other
  std::vector<std::uint32_t> nodes;  ///< of the scheduled function: what it computes
  std::string label;                 ///< its operations, as "dot_general+add+max"
  std::int64_t flops = 0, bytes = 0;
  std::int32_t fault = -1;  ///< buffer of an i32 that is not 0 when the run must end; -1: none
  std::string place;        ///< the user's line of its first node that has one: "model.cpp:41"
};

struct Argument {
  std::string name;
  Type type;
  bool donate = false;       ///< an input whose storage an output takes over
  std::int32_t shares = -1;  ///< an output's: the input argument it overwrites in place
};

struct FunctionPlan {
  std::string name;
  std::vector<Argument> inputs, outputs;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  Dim arena_bytes;
};

/// One target's plan of a whole program. Equal kernels stand once.
struct Plan {
  Target target;
  std::vector<FunctionPlan> functions;  ///< sub-plans too
  std::vector<Kernel> kernels;
  std::vector<Literal> constants;
};

/// InternalError unless every step's buffers fit its kernel's ports, no two live buffers overlap,
/// and offsets are aligned.
void verify(const Plan& plan);
/// A readable listing: buffers, steps, kernels.
std::string to_text(const Plan& plan);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_PLAN_H_
