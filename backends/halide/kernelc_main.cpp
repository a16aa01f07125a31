// heddle-kernelc [--check] KERNEL OBJECT
//
// --check keeps Halide's own checks of every region read and written. Compiles one kernel text (a
// file, or - for standard input) to one object file, and prints its facts: one per line, a word and
// a value. One process per kernel: a crash costs that kernel only, and equal kernels give equal
// bytes. Exit: 0 done, 1 the kernel does not compile (one line on standard error), 2 wrong usage.
#include <Halide.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "heddle/backends/halide/build.h"

namespace {

std::string read_all(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw heddle::ValueError({.message = "cannot read the kernel", .found = "'" + path + "'"});
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

int fail(std::string text) {
  for (char& c : text) c = c == '\n' ? ' ' : c;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}

int run(bool checked, const std::string& kernel_path, const std::string& object_path) {
  const heddle::Kernel kernel = heddle::parse_kernel(read_all(kernel_path));
  const auto facts = heddle::halide::compile_kernel(kernel, object_path, checked);
  std::printf("symbol %s\nscratch_once %lld\nscratch_task %lld\n", facts.symbol.c_str(),
              static_cast<long long>(facts.scratch_once),
              static_cast<long long>(facts.scratch_task));
  if (facts.launches > 0) {
    std::printf("launches %d\nthreads %lld\nshared_bytes %lld\ndevice_bytes %lld\n", facts.launches,
                static_cast<long long>(facts.threads), static_cast<long long>(facts.shared_bytes),
                static_cast<long long>(facts.device_bytes));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool checked = argc > 1 && std::string(argv[1]) == "--check";
  if (argc != 3 + checked) {
    std::fprintf(stderr, "usage: heddle-kernelc [--check] KERNEL OBJECT\n");
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a compiler nobody waits for is of no use
  try {
    return run(checked, argv[1 + checked], argv[2 + checked]);
  } catch (const Halide::Error& e) {  // not a std::exception
    return fail(e.what());
  } catch (const std::exception& e) {
    return fail(e.what());
  }
}
