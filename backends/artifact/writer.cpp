#include "heddle/backends/artifact/writer.h"

#include <unistd.h>

#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "heddle/backends/artifact/embedded.h"
#include "heddle/backends/artifact/header.h"
#include "heddle/backends/artifact/json.h"
#include "heddle/backends/artifact/object_file.h"
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
        tools_(tools_for(plans[0].plan->target.triple)),
        description_(describe(options.name, plans)) {
    bind_kernels(description_,
                 [](const std::string&) { return reinterpret_cast<void*>(&placeholder); });
    header_ = header_text(description_);
  }

  std::vector<std::filesystem::path> write() {
    const ArtifactTables tables(description_);
    make_objects(tables.artifact());
    if (options_.static_library) add(".a", make_archive());
    if (options_.shared_library) add(tools_.shared_extension(), make_shared());
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

  void add_object(const std::string& name, std::vector<std::byte> bytes) {
    objects_.emplace_back(name, std::move(bytes));
    if (objects_.back().machine() == tools_.triple) return;
    throw CompileError({.message = absl::StrCat("'", name, "' is for another machine"),
                        .found = objects_.back().machine(),
                        .needed = tools_.triple});
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
      put_file(folder_.path(), (name + "_constants.s"), constants_source(artifact, tools_.mach_o));
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
    add_object(name + "_core.o", core_object(tools_, options_.cached));
    add_object(name + "_glue.o", glue_object_for(tools_, options_.cached));
    if (const hd_device* device = artifact.plans[0].device) {
      add_object(name + "_" + device->name + ".o",
                 device_object(tools_, device->name, options_.cached));
    }
  }

  void compile(const std::string& source, const std::string& extension) {
    std::vector<std::string> command = tools_.cc;
    for (const char* flag : {"-std=c11", "-O2", "-g0", "-fPIC", "-ffunction-sections",
                             "-fdata-sections", "-fno-asynchronous-unwind-tables", "-fno-ident"}) {
      command.emplace_back(flag);
    }
    command.insert(command.end(), {"-c", "-o", source + ".o", source + extension});
    run_tool(command, folder_.path());
    add_object(source + ".o", take_file(folder_.path(), source + ".o"));
  }

  // Every global name gets the artifact's prefix, so that two artifacts, or one and a program that
  // uses Halide itself, share nothing when they are linked together.
  std::map<std::string, std::string> prefixed_names() const {
    std::map<std::string, std::string> names;
    const std::string prefix = options_.name + "_";
    for (const ObjectFile& object : objects_) {
      for (const std::string& symbol : object.defined()) {
        if (!absl::StartsWith(symbol, prefix)) names.emplace(symbol, prefix + symbol);
      }
    }
    return names;
  }

  // Writes the objects under these names, all hidden but the functions of the header and `also`;
  // returns the files.
  std::vector<std::string> put_objects(const std::string& folder,
                                       const std::map<std::string, std::string>& names,
                                       const std::string& also) {
    std::set<std::string> seen = {also};
    for (const std::string& symbol : objects_[0].defined()) seen.insert(symbol);
    std::vector<std::string> files;
    std::filesystem::create_directory(folder_.path() + "/" + folder);
    for (ObjectFile object : objects_) {
      object.rename(names);
      object.hide_unless([&](const std::string& symbol) { return seen.count(symbol) > 0; });
      files.push_back(folder + "/" + object.name());
      put_file(folder_.path(), files.back(), object.bytes());
    }
    return files;
  }

  std::vector<std::byte> make_archive() {
    std::vector<std::string> command = tools_.archive;
    command.emplace_back("library.a");
    for (std::string& file : put_objects("static", prefixed_names(), "")) {
      command.push_back(std::move(file));
    }
    run_tool(command, folder_.path());
    return take_file(folder_.path(), "library.a");
  }

  std::vector<std::byte> make_shared() {
    std::map<std::string, std::string> names = prefixed_names();
    names[options_.name + "_hd_tables"] = "hd_artifact";
    run_tool(link_command(tools_, options_.name, put_objects("shared", names, "hd_artifact")),
             folder_.path());
    return take_file(folder_.path(), options_.name + tools_.shared_extension());
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
  MachineTools tools_;
  ArtifactDescription description_;
  std::string header_;
  TemporaryFolder folder_;
  std::vector<ObjectFile> objects_;  // the functions first
  std::vector<std::pair<std::string, std::vector<std::byte>>> files_;
};

}  // namespace

std::vector<std::filesystem::path> write_artifact(std::span<const CompiledPlan> plans,
                                                  const WriteOptions& options) {
  internal_check(!plans.empty(), "an artifact without a plan");
  return Writer(plans, options).write();
}

}  // namespace heddle
