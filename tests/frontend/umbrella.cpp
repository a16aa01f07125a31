// heddle.h alone is enough for what the README says is there: packs, carriers of one's own, tensors
// in files, operations of one's own and what their decompositions are written with.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

namespace hd = heddle;

namespace {

HEDDLE_REGISTER_OP(twice, "umbrella.twice", {.operands = {{"x", hd::OperandKind::tensor, true}}},
                   [](const hd::BoundOperationCall& call) {
                     const hd::Type& x = call.tensor(0).type();
                     return hd::ResolvedInvocation(call, hd::uniform_plan(call, x.dtype), {{x}});
                   },
                   {.vjp = hd::kByDecomposition, .decompose = [](const hd::NodeContext& at) {
                      hd::Builder b("twice");
                      const hd::ValueId x = b.input("x", at.operands[0]);
                      b.output("y", hd::emit::add(b, x, x));
                      return b.finish();
                    }});

TEST(Umbrella, HasWhatUsersNeed) {
  const hd::Carrier& own = hd::define_carrier("umbrella", hd::BuiltInKernels::interpreted);
  hd::register_kernel("umbrella.twice", own.name, hd::host_kernel([](auto&&, auto in, auto out) {
                        const auto* x = reinterpret_cast<const float*>(in[0]);
                        *reinterpret_cast<float*>(out[0]) = *x * 2;
                        return 0;
                      }));
  hd::define_tiled_carrier("umbrella_files", {.budget_bytes = 1 << 20});
  for (const char* carrier : {"umbrella", "umbrella_files"}) {
    const hd::Tensor y = twice({hd::tensor(3, {.carrier = carrier})});
    EXPECT_EQ(hd::item(y), 6) << carrier;
  }
  hd::GraphRuntime runtime;
  const hd::Program p =
      hd::trace([](hd::Tensor x) -> hd::Tensor { return twice({x}); }, {hd::f32({})});
  const std::vector<hd::Literal> in{hd::splat(hd::f32({}), 4)};
  EXPECT_EQ(hd::to_doubles(runtime.compile(p)->run(in)[0])[0], 8);
}

}  // namespace
