#include "heddle/backends/artifact/selftest.h"

#include <charconv>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "heddle/backends/artifact/machine_tools.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/graph/error.h"
#include "heddle/runtime/shared_object.h"
#include "heddle/runtime/status.h"

namespace heddle {
namespace {

template <class F>
F* function_of(const SharedObject& object, const WrittenLibrary& library, const char* name) {
  const std::string symbol = absl::StrCat(library.name, "_", name);
  if (void* found = object.find(symbol)) return reinterpret_cast<F*>(found);
  throw StatusError(HD_BAD_FILE, absl::StrCat(library.path, ": has no function ", symbol));
}

// Its first line is the status, the rest the report.
constexpr char kProgram[] = R"(#include <stdio.h>
#include <stdlib.h>
#include "$name.h"
int main(int argc, char **argv) {
  $name_t *instance = $name_create(NULL);
  const int status = instance && argc == 2 ? $name_selftest(instance, argv[1]) : -1;
  const size_t bytes = status < 0 ? 0 : $name_report(instance, NULL, 0) + 1;
  char *report = bytes > 1 ? malloc(bytes) : NULL;
  if (report) $name_report(instance, report, bytes);
  printf("%d\n%s", status, report ? report : $name_error(instance));
  free(report);
  $name_destroy(instance);
  return 0;
}
)";

SelftestResult read_result(const std::string& printed) {
  SelftestResult result{-1, ""};
  const char* end = printed.data() + printed.size();
  const auto [rest, error] = std::from_chars(printed.data(), end, result.status);
  if (error != std::errc() || rest == end || *rest != '\n') {
    throw CompileError({.message = "the self-test's program gave no result", .found = printed});
  }
  result.report = std::string(rest + 1, end);
  if (result.status < 0) result.status = HD_INVALID;  // no instance: the report says why
  return result;
}

}  // namespace

SelftestResult selftest_loaded(const WrittenLibrary& library, const std::string& check_file,
                               const hd_options* options) {
  const SharedObject object = SharedObject::open(library.path);
  const auto create = function_of<void*(const void*)>(object, library, "create");
  const auto destroy = function_of<void(void*)>(object, library, "destroy");
  const auto error = function_of<const char*(const void*)>(object, library, "error");
  const auto selftest = function_of<int(void*, const char*)>(object, library, "selftest");
  const auto report =
      function_of<std::size_t(const void*, char*, std::size_t)>(object, library, "report");
  void* instance = create(options);
  if (instance == nullptr) return {HD_INVALID, error(nullptr)};
  const int status = selftest(instance, check_file.c_str());
  std::string text(report(instance, nullptr, 0), '\0');
  report(instance, text.data(), text.size() + 1);
  SelftestResult result{status, text.empty() ? error(instance) : text};
  destroy(instance);
  return result;
}

SelftestResult selftest_linked(const WrittenLibrary& library, const std::string& check_file,
                               const std::vector<std::string>& run_by) {
  const TemporaryFolder folder;
  const std::filesystem::path path = std::filesystem::absolute(library.path);
  put_file(folder.path(), "main.c", absl::StrReplaceAll(kProgram, {{"$name", library.name}}));
  std::vector<std::string> command = tools_for(library.triple).cc;
  command.insert(
      command.end(),
      {"-std=c11", "-O1", "-I", path.parent_path().string(), "-o", "main", "main.c", path.string(),
       absl::StrCat("-Wl,-rpath,", path.parent_path().string()), "-lpthread", "-lm"});
  run_tool(command, folder.path());
  std::vector<std::string> run = run_by;
  run.insert(run.end(), {"./main", std::filesystem::absolute(check_file).string()});
  return read_result(run_tool(run, folder.path()));
}

}  // namespace heddle
