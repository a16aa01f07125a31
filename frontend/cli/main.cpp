// heddle: compile, run, check and look at programs.
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <new>

#include "CLI/CLI.hpp"
#include "absl/strings/str_join.h"
#include "heddle/backends/lower.h"
#include "heddle/frontend/cli/commands.h"
#include "heddle/graph/error.h"
#include "heddle/graph/number_text.h"

namespace heddle::cli {
namespace {

enum ExitCode { kOk = 0, kMismatch = 1, kUsage = 2, kUnsupported = 3, kBadFile = 4 };

constexpr char kFooter[] =
    "Exit codes: 0 ok, 1 mismatch or failed run, 2 usage, 3 unsupported, 4 bad file.\n"
    "Environment: HEDDLE_CACHE=FOLDER or off, HEDDLE_CACHE_BYTES=N: compiled kernels;\n"
    "HEDDLE_CHECK=nan; HEDDLE_DUMP=STAGE,... or all; HEDDLE_TIME=1;\n"
    "HEDDLE_TARGET_FEATURES=F,...: host has no more than these; HEDDLE_WINOGRAD=0: no such "
    "convolutions;\n"
    "HEDDLE_KERNELC=FILE: the compile worker; HEDDLE_ZIG=FILE: the tools for other machines.";
constexpr char kProgramFile[] = "program text (.heddle) or its binary form (.hdb)";
constexpr char kProgramOrLibrary[] =
    "program text (.heddle), its binary form (.hdb), or a library (.a, .so, .dylib)";

void add_common(CLI::App* command, Common& options, const char* file, const char* function) {
  command->add_option("model", options.file, file)->required();
  command->add_option("--function", options.function, function);
  command->add_flag("--json", options.json, "machine-readable output");
}

void add_jobs(CLI::App* command, int& jobs) {
  command->add_option("--jobs", jobs, "kernels compiled side by side; 0: one per CPU")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
}

void add_target(CLI::App* command, std::string& target) {
  command
      ->add_option("--target", target, "host, host-opencl, or x86-64-linux-avx-avx2-f16c-fma-sse41")
      ->capture_default_str();
}

void add_running(CLI::App* command, Running& options) {
  add_target(command, options.target);
  command->add_option("--threads", options.threads, "when running; 0: one per CPU")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  add_jobs(command, options.jobs);
}

// Texts that are checked as they are written: a number may be too large for its type.
std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && last == end) return "";
  return "found '" + text + "', needed a whole number from 0 to 18446744073709551615";
}
std::string check_tolerance(const std::string& text) {
  const std::optional<double> value = parse_float(text);
  if (value && *value >= 0 && std::isfinite(*value)) return "";
  return "found '" + text + "', needed a finite number of at least 0";
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

// What makes programs and libraries of programs.
void define_makers(CLI::App& app, AllOptions& all, Chosen& chosen) {
  CLI::App* c = add_command(app, chosen, "compile", "make a library and a C header", all.compile,
                            compile_command);
  add_common(c, all.compile, kProgramFile, "its name; default: all of them");
  c->add_option("--target", all.compile.targets,
                "one or more: host, host-opencl, x86-64-linux-avx2, arm-64-linux, arm-64-osx")
      ->capture_default_str();
  add_jobs(c, all.compile.jobs);
  c->add_option("-o,--output", all.compile.output, "path and name of the library: out/mlp")
      ->required();

  c = add_command(app, chosen, "run", "run a function", all.run, run_command);
  add_common(c, all.run, kProgramFile, "its name; default: the first");
  c->add_option("inputs", all.run.inputs,
                "x=@x.npy  x=@all.npz:x  x=2x3xf32=0  x=random:7  x=random:7:LOW:HIGH");
  add_running(c, all.run);
  c->add_option("-o,--output", all.run.output, "results as .npz; default: printed");
  c->add_option("--carrier", all.run.carrier,
                "cpu, opencl, metal: the device there is, or reference: the interpreter")
      ->capture_default_str();
  c->add_flag("--check-nan", all.run.check_nan,
              "stop at the first step that makes a NaN or an infinity");

  c = add_command(app, chosen, "dump", "print a stage of the compiler", all.dump, dump_command);
  add_common(c, all.dump, kProgramFile, "its name: it comes first");
  add_target(c, all.dump.target);
  c->add_option("--stage", all.dump.stage, absl::StrJoin(stage_names(), " ") + ", or all")
      ->capture_default_str();

  c = add_command(app, chosen, "convert", "program text to its binary form, and back", all.convert,
                  convert_command);
  add_common(c, all.convert, kProgramFile, "its name: it comes first");
  c->add_option("-o,--output", all.convert.output, "model.hdb: binary; model.heddle: text")
      ->required();

  c = add_command(app, chosen, "grad", "differentiate", all.grad, grad_command);
  add_common(c, all.grad, kProgramFile, "its name; default: the first");
  c->add_option("--wrt", all.grad.wrt, "inputs, comma-separated")->required()->delimiter(',');
  c->add_option("-o,--output", all.grad.output,
                "model.hdb: binary; model.heddle: text; default: printed");
  c->add_flag("--value", all.grad.value, "keep the function's own outputs");
}

// What looks at them.
void define_checks(CLI::App& app, AllOptions& all, Chosen& chosen) {
  CLI::App* c = add_command(
      app, chosen, "verify",
      "compiled against interpreted, on seeded inputs; a library (.a, .so, .dylib): its "
      "self-test",
      all.verify, verify_command);
  add_common(c, all.verify, kProgramOrLibrary, "its name; default: all of them; not of a library");
  add_running(c, all.verify);
  c->add_option("--seed", all.verify.seed, "of the inputs")
      ->check(CLI::Validator(check_seed, "", "seed"))
      ->capture_default_str();
  c->add_option("--tolerance", all.verify.tolerance, "relative to an output's largest element")
      ->check(CLI::Validator(check_tolerance, "", "tolerance"))
      ->capture_default_str();
  c->add_option("--check", all.verify.check, "of a library: its check file; default: beside it");
  c->add_option("--run-by", all.verify.run_by,
                "of a library: what runs its machine's programs: \"qemu-aarch64 -L ...\"");

  c = add_command(app, chosen, "inspect",
                  "kernels, memory and work of a program, compiled here, or of a library",
                  all.inspect, inspect_command);
  add_common(c, all.inspect, kProgramOrLibrary, "its name; default: all of them; not of a library");
  add_running(c, all.inspect);
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

// What is wrong with the words, in which command, and where its help is.
std::string wrong_words(const CLI::App* app, const CLI::Error& e) {
  const std::vector<CLI::App*> given = app->get_subcommands();
  const std::vector<std::string> rest = app->remaining();
  std::string command = "heddle", text = e.what();
  if (!given.empty()) {
    command += " " + given[0]->get_name();
  } else if (!rest.empty()) {
    std::vector<std::string> names;
    for (const CLI::App* c : app->get_subcommands({})) names.push_back(c->get_name());
    text = "no command or option '" + rest[0] + "'; commands are " + absl::StrJoin(names, ", ");
  }
  return command + ": " + text + "\n" + command + " --help says more.\n";
}

// What was printed may still be on its way.
int flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "heddle: cannot write the output: %s\n", std::strerror(errno));
  return kMismatch;
}

int run(int argc, char** argv) {
  CLI::App app("heddle: compile, run, check and look at tensor programs", "heddle");
  app.require_subcommand(1);
  app.failure_message(wrong_words);
  app.footer(kFooter);
  AllOptions all;
  Chosen chosen;
  define_makers(app, all, chosen);
  define_checks(app, all, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kOk : kUsage;
  }
  try {
    return flushed(chosen());
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
