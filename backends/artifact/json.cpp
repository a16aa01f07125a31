#include "heddle/backends/artifact/json.h"

#include <nlohmann/json.hpp>

namespace heddle {
namespace {

using Json = nlohmann::ordered_json;

struct RecipeJson {
  Json operator()(const Map& r) const {
    return {{"kind", "map"}, {"vector", r.vector}, {"unroll", r.unroll}, {"grain", r.grain}};
  }
  Json operator()(const Rows& r) const {
    return {{"kind", "rows"}, {"lanes", r.lanes}, {"grain", r.grain}, {"split", r.split}};
  }
  Json operator()(const Columns& r) const {
    return {{"kind", "columns"}, {"strip", r.strip}, {"split", r.split}, {"grain", r.grain}};
  }
  Json operator()(const Contract& r) const {
    static constexpr const char* kPacks[] = {"none", "panel", "whole"};
    return {{"kind", "contract"},
            {"mr", r.mr},
            {"nr", r.nr},
            {"lhs", kPacks[static_cast<int>(r.lhs)]},
            {"rhs", kPacks[static_cast<int>(r.rhs)]},
            {"columns_outer", r.columns_outer},
            {"dots", r.dots},
            {"panels", r.panels},
            {"grain", r.grain}};
  }
  Json operator()(const Scatter& r) const {
    return {{"kind", "scatter"}, {"vector", r.vector}, {"grain", r.grain}};
  }
  Json operator()(const External& r) const {
    return {{"kind", "external"}, {"symbol", r.symbol}, {"digest", r.digest}};
  }
  Json operator()(const RowBlock& r) const {
    return {
        {"kind", "row_block"}, {"mr", r.mr}, {"nr", r.nr}, {"rows", r.rows}, {"grain", r.grain}};
  }
  Json operator()(const Winograd& r) const {
    return {{"kind", "winograd"}, {"mr", r.mr}, {"nr", r.nr}, {"rows", r.rows}, {"grain", r.grain}};
  }
  Json operator()(const Fibres& r) const {
    return {{"kind", "fibres"}, {"strip", r.strip}, {"grain", r.grain}};
  }
};

Json tensor_json(const hd_signature& s, std::uint32_t number) {
  const hd_tensor_spec& t = s.tensors[number];
  Json json = {
      {"name", t.name},
      {"dtype", std::string(name_of(static_cast<DType>(t.dtype)))},
      {"shape", std::vector<std::int64_t>(s.dims + t.first_dim, s.dims + t.first_dim + t.rank)},
      {"argument", s.arguments[t.argument].name},
      {"offset", t.offset}};
  if (t.donated) json["donated"] = true;
  if (t.shares >= 0) json["shares"] = s.tensors[t.shares].name;
  return json;
}

Json signature_json(const hd_signature& s) {
  Json json = {{"name", s.name}, {"inputs", Json::array()}, {"outputs", Json::array()}};
  for (std::uint32_t i = 0; i < s.n_inputs + s.n_outputs; ++i) {
    json[i < s.n_inputs ? "inputs" : "outputs"].push_back(tensor_json(s, i));
  }
  return json;
}

void add_launches(Json& json, const KernelObject& kernel) {
  json["launches"] = kernel.launches;
  json["threads"] = kernel.threads;
  json["shared_bytes"] = kernel.shared_bytes;
  json["device_bytes"] = kernel.device_bytes;
}

Json kernels_json(const hd_plan& p, const CompiledPlan& compiled) {
  Json kernels = Json::array();
  for (std::uint32_t k = 0; k < p.n_kernels; ++k) {
    const hd_kernel& kernel = p.kernels[k];
    Json json = {{"name", kernel.name}};
    int uses = 0;
    for (std::uint32_t s = 0; s < p.n_steps; ++s) {
      if (p.steps[s].kind != HD_STEP_KERNEL || p.steps[s].kernel != k) continue;
      if (uses++ == 0) json["operations"] = p.sources[p.steps[s].source];
    }
    json["uses"] = uses;
    json["recipe"] = std::visit(RecipeJson{}, compiled.plan->kernels[k].recipe);
    json["flops"] = kernel.flops;
    json["bytes"] = kernel.bytes;
    json["scratch_bytes"] = {{"once", kernel.scratch_once}, {"task", kernel.scratch_task}};
    if (p.device) add_launches(json, compiled.objects[k]);
    kernels.push_back(std::move(json));
  }
  return kernels;
}

Json plan_json(const hd_artifact& artifact, const hd_plan& p, const CompiledPlan& compiled) {
  Json json = {{"triple", compiled.plan->target.triple}, {"features", p.features}};
  json["workspace_bytes"] = {{"1 thread", hd_plan_workspace_bytes(&p, 1)},
                             {"2 threads", hd_plan_workspace_bytes(&p, 2)}};
  if (p.device) {
    json["carrier"] = p.device->name;
    json["device_bytes"] = hd_device_bytes(&artifact, &p, 0);
  }
  json["functions"] = Json::array();
  for (std::uint32_t f = 0; f < artifact.n_signatures; ++f) {
    json["functions"].push_back({{"name", artifact.signatures[f].name},
                                 {"steps", p.functions[f].n_steps},
                                 {"arena_bytes", p.functions[f].arena_bytes}});
  }
  json["kernels"] = kernels_json(p, compiled);
  return json;
}

}  // namespace

std::string artifact_json(const hd_artifact& artifact, std::span<const CompiledPlan> plans) {
  Json json = {{"name", artifact.name}, {"abi", artifact.abi}, {"format", artifact.format}};
  json["functions"] = Json::array();
  for (std::uint32_t f = 0; f < artifact.n_signatures; ++f)
    json["functions"].push_back(signature_json(artifact.signatures[f]));
  std::uint64_t constants = 0;
  for (std::uint32_t c = 0; c < artifact.n_constants; ++c) constants += artifact.constants[c].bytes;
  json["constant_bytes"] = constants;
  json["plans"] = Json::array();
  for (std::uint32_t p = 0; p < artifact.n_plans; ++p)
    json["plans"].push_back(plan_json(artifact, artifact.plans[p], plans[p]));
  return json.dump(2) + "\n";
}

}  // namespace heddle
