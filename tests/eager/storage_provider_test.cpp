// Carriers whose tensors are not in host memory: six functions, and everything that reads, writes,
// copies or undoes through them.
#include <map>

#include "eager/extension_support.h"
#include "heddle/backends/eager/publish.h"
#include "support/expect_error.h"

namespace heddle {
namespace {

using namespace testing;  // NOLINT: the tests' own vocabulary

// Every byte is stored inverted and behind a header, so that nothing else than `read` understands
// it. Counts what lives.
struct Vault {
  int live = 0, released = 0;
  bool full = false;
  std::size_t written = 0;

  StorageProvider provider() {
    constexpr std::size_t kHeader = 16;
    using Bytes = std::vector<std::byte>;
    return {
        .supports_dtype = [](DType d) { return d != DType::bf16; },
        .physical_size = [](const Type& t) { return byte_count(t) + 16; },
        .allocate = [this](std::int64_t size) -> StorageHandle {
          if (full) throw RuntimeError({.message = "the vault is full"});
          ++live;
          return std::make_shared<Bytes>(static_cast<std::size_t>(size));
        },
        .release = [this](const StorageHandle&) { --live, ++released; },
        .read =
            [](const StorageHandle& h, std::size_t offset, std::span<std::byte> into) {
              const Bytes& all = *static_cast<Bytes*>(h.get());
              for (std::size_t i = 0; i < into.size(); ++i) {
                into[i] = ~all.at(kHeader + offset + i);
              }
            },
        .write =
            [this](const StorageHandle& h, std::size_t offset, std::span<const std::byte> from) {
              Bytes& all = *static_cast<Bytes*>(h.get());
              written += from.size();
              for (std::size_t i = 0; i < from.size(); ++i) {
                all.at(kHeader + offset + i) = ~from[i];
              }
            }};
  }
};

float at(const Tensor& t, std::size_t i) {
  float x = 0;
  t.storage()->read(i * sizeof(float), std::as_writable_bytes(std::span(&x, 1)));
  return x;
}
void set(const Tensor& t, std::size_t i, float x) {
  carrier_storage(t)->write(i * sizeof(float), std::as_bytes(std::span(&x, 1)));
}

TEST(StorageProvider, IsCheckedWhenTheCarrierIsDefined) {  // 2A.5
  Vault vault;
  auto define = [](CarrierDefinition d) {
    d.name = "checked_vault";
    expect_error<TypeError>([&] { define_carrier(d); });
  };
  const StorageProvider good = vault.provider();
  for (int missing = 0; missing < 6; ++missing) {
    StorageProvider bad = good;
    if (missing == 0) bad.supports_dtype = nullptr;
    if (missing == 1) bad.physical_size = nullptr;
    if (missing == 2) bad.allocate = nullptr;
    if (missing == 3) bad.release = nullptr;
    if (missing == 4) bad.read = nullptr;
    if (missing == 5) bad.write = nullptr;
    define({.storage = bad});
  }
  define({.built_in = BuiltInKernels::compiled, .storage = good});
  define({.kernels = KernelProvider(host_interface(), {}), .storage = good});
}

TEST(StorageProvider, HoldsElements) {  // 2A.5
  Vault vault;
  const Carrier& carrier = define_carrier({.name = "vault", .storage = vault.provider()});
  {
    const Tensor x = tensor({1, 2, 3}, {3}, {.carrier = "vault"});
    EXPECT_EQ(x.storage()->host(), nullptr);
    EXPECT_EQ(carrier_storage(x)->bytes(), 28u);
    EXPECT_EQ(elements(x), (Elements{1, 2, 3}));
    EXPECT_EQ(elements(x, 1, 2), (Elements{2, 3}));
    EXPECT_EQ(elements(on(x, "cpu") + 1.0), (Elements{2, 3, 4}));
    EXPECT_EQ(elements(full({2, 2}, 7, {.dtype = DType::i16, .carrier = "vault"})),
              (Elements{7, 7, 7, 7}));
    const std::vector<double> two{8, 9};
    assign(x, 1, two);
    EXPECT_EQ(elements(x), (Elements{1, 8, 9}));
    EXPECT_EQ(x.storage()->version(), 1u);
    expect_error<ValueError>([&] { assign(x, 2, two); });
    expect_error<ValueError>([&] { elements(x, 3, 1); });
    expect_error<ValueError>([&] { elements(x, -1, 1); });
    EXPECT_TRUE(elements(x, 3, 0).empty());
    assign(x, tensor({4, 5, 6}, {3}));
    EXPECT_EQ(item(tensor(2.5, {.carrier = "vault"})), 2.5);
    release(x);
    EXPECT_TRUE(x.storage()->released());
    expect_error<ReleasedError>([&] { elements(x); });
    expect_error<UnsupportedOperationPlan>([&] {
      const Tensor y = zeros({2}, {.carrier = "vault"});
      y + y;
    });
  }
  EXPECT_EQ(vault.live, 0) << "every allocation was given back, once";
  (void)carrier;
}

TEST(StorageProvider, WhatItRefuses) {  // 2A.5
  Vault vault;
  StorageProvider provider = vault.provider();
  std::int64_t size = -1;
  bool null = false;
  provider.physical_size = [&](const Type& t) { return size < 0 ? size : byte_count(t) + 16; };
  provider.allocate = [&, allocate = provider.allocate](std::int64_t bytes) {
    return null ? nullptr : allocate(bytes);
  };
  define_carrier({.name = "refusing_vault", .storage = provider});
  auto make = [](DType d) { tensor({1}, {1}, {.dtype = d, .carrier = "refusing_vault"}); };
  const std::string dtype = expect_error<TypeError>([&] { make(DType::bf16); });
  EXPECT_NE(dtype.find("bf16[1]"), std::string::npos) << dtype;
  const std::string negative = expect_error<ValueError>([&] { make(DType::f32); });
  EXPECT_NE(negative.find("physical_size"), std::string::npos) << negative;
  size = 0;
  null = true;
  expect_error<TypeError>([&] { make(DType::f32); });
  null = false;
  vault.full = true;
  const std::string full = expect_error<RuntimeError>([&] { make(DType::f32); });
  EXPECT_NE(full.find("the vault is full"), std::string::npos) << full;
  EXPECT_EQ(vault.live, 0);
}

// A kernel for such tensors speaks the interface of storages; gradients are calls, one by one.
TEST(StorageProvider, KernelsAndGradients) {  // 2A.5 A9.10
  Vault vault;
  auto binary = [](float (*f)(float, float)) -> PrepareFunction {
    return [f](const Invocation&) -> Prepared {
      return PreparedKernel{storage_interface(), [f](const Invocation& inv, Operands o) {
                              const auto& x = std::get<Tensor>(o[0]);
                              const auto& y = std::get<Tensor>(o[1]);
                              Tensor z = new_tensor(inv.results[0].type,
                                                    carrier_storage(x)->carrier_object());
                              for (std::size_t i = 0; i < 2; ++i) set(z, i, f(at(x, i), at(y, i)));
                              carrier_storage(z)->set_version(0);
                              return ProviderResult({z});
                            }};
    };
  };
  const Carrier& carrier = define_carrier(
      {.name = "vault_kernels",
       .kernels = KernelProvider(
           storage_interface(),
           {{op_mul, kAnyPlan, "vault.mul", binary([](float a, float b) { return a * b; })},
            {op_add, kAnyPlan, "vault.add", binary([](float a, float b) { return a + b; })}}),
       .storage = vault.provider()});
  Tensor x = tensor_on(carrier, {2, 3}), y = tensor_on(carrier, {5, 7});
  require_gradient(x);
  const Tensor z = x * y + x;
  EXPECT_EQ(elements(z), (Elements{12, 24}));
  backward(z, {.cotangent = tensor_on(carrier, {1, 10})});
  EXPECT_EQ(elements(*gradient(x)), (Elements{6, 80}));
}

// Snapshots -------------------------------------------------------------------------------------

TEST(StorageSnapshot, CopiesOnlyWhatIsOverwritten) {  // A11.6
  Vault vault;
  define_carrier({.name = "vault_pages", .storage = vault.provider()});
  constexpr std::int64_t kCount = 1 << 18;  // 16 pages
  const Tensor x = full({kCount}, 1, {.carrier = "vault_pages"});
  vault.written = 0;
  const auto first = carrier_storage(x)->snapshot();
  EXPECT_EQ(vault.live, 1) << "nothing is copied";
  EXPECT_FALSE(first->changed());
  set(x, 70000, 2);
  EXPECT_EQ(vault.live, 2);
  EXPECT_EQ(vault.written, 65536u + 4u) << "one page";
  const auto second = carrier_storage(x)->snapshot();
  set(x, 70001, 3);
  set(x, 5, 3);
  carrier_storage(x)->changed();
  EXPECT_TRUE(first->changed());
  EXPECT_TRUE(second->changed());
  second->restore();
  EXPECT_FALSE(second->changed());
  EXPECT_EQ(at(x, 70000), 2);
  EXPECT_EQ(at(x, 70001), 1);
  EXPECT_EQ(at(x, 5), 1);
  EXPECT_EQ(x.storage()->version(), 0u);
  EXPECT_TRUE(first->changed());
  set(x, 70000, 1);
  EXPECT_FALSE(first->changed()) << "the same elements again";
  set(x, kCount - 1, 9);
  release(x);
  first->restore();
  EXPECT_FALSE(x.storage()->released());
  EXPECT_EQ(at(x, kCount - 1), 1);
}

TEST(StorageSnapshot, AKernelThatBreaksItsContractChangesNothing) {  // A11.4 A11.6 A10.5
  Vault vault;
  const OperationDefinition& d = define_unary("vault_breaks", {.vjp = kNonDifferentiable});
  std::string how;
  const Carrier& carrier = define_carrier(
      {.name = "vault_breaks",
       .kernels = KernelProvider(
           storage_interface(),
           {{d.operation(), kAnyPlan, "k",
             [&](const Invocation&) -> Prepared {
               return PreparedKernel{
                   storage_interface(), [&](const Invocation& inv, Operands o) {
                     const auto& x = std::get<Tensor>(o[0]);
                     set(x, 1, 99);
                     if (how == "throws") throw RuntimeError({.message = "late"});
                     if (how == "releases") release(x);
                     Type type = inv.results[0].type;
                     if (how == "another size") type.dims = {5};
                     return ProviderResult({Tensor(
                         inv.results[0].type,
                         new_tensor(type, *static_cast<const Carrier*>(x.storage()->carrier()))
                             .storage())});
                   }};
             }}}),
       .storage = vault.provider()});
  const Tensor x = tensor_on(carrier, {1, 2});
  for (const char* way : {"throws", "releases", "another size", "writes"}) {
    how = way;
    if (how == "throws") {
      expect_error<RuntimeError>([&] { d({x}); });
    } else {
      expect_error<ProviderContractError>([&] { d({x}); });
    }
    EXPECT_EQ(elements(x), (Elements{1, 2})) << way;
    EXPECT_EQ(x.storage()->version(), 0u) << way;
  }
}

}  // namespace
}  // namespace heddle
