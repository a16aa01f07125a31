#include <cstdio>

#include "absl/strings/str_format.h"
#include "heddle/frontend/cli/compare.h"
#include "heddle/frontend/cli/inputs.h"
#include "heddle/frontend/cli/library.h"
#include "heddle/frontend/cli/model.h"
#include "heddle/frontend/cli/print.h"
#include "heddle/graph/interpret.h"
#include "nlohmann/json.hpp"

namespace heddle::cli {
namespace {

struct Report {
  std::vector<Row> rows{{"function", "output", "type", "max ULP", "relative", ""}};
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  bool good = true;
};

void add(Report& report, const Function& f, const Output& out, const Difference& d,
         double tolerance) {
  const bool good = d.matches(tolerance);
  report.good &= good;
  report.rows.push_back({f.name, out.name, to_text(f.type(out.value)),
                         absl::StrFormat("%.1f", d.ulp), absl::StrFormat("%.2e", d.relative),
                         good ? "ok" : "DIFFERS"});
  report.json.push_back({{"function", f.name},
                         {"output", out.name},
                         {"ulp", json_number(d.ulp)},
                         {"relative", json_number(d.relative)},
                         {"ok", good}});
}

}  // namespace

int verify_command(const VerifyCommand& options) {
  if (is_library(options.file)) return verify_library(options);
  const Program model = read_model(options);
  const std::unique_ptr<Executable> compiled = compile(model, compile_options(options), {});
  Report report;
  for (const Function& f : model.functions()) {
    if (!options.function.empty() && f.name != options.function) continue;
    const std::vector<Literal> inputs = random_inputs(f, options.seed);
    const std::vector<Literal> expected = interpret(model, f.name, inputs, {}),
                               found = compiled->run(f.name, inputs, {});
    for (std::size_t o = 0; o < found.size(); ++o) {
      add(report, f, f.outputs[o], compare(found[o], expected[o]), options.tolerance);
    }
  }
  if (options.json) {
    std::printf("%s\n",
                nlohmann::ordered_json{
                    {"ok", report.good}, {"seed", options.seed}, {"outputs", report.json}}
                    .dump(2)
                    .c_str());
  } else {
    std::printf("%scompiled against interpreted, seed %llu: %s\n", table(report.rows).c_str(),
                static_cast<unsigned long long>(options.seed),
                report.good ? "all within tolerance" : "MISMATCH");
  }
  return report.good ? 0 : 1;
}

}  // namespace heddle::cli
