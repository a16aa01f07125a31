#include "heddle/backends/artifact/writer.h"

#include <unistd.h>

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "heddle/backends/artifact/embedded.h"
#include "heddle/backends/artifact/header.h"
#include "heddle/backends/artifact/json.h"
#include "heddle/backends/artifact/symbols.h"
#include "heddle/backends/artifact/toolchain.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

// Tables in memory want kernels; these stand for those the linker will put in.
int placeholder(void**) { return 0; }

class Writer {
 public:
  Writer(std::span<const CompiledPlan> plans, const WriteOptions& options)
      : options_(options),
        plans_(plans),
        triple_(plans[0].plan->target.triple),
        description_(describe(options.name, plans)) {
    bind_kernels(description_,
                 [](const std::string&) { return reinterpret_cast<void*>(&placeholder); });
    header_ = header_text(description_);
  }

  std::vector<std::filesystem::path> write() {
    const ArtifactTables tables(description_);
    make_objects(tables.artifact());
    add_prefix(options_.name, objects_, folder_.path());
    if (options_.static_library) add(".a", make_archive());
    if (options_.shared_library) add(".so", make_shared());
    add(".h", header_);
    add(".json", artifact_json(tables.artifact(), plans_));
    if (!options_.checks.empty()) {
      files_.emplace_back(options_.name + ".check",
                          encode_check_file(tables.artifact(), options_.checks));
    }
    return publish();
  }

 private:
  void add(const char* extension, std::vector<std::byte> bytes) {
    files_.emplace_back(options_.name + extension, std::move(bytes));
  }
  void add(const char* extension, const std::string& text) {
    const std::byte* begin = reinterpret_cast<const std::byte*>(text.data());
    add(extension, std::vector<std::byte>(begin, begin + text.size()));
  }

  void add_object(const std::string& name, std::span<const std::byte> bytes) {
    put_file(folder_.path(), name, bytes);
    objects_.push_back(name);
  }

  void add_kernels() {
    std::set<std::string> known;
    for (const CompiledPlan& plan : plans_) {
      for (const KernelObject& kernel : plan.objects) {
        if (known.insert(kernel.symbol).second) add_object(kernel.symbol + ".o", kernel.object);
      }
    }
  }

  void make_objects(const hd_artifact& artifact) {
    const std::string& name = options_.name;
    put_file(folder_.path(), "abi.h", abi_source());
    put_file(folder_.path(), (name + ".h"), header_);
    put_file(folder_.path(), (name + "_functions.c"), functions_source(description_));
    put_file(folder_.path(), (name + "_tables.c"), tables_source(artifact));
    std::vector<std::string> sources = {name + "_functions", name + "_tables"};
    if (artifact.n_constants) {
      put_file(folder_.path(), (name + "_constants.s"), constants_source(artifact));
      for (std::uint32_t i = 0; i < artifact.n_constants; ++i) {
        const std::byte* data = static_cast<const std::byte*>(artifact.constants[i].data);
        put_file(folder_.path(), absl::StrCat("constant", i, ".bin"),
                 std::span(data, artifact.constants[i].bytes));
      }
      sources.push_back(name + "_constants");
    }
    for (const std::string& source : sources)
      compile(source, source == name + "_constants" ? ".s" : ".c");
    add_kernels();
    add_object(name + "_core.o", core_object(triple_, options_.cached));
    add_object(name + "_glue.o", glue_object_for(triple_, options_.cached));
  }

  void compile(const std::string& source, const std::string& extension) {
    std::vector<std::string> command = {tool("cc"),
                                        "-std=c11",
                                        "-O2",
                                        "-g0",
                                        "-fPIC",
                                        "-ffunction-sections",
                                        "-fdata-sections",
                                        "-fno-asynchronous-unwind-tables"};
    for (const std::string& flag : target_flags(triple_)) command.push_back(flag);
    for (const std::string& argument :
         {std::string("-c"), std::string("-o"), source + ".o", source + extension}) {
      command.push_back(argument);
    }
    run_tool(command, folder_.path());
    objects_.push_back(source + ".o");
  }

  std::vector<std::byte> make_archive() {
    std::vector<std::string> command = {tool("ar"), "rcsD", "library.a"};
    command.insert(command.end(), objects_.begin(), objects_.end());
    run_tool(command, folder_.path());
    return take_file(folder_.path(), "library.a");
  }

  std::vector<std::byte> make_shared() {
    const std::string& name = options_.name;
    std::string exports = "{ global: hd_artifact;";
    for (const std::string& symbol : defined_symbols(name + "_functions.o", folder_.path())) {
      absl::StrAppend(&exports, " ", symbol, ";");
    }
    put_file(folder_.path(), "exports", exports + " local: *; };\n");
    std::vector<std::string> command = {
        tool("cc"),
        "-shared",
        "-o",
        "library.so",
        "-s",
        "-Wl,--version-script=exports",
        "-Wl,--gc-sections",
        "-Wl,--build-id=none",
        "-Wl,-z,noexecstack",
        absl::StrCat("-Wl,--defsym=hd_artifact=", name, "_hd_tables"),
        absl::StrCat("-Wl,-soname=", name, ".so")};
    for (const std::string& flag : target_flags(triple_)) command.push_back(flag);
    command.insert(command.end(), objects_.begin(), objects_.end());
    for (const char* library : {"-lpthread", "-lm"}) command.push_back(library);
    run_tool(command, folder_.path());
    return take_file(folder_.path(), "library.so");
  }

  // All files beside their places first, then all renamed: nothing half-written is ever seen.
  std::vector<std::filesystem::path> publish() {
    std::error_code error;
    std::filesystem::create_directories(options_.folder, error);
    std::vector<std::filesystem::path> paths;
    const std::string mark = absl::StrCat(".", getpid(), ".tmp");
    try {
      for (const auto& [name, bytes] : files_) {
        put_file(options_.folder.string(), name + mark, bytes);
        using std::filesystem::perms;  // for everybody to read, unlike temporary files
        std::filesystem::permissions(
            options_.folder / (name + mark),
            perms::owner_write | perms::owner_read | perms::group_read | perms::others_read);
      }
    } catch (...) {
      for (const auto& [name, bytes] : files_)
        std::filesystem::remove(options_.folder / (name + mark), error);
      throw;
    }
    for (const auto& [name, bytes] : files_) {
      paths.push_back(options_.folder / name);
      std::filesystem::rename(options_.folder / (name + mark), paths.back(), error);
      if (error)
        throw RuntimeError({.message = absl::StrCat("cannot write ", paths.back().string(), ": ",
                                                    error.message())});
    }
    return paths;
  }

  const WriteOptions& options_;
  std::span<const CompiledPlan> plans_;
  std::string triple_;
  ArtifactDescription description_;
  std::string header_;
  TemporaryFolder folder_;
  std::vector<std::string> objects_;
  std::vector<std::pair<std::string, std::vector<std::byte>>> files_;
};

}  // namespace

std::vector<std::filesystem::path> write_artifact(std::span<const CompiledPlan> plans,
                                                  const WriteOptions& options) {
  internal_check(!plans.empty(), "an artifact without a plan");
  return Writer(plans, options).write();
}

}  // namespace heddle
