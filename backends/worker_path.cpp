// Where the compile worker is.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "heddle/backends/worker.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;
constexpr const char* kName = "heddle-kernelc";

// The folder of the library or program that holds this code, and of the program itself if it is
// another one.
std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&worker_path), &info) != 0 &&
      info.dli_fname != nullptr) {
    folders.push_back(fs::absolute(info.dli_fname).parent_path());
  }
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const bool known = !folders.empty() && folders[0] == self.parent_path();
  if (!error && !known) folders.push_back(self.parent_path());
  return folders;
}

}  // namespace

std::string worker_path() {
  if (const char* named = std::getenv("HEDDLE_KERNELC"); named != nullptr && *named != '\0') {
    return named;
  }
  std::vector<fs::path> places;
  for (const fs::path& folder : own_folders()) {
    places.push_back(folder / kName);
    places.push_back(folder / ".." / "libexec" / "heddle" / kName);
  }
  places.emplace_back(HEDDLE_KERNELC_PATH);
  std::string looked;
  for (const fs::path& p : places) {
    if (::access(p.c_str(), X_OK) == 0) return p.lexically_normal().string();
    looked += (looked.empty() ? "" : ", ") + p.lexically_normal().string();
  }
  throw NotAvailableError({.message = "the compile worker heddle-kernelc is not there",
                           .operation = "compile",
                           .found = "none of " + looked,
                           .needed = "HEDDLE_KERNELC=<path>, or an install with the compiler"});
}

}  // namespace heddle
