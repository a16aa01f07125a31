#include "heddle/frontend/cli/library.h"

#include <cstdio>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "heddle/backends/file.h"
#include "heddle/frontend/cli/perf.h"
#include "heddle/frontend/cli/print.h"
#include "heddle/graph/error.h"
#include "heddle/runtime/status.h"
#include "heddle/schedule/target.h"

namespace heddle::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string beside(const std::string& path, const char* extension) {
  return std::filesystem::path(path).replace_extension(extension).string();
}

void refuse_function(const Common& options, const char* command) {
  if (options.function.empty()) return;
  throw ValueError({.message = absl::StrCat(command, ": of a library all functions are shown"),
                    .field = "--function",
                    .found = options.function});
}

SelftestResult run_selftest(const WrittenLibrary& library, const VerifyCommand& options) {
  const std::string check = options.check.empty() ? beside(library.path, ".check") : options.check;
  const bool is_here = library.triple == Target::host().triple;
  const std::vector<std::string> run_by =
      absl::StrSplit(options.run_by, ' ', absl::SkipWhitespace());
  if (!is_here && run_by.empty()) {
    throw NotAvailableError(
        {.message = absl::StrCat("verify: '", library.path, "' is for another machine"),
         .found = library.triple,
         .needed = absl::StrCat(Target::host().triple, ", or --run-by; ", library.name,
                                "_selftest() does the same over there")});
  }
  if (is_here && run_by.empty() && !library.path.ends_with(".a")) {
    return selftest_loaded(library, check);
  }
  return selftest_linked(library, check, run_by);
}

// "f0: avx2, 3 kernels" ... of one feature set.
void print_plan(const Json& plan) {
  const std::string features = plan.at("features").get<std::string>();
  const std::string carrier = plan.value("carrier", std::string("cpu"));
  std::printf("\n%s, %s, %s: workspace %lld bytes with 1 thread, %lld with 2",
              plan.at("triple").get<std::string>().c_str(), carrier.c_str(),
              features.empty() ? "any CPU" : features.c_str(),
              plan.at("workspace_bytes").at("1 thread").get<long long>(),
              plan.at("workspace_bytes").at("2 threads").get<long long>());
  if (plan.contains("device_bytes")) {
    std::printf("; memory of the device: %s bytes", plan.at("device_bytes").dump().c_str());
  }
  std::printf("\n");
  std::vector<Row> rows{{"  function", "steps", "arena"}};
  for (const Json& f : plan.at("functions")) {
    rows.push_back(
        {"  " + f.at("name").get<std::string>(), f.at("steps").dump(), f.at("arena_bytes").dump()});
  }
  std::printf("%s", table(rows).c_str());
  rows = {{"  recipe", "uses", "flops", "bytes", "scratch", "launches", "threads", "shared",
           "operations"}};
  for (const Json& k : plan.at("kernels")) {
    const auto of_device = [&](const char* field) {
      return k.contains(field) ? k.at(field).dump() : std::string("-");
    };
    const Json& scratch = k.at("scratch_bytes");
    rows.push_back({"  " + k.at("recipe").at("kind").get<std::string>(), k.at("uses").dump(),
                    k.at("flops").dump(), k.at("bytes").dump(),
                    absl::StrCat(scratch.at("once").dump(), "+", scratch.at("task").dump()),
                    of_device("launches"), of_device("threads"), of_device("shared_bytes"),
                    k.value("operations", std::string("-"))});
  }
  std::printf("%s", table(rows).c_str());
}

// By step, as the kernels' descriptions say it.
std::map<std::uint32_t, StepName> names_of(const StepTimes::Function& steps, const Json& plans) {
  std::map<std::uint32_t, StepName> names;
  for (const auto& [step, entry] : steps) {
    for (const Json& plan : plans) {
      for (const Json& k : plan.at("kernels")) {
        if (k.at("name").get<std::string>() != entry.kernel) continue;
        names[step] = {k.at("recipe").at("kind"), k.value("operations", std::string("-"))};
      }
    }
  }
  return names;
}

// Its self-test runs every function on stored inputs: there each step is timed.
int inspect_perf(const LibraryDescription& description, const InspectCommand& options) {
  const WrittenLibrary& library = description.library;
  if (library.path.ends_with(".a") || library.triple != Target::host().triple) {
    throw NotAvailableError({.message = "inspect: --perf runs a shared library of this machine",
                             .found = absl::StrCat(library.path, ", ", library.triple),
                             .needed = absl::StrCat("a .so for ", Target::host().triple)});
  }
  constexpr int kRuns = 5;
  StepTimes times;
  const hd_options watched = times.options(options.threads);
  for (int run = 0; run < kRuns; ++run) {
    const SelftestResult result =
        selftest_loaded(library, beside(library.path, ".check"), &watched);
    if (result.status != HD_OK) throw RuntimeError({.message = result.report});
  }
  const int threads = options.threads == 0 ? static_cast<int>(std::thread::hardware_concurrency())
                                           : options.threads;
  const Roofline roofline = measure_roofline(threads);
  Json json = Json::array();
  for (const auto& [number, steps] : times.functions()) {
    const std::string name = description.json.at("functions").at(number).at("name");
    const auto names = names_of(steps, description.json.at("plans"));
    if (options.json) {
      json.push_back({{"function", name}, {"steps", perf_json(steps, names, roofline)}});
    } else {
      std::printf("@%s:\n%s", name.c_str(), table(perf_rows(steps, names, roofline)).c_str());
    }
  }
  std::printf("%s", options.json ? (Json{{"functions", json}}.dump(2) + "\n").c_str()
                                 : roofline_text(roofline, threads).c_str());
  return 0;
}

}  // namespace

bool is_library(const std::string& path) {
  return path.ends_with(".a") || path.ends_with(".so") || path.ends_with(".dylib");
}

LibraryDescription read_library(const std::string& path) {
  const std::string description = beside(path, ".json");
  const auto bytes = try_read_file(description);
  if (!bytes || !std::filesystem::exists(path)) {
    throw ParseError({.message = absl::StrCat("cannot read the library '", path, "'"),
                      .needed = absl::StrCat("the file, and ", description, " beside it")});
  }
  try {
    const char* text = reinterpret_cast<const char*>(bytes->data());
    Json json = Json::parse(text, text + bytes->size());
    return {{path, json.at("name"), json.at("plans").at(0).at("triple")}, std::move(json)};
  } catch (const Json::exception&) {
    throw ParseError(
        {.message = absl::StrCat("'", description, "' is no description of a library")});
  }
}

int verify_library(const VerifyCommand& options) {
  refuse_function(options, "verify");
  const WrittenLibrary library = read_library(options.file).library;
  SelftestResult result;
  try {
    result = run_selftest(library, options);
  } catch (const StatusError& e) {
    throw ParseError({.message = e.what()});
  }
  if (result.status == HD_BAD_FILE) throw ParseError({.message = result.report});
  const bool good = result.status == HD_OK;
  if (!good && result.status != HD_SELFTEST_FAILED) throw RuntimeError({.message = result.report});
  if (options.json) {
    const std::vector<std::string> lines = absl::StrSplit(result.report, '\n', absl::SkipEmpty());
    std::printf(
        "%s\n",
        Json{
            {"ok", good}, {"library", library.path}, {"machine", library.triple}, {"report", lines}}
            .dump(2)
            .c_str());
  } else {
    std::printf("%sself-test of %s (%s): %s\n", result.report.c_str(), library.path.c_str(),
                library.triple.c_str(), good ? "all within tolerance" : "MISMATCH");
  }
  return good ? 0 : 1;
}

int inspect_library(const InspectCommand& options) {
  refuse_function(options, "inspect");
  const LibraryDescription description = read_library(options.file);
  if (options.perf) return inspect_perf(description, options);
  if (options.json) {
    std::printf("%s\n", description.json.dump(2).c_str());
    return 0;
  }
  try {
    std::printf("%s: %zu functions, constants %s bytes\n", description.library.path.c_str(),
                description.json.at("functions").size(),
                description.json.at("constant_bytes").dump().c_str());
    for (const Json& plan : description.json.at("plans")) print_plan(plan);
  } catch (const Json::exception&) {
    throw ParseError({.message = absl::StrCat("'", beside(options.file, ".json"),
                                              "' is no description of a library")});
  }
  return 0;
}

}  // namespace heddle::cli
