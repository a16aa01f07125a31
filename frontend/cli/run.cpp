#include <cstdio>

#include "heddle/frontend/cli/arrays.h"
#include "heddle/frontend/cli/files.h"
#include "heddle/frontend/cli/inputs.h"
#include "heddle/frontend/cli/model.h"
#include "heddle/frontend/cli/print.h"
#include "heddle/graph/interpret.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {
namespace {

std::vector<Literal> run(const RunCommand& options, const Program& model,
                         const std::vector<Literal>& inputs) {
  const std::string& name = model.entry().name;
  if (options.carrier == "reference") return interpret(model, name, inputs, {});
  if (options.carrier != "cpu" && options.carrier != "opencl" && options.carrier != "metal") {
    throw NotAvailableError({.message = "run: unknown carrier",
                             .found = "'" + options.carrier + "'",
                             .needed = "cpu, opencl, metal or reference"});
  }
  CompileOptions compile_with = compile_options(options);
  if (options.carrier != "cpu") compile_with.target.carrier = options.carrier;
  compile_with.check_nan = options.check_nan;
  return compile(model, compile_with, {})->run(name, inputs, {});
}

nlohmann::ordered_json as_json(const Literal& literal) {
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (double v : to_doubles(literal)) values.push_back(json_number(v));
  nlohmann::ordered_json shape = constant_extents(literal.type.dims);
  return {
      {"dtype", std::string(name_of(literal.type.dtype))}, {"shape", shape}, {"values", values}};
}

}  // namespace

int run_command(const RunCommand& options) {
  if (!options.output.empty()) check_extension("run", options.output, {".npz"});
  const Program model = read_model(options);
  const Function& f = model.entry();
  const std::vector<Literal> results = run(options, model, read_inputs(f, options.inputs));
  std::vector<std::pair<std::string, Literal>> named;
  for (std::size_t o = 0; o < results.size(); ++o) named.push_back({f.outputs[o].name, results[o]});
  if (!options.output.empty()) write_arrays(options.output, named);
  nlohmann::ordered_json json;
  for (const auto& [name, value] : named) {
    if (options.json) json[name] = as_json(value);
    if (!options.json && options.output.empty())
      std::printf("%s: %s\n", name.c_str(), tensor_text(value).c_str());
  }
  if (options.json) std::printf("%s\n", json.dump(2).c_str());
  return 0;
}

}  // namespace heddle::cli
