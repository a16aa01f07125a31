#include "heddle/schedule/tuned.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"

namespace heddle {
namespace {

constexpr Tuned kTuned[] = {
#define TUNED(...) {__VA_ARGS__},
#include "heddle/schedule/tuned.def"
#undef TUNED
};

const Tuned* overriding = nullptr;

// A core's second-level cache, of the usual machines with these features: a target's text says
// nothing of caches, and the same text gives the same code.
int cache_kb(const Target& target) {
  if (target.has("avx512_sapphirerapids")) return 2048;
  if (target.has("avx512_skylake") || target.triple.starts_with("arm")) return 1024;
  return target.has("avx2") ? 512 : 256;
}

// Twice of one is as far as half of it; a register file or a width that differs weighs more than a
// cache.
double distance(const Tuned& t, int registers, int floats, int cache) {
  const auto apart = [](double a, double b) { return std::fabs(std::log2(a / b)); };
  return 4 * apart(t.registers, registers) + 2 * apart(t.floats, floats) + apart(t.cache_kb, cache);
}

std::string words(int registers, int floats, int cache) {
  return absl::StrCat(registers, " registers of ", floats, " floats, ", cache, " KB of cache");
}

void say_once(const std::string& line) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(line).second) std::fprintf(stderr, "heddle: %s\n", line.c_str());
}

}  // namespace

std::span<const Tuned> all_tuned() { return kTuned; }

const Tuned& tuned_for(const Target& target) {
  if (overriding != nullptr) return *overriding;
  const int registers = target.vector_registers(), floats = target.vector_floats(),
            cache = cache_kb(target);
  const auto far = [&](const Tuned& t) { return distance(t, registers, floats, cache); };
  const Tuned& nearest =
      *std::min_element(std::begin(kTuned), std::end(kTuned),
                        [&](const Tuned& a, const Tuned& b) { return far(a) < far(b); });
  if (nearest.registers != registers || nearest.floats != floats) {
    say_once("no measured numbers of schedules for " + words(registers, floats, cache) +
             "; those for " + words(nearest.registers, nearest.floats, nearest.cache_kb) +
             " are used (./dev bench tune measures them)");
  }
  return nearest;
}

std::string to_text(const Tuned& t) {
  const auto tile = [](const Tuned::Tile& x) {
    return absl::StrCat("{", x.rows, ", ", x.vectors, "}");
  };
  return absl::StrCat("TUNED(", t.registers, ", ", t.floats, ", ", t.cache_kb, ", ", tile(t.tile),
                      ", ", tile(t.narrow), ", ", tile(t.few), ", ", t.ahead, ", ", tile(t.prepared), ", ",
                      tile(t.block), ", ", t.queries, ", ", t.causal, ", ", t.strip, ", ", t.lanes,
                      ")");
}

TunedOverride::TunedOverride(const Tuned& tuned) : tuned_(tuned) { overriding = &tuned_; }
TunedOverride::~TunedOverride() { overriding = nullptr; }

}  // namespace heddle
