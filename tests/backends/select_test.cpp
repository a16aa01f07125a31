// The selector: each rule alone, and all of them against a definition written down naively, over
// random partial orders.
#include "heddle/backends/select.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "heddle/graph/operation.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using testing::expect_error;

DtypePlan plan_in(DType dtype) {
  return {.operation = "add", .operands = {}, .compute = dtype, .output = dtype};
}
KernelRequest request(DType dtype = DType::f32) {
  return {.operation = &op_add,
          .interface = "",
          .plan = plan_in(dtype),
          .operands = {{dtype, {4}}},
          .options = {}};
}
KernelEntry entry(const std::string& id) { return {.id = id, .operation = &op_add}; }

std::string select(KernelTable& table, TiePolicy policy, const KernelRequest& r = request(),
                   const DeviceFacts& device = {}) {
  table.seal();
  std::string ids;
  for (const KernelEntry* e : table.select(r, device, policy)) {
    ids += (ids.empty() ? "" : " ") + e->id;
  }
  return ids;
}

TEST(Select, TheOnlyOneThatApplies) {  // B2.1 B2.3
  KernelTable table;
  table.add(entry("a"));
  KernelEntry other = entry("b");
  other.operation = &op_mul;
  table.add(other);
  KernelEntry position = entry("c");
  position.interface = "epilogue";
  table.add(position);
  EXPECT_EQ(select(table, TiePolicy::strict), "a");
  KernelRequest r = request();
  r.interface = "epilogue";
  EXPECT_EQ(select(table, TiePolicy::strict, r), "c");
}

TEST(Select, PlansAreEqualInEveryField) {  // A8.1
  KernelTable table;
  KernelEntry floats = entry("floats"), any = entry("any");
  floats.plans = {plan_in(DType::f32)};
  table.add(floats);
  EXPECT_EQ(select(table, TiePolicy::strict), "floats");
  const std::string text = expect_error<UnsupportedOperationPlan>(
      [&] { select(table, TiePolicy::strict, request(DType::i32)); }, "", 21);
  EXPECT_NE(text.find("none for these dtypes"), std::string::npos) << text;
  KernelRequest wide = request();
  wide.plan.accumulator = DType::f64;
  expect_error<UnsupportedOperationPlan>([&] { select(table, TiePolicy::strict, wide); },
                                         "none for these dtypes: found floats", 21);
}

TEST(Select, ReasonsOfAllThatRefuse) {  // A8.4 B2.3
  KernelTable table;
  KernelEntry a = entry("a"), b = entry("b");
  a.refusal = [](const KernelRequest&) { return std::string("too small"); };
  b.archs = {"avx512"};
  table.add(a);
  table.add(b);
  const std::string text =
      expect_error<UnsupportedOperationPlan>([&] { select(table, TiePolicy::strict); }, "", 23);
  EXPECT_NE(text.find("a: too small; b: does not run on this machine"), std::string::npos) << text;
  EXPECT_EQ(select(table, TiePolicy::strict, request(), {.arch = "avx512"}), "b");
}

TEST(Select, DevicesAndInterfacesThatNobodyHas) {  // B2.3
  KernelTable table;
  table.add(entry("a"));
  KernelRequest r = request();
  expect_error<NotAvailableError>(
      [&] { select(table, TiePolicy::strict, r, {.type = "gpu", .arch = ""}); },
      "its kernels do not run on gpu: found a", 22);
  r.interface = "nothing";
  expect_error<NotAvailableError>([&] { select(table, TiePolicy::strict, r); },
                                  "no kernel has this interface; interface nothing", 22);
  r = request();
  r.operation = &op_mul;
  expect_error<UnsupportedOperationPlan>([&] { select(table, TiePolicy::strict, r); },
                                         "[mul] no kernel for this operation", 21);
}

TEST(Select, AnInterfaceThatNoKernelServesIsAValueError) {  // B2.3
  KernelTable table;
  KernelEntry a = entry("a");
  a.interface = "epilogue";
  a.refusal = [](const KernelRequest&) { return std::string("no"); };
  table.add(a);
  KernelRequest r = request();
  r.interface = "epilogue";
  expect_error<ValueError>([&] { select(table, TiePolicy::strict, r); },
                           "no kernel serves this call: a: no; interface epilogue", 23);
}

TEST(Select, UnavailableOnesDoNotDominateAndPassPreferenceOn) {  // B2.3
  KernelTable table;
  KernelEntry a = entry("a"), b = entry("b"), c = entry("c");
  a.preferred_over = {"b"};
  b.preferred_over = {"c"};
  b.devices = {"gpu"};
  table.add(a);
  table.add(b);
  table.add(c);
  EXPECT_EQ(select(table, TiePolicy::strict), "a") << "through b, which is not there";
  KernelTable without;
  a.devices = {"gpu"};
  without.add(a);
  without.add(b);
  without.add(c);
  EXPECT_EQ(select(without, TiePolicy::strict), "c");
}

TEST(Select, SeveralLeftAreAmbiguousOrRanked) {  // B2.3, ruling 5
  KernelTable table;
  KernelEntry pack2 = entry("pack2"), pack1 = entry("pack1"), own = entry("own"),
              eager = entry("eager"), general = entry("general");
  pack2.pack = pack1.pack = eager.pack = "acme";
  pack2.pack_version = 2;
  pack1.pack_version = 1;
  eager.pack_version = 9;
  eager.preference = 1;
  general.general = true;
  general.preference = 100;
  for (const KernelEntry& e : {pack2, pack1, own, eager, general}) table.add(e);
  EXPECT_EQ(select(table, TiePolicy::ranked), "eager own pack1 pack2 general");
  const std::string text =
      expect_error<AmbiguousDispatchError>([&] { select(table, TiePolicy::strict); }, "", 24);
  EXPECT_NE(text.find("pack2, pack1, own, eager"), std::string::npos) << text;
}

TEST(Select, AnswersAreKept) {  // B2.2
  KernelTable table;
  int asked = 0;
  KernelEntry a = entry("a");
  a.refusal = [&](const KernelRequest&) {
    ++asked;
    return std::string();
  };
  table.add(a);
  for (int i = 0; i < 5; ++i) select(table, TiePolicy::strict);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(table.statistics().hits, 4u);
  select(table, TiePolicy::ranked);
  KernelRequest r = request();
  r.options = Attributes({{"axis", std::int64_t{1}}});
  select(table, TiePolicy::strict, r);
  EXPECT_EQ(asked, 3);
}

// What a table refuses when it is sealed.
std::string sealing(const std::vector<KernelEntry>& entries) {
  return expect_error<ValueError>([&] {
    KernelTable table;
    for (const KernelEntry& e : entries) table.add(e);
    table.seal();
  });
}

TEST(Select, TablesAreCheckedWhenSealed) {
  KernelEntry a = entry("a"), b = entry("b"), c = entry("c");
  EXPECT_NE(sealing({a, a}).find("'a' is there already"), std::string::npos);
  a.preferred_over = {"a"};
  EXPECT_NE(sealing({a}).find("over itself"), std::string::npos);
  a.preferred_over = {"z"};
  EXPECT_NE(sealing({a}).find("serves something else: found 'z'"), std::string::npos);
  KernelEntry mul = entry("mul");
  mul.operation = &op_mul;
  a.preferred_over = {"mul"};
  EXPECT_NE(sealing({a, mul}).find("serves something else"), std::string::npos);
  a.preferred_over = {"b"};
  b.preferred_over = {"c"};
  c.preferred_over = {"a"};
  EXPECT_NE(sealing({a, b, c}).find("by way of others"), std::string::npos);
  a.general = true;
  EXPECT_NE(sealing({a, entry("b")}).find("is general and preferred"), std::string::npos);
  a.preferred_over = {};
  KernelEntry another = entry("another");
  another.general = true;
  EXPECT_NE(sealing({a, another}).find("another general one"), std::string::npos);
  KernelTable table;
  table.add(entry("a"));
  table.seal();
  expect_error<TypeError>([&] { table.add(entry("late")); }, "kernel 'late' comes too late");
}

// The definition, without regard to cost. `over[i][j]`: i is preferred over j.
struct Naive {
  std::vector<KernelEntry> entries;
  std::vector<std::vector<bool>> over;

  void close() {
    const std::size_t n = entries.size();
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) over[i][j] = over[i][j] || (over[i][k] && over[k][j]);
      }
    }
  }
  std::set<std::size_t> top(const std::set<std::size_t>& from) const {
    std::set<std::size_t> result;
    for (std::size_t i : from) {
      bool below = false;
      for (std::size_t j : from) {
        below |= over[j][i] || (entries[i].general && !entries[j].general);
      }
      if (!below) result.insert(i);
    }
    return result;
  }
  std::string ranked(std::set<std::size_t> left) const {
    std::string ids;
    while (!left.empty()) {
      std::set<std::size_t> layer = top(left);
      for (std::size_t i : layer) left.erase(i);
      while (!layer.empty()) {
        std::size_t best = *layer.begin();
        for (std::size_t i : layer) {
          const KernelEntry &a = entries[i], &b = entries[best];
          if (a.preference != b.preference ? a.preference > b.preference
              : a.pack != b.pack           ? a.pack < b.pack
                                           : a.pack_version < b.pack_version) {
            best = i;
          }
        }
        ids += (ids.empty() ? "" : " ") + entries[best].id;
        layer.erase(best);
      }
    }
    return ids;
  }
};

TEST(Select, AgreesWithItsDefinitionOnRandomOrders) {  // B2.3
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  for (int round = 0; round < 400; ++round) {
    const std::size_t n = 1 + random() % 7;
    Naive naive{{}, std::vector<std::vector<bool>>(n, std::vector<bool>(n, false))};
    std::set<std::size_t> applicable;
    bool general = false;
    for (std::size_t i = 0; i < n; ++i) {
      KernelEntry e = entry("k" + std::to_string(i));
      if (!general && chance(15)) e.general = general = true;
      e.preference = static_cast<int>(random() % 3) - 1;
      if (chance(50)) e.pack = chance(50) ? "acme" : "zeta";
      e.pack_version = e.pack.empty() ? 0 : static_cast<int>(random() % 3);
      for (std::size_t j = 0; j < i && !e.general; ++j) {  // downwards: no cycle
        if (!chance(25)) continue;
        e.preferred_over.push_back("k" + std::to_string(j));
        naive.over[i][j] = true;
      }
      const bool here = chance(80);
      if (!here) e.devices = {"gpu"};
      const bool refuses = chance(20);
      if (refuses) e.refusal = [](const KernelRequest&) { return std::string("no"); };
      if (here && !refuses) applicable.insert(i);
      naive.entries.push_back(e);
    }
    KernelTable table;
    for (const KernelEntry& e : naive.entries) table.add(e);
    naive.close();
    table.seal();
    if (applicable.empty()) {
      EXPECT_THROW(select(table, TiePolicy::ranked), Error);
      continue;
    }
    EXPECT_EQ(select(table, TiePolicy::ranked), naive.ranked(applicable));
    const std::set<std::size_t> best = naive.top(applicable);
    if (best.size() > 1) {
      EXPECT_THROW(select(table, TiePolicy::strict), AmbiguousDispatchError);
    } else {
      EXPECT_EQ(select(table, TiePolicy::strict), naive.entries[*best.begin()].id);
    }
  }
}

}  // namespace
}  // namespace heddle
