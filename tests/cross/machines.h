// One program as a library for several machines, and C programs that link it.
#ifndef HEDDLE_TESTS_CROSS_MACHINES_H_
#define HEDDLE_TESTS_CROSS_MACHINES_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "heddle/backends/file.h"

namespace heddle::testing {

/// The libraries of the functions `train_step` (a network; its state is updated in place), `forces`
/// (a value and its gradient) and `mixed` (all kinds of kernels, many dtypes, a large constant)
/// under `name`, for these targets, in `folder`. The tools are those of the build.
std::vector<std::string> export_all(const std::string& name,
                                    const std::vector<std::string>& targets,
                                    const std::string& folder);

/// The functions `step` (the training) and `forces` alone, in f32 and i32, which every carrier has.
std::vector<std::string> export_narrow(const std::string& name,
                                       const std::vector<std::string>& targets,
                                       const std::string& folder);

/// A C program over the library `name`: trains 50 steps, calls the rest, runs `name`.check, and
/// prints what came out: a line per number, then the self-test's report. Its argument: the check
/// file.
std::string main_source(const std::string& name);
/// What the program printed, as numbers: the lines up to the report.
std::vector<double> numbers_of(const std::string& printed);

/// Compiles `source` with zig for `triple` and links it with `libraries` (names in `folder`) to
/// `folder`/`output`.
void link_program(const std::string& triple, const std::string& source, const std::string& folder,
                  const std::vector<std::string>& libraries, const std::string& output);
/// Runs a program of arm-64-linux on this machine; skips the test where nothing can.
std::string run_arm(const std::vector<std::string>& command, const std::string& folder);
bool can_run_arm();

std::vector<std::byte> read_file(const std::filesystem::path& path);

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_CROSS_MACHINES_H_
