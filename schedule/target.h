// Where compiled code runs: machine, feature set, carrier. Always spelled out: never "host" in a
// key or an artifact.
#ifndef HEDDLE_SCHEDULE_TARGET_H_
#define HEDDLE_SCHEDULE_TARGET_H_

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct Target {
  std::string triple;                 ///< "x86-64-linux", "arm-64-osx"
  std::vector<std::string> features;  ///< sorted: "avx", "avx2", "f16c", "fma", "sse41"
  std::string carrier = "cpu";        ///< "cpu", "metal", "opencl"

  bool operator==(const Target&) const = default;
  /// This machine's, as far as its CPU says (found without Halide).
  /// HEDDLE_TARGET_FEATURES="avx2,..." forces a smaller set.
  static Target host();
  bool has(std::string_view feature) const;
  /// Kernels are launches of code for a device, which a host function makes.
  bool on_device() const { return carrier != "cpu"; }
  int vector_floats() const;     ///< f32 lanes of one register: 4, 8 or 16
  int vector_registers() const;  ///< 16 or 32
};

/// "host", "host-opencl", or "x86-64-linux-avx2-fma-opencl". ValueError names what is unknown.
Target parse_target(std::string_view text);
std::string to_text(const Target& target);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_TARGET_H_
