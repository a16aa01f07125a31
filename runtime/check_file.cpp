#include "heddle/runtime/check_file.h"

#include <cstring>
#include <stdexcept>

#include "heddle/runtime/core/numbers.h"

namespace hdcore {
uint64_t checksum_signatures(const hd_artifact& artifact);
uint64_t hash_bytes(uint64_t hash, const void* data, size_t bytes);
}  // namespace hdcore

namespace heddle {
namespace {

constexpr std::uint64_t kMostSamples = 4096;
constexpr std::size_t kHeaderBytes = 64, kHashedFrom = 32;
constexpr std::uint64_t kHashStart = 0xcbf29ce484222325u;

class Bytes {
 public:
  template <class T>
  void add(T number) {
    const std::byte* at = reinterpret_cast<const std::byte*>(&number);
    data.insert(data.end(), at, at + sizeof number);
  }
  void add_padded(const void* bytes, std::size_t count) {
    const std::byte* at = static_cast<const std::byte*>(bytes);
    data.insert(data.end(), at, at + count);
    data.resize((data.size() + 7) / 8 * 8);
  }
  template <class T>
  void put(std::size_t offset, T number) {
    std::memcpy(data.data() + offset, &number, sizeof number);
  }
  std::vector<std::byte> data;
};

void require(bool condition, const CheckCase& check, const char* what) {
  if (!condition)
    throw std::invalid_argument("check file: case of '" + check.function + "': " + what);
}

std::uint64_t count_elements(const hd_signature& signature, std::uint32_t tensor) {
  const hd_tensor_spec& spec = signature.tensors[tensor];
  std::uint64_t count = 1;
  for (std::uint32_t i = 0; i < spec.rank; ++i) {
    count *= static_cast<std::uint64_t>(signature.dims[spec.first_dim + i]);
  }
  return count;
}

void require_tensor(const CheckCase& check, const hd_signature& signature, std::size_t tensor,
                    DType dtype, std::uint64_t count) {
  const std::uint32_t number = static_cast<std::uint32_t>(tensor);
  require(signature.tensors[number].dtype == static_cast<std::uint8_t>(dtype), check,
          "another dtype");
  require(count_elements(signature, number) == count, check, "another number of elements");
}

void add_input(Bytes& out, const CheckCase& check, const CheckInput& input) {
  const bool uniform = input.kind == CheckInput::Kind::uniform;
  require(!uniform || (input.dtype != DType::f16 && input.dtype != DType::bf16), check,
          "uniform 16-bit floats");
  out.add(static_cast<std::uint32_t>(input.kind));
  out.add(static_cast<std::uint32_t>(input.dtype));
  out.add(input.count);
  out.add(input.low);
  out.add(input.high);
  out.add(input.seed);
  if (input.kind != CheckInput::Kind::stored) return;
  require(input.data.size() == input.count * size_of(input.dtype), check,
          "stored data of another size");
  out.add_padded(input.data.data(), input.data.size());
}

void add_output(Bytes& out, const CheckCase& check, const CheckOutput& output) {
  require(output.stride > 0, check, "a stride of 0");
  const std::uint64_t samples = (output.count + output.stride - 1) / output.stride;
  const std::size_t found =
      is_floating(output.dtype) ? output.values.size() : output.integers.size();
  require(found == samples, check, "another number of expected values");
  out.add(std::uint32_t{0});
  out.add(static_cast<std::uint32_t>(output.dtype));
  out.add(output.count);
  out.add(output.stride);
  out.add(output.relative);
  out.add(output.absolute);
  if (is_floating(output.dtype)) {
    out.add_padded(output.values.data(), 8 * output.values.size());
  } else {
    out.add_padded(output.integers.data(), 8 * output.integers.size());
  }
}

void add_gradient(Bytes& out, const CheckCase& check, const CheckGradient& gradient) {
  out.add(static_cast<std::uint32_t>(gradient.parts.size()));
  out.add(std::uint32_t{0});
  out.add(gradient.expected);
  out.add(gradient.tolerance);
  for (const CheckGradient::Part& part : gradient.parts) {
    require(part.output < check.outputs.size(), check, "a gradient of an output that is not there");
    out.add(part.output);
    out.add(std::uint32_t{0});
    out.add(part.seed);
  }
}

void add_case(Bytes& out, const hd_artifact& artifact, const CheckCase& check) {
  const int function = hd_find_function(&artifact, check.function.c_str());
  require(function >= 0, check, "there is no such function");
  const hd_signature& signature = artifact.signatures[function];
  require(check.inputs.size() == signature.n_inputs && check.outputs.size() == signature.n_outputs,
          check, "another number of tensors");
  out.add(static_cast<std::uint32_t>(check.function.size() + 1));
  out.add(signature.n_inputs);
  out.add(signature.n_outputs);
  out.add(static_cast<std::uint32_t>(check.gradients.size()));
  out.add_padded(check.function.c_str(), check.function.size() + 1);
  for (std::size_t i = 0; i < check.inputs.size(); ++i) {
    require_tensor(check, signature, i, check.inputs[i].dtype, check.inputs[i].count);
    add_input(out, check, check.inputs[i]);
  }
  for (std::size_t i = 0; i < check.outputs.size(); ++i) {
    require_tensor(check, signature, signature.n_inputs + i, check.outputs[i].dtype,
                   check.outputs[i].count);
    add_output(out, check, check.outputs[i]);
  }
  for (const CheckGradient& gradient : check.gradients) add_gradient(out, check, gradient);
}

}  // namespace

std::vector<std::byte> encode_check_file(const hd_artifact& artifact,
                                         std::span<const CheckCase> cases) {
  Bytes out;
  out.data.resize(kHeaderBytes);
  for (const CheckCase& check : cases) add_case(out, artifact, check);
  std::memcpy(out.data.data(), "HDCHECK1", 8);
  out.put(8, std::uint32_t{1});
  out.put(12, static_cast<std::uint32_t>(cases.size()));
  out.put(16, std::uint64_t{out.data.size()});
  out.put(32, hdcore::checksum_signatures(artifact));
  const std::uint64_t head = hdcore::hash_bytes(kHashStart, out.data.data() + 8, 16);
  out.put(24,
          hdcore::hash_bytes(head, out.data.data() + kHashedFrom, out.data.size() - kHashedFrom));
  return std::move(out.data);
}

std::vector<std::byte> check_values(const CheckInput& input) {
  if (input.kind == CheckInput::Kind::stored) return input.data;
  std::vector<std::byte> data(input.count * size_of(input.dtype));
  if (input.kind == CheckInput::Kind::uniform) {
    hdcore::fill_uniform(static_cast<std::uint32_t>(input.dtype), data.data(), input.count,
                         input.low, input.high, input.seed);
  }
  return data;
}

double check_uniform(std::uint64_t seed, std::uint64_t i) { return hdcore::uniform(seed, i); }

std::uint64_t sample_stride(std::uint64_t count) {
  return count <= kMostSamples ? 1 : ((count + kMostSamples - 1) / kMostSamples) | 1;
}

}  // namespace heddle
