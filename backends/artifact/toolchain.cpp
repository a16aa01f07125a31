#include "heddle/backends/artifact/toolchain.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "heddle/graph/error.h"

extern char** environ;

namespace heddle {
namespace {

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      throw RuntimeError({.message = "no pipe for a tool's output"});
  }
  ~Pipe() {
    close_writer();
    close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  void read_all(std::string& text) const {
    char part[4096];
    for (ssize_t n; (n = read(ends_[0], part, sizeof part)) != 0;) {
      if (n > 0)
        text.append(part, static_cast<std::size_t>(n));
      else if (errno != EINTR)
        return;
    }
  }

 private:
  int ends_[2];
};

// The caller's environment with the C locale, and without what makes compilers look elsewhere for
// sources or time.
std::vector<std::string> tool_environment() {
  std::vector<std::string> variables = {"LC_ALL=C"};
  for (char** v = environ; *v; ++v) {
    if (std::strncmp(*v, "LC_", 3) != 0 && std::strncmp(*v, "LANG", 4) != 0)
      variables.emplace_back(*v);
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& t : texts) pointers.push_back(t.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(std::vector<std::string> arguments, const std::filesystem::path& folder, int out,
            int err) {
  std::vector<std::string> variables = tool_environment();
  const std::vector<char*> argv = pointers_to(arguments), envp = pointers_to(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  throw CompileError(
      {.message = absl::StrCat("cannot run '", arguments[0], "': ", std::strerror(error)),
       .needed = "a C toolchain: package gcc and binutils, or clang"});
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "heddle-XXXXXX").string();
  if (!mkdtemp(pattern.data())) {
    throw RuntimeError({.message = absl::StrCat("cannot make a temporary folder ", pattern, ": ",
                                                std::strerror(errno))});
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string tool(std::string_view name) {
  std::string variable =
      absl::StrCat("HEDDLE_", absl::AsciiStrToUpper(name == "c++" ? "cxx" : std::string(name)));
  const char* value = std::getenv(variable.c_str());
  return value && *value ? value : std::string(name);
}

std::string run_tool(const std::vector<std::string>& arguments,
                     const std::filesystem::path& folder) {
  Pipe out, err;
  const pid_t pid = spawn(arguments, folder, out.writer(), err.writer());
  out.close_writer();
  err.close_writer();
  std::string printed, errors;
  std::thread reader([&] { err.read_all(errors); });
  out.read_all(printed);
  reader.join();
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return printed;
  throw CompileError(
      {.message = absl::StrCat("'", absl::StrJoin(arguments, " "), "' failed:\n", errors)});
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw RuntimeError({.message = absl::StrCat("cannot read ", path.string())});
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::byte* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  write_file(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file)
    throw RuntimeError(
        {.message = absl::StrCat("cannot write ", path.string(), ": ", std::strerror(errno))});
}

}  // namespace heddle
