// Which features the CPU and the operating system offer, by the compiler's names, and the choice of
// a plan by them. A name stands for all that LLVM may use under it: code for avx2 is code for
// Haswell, with BMI, LZCNT, MOVBE and POPCNT.
#include "heddle/runtime/core/core.h"

extern "C" {
char* getenv(const char* name);
#if defined(__aarch64__) && !defined(__APPLE__)
unsigned long getauxval(unsigned long type);
#endif
}

namespace hdcore {
namespace {

#if defined(__x86_64__)

struct Cpuid {
  uint32_t eax, ebx, ecx, edx;
};

Cpuid cpuid(uint32_t leaf, uint32_t subleaf) {
  Cpuid r;
  __asm__ volatile("cpuid"
                   : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
                   : "a"(leaf), "c"(subleaf));
  return r;
}

uint64_t enabled_registers() {  // XCR0
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

struct Words {  // where the bits of kRequired are looked up
  uint32_t leaf1_ecx = 0, leaf7_ebx = 0, leaf7_ecx = 0, leaf7_1_eax = 0, extended_ecx = 0;
  uint64_t xcr0 = 0;
  uint32_t leaf7_edx = 0;
};

constexpr uint32_t bit(int n) { return uint32_t{1} << n; }

constexpr uint32_t kAvx =
    bit(13) | bit(20) | bit(23) | bit(27) | bit(28);          // CX16, SSE4.2, POPCNT, OSXSAVE, AVX
constexpr uint32_t kV3 = kAvx | bit(12) | bit(22) | bit(29);  // + FMA, MOVBE, F16C
constexpr uint32_t kV3Leaf7 = bit(3) | bit(5) | bit(8);       // BMI1, AVX2, BMI2
constexpr uint32_t kLzcnt = bit(5);
constexpr uint32_t kSse4a = bit(6);  // code for Zen 4 uses it; Intel's CPUs do not have it
constexpr uint32_t kFp16 = bit(23);
constexpr uint64_t kYmm = 0x6, kZmm = 0xe6;
constexpr uint32_t kF = bit(16) | bit(28);                       // AVX-512 F, CD
constexpr uint32_t kSkylake = kF | bit(17) | bit(30) | bit(31);  // + DQ, BW, VL
constexpr uint32_t kCannonlake = kSkylake | bit(21);             // + IFMA
constexpr uint32_t kZen4 = bit(1) | bit(6) | bit(8) | bit(11) | bit(12) | bit(14);

struct Feature {
  const char* name;
  Words required;
};
// Table 2.5 of the notes on Halide 21: its feature -> LLVM's CPU -> CPUID bits.
constexpr Feature kFeatures[] = {
    {"sse41", {bit(9) | bit(19), 0, 0, 0, 0, 0}},
    {"avx", {kAvx, 0, 0, 0, 0, kYmm}},
    {"avx2", {kV3, kV3Leaf7, 0, 0, kLzcnt, kYmm}},
    {"fma", {kAvx | bit(12), 0, 0, 0, 0, kYmm}},
    {"f16c", {kAvx | bit(29), 0, 0, 0, 0, kYmm}},
    {"avx512", {kV3, kV3Leaf7 | kF, 0, 0, kLzcnt, kZmm}},
    {"avx512_skylake", {kV3, kV3Leaf7 | kSkylake, 0, 0, kLzcnt, kZmm}},
    {"avx512_cannonlake", {kV3, kV3Leaf7 | kCannonlake, bit(1), 0, kLzcnt, kZmm}},
    {"avx512_zen4", {kV3, kV3Leaf7 | kCannonlake, kZen4, bit(5), kLzcnt | kSse4a, kZmm}},
    {"avx512_sapphirerapids",
     {kV3, kV3Leaf7 | kCannonlake, kZen4, bit(4) | bit(5), kLzcnt, kZmm, kFp16}},
    {"avxvnni", {kV3, kV3Leaf7, 0, bit(4), kLzcnt, kYmm}},
};

Words read_cpu() {
  Words w;
  const uint32_t last = cpuid(0, 0).eax;
  w.leaf1_ecx = cpuid(1, 0).ecx;
  if (last >= 7) {
    const Cpuid seven = cpuid(7, 0);
    w.leaf7_ebx = seven.ebx;
    w.leaf7_ecx = seven.ecx;
    w.leaf7_edx = seven.edx;
    if (seven.eax >= 1) w.leaf7_1_eax = cpuid(7, 1).eax;
  }
  if (cpuid(0x80000000u, 0).eax >= 0x80000001u) w.extended_ecx = cpuid(0x80000001u, 0).ecx;
  if (w.leaf1_ecx & bit(27)) w.xcr0 = enabled_registers();
  return w;
}

bool has(const Words& cpu, const Words& r) {
  return (cpu.leaf1_ecx & r.leaf1_ecx) == r.leaf1_ecx &&
         (cpu.leaf7_ebx & r.leaf7_ebx) == r.leaf7_ebx &&
         (cpu.leaf7_ecx & r.leaf7_ecx) == r.leaf7_ecx &&
         (cpu.leaf7_edx & r.leaf7_edx) == r.leaf7_edx &&
         (cpu.leaf7_1_eax & r.leaf7_1_eax) == r.leaf7_1_eax &&
         (cpu.extended_ecx & r.extended_ecx) == r.extended_ecx && (cpu.xcr0 & r.xcr0) == r.xcr0;
}

void list_known(Text& text) {
  for (const Feature& feature : kFeatures) text << (text.length() ? "," : "") << feature.name;
}
void list_features(Text& text) {
  const Words cpu = read_cpu();
  for (const Feature& feature : kFeatures) {
    if (has(cpu, feature.required)) text << (text.length() ? "," : "") << feature.name;
  }
}

#elif defined(__aarch64__) && defined(__APPLE__)

void list_known(Text& text) { text << "arm_dot_prod,arm_fp16"; }
void list_features(Text& text) { list_known(text); }  // every Apple CPU since the M1

#elif defined(__aarch64__)

void list_known(Text& text) { text << "arm_dot_prod,arm_fp16"; }
void list_features(Text& text) {
  const unsigned long capabilities = getauxval(16);  // AT_HWCAP
  if (capabilities >> 20 & 1) text << "arm_dot_prod";
  if ((capabilities >> 9 & 3) == 3) text << (text.length() ? "," : "") << "arm_fp16";
}

#else

void list_known(Text&) {}
void list_features(Text&) {}

#endif

bool contains(const char* list, const char* name, size_t length) {
  while (*list) {
    size_t n = 0;
    while (list[n] && list[n] != ',') ++n;
    if (n == length && memcmp(list, name, n) == 0) return true;
    list += n + (list[n] == ',');
  }
  return false;
}

bool is_subset(const char* wanted, const char* list) {
  while (*wanted) {
    size_t n = 0;
    while (wanted[n] && wanted[n] != ',') ++n;
    if (n && !contains(list, wanted, n)) return false;
    wanted += n + (wanted[n] == ',');
  }
  return true;
}

struct Name {
  char text[40];  // cut where it is longer
  size_t length;
};

// The first name of a list, which moves behind it.
Name take_name(const char*& list) {
  Name name{};
  for (; list[name.length] && list[name.length] != ','; ++name.length) {
    if (name.length + 1 < sizeof name.text) name.text[name.length] = list[name.length];
  }
  list += name.length + (list[name.length] == ',');
  return name;
}

// The features of `list` that are in `mask` too.
void intersect(const char* list, const char* mask, Text& text) {
  while (*list) {
    const char* start = list;
    const Name name = take_name(list);
    if (contains(mask, start, name.length)) text << (text.length() ? "," : "") << name.text;
  }
}

// A mask that names what is no feature would quietly take away the one that was meant.
bool all_known(const char* mask, const char* source, const char* artifact, Text& text) {
  char known[512];
  Text list(known, sizeof known);
  list_known(list);
  while (*mask) {
    const char* start = mask;
    const Name name = take_name(mask);
    if (!name.length || contains(known, start, name.length)) continue;
    text << artifact << ": " << source << " names '" << name.text
         << "', which is no feature of CPUs of this kind; there are "
         << (*known ? known : "none that are told apart");
    return false;
  }
  return true;
}

}  // namespace

int pick_plan(const hd_artifact& artifact, const char* mask, const hd_plan*& plan, Text& text) {
  char found[512], masked[512], twice[512];
  hd_cpu_features(found, sizeof found);
  const char* features = found;
  if (mask) {
    if (!all_known(mask, "options.cpu_features", artifact.name, text)) return HD_INVALID;
    Text kept(masked, sizeof masked);
    intersect(features, mask, kept);
    features = masked;
  }
  if (const char* environment = getenv("HEDDLE_CPU_FEATURES")) {
    if (!all_known(environment, "HEDDLE_CPU_FEATURES", artifact.name, text)) return HD_INVALID;
    Text kept(twice, sizeof twice);
    intersect(features, environment, kept);
    features = twice;
  }
  for (uint32_t i = 0; i < artifact.n_plans; ++i) {
    if (!is_subset(artifact.plans[i].features, features)) continue;
    plan = &artifact.plans[i];
    return HD_OK;
  }
  text << artifact.name << ": built for the CPU features ";
  for (uint32_t i = 0; i < artifact.n_plans; ++i)
    text << (i ? " or " : "") << artifact.plans[i].features;
  text << "; this CPU has " << (*features ? features : "none of them");
  return HD_WRONG_CPU;
}

}  // namespace hdcore

size_t hd_cpu_features(char* text, size_t size) {
  hdcore::Text list(text, size);
  hdcore::list_features(list);
  return list.length();
}
