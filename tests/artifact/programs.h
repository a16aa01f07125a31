// The line of handmade_plan.h as an exported library, and C programs that use it.
#ifndef HEDDLE_TESTS_ARTIFACT_PROGRAMS_H_
#define HEDDLE_TESTS_ARTIFACT_PROGRAMS_H_

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "artifact/handmade_plan.h"
#include "heddle/backends/artifact/writer.h"

namespace heddle::testing {

inline CheckCase line_check() {
  // y = 2 x + 1 for x = -1, 0, 1 ... : stored inputs.
  std::vector<std::byte> x(32), w(4), b(4);
  std::vector<double> y;
  for (std::size_t i = 0; i < 8; ++i) {
    const float v = static_cast<float>(i) - 1;
    std::memcpy(x.data() + 4 * i, &v, 4);
    y.push_back(2 * static_cast<double>(v) + 1);
  }
  const float two = 2, one = 1;
  std::memcpy(w.data(), &two, 4);
  std::memcpy(b.data(), &one, 4);
  const auto stored = [](std::vector<std::byte> data) {
    CheckInput in{CheckInput::Kind::stored, DType::f32, data.size() / 4, 0, 1, 0, {}};
    in.data = std::move(data);
    return in;
  };
  return {
      "predict", {stored(x), stored(w), stored(b)}, {{DType::f32, 8, 1, 1e-6, 1e-6, y, {}}}, {}};
}

// The compiled core, kept in the build tree between the tests' processes.
inline Cached build_tree_cache() {
  return [](const std::string& key, const std::function<std::vector<std::byte>()>& make) {
    const std::string folder = HEDDLE_BINARY_DIR "/core-cache";
    if (const auto kept = try_read_file(folder + "/" + key)) return *kept;
    std::filesystem::create_directories(folder);
    const std::vector<std::byte> bytes = make();
    const std::string beside = key + "." + std::to_string(getpid());
    put_file(folder, beside, bytes);
    std::filesystem::rename(folder + "/" + beside, folder + "/" + key);
    return bytes;
  };
}

inline std::vector<std::filesystem::path> write_line(const std::filesystem::path& folder,
                                                     const std::string& name = "line",
                                                     float rate = 0.5f) {
  const Line line = make_line(rate);
  WriteOptions options;
  options.name = name;
  options.folder = folder;
  options.shared_library = true;
  options.checks = {line_check()};
  options.cached = build_tree_cache();
  return write_artifact(std::vector{line.compiled()}, options);
}

// Compiles a C program in `folder` and returns what it prints.
inline std::string run_c(const TemporaryFolder& folder, const std::string& source,
                         std::vector<std::string> libraries) {
  put_file(folder.path(), "main.c", std::string_view(source));
  std::vector<std::string> command = {tool("cc"), "-std=c11", "-Wall", "-Wextra", "-Wpedantic",
                                      "-Werror",  "-o",       "main",  "main.c"};
  for (const std::string& library : libraries) command.push_back(library);
  command.insert(command.end(), {"-lpthread", "-lm"});
  run_tool(command, folder.path());
  return run_tool({"./main"}, folder.path());
}

}  // namespace heddle::testing

#endif  // HEDDLE_TESTS_ARTIFACT_PROGRAMS_H_
