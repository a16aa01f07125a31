#include "heddle/graph/verify.h"

#include <set>
#include <string>

#include "heddle/graph/operation.h"

namespace heddle {
namespace {

class Verifier {
 public:
  Verifier(const Function& f, const Program* callees)
      : f_(f), callees_(callees), defined_(f.types.size(), false) {}

  void run() {
    inputs();
    for (node_ = 0; node_ < f_.nodes.size(); ++node_) node(f_.nodes[node_]);
    outputs();
  }

 private:
  void expect(bool holds, const std::string& rule) const {
    if (holds) return;
    std::string where = "@" + f_.name;
    if (node_ < f_.nodes.size()) {
      const Node& n = f_.nodes[node_];
      where +=
          " node " + std::to_string(node_) + (n.op ? " (" + std::string(n.op->name) + ")" : "");
      if (auto place = to_text(n.where); !place.empty()) where += " from " + place;
    }
    throw InternalError({.message = "verify: " + where + ": " + rule});
  }

  void define(ValueId v) {
    expect(v.index < f_.types.size(), "a value without a type");
    expect(!defined_[v.index], "a value defined twice");
    defined_[v.index] = true;
  }

  void inputs() {
    std::set<std::string_view> names;
    for (const Input& in : f_.inputs) {
      expect(names.insert(in.name).second, "two inputs '" + in.name + "'");
      define(in.value);
    }
  }

  void node(const Node& n) {
    expect(n.op != nullptr, "a node without an operation");
    std::vector<Type> types;
    for (ValueId o : n.operands) {
      expect(o.index < defined_.size() && defined_[o.index],
             "an operand used before its definition");
      types.push_back(f_.type(o));
    }
    expect((n.op == &op_constant) == n.literal.has_value(), "exactly constants hold literals");
    const std::vector<Type> inferred =
        n.literal ? std::vector<Type>{n.literal->type}
                  : n.op->strict.infer({*n.op, types, n.attributes, nullptr, callees_, n.where});
    expect(inferred.size() == n.results.size(), "a wrong number of results");
    for (std::size_t r = 0; r < inferred.size(); ++r) {
      define(n.results[r]);
      expect(f_.type(n.results[r]) == inferred[r],
             "result is " + to_text(f_.type(n.results[r])) + ", inferred " + to_text(inferred[r]));
    }
  }

  void outputs() {
    std::set<std::string_view> names;
    for (const Output& out : f_.outputs) {
      expect(names.insert(out.name).second, "two outputs '" + out.name + "'");
      expect(out.value.index < defined_.size() && defined_[out.value.index],
             "output '" + out.name + "' is undefined");
    }
  }

  const Function& f_;
  const Program* callees_;
  std::vector<bool> defined_;
  std::size_t node_ = SIZE_MAX;
};

}  // namespace

void verify(const Function& function, const Program* callees) { Verifier(function, callees).run(); }

void verify(const Program& program) {
  for (const Function& f : program.functions()) verify(f, &program);
}

}  // namespace heddle
