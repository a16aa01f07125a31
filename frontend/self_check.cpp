#include "heddle/frontend/self_check.h"

#include <algorithm>
#include <cmath>

#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/passes/passes.h"

namespace heddle {
namespace {

constexpr double kRelative = 1e-4, kAbsolute = 1e-5;  // of an output's largest element
constexpr double kGradient = 1e-3;                    // of the product's terms

bool is_narrow(DType d) { return d == DType::f16 || d == DType::bf16; }
// How much larger the tolerances are where 16-bit floats round every operation.
double slack(DType d) { return d == DType::bf16 ? 400 : d == DType::f16 ? 50 : 1; }

// 16-bit floats are stored: the stream of numbers has more digits than they.
CheckInput make_input(const Type& type, std::uint64_t seed) {
  const bool floating = is_floating(type.dtype), narrow = is_narrow(type.dtype);
  CheckInput in{.kind = CheckInput::Kind::uniform,
                .dtype = narrow ? DType::f32 : type.dtype,
                .count = static_cast<std::uint64_t>(element_count(type)),
                .low = floating ? -1.0 : 0.0,
                .high = floating ? 1.0 : 2.0,
                .seed = seed,
                .data = {}};
  if (!narrow) return in;
  const Literal wide = literal_from_bytes({DType::f32, type.dims}, check_values(in));
  in.kind = CheckInput::Kind::stored;
  in.dtype = type.dtype;
  in.data = *convert(wide, type.dtype).bytes;
  return in;
}

// u64: its bits.
std::int64_t whole_element(const Literal& literal, std::uint64_t i) {
  return dispatch_dtype(literal.type.dtype, [&](auto t) -> std::int64_t {
    using T = typename decltype(t)::type;
    if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(view<T>(literal)[i]);
    throw InternalError({.message = "a whole number of a floating dtype"});
  });
}

CheckOutput make_output(const Type& type, const Literal& expected) {
  CheckOutput out{.dtype = type.dtype, .count = static_cast<std::uint64_t>(element_count(type))};
  out.stride = sample_stride(out.count);
  double largest = 0;
  for (std::uint64_t i = 0; i < out.count; i += out.stride) {
    if (!is_floating(type.dtype)) {
      out.integers.push_back(whole_element(expected, i));
      continue;
    }
    out.values.push_back(element_as_double(expected, static_cast<std::int64_t>(i)));
    if (std::isfinite(out.values.back())) largest = std::max(largest, std::fabs(out.values.back()));
  }
  out.relative = kRelative * slack(type.dtype);
  out.absolute = kAbsolute * slack(type.dtype) * largest;
  return out;
}

// The function whose gradient `g` gives: a floating scalar of the same inputs. `g` itself when it
// gives the value too. Null: none.
const Function* value_of(const Program& wide, const Function& g) {
  const auto fits = [&](const Function& f) {
    const bool same_inputs =
        std::equal(f.inputs.begin(), f.inputs.end(), g.inputs.begin(), g.inputs.end(),
                   [&](const Input& a, const Input& b) {
                     return a.name == b.name && f.type(a.value) == g.type(b.value);
                   });
    if (!same_inputs || f.outputs.empty() || f.outputs[0].name.starts_with("d_")) return false;
    const Type& type = f.type(f.outputs[0].value);
    return type.rank() == 0 && is_floating(type.dtype);
  };
  if (fits(g)) return &g;
  for (const Function& f : wide.functions()) {
    if (fits(f)) return &f;
  }
  return nullptr;
}

// Outputs `d_<input>` of an input's type are gradients.
struct Gradients {
  std::vector<std::string> inputs;
  std::vector<CheckGradient::Part> parts;
};
Gradients find_gradients(const Function& g) {
  Gradients found;
  for (std::size_t o = 0; o < g.outputs.size(); ++o) {
    for (const Input& input : g.inputs) {
      if (g.outputs[o].name != "d_" + input.name) continue;
      if (g.type(g.outputs[o].value) != g.type(input.value)) continue;
      found.inputs.push_back(input.name);
      found.parts.push_back({static_cast<std::uint32_t>(o), 1000 + o});
    }
  }
  return found;
}

Literal direction(const Type& type, std::uint64_t seed) {
  std::vector<double> v(static_cast<std::size_t>(element_count(type)));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 2 * check_uniform(seed, i) - 1;
  return convert(make_literal<double>(type.dims, v), type.dtype);
}

// <gradient, v> against J v of the value's f64 twin, in one random direction.
void add_gradient(CheckCase& c, const Program& wide, const Function& g,
                  std::vector<Literal> arguments) {
  const Gradients gradients = find_gradients(g);
  const Function* value = gradients.parts.empty() ? nullptr : value_of(wide, g);
  if (value == nullptr) return;
  Function alone = *value;
  alone.outputs.resize(1);
  const Program forward =
      jvp(dead_node_elimination(Program(std::vector{std::move(alone)})), gradients.inputs, {});
  for (std::size_t i = 0; i < gradients.parts.size(); ++i) {
    const Type& type = g.type(g.outputs[gradients.parts[i].output].value);
    arguments.push_back(direction(type, gradients.parts[i].seed));
  }
  const Literal product = interpret(forward, forward.entry().name, arguments, {}).back();
  double loosest = 1;
  for (const Type& type : g.types) loosest = std::max(loosest, slack(type.dtype));
  c.gradients.push_back({gradients.parts, element_as_double(product, 0), kGradient * loosest});
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
  const std::vector<Literal> results = interpret(wide, f.name, arguments, {});
  for (std::size_t o = 0; o < results.size(); ++o) {
    c.outputs.push_back(make_output(f.type(f.outputs[o].value), results[o]));
  }
  add_gradient(c, wide, wide.at(f.name), arguments);
  return c;
}

}  // namespace

std::vector<CheckCase> self_checks(const Program& program) {
  const Program wide = widen(program);
  std::vector<CheckCase> cases;
  for (const Function& f : program.functions()) {
    try {
      cases.push_back(make_case(wide, f));
    } catch (const OverflowError&) {
      // Checked arithmetic that these inputs are too large for, or more than the reference
      // computes.
    }
  }
  return cases;
}

}  // namespace heddle
