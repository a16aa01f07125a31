#include "heddle/frontend/self_check.h"

#include <algorithm>
#include <cmath>

#include "heddle/graph/interpret.h"

namespace heddle {
namespace {

constexpr double kRelative = 1e-4, kAbsolute = 1e-5;  // of an output's largest element

CheckInput make_input(const Type& type, std::uint64_t seed) {
  const bool floating = is_floating(type.dtype);
  return {.kind = CheckInput::Kind::uniform,
          .dtype = type.dtype,
          .count = static_cast<std::uint64_t>(element_count(type)),
          .low = floating ? -1.0 : 0.0,
          .high = floating ? 1.0 : 2.0,
          .seed = seed,
          .data = {}};
}

CheckOutput make_output(const Type& type, const Literal& expected) {
  CheckOutput out{.dtype = type.dtype, .count = static_cast<std::uint64_t>(element_count(type))};
  out.stride = sample_stride(out.count);
  double largest = 0;
  for (std::uint64_t i = 0; i < out.count; i += out.stride) {
    const double value = element_as_double(expected, static_cast<std::int64_t>(i));
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    if (is_floating(type.dtype)) {
      out.values.push_back(value);
    } else {
      out.integers.push_back(static_cast<std::int64_t>(value));
    }
  }
  out.relative = kRelative;
  out.absolute = kAbsolute * largest;
  return out;
}

CheckCase make_case(const Program& wide, const Function& f) {
  CheckCase c{.function = f.name};
  std::vector<Literal> arguments;
  for (std::size_t i = 0; i < f.inputs.size(); ++i) {
    const Type& type = f.type(f.inputs[i].value);
    c.inputs.push_back(make_input(type, 1 + i));
    const Literal given = literal_from_bytes(type, check_values(c.inputs.back()));
    const Function& twin = wide.at(f.name);
    arguments.push_back(convert(given, twin.type(twin.inputs[i].value).dtype));
  }
  const std::vector<Literal> results = interpret(wide, f.name, arguments);
  for (std::size_t o = 0; o < results.size(); ++o) {
    c.outputs.push_back(make_output(f.type(f.outputs[o].value), results[o]));
  }
  return c;
}

}  // namespace

std::vector<CheckCase> self_checks(const Program& program) {
  const Program wide = widen(program);
  std::vector<CheckCase> cases;
  for (const Function& f : program.functions()) cases.push_back(make_case(wide, f));
  return cases;
}

}  // namespace heddle
