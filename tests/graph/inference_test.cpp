// Inference says every extent, or says why not.
#include <gtest/gtest.h>

#include <set>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;

// The row with each distinct extent above 1 of its operands made a symbol.
std::vector<Type> with_symbols(const Workload& row) {
  std::vector<Type> types = row.operands;
  for (Type& t : types) {
    for (Dim& d : t.dims) {
      if (d.is_constant() && d.constant() > 1) d = Dim::symbol("n" + std::to_string(d.constant()));
    }
  }
  return types;
}

std::set<std::string> symbols_of(const std::vector<Type>& types) {
  std::set<std::string> names;
  for (const Type& t : types) {
    for (const Dim& d : t.dims) {
      for (const auto& [name, factor] : d.terms()) names.insert(name);
    }
  }
  return names;
}

// req C14: whatever stands in for an extent, a result's is a number or an expression of the
// operands' own, and where it cannot be it is a typed error. (Extents are numbers and affine
// expressions: there is no unknown one to give.)
TEST(Inference, GivesEveryExtentOrAnError) {
  std::size_t determined = 0, refused = 0;
  for (const Operation* op : built_in_operations()) {
    if (op == &op_constant) continue;
    for (const Workload& row : op->strict.workloads()) {
      const std::vector<Type> operands = with_symbols(row);
      const std::set<std::string> given = symbols_of(operands);
      try {
        for (const std::string& name :
             symbols_of(op->strict.infer({*op, operands, row.attributes, nullptr}))) {
          EXPECT_TRUE(given.contains(name)) << op->name << " made up " << name;
        }
        ++determined;
      } catch (const InternalError& e) {
        ADD_FAILURE() << op->name << ": " << e.what();
      } catch (const Error& e) {
        EXPECT_FALSE(std::string(e.what()).empty());
        ++refused;
      }
    }
  }
  EXPECT_GT(determined, 300u);
  EXPECT_GT(refused, 10u) << "attributes with numbers in them beside a symbol";
}

// req C14: what the values would have to say is refused: two symbols in one extent, half of one.
TEST(Inference, RefusesWhatItCannotDetermine) {
  const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  const std::vector<Type> square{{DType::f32, {n, m}}};
  const Attributes flat = Attributes::of(ReshapeAttributes{{n}});
  const std::string text = expect_error<Error>([&] {
    op_reshape.strict.infer({op_reshape, square, flat, nullptr});
  });
  EXPECT_NE(text.find("n"), std::string::npos) << text;
  expect_error<NotImplementedError>([&] { static_cast<void>(n * m); });
  const std::vector<Type> row{{DType::f32, {n}}};
  const Attributes pairs = Attributes::of(WindowAttributes{{2}, {2}, {0}, {0}, {1}, {1}});
  const auto& op = op_reduce_window_max;
  const std::string halves = expect_error<Error>([&] {
    op.strict.infer({op, row, pairs, nullptr});
  });
  EXPECT_NE(halves.find("n"), std::string::npos) << halves;
}

// Ruling 18: a call that fits one overload fits no other with the same options.
TEST(Overloads, AreDistinct) {
  for (const Operation* op : built_in_operations()) {
    std::set<std::string> seen;
    for (const OperationSchema& s : op->surface.overloads) {
      std::string signature = s.variadic ? "variadic" : "";
      for (const OperandSpec& o : s.operands) signature += " " + std::string(name_of(o.kind));
      for (const OptionSpec& o : s.options) signature += " " + std::string(o.name);
      EXPECT_TRUE(seen.insert(signature).second) << op->name << ":" << signature;
    }
  }
}

}  // namespace
}  // namespace heddle
