#include "heddle/schedule/target.h"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "heddle/graph/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace heddle {
namespace {

using Features = std::vector<std::string>;

constexpr std::string_view kTriples[] = {"x86-64-linux", "x86-64-osx", "arm-64-linux",
                                         "arm-64-osx"};
constexpr std::string_view kX86Features[] = {"sse41",
                                             "avx",
                                             "avx2",
                                             "f16c",
                                             "fma",
                                             "avx512",
                                             "avx512_skylake",
                                             "avx512_zen4",
                                             "avx512_sapphirerapids",
                                             "avx512_cannonlake"};
constexpr std::string_view kArmFeatures[] = {"arm_dot_prod", "arm_fp16"};
constexpr std::string_view kCarriers[] = {"cpu", "metal", "opencl"};

std::string joined(std::span<const std::string_view> words) {
  return absl::StrJoin(std::vector<std::string>(words.begin(), words.end()), ", ");
}

bool contains(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::span<const std::string_view> known_features(std::string_view triple) {
  if (triple.starts_with("x86")) return kX86Features;
  return kArmFeatures;
}

// What the code generator takes for granted with a feature.
Features implied_by(std::string_view feature) {
  if (feature == "avx") return {"sse41"};
  if (feature == "avx2") return {"avx", "f16c", "fma"};
  if (feature == "fma" || feature == "f16c") return {"avx"};
  if (feature == "avx512") return {"avx2", "avx512_skylake"};  // no CPU of today has less
  if (feature == "avx512_skylake") return {"avx512"};
  if (feature == "avx512_cannonlake") return {"avx512_skylake"};
  if (feature == "avx512_zen4") return {"avx512_cannonlake"};
  if (feature == "avx512_sapphirerapids") return {"avx512_cannonlake"};
  return {};
}

void complete(Features& features) {
  for (std::size_t i = 0; i < features.size(); ++i) {
    for (std::string& f : implied_by(features[i])) {
      if (!std::count(features.begin(), features.end(), f)) features.push_back(std::move(f));
    }
  }
}

void sort_unique(Features& features) {
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
}

#if defined(__x86_64__)
bool bit(unsigned word, int position) { return (word >> position) & 1u; }

// Which of two levels LLVM's names for CPUs give: of Zen 4 it uses SSE4A too, which Intel's CPUs do
// not have; of Sapphire Rapids AVX-VNNI and arithmetic of f16. (The library's own check knows few
// CPU models only.)
Features beyond_v4() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return {};
  const bool more = bit(ebx, 21) && bit(ecx, 1) && bit(ecx, 6) && bit(ecx, 8) && bit(ecx, 11) &&
                    bit(ecx, 12) && bit(ecx, 14);
  const bool fp16 = bit(edx, 23);
  if (!more || eax < 1 || !__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) return {};
  const bool bf16 = bit(eax, 5), vnni = bit(eax, 4);
  if (!bf16 || !__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx)) return {};
  if (bit(ecx, 6)) return {"avx512_cannonlake", "avx512_zen4"};
  return vnni && fp16 ? Features{"avx512_cannonlake", "avx512_sapphirerapids"} : Features{};
}

// Each level is taken only when all that LLVM may use with it is there. The builtin looks at XCR0
// too: an operating system that does not save the wide registers counts as a CPU without them.
Features host_features() {
  Features features;
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("x86-64-v2")) return features;
  features = {"sse41"};
  if (!__builtin_cpu_supports("x86-64-v3")) return features;
  features.insert(features.end(), {"avx", "avx2", "f16c", "fma"});
  if (!__builtin_cpu_supports("x86-64-v4")) return features;
  features.insert(features.end(), {"avx512", "avx512_skylake"});
  for (std::string& f : beyond_v4()) features.push_back(std::move(f));
  return features;
}
constexpr std::string_view kHostArch = "x86-64";
#else
Features host_features() { return {}; }
constexpr std::string_view kHostArch = "arm-64";
#endif

#if defined(__APPLE__)
constexpr std::string_view kHostSystem = "-osx";
#else
constexpr std::string_view kHostSystem = "-linux";
#endif

// HEDDLE_TARGET_FEATURES makes the set smaller, never larger.
void keep_only(Features& features, std::string_view wanted) {
  Features list = absl::StrSplit(std::string(wanted), ',', absl::SkipWhitespace());
  for (const std::string& f : list) {
    if (contains(kX86Features, f) || contains(kArmFeatures, f)) continue;
    throw ValueError({.message = "HEDDLE_TARGET_FEATURES names an unknown feature",
                      .found = "'" + f + "'",
                      .needed = joined(known_features(kHostArch)) + ", separated by commas"});
  }
  complete(list);
  std::erase_if(features,
                [&](const std::string& f) { return std::count(list.begin(), list.end(), f) == 0; });
}

}  // namespace

Target Target::host() {
  Target target{std::string(kHostArch) + std::string(kHostSystem), host_features()};
  if (const char* wanted = std::getenv("HEDDLE_TARGET_FEATURES")) {
    keep_only(target.features, wanted);
  }
  sort_unique(target.features);
  return target;
}

bool Target::has(std::string_view feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

int Target::vector_floats() const {
  if (has("avx512_skylake")) return 16;
  return has("avx") ? 8 : 4;
}

int Target::vector_registers() const {
  return has("avx512_skylake") || triple.starts_with("arm") ? 32 : 16;
}

Target parse_target(std::string_view text) {
  if (text == "host") return Target::host();
  if (absl::StartsWith(std::string(text), "host-")) {
    return parse_target(to_text(Target::host()) + std::string(text.substr(4)));
  }
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), '-');
  auto fail = [&](std::string_view part, std::string_view needed) {
    throw ValueError({.message = "unknown target '" + std::string(text) + "'",
                      .field = "target",
                      .found = std::string(part),
                      .needed = std::string(needed)});
  };
  if (parts[0] == "wasm") {
    throw NotImplementedError({.message = "no libraries for WebAssembly",
                               .field = "target",
                               .found = std::string(text),
                               .needed =
                                   "an ELF or Mach-O machine: names in objects of WebAssembly "
                                   "are not made a library's own"});
  }
  if (parts.size() < 3) fail(text, "host, host-carrier, or machine-bits-system-features-carrier");
  Target target{absl::StrJoin(parts.begin(), parts.begin() + 3, "-"), {}};
  if (!contains(kTriples, target.triple)) fail(target.triple, joined(kTriples));
  for (std::size_t i = 3; i < parts.size(); ++i) {
    if (contains(kCarriers, parts[i])) {
      target.carrier = parts[i];
    } else if (contains(known_features(target.triple), parts[i])) {
      target.features.push_back(parts[i]);
    } else {
      fail(parts[i],
           joined(known_features(target.triple)) + ", or a carrier: " + joined(kCarriers));
    }
  }
  complete(target.features);
  sort_unique(target.features);
  return target;
}

std::string to_text(const Target& target) {
  std::string text = target.triple;
  for (const std::string& f : target.features) text += "-" + f;
  if (target.carrier != "cpu") text += "-" + target.carrier;
  return text;
}

}  // namespace heddle
