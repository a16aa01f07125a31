#include "heddle/frontend/export.h"

#include <algorithm>

#include "heddle/backends/artifact/writer.h"
#include "heddle/backends/worker.h"
#include "heddle/frontend/self_check.h"

namespace heddle {
namespace {

bool is_identifier(const std::string& name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

void check_identifier(const std::string& name, const std::string& what) {
  if (is_identifier(name)) return;
  throw ValueError(
      {.message = "export: the name of " + what + " is a C identifier", .found = "'" + name + "'"});
}

// The entry functions side by side, under the names they have in C.
Program merged(const std::vector<NamedProgram>& functions) {
  std::vector<Function> all;
  for (const auto& [name, program] : functions) {
    check_identifier(name, "a function");
    Function f = program.entry();
    f.name = name;
    all.push_back(std::move(f));
  }
  if (all.empty()) throw ValueError({.message = "export: a library needs a function"});
  return Program(std::move(all));
}

Cached cached_in(const Cache& cache) {
  return [&cache](const std::string& key, const std::function<std::vector<std::byte>()>& make) {
    const std::string_view part = key;
    const CacheKey hashed = cache_key(std::span(&part, 1));
    if (auto bytes = cache.get(hashed)) return *bytes;
    std::vector<std::byte> bytes = make();
    cache.put(hashed, bytes);
    return bytes;
  };
}

void check_jobs(int jobs) {
  if (jobs >= 0) return;
  throw ValueError({.message = "export: jobs is at least 0, which is one per CPU",
                    .found = std::to_string(jobs)});
}

std::vector<Target> parse_targets(const std::vector<std::string>& texts) {
  std::vector<Target> targets;
  for (const std::string& text : texts) targets.push_back(parse_target(text));
  for (const Target& t : targets) {
    if (t.carrier != "cpu" || t.triple != Target::host().triple) {
      throw NotAvailableError({.message = "export: no artifacts for this target yet",
                               .found = to_text(t),
                               .needed = Target::host().triple + " with the carrier cpu"});
    }
    if (t.triple != targets[0].triple) {
      throw ValueError(
          {.message = "export: the targets of one library are feature sets of one machine",
           .found = to_text(t),
           .needed = targets[0].triple});
    }
  }
  // Best first: the library takes the first whose features the CPU has.
  std::stable_sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) {
    return a.features.size() > b.features.size();
  });
  return targets;
}

}  // namespace

void Library::add(const std::string& name, Program program) {
  check_identifier(name, "a function");
  for (const NamedProgram& f : functions_) {
    if (f.first == name)
      throw ValueError({.message = "library: function '" + name + "' is added twice"});
  }
  functions_.push_back({name, std::move(program)});
}

std::vector<std::string> export_library(const std::vector<NamedProgram>& functions,
                                        const ExportOptions& options) {
  check_identifier(options.name, "a library");
  check_jobs(options.jobs);
  const std::vector<Target> targets = parse_targets(options.targets);
  const Program program = merged(functions);
  const Cache cache = Cache::open();
  std::vector<Lowered> lowered;
  std::vector<std::vector<KernelObject>> objects;
  std::vector<CompiledPlan> plans;
  lowered.reserve(targets.size());
  objects.reserve(targets.size());
  for (const Target& target : targets) {
    lowered.push_back(lower(program, target, options.observer));
    const Plan& plan = lowered.back().plan;
    objects.push_back(
        compile_kernels(plan.kernels, cache, {.jobs = options.jobs, .progress = options.progress}));
    plans.push_back({&plan, objects.back()});
  }
  const WriteOptions write{.name = options.name,
                           .folder = options.folder,
                           .static_library = true,
                           .shared_library = true,
                           .checks = self_checks(program),
                           .cached = cached_in(cache)};
  std::vector<std::string> files;
  for (const auto& path : write_artifact(plans, write)) files.push_back(path.string());
  return files;
}

}  // namespace heddle
