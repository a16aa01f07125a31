// Kernels linked and loaded into this process, run through tables in memory.
#include <gtest/gtest.h>

#include "artifact/handmade_plan.h"
#include "heddle/backends/artifact/link.h"
#include "heddle/graph/error.h"
#include "heddle/runtime/runtime.hpp"
#include "heddle/runtime/tables.h"

namespace heddle::testing {
namespace {

TEST(Load, KernelsRunInThisProcess) {
  const Line line = make_line(0.1f);
  const SharedObject object = SharedObject::from_bytes(link_kernels(line.objects));
  ArtifactDescription description = describe("line", std::vector{line.compiled()});
  bind_kernels(description, [&](const std::string& symbol) { return object.find(symbol); });
  const ArtifactTables tables(description);
  for (int threads : {1, 2}) {
    hd_options options = default_options();
    options.threads = threads;
    Instance instance(tables.artifact(), &options);
    float x[8], t[8], params[2] = {0, 0}, loss = 0;
    for (int i = 0; i < 8; ++i) {
      x[i] = 0.25f * static_cast<float>(i) - 1;
      t[i] = 3 * x[i] + 1;
    }
    void* const arguments[] = {x, t, params, &loss};
    for (int i = 0; i < 400; ++i) instance.run(1, arguments);
    EXPECT_NEAR(params[0], 3, 1e-3);
    EXPECT_NEAR(params[1], 1, 1e-3);
    EXPECT_LT(loss, 1e-6f);
  }
}

TEST(Load, SameObjectsGiveTheSameBytes) {
  const Line line = make_line();
  EXPECT_EQ(link_kernels(line.objects), link_kernels(line.objects));
}

TEST(Load, EqualSymbolsAreLinkedOnce) {
  Line line = make_line();
  line.objects.push_back(line.objects[0]);
  EXPECT_TRUE(SharedObject::from_bytes(link_kernels(line.objects)).find("hd_k1"));
}

TEST(Load, BrokenObjectIsACompileErrorWithTheLinkersWords) {
  KernelObject broken{std::vector<std::byte>(100), "hd_k9", 0, 0};
  try {
    link_kernels(std::vector{broken});
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_NE(std::string(error.what()).find("kernel1.o"), std::string::npos) << error.what();
  }
}

TEST(Load, MissingKernelIsNamed) {
  const Line line = make_line();
  ArtifactDescription description = describe("line", std::vector{line.compiled()});
  EXPECT_THROW(bind_kernels(description, [](const std::string&) { return nullptr; }), CompileError);
}

TEST(Load, BytesCutShortAreRefused) {
  const std::vector<std::byte> whole = link_kernels(make_line().objects);
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += whole.size() / 23) {
    EXPECT_THROW(SharedObject::from_bytes(std::span(whole).first(bytes)), StatusError) << bytes;
  }
}

}  // namespace
}  // namespace heddle::testing
