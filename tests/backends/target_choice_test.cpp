// Which of several targets an operation runs on.
#include "heddle/backends/target_choice.h"

#include <gtest/gtest.h>

#include <random>

#include "heddle/graph/call.h"
#include "heddle/graph/operation.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;

// A resolved call of an operation of two f32 vectors.
Invocation call_of(const Operation& op, std::int64_t extent = 4) {
  const Tensor x(Type{DType::f32, {extent}}, nullptr);
  const std::vector<Operand> operands{x, x};
  BoundOperationCall bound = bind_types(op, operands, {}, {"/home/user/model.cpp", 41});
  DtypePlan dtypes = plan(bound);
  return resolve(std::move(bound), std::move(dtypes));
}

// A table whose one kernel builds its target's name.
std::unique_ptr<KernelTable> table_of(const std::string& name, const Operation& op) {
  auto table = std::make_unique<KernelTable>();
  KernelEntry e{.id = name, .operation = &op, .devices = {"cpu", "gpu"}};
  e.entry_for = [name](const KernelRequest&) {
    return KernelBuild{"", [name] { return std::make_shared<const std::string>(name); }};
  };
  table->add(std::move(e));
  table->seal();
  return table;
}

struct Targets {
  std::unique_ptr<KernelTable> one = table_of("one", op_add), two = table_of("two", op_add),
                               three = table_of("three", op_mul);
  OperationTargets all;

  Targets() {
    const auto on = [](const std::string& type) {
      return [type](const DeviceFacts& d) { return d.type == type; };
    };
    all.add({"one", on("cpu"), *one});
    all.add({"two", on("gpu"), *two});
    all.add({"three", on("gpu"), *three});
  }
};

std::string ran(TargetChoice& choice, const Invocation& call, const DeviceFacts& device = {}) {
  std::string name;
  choice.run(call, device,
             [&](const void* kernel) { name = *static_cast<const std::string*>(kernel); });
  return name;
}

const Invocation& add_call() {
  static const Invocation call = call_of(op_add);
  return call;
}
const DeviceFacts kGpu{.type = "gpu", .arch = ""};

// B2.4, 2B.6
TEST(TargetChoice, TheOneItWasMadeForThenTheDefaultThenTheDevice) {
  Targets t;
  TargetChoice by_device(t.all), made(t.all, "two");
  EXPECT_EQ(ran(by_device, add_call()), "one");
  t.all.set_default("two");
  EXPECT_EQ(ran(by_device, add_call()), "one") << "it is fixed by now";
  TargetChoice later(t.all), own(t.all, "one");
  EXPECT_EQ(ran(later, add_call()), "two");
  EXPECT_EQ(ran(own, add_call()), "one");
  t.all.set_default(std::nullopt);
  EXPECT_EQ(ran(made, add_call()), "two") << "whatever the device";
}

TEST(TargetChoice, SeveralThatClaimTheDeviceAreAmbiguous) {
  Targets t;
  TargetChoice choice(t.all);
  const std::string text =
      expect_error<AmbiguousTargetError>([&] { ran(choice, add_call(), kGpu); });
  EXPECT_NE(text.find("several targets claim this device: two, three"), std::string::npos) << text;
  EXPECT_EQ(choice.fixed(), std::nullopt);
  expect_error<NotAvailableError>([&] { ran(choice, add_call(), {.type = "abacus", .arch = ""}); });
  t.all.set_default("two");
  EXPECT_EQ(ran(choice, add_call(), kGpu), "two") << "asked for: no question";
}

TEST(TargetChoice, ATargetWithoutAKernelIsNotReplacedByAnother) {
  Targets t;
  TargetChoice choice(t.all, "three");
  try {
    ran(choice, add_call(), kGpu);
    FAIL();
  } catch (const NotAvailableError& e) {
    EXPECT_EQ(e.detail().step, 22);
    EXPECT_EQ(e.detail().operation, "add");
    EXPECT_NE(std::string(e.what()).find("model.cpp:41: target 'three' has no kernel for this"),
              std::string::npos)
        << e.what();
  }
  EXPECT_EQ(choice.fixed(), std::nullopt);
  EXPECT_EQ(ran(choice, call_of(op_mul)), "three");
  TargetChoice unknown(t.all, "four");
  EXPECT_NE(expect_error<NotAvailableError>([&] {
              ran(unknown, add_call());
            }).find("needed one, two, three"),
            std::string::npos);
}

TEST(TargetChoice, AFailureUndoesWhatItFixed) {
  Targets t;
  TargetChoice choice(t.all);
  EXPECT_THROW(choice.run(add_call(), {},
                          [&](const void*) {
                            EXPECT_EQ(choice.fixed(), "one") << "while it runs";
                            throw RuntimeError({.message = "out of memory"});
                          }),
               RuntimeError);
  EXPECT_EQ(choice.fixed(), std::nullopt);
  t.all.set_default("two");
  EXPECT_EQ(ran(choice, add_call()), "two");
  EXPECT_THROW(choice.run(add_call(), {}, [](const void*) { throw RuntimeError({.message = "no"}); }),
               RuntimeError);
  EXPECT_EQ(choice.fixed(), "two") << "only the first call's failure undoes it";
}

TEST(TargetChoice, ACallThatWritesNothingFixesNothing) {
  Targets t;
  TargetChoice choice(t.all);
  EXPECT_EQ(ran(choice, call_of(op_add, 0)), "") << "nothing ran";
  EXPECT_EQ(choice.fixed(), std::nullopt);
  EXPECT_EQ(ran(choice, add_call()), "one");
}

TEST(TargetChoice, TargetsAreCheckedWhenTheyAreAdded) {
  Targets t;
  const auto any = [](const DeviceFacts&) { return true; };
  expect_error<ValueError>([&] { t.all.add({"", any, *t.one}); });
  expect_error<TypeError>([&] { t.all.add({"silent", nullptr, *t.one}); });
  EXPECT_NE(expect_error<ValueError>([&] {
              t.all.add({"two", any, *t.one});
            }).find("'two'"),
            std::string::npos);
  expect_error<NotAvailableError>([&] { t.all.set_default("four"); });
}

// Against the rule written down in one line each, over random histories.
TEST(TargetChoice, AgreesWithItsDefinition) {
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  const char* const names[] = {"a", "b", "c"};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::unique_ptr<KernelTable>> tables;
    OperationTargets targets;
    unsigned claims[3];
    for (int i = 0; i < 3; ++i) {
      tables.push_back(table_of(names[i], op_add));
      claims[i] = random() % 2;
      targets.add({names[i], [c = claims[i]](const DeviceFacts&) { return c != 0; }, *tables[i]});
    }
    const unsigned own = random() % 4;  // 3: none
    TargetChoice choice(targets, own < 3 ? std::optional<std::string>(names[own]) : std::nullopt);
    std::string fixed, process_default;
    for (int i = 0; i < 12; ++i) {
      if (random() % 3 == 0) {
        const unsigned d = random() % 4;
        process_default = d < 3 ? names[d] : "";
        targets.set_default(d < 3 ? std::optional<std::string>(names[d]) : std::nullopt);
      }
      std::string wanted = fixed;
      std::string claimed;
      for (int k = 0; k < 3; ++k) claimed += claims[k] ? names[k] : "";
      if (wanted.empty() && own < 3) wanted = names[own];
      if (wanted.empty()) wanted = process_default;
      if (wanted.empty()) wanted = claimed.size() == 1 ? claimed : "";
      const bool empty = random() % 4 == 0, fails = random() % 3 == 0;
      std::string found;
      try {
        choice.run(empty ? call_of(op_add, 0) : add_call(), {}, [&](const void* kernel) {
          found = *static_cast<const std::string*>(kernel);
          if (fails) throw RuntimeError({.message = "it fails"});
        });
      } catch (const Error&) {
      }
      EXPECT_EQ(found, empty ? "" : wanted);
      if (!empty && !fails && !wanted.empty()) fixed = wanted;
      EXPECT_EQ(choice.fixed().value_or(""), fixed);
    }
  }
}

}  // namespace
}  // namespace heddle
