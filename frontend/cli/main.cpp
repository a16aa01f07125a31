// heddle: compile, run, check and look at programs.
#include <cstdio>
#include <functional>
#include <new>

#include "CLI/CLI.hpp"
#include "absl/strings/str_join.h"
#include "heddle/backends/lower.h"
#include "heddle/frontend/cli/commands.h"
#include "heddle/graph/error.h"

namespace heddle::cli {
namespace {

enum ExitCode { kOk = 0, kMismatch = 1, kUsage = 2, kUnsupported = 3, kBadFile = 4 };

void add_common(CLI::App* command, Common& options) {
  command->add_option("model", options.file, "program text (.heddle) or its binary form (.hdb)")
      ->required();
  command->add_option("--function", options.function, "its name; default: the first");
  command->add_option("--target", options.target,
                      "host, host-opencl, or x86-64-linux-avx-avx2-f16c-fma-sse41");
  command->add_option("--threads", options.threads, "when running; 0: one per CPU")
      ->check(CLI::Range(0, 1000));
  command->add_option("--jobs", options.jobs, "kernels compiled side by side; 0: one per CPU")
      ->check(CLI::Range(0, 1000));
  command->add_flag("--json", options.json, "machine-readable output");
}

/// The chosen command, filled in while the line is parsed.
using Chosen = std::function<int()>;

template <class Options>
CLI::App* add_command(CLI::App& app, Chosen& chosen, const char* name, const char* help,
                      Options& options, int (*run)(const Options&)) {
  CLI::App* command = app.add_subcommand(name, help);
  command->callback(
      [&chosen, &options, run] { chosen = [&options, run] { return run(options); }; });
  return command;
}

struct AllOptions {
  CompileCommand compile;
  RunCommand run;
  ConvertCommand convert;
  DumpCommand dump;
  GradCommand grad;
  VerifyCommand verify;
  InspectCommand inspect;
  CacheCommand cache;
  OpsCommand ops;
};

void define_commands(CLI::App& app, AllOptions& all, Chosen& chosen) {
  CLI::App* c = add_command(app, chosen, "compile", "make a library and a C header", all.compile,
                            compile_command);
  add_common(c, all.compile);
  c->remove_option(c->get_option("--target"));
  c->add_option("--target", all.compile.targets,
                "one or more: host, host-opencl, x86-64-linux-avx2, arm-64-linux, arm-64-osx");
  c->add_option("-o,--output", all.compile.output, "path and name of the library: out/mlp")
      ->required();

  c = add_command(app, chosen, "run", "run a function", all.run, run_command);
  add_common(c, all.run);
  c->add_option("inputs", all.run.inputs, "x=@x.npy  x=2x3xf32=0  x=random:7  x=random:7:LOW:HIGH");
  c->add_option("-o,--output", all.run.output, "results as .npz");
  c->add_option("--carrier", all.run.carrier,
                "cpu, opencl, metal: the device there is, or reference: the interpreter");
  c->add_flag("--check-nan", all.run.check_nan,
              "stop at the first step that makes a NaN or an infinity");

  c = add_command(app, chosen, "dump", "print a stage of the compiler", all.dump, dump_command);
  add_common(c, all.dump);
  c->add_option("--stage", all.dump.stage, absl::StrJoin(stage_names(), " ") + ", or all");

  c = add_command(app, chosen, "convert", "program text to its binary form, and back", all.convert,
                  convert_command);
  add_common(c, all.convert);
  c->add_option("-o,--output", all.convert.output, "model.hdb: binary; model.heddle: text")
      ->required();

  c = add_command(app, chosen, "grad", "differentiate", all.grad, grad_command);
  add_common(c, all.grad);
  c->add_option("--wrt", all.grad.wrt, "inputs, comma-separated")->required()->delimiter(',');
  c->add_option("-o,--output", all.grad.output, "program text (.heddle)");
  c->add_flag("--value", all.grad.value, "keep the function's own outputs");

  c = add_command(
      app, chosen, "verify",
      "compiled against interpreted, on seeded inputs; a library (.a, .so, .dylib): its "
      "self-test",
      all.verify, verify_command);
  add_common(c, all.verify);
  c->add_option("--seed", all.verify.seed, "of the inputs")->check(CLI::NonNegativeNumber);
  c->add_option("--tolerance", all.verify.tolerance, "relative to an output's largest element");
  c->add_option("--check", all.verify.check, "of a library: its check file; default: beside it");
  c->add_option("--run-by", all.verify.run_by,
                "of a library: what runs its machine's programs: \"qemu-aarch64 -L ...\"");

  c = add_command(app, chosen, "inspect", "kernels, memory and work of a function, or of a library",
                  all.inspect, inspect_command);
  add_common(c, all.inspect);
  c->add_flag("--perf", all.inspect.perf,
              "run it and time each step: us, GF/s, GB/s, fraction of the roofline");

  c = add_command(app, chosen, "cache", "the cache of compiled kernels", all.cache, cache_command);
  c->add_option("action", all.cache.action,
                "ls, verify, gc, clear, or warm: compile what concrete calls need first")
      ->required();
  c->add_flag("--json", all.cache.json, "machine-readable output");

  c = add_command(app, chosen, "ops", "the operations", all.ops, ops_command);
  c->add_option("name", all.ops.name, "one of them");
  c->add_flag("--json", all.ops.json, "machine-readable output");
}

int report(const std::exception& e, int code) {
  std::fprintf(stderr, "heddle: %s\n", e.what());
  return code;
}

int run(int argc, char** argv) {
  CLI::App app("heddle: compile, run, check and look at tensor programs");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 ok, 1 mismatch or failed run, 2 usage, 3 unsupported, 4 bad file.");
  AllOptions all;
  Chosen chosen;
  define_commands(app, all, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kOk : kUsage;
  }
  try {
    return chosen();
  } catch (const ParseError& e) {
    return report(e, kBadFile);
  } catch (const NotImplementedError& e) {
    return report(e, kUnsupported);
  } catch (const UnsupportedAdError& e) {
    return report(e, kUnsupported);
  } catch (const NotAvailableError& e) {
    return report(e, kUnsupported);
  } catch (const RuntimeError& e) {
    return report(e, kMismatch);
  } catch (const OverflowError& e) {
    return report(e, kMismatch);
  } catch (const CompileError& e) {
    return report(e, kMismatch);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "heddle: not enough memory for the values of this program\n");
    return kMismatch;
  } catch (const std::exception& e) {
    return report(e, kUsage);
  }
}

}  // namespace
}  // namespace heddle::cli

int main(int argc, char** argv) { return heddle::cli::run(argc, argv); }
