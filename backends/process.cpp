#include "heddle/backends/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "heddle/backends/file.h"

extern char** environ;

namespace heddle {
namespace {

std::vector<std::string> clean_environment() {
  std::vector<std::string> variables;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view v(*e);
    if (!v.starts_with("HL_") && !v.starts_with("LC_") && !v.starts_with("LANG=")) {
      variables.emplace_back(v);
    }
  }
  variables.emplace_back("LC_ALL=C");
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& w : words) list.push_back(w.data());
  list.push_back(nullptr);
  return list;
}

std::string text_of(const std::string& path) {
  const auto bytes = try_read_file(path);
  if (!bytes) return "";
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

// Waits for this one child only: the host program may have others.
void wait_for(pid_t child, int most_seconds, ProcessResult& result) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(most_seconds);
  int status = 0;
  while (true) {
    const pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done == child) break;
    if (done < 0 && errno != EINTR) {
      result.failure = std::strerror(errno);
      return;
    }
    if (most_seconds > 0 && Clock::now() > end && !result.timed_out) {
      result.timed_out = true;
      ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
}

}  // namespace

std::string ProcessResult::how_it_ended() const {
  if (!failure.empty()) return "cannot start: " + failure;
  if (timed_out) return "stopped: it took too long";
  if (signal != 0) return "killed by signal " + std::to_string(signal);
  return "exit code " + std::to_string(exit_code);
}

ProcessResult run_process(const std::vector<std::string>& command, const std::string& base,
                          int most_seconds, const std::string& folder) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, (base + ".out").c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&files, 2, (base + ".err").c_str(), kWrite, 0600);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
  std::vector<std::string> words = command, variables = clean_environment();
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words[0].c_str(), &files, nullptr,
                                   pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  ProcessResult result;
  if (error != 0) {
    result.failure = std::strerror(error);
    return result;
  }
  wait_for(child, most_seconds, result);
  result.output_text = text_of(base + ".out");
  result.error_text = text_of(base + ".err");
  return result;
}

}  // namespace heddle
