// What the tests of extensions share: an operation, carriers of their own, kernels that count.
#ifndef HEDDLE_TESTS_EAGER_EXTENSION_SUPPORT_H_
#define HEDDLE_TESTS_EAGER_EXTENSION_SUPPORT_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/backends/eager/pack.h"
#include "heddle/backends/eager/record.h"
#include "heddle/frontend/heddle.h"

namespace heddle::testing {

inline Invocation like_first(const BoundOperationCall& call) {
  const Type& x = call.tensor(0).type();
  return {call, uniform_plan(call, x.dtype), {{x}}};
}

/// acme.<name>(x), whose result has x's type.
inline const OperationDefinition& define_unary(const std::string& name, DefinitionParts parts,
                                               ResolveFunction resolve = like_first) {
  return define_operation("acme." + name, {.operands = {{"x", OperandKind::tensor, true}}},
                          std::move(resolve), std::move(parts));
}

/// y = 2 x on floats, as a kernel.
inline int double_floats(const Invocation& inv, std::span<const std::byte* const> in,
                         std::span<std::byte* const> out) {
  const auto count = element_count(inv.results[0].type);
  for (std::int64_t i = 0; i < count; ++i) {
    reinterpret_cast<float*>(out[0])[i] = 2 * reinterpret_cast<const float*>(in[0])[i];
  }
  return 0;
}

/// A carrier that runs nothing but the kernels of these patterns.
inline const Carrier& carrier_of(const std::string& name, std::vector<KernelPattern> patterns,
                                 BuiltInKernels built_in = BuiltInKernels::none) {
  const Carrier& carrier = define_carrier(name, built_in);
  register_kernel_pack(
      {.name = "acme", .version = 1, .carrier = carrier, .patterns = std::move(patterns)});
  return carrier;
}

inline Tensor tensor_on(const Carrier& carrier, std::initializer_list<double> elements) {
  return tensor(elements, {static_cast<std::int64_t>(elements.size())},
                {.dtype = DType::f32, .carrier = carrier.name});
}

using Elements = std::vector<double>;

/// Calls `d` twice on a tensor of the carrier that takes part in a gradient. Each time it throws an
/// E, and the tensor is as before: elements, version, and no recorded call. What the second says.
template <class E>
ErrorDetail failing_call(const OperationDefinition& d, const Carrier& carrier) {
  Tensor x = tensor_on(carrier, {1, 2});
  require_gradient(x);
  assign(x, tensor_on(carrier, {3, 4}));
  ErrorDetail detail;
  for (int again = 0; again < 2; ++again) {
    try {
      d({x});
      ADD_FAILURE() << d.name << ": no error";
    } catch (const E& e) {
      detail = e.detail();
    } catch (const std::exception& e) {
      ADD_FAILURE() << d.name << ": another error: " << e.what();
    }
    EXPECT_EQ(x.storage()->version(), 1u) << d.name;
    EXPECT_FALSE(x.storage()->released()) << d.name;
    EXPECT_EQ(elements(x), (Elements{3, 4})) << d.name;
    EXPECT_EQ(x.gradient_link()->call, nullptr) << d.name;
  }
  return detail;
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_EAGER_EXTENSION_SUPPORT_H_
