#include "heddle/frontend/export.h"

#include <algorithm>

#include "heddle/backends/artifact/machine_tools.h"
#include "heddle/backends/artifact/writer.h"
#include "heddle/backends/device.h"
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

// The feature sets of one machine: the plans of one library.
using Machine = std::vector<Target>;

void add_target(std::vector<Machine>& machines, const Target& target) {
  for (Machine& machine : machines) {
    if (machine[0].triple != target.triple) continue;
    if (machine[0].carrier != target.carrier) {
      throw ValueError({.message = "export: a machine's library has one carrier",
                        .field = "target",
                        .found = machine[0].carrier + " and " + target.carrier});
    }
    if (std::count(machine.begin(), machine.end(), target) == 0) machine.push_back(target);
    return;
  }
  machines.push_back({target});
}

std::vector<Machine> parse_targets(const std::vector<std::string>& texts) {
  std::vector<Machine> machines;
  for (const std::string& text : texts) {
    const Target target = parse_target(text);
    with_context({.operation = "export"}, [&] { device_of(target); });
    add_target(machines, target);
  }
  if (machines.empty()) throw ValueError({.message = "export: a library needs a target"});
  // Best first: the library takes the first whose features the CPU has.
  for (Machine& machine : machines) {
    std::stable_sort(machine.begin(), machine.end(), [](const Target& a, const Target& b) {
      return a.features.size() > b.features.size();
    });
  }
  return machines;
}

// The libraries of one export, machine by machine.
class Exporter {
 public:
  Exporter(const Program& program, const ExportOptions& options)
      : program_(program),
        options_(options),
        cache_(Cache::open()),
        checks_(self_checks(program)) {}

  void write(const Machine& machine, const std::string& folder, std::vector<std::string>& files) {
    std::vector<Lowered> lowered;
    std::vector<std::vector<KernelObject>> objects;
    std::vector<CompiledPlan> plans;
    lowered.reserve(machine.size());
    objects.reserve(machine.size());
    for (const Target& target : machine) {
      lowered.push_back(lower(program_, target, options_.observer));
      const Plan& plan = lowered.back().plan;
      objects.push_back(
          compile_kernels(plan, cache_, {.jobs = options_.jobs, .progress = options_.progress}));
      plans.push_back({&plan, objects.back()});
    }
    const WriteOptions write{.name = options_.name,
                             .folder = folder,
                             .static_library = true,
                             .shared_library = true,
                             .checks = checks_,
                             .cached = cached_in(cache_)};
    for (const auto& path : write_artifact(plans, write)) files.push_back(path.string());
  }

 private:
  const Program& program_;
  const ExportOptions& options_;
  Cache cache_;
  std::vector<CheckCase> checks_;
};

std::vector<std::string> write_all(const std::vector<NamedProgram>& functions,
                                   const ExportOptions& options) {
  check_identifier(options.name, "a library");
  check_jobs(options.jobs);
  const std::vector<Machine> machines = parse_targets(options.targets);
  for (const Machine& machine : machines) tools_for(machine[0].triple);  // before any work
  const Program program = merged(functions);
  Exporter exporter(program, options);
  std::vector<std::string> files;
  for (const Machine& machine : machines) {
    const bool is_first = &machine == machines.data();
    exporter.write(machine, options.folder + (is_first ? "" : "/" + machine[0].triple), files);
  }
  return files;
}

}  // namespace

void Library::add(const std::string& name, Program program, Location where) {
  with_context({.where = where}, [&] { check_identifier(name, "a function"); });
  for (const NamedProgram& f : functions_) {
    if (f.first == name) {
      throw ValueError(
          {.message = "library: function '" + name + "' is added twice", .where = where});
    }
  }
  functions_.push_back({name, std::move(program)});
}

std::vector<std::string> export_library(const std::vector<NamedProgram>& functions,
                                        const ExportOptions& options, Location where) {
  return with_context({.where = where}, [&] { return write_all(functions, options); });
}

}  // namespace heddle
