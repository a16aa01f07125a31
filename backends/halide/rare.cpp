#include "heddle/backends/halide/rare.h"

namespace heddle::halide {

namespace HI = Halide::Internal;

using Halide::Expr;

namespace {
constexpr char kUnlessRare[] = "heddle_unless_rare";
}

Expr unless_rare(const Expr& rare, const Expr& other, const Expr& usual) {
  return HI::Call::make(usual.type(), kUnlessRare, {rare, other, usual}, HI::Call::PureExtern);
}

bool is_unless_rare(const HI::Call& call) { return call.name == kUnlessRare; }

// The usual value stands before the branch, once: its bits do not depend on the lanes beside it.
Expr RareLanes::visit(const HI::Call* call) {
  if (!is_unless_rare(*call)) return IRMutator::visit(call);
  const std::string rare_name = HI::unique_name("rare"), usual_name = HI::unique_name("usual");
  const Expr rare = HI::Variable::make(call->args[0].type(), rare_name);
  const Expr usual = HI::Variable::make(call->type, usual_name);
  Expr any = rare, taken = mutate(call->args[1]);
  if (rare.type().is_vector()) {
    any = HI::VectorReduce::make(HI::VectorReduce::Or, rare, 1);
    taken = HI::Select::make(rare, taken, usual);
  }
  const Expr branch = HI::Call::make(call->type, HI::Call::if_then_else, {any, taken, usual},
                                     HI::Call::PureIntrinsic);
  return HI::Let::make(rare_name, mutate(call->args[0]),
                       HI::Let::make(usual_name, mutate(call->args[2]), branch));
}

}  // namespace heddle::halide
