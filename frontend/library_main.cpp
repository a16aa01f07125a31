#include <charconv>
#include <cstdio>

#include "heddle/frontend/export.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

constexpr char kUsage[] =
    "usage: %s [--output FOLDER] [--target TARGET]... [--jobs N] [--program]\n"
    "Traces the model and writes %s.a, %s.so, %s.h, %s.json and %s.check into FOLDER (default: "
    ".).\n"
    "TARGET: host (default), or a machine (x86-64-linux, arm-64-linux, arm-64-osx, x86-64-osx) and "
    "what its CPU has: x86-64-linux-avx2.\n"
    "Several feature sets of one machine make one library; further machines have folders of their "
    "own in FOLDER.\n"
    "--program writes the traced program to stdout (.heddle) instead.\n";

struct Arguments {
  ExportOptions options;
  bool program = false, help = false;
  std::string error;
};

Arguments read_arguments(int argc, char** argv, const std::string& name) {
  Arguments a;
  a.options.name = name;
  a.options.targets.clear();
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const bool takes_value = option == "--output" || option == "--target" || option == "--jobs";
    if (takes_value && i + 1 == argc) {
      a.error = option + " needs a value";
    } else if (option == "--output") {
      a.options.folder = argv[++i];
    } else if (option == "--target") {
      a.options.targets.push_back(argv[++i]);
    } else if (option == "--jobs") {
      const std::string_view text = argv[++i];
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), a.options.jobs);
      if (error != std::errc() || end != text.data() + text.size()) {
        a.error = "--jobs needs a whole number, found '" + std::string(text) + "'";
      }
    } else if (option == "--program") {
      a.program = true;
    } else if (option == "--help") {
      a.help = true;
    } else {
      a.error = "unknown option '" + option + "'";
    }
  }
  if (a.options.targets.empty()) a.options.targets = {"host"};
  return a;
}

void print_usage(std::FILE* to, const char* program, const char* name) {
  std::fprintf(to, kUsage, program, name, name, name, name, name);
}

int make(Arguments& a, const std::function<void(Library&)>& define) {
  Library library;
  define(library);
  if (a.program) {
    for (const auto& [function, program] : library.functions()) {
      Function f = program.entry();
      f.name = function;
      std::printf("%s\n", to_text(f).c_str());
    }
    return 0;
  }
  a.options.observer = environment_observer();
  for (const std::string& file : export_library(library.functions(), a.options, {}))
    std::printf("%s\n", file.c_str());
  return 0;
}

}  // namespace

int library_main(int argc, char** argv, const std::string& name,
                 const std::function<void(Library&)>& define) {
  Arguments a = read_arguments(argc, argv, name);
  if (a.help) {
    print_usage(stdout, argv[0], name.c_str());
    return 0;
  }
  if (!a.error.empty()) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), a.error.c_str());
    print_usage(stderr, argv[0], name.c_str());
    return 2;
  }
  try {
    return make(a, define);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
    return 1;
  }
}

}  // namespace heddle
