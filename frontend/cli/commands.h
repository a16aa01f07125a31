// The commands of `heddle`, each on plain options. They print to stdout, throw the errors of
// heddle/graph/error.h, and return the exit code: 0, or 1 for a mismatch.
#ifndef HEDDLE_FRONTEND_CLI_COMMANDS_H_
#define HEDDLE_FRONTEND_CLI_COMMANDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::cli {

struct Common {
  std::string file;      ///< model.heddle or model.hdb; verify, inspect: or a library
  std::string function;  ///< empty: run, grad: the first; others: all
  bool json = false;
};
/// Of what is compiled here to run here.
struct Running : Common {
  std::string target = "host";
  int threads = 0, jobs = 0;
};

struct CompileCommand : Common {
  std::string output;  ///< path and name: "out/mlp" writes out/mlp.a ...
  std::vector<std::string> targets{"host"};
  int jobs = 0;
};
struct RunCommand : Running {
  std::vector<std::string> inputs;  ///< "x=@x.npy" ...
  std::string output;               ///< .npz, or empty: printed
  std::string carrier = "cpu";      ///< cpu, opencl or reference
  bool check_nan = false;
};
struct ConvertCommand : Common {
  std::string output;  ///< .heddle: text; .hdb: binary
};
struct DumpCommand : Common {
  std::string stage = "input", target = "host";
};
struct GradCommand : Common {
  std::vector<std::string> wrt;
  std::string output;  ///< .heddle or .hdb, or empty: printed
  bool value = false;
};
struct VerifyCommand : Running {
  std::uint64_t seed = 1;
  double tolerance = 1e-4;  ///< of an output's largest element
  // Of a library.
  std::string check;   ///< its check file; empty: beside it
  std::string run_by;  ///< a command that runs its machine's programs; empty: this machine
};
struct InspectCommand : Running {
  bool perf = false;  ///< run it, and time each step
};
struct CacheCommand {
  std::string action;  ///< ls, verify, warm, gc, clear
  bool json = false;
};
struct OpsCommand {
  std::string name;  ///< empty: all
  bool json = false;
};

int compile_command(const CompileCommand&);
int run_command(const RunCommand&);
int convert_command(const ConvertCommand&);
int dump_command(const DumpCommand&);
int grad_command(const GradCommand&);
int verify_command(const VerifyCommand&);
int inspect_command(const InspectCommand&);
int cache_command(const CacheCommand&);
int ops_command(const OpsCommand&);

}  // namespace heddle::cli

#endif  // HEDDLE_FRONTEND_CLI_COMMANDS_H_
