// The only maker of nodes. Infers and checks every type as it goes; belongs to one thread.
#ifndef HEDDLE_GRAPH_BUILDER_H_
#define HEDDLE_GRAPH_BUILDER_H_

#include <set>
#include <string>
#include <string_view>

#include "heddle/graph/program.h"

namespace heddle {

class Builder {
 public:
  /// `callees` are the functions that call, cond, while and scan may name; it must outlive the
  /// builder.
  explicit Builder(std::string_view name, const Program* callees = nullptr);

  /// ValueError when the name is taken.
  ValueId input(std::string_view name, Type type, bool donate = false);
  ValueId constant(Literal literal, Location where = {});
  /// A constant of `type` with every element `value`: a scalar constant, broadcast.
  ValueId filled(const Type& type, double value, Location where = {});
  /// Adds one operation and returns its results. Errors of inference name the operation, `where`
  /// and the operand types.
  Values add(const Operation& op, Ids operands, Attributes attributes = {}, Location where = {});
  /// As add, with the results' types as they are given: in the body of a kernel whose extents are
  /// symbols, which know nothing of each other (schedule/symbols.h).
  Values add_typed(const Operation& op, Ids operands, Attributes attributes,
                   std::vector<Type> results, Location where = {});
  /// As add, for an operation with one result.
  ValueId emit(const Operation& op, Ids operands, Attributes attributes = {}, Location where = {});
  ValueId emit(const Operation& op, std::initializer_list<ValueId> operands,
               Attributes attributes = {}, Location where = {}) {
    return emit(op, Ids(operands.begin(), operands.size()), std::move(attributes), where);
  }
  /// Copies the body of `function` with `arguments` for its inputs; returns the values of its
  /// outputs. ValueError when the arguments' count or types differ. Nodes without a location get
  /// `where`.
  Values splice(const Function& function, Ids arguments, Location where = {});

  const Type& type(ValueId v) const { return function_.types[v.index]; }
  /// The node that made `v`, or null for an input. Valid until the next add.
  const Node* definition(ValueId v) const;
  const Program* callees() const { return callees_; }
  /// Nodes added with an unknown location get this one.
  void set_location(Location where) { where_ = where; }

  /// ValueError when the name is taken.
  void output(std::string_view name, ValueId v);
  /// Gives the function away; the builder is empty afterwards.
  Function finish();

 private:
  ValueId new_value(Type type, std::uint32_t node);
  Function function_;
  std::vector<std::uint32_t> definitions_;
  std::set<std::string, std::less<>> input_names_, output_names_;
  const Program* callees_;
  Location where_;
};

}  // namespace heddle

#endif  // HEDDLE_GRAPH_BUILDER_H_
