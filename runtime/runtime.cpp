#include "heddle/runtime/runtime.hpp"

namespace heddle {
namespace {

const hd_artifact* find_artifact(const SharedObject& object, const std::string& path) {
  void* symbol = object.find("hd_artifact");
  if (!symbol)
    throw StatusError(HD_BAD_FILE, path + ": is no artifact: it has no symbol hd_artifact");
  return static_cast<const hd_artifact*>(symbol);
}

}  // namespace

hd_pool* process_pool() {
  static hd_pool* const pool = hd_pool_create(0);
  return pool;
}

Instance::Instance(const hd_artifact& artifact, const hd_options* options) {
  hd_options with_message = default_options();
  if (options) with_message = *options;
  char text[1024] = "";
  const bool own = !options || (options->size >= sizeof with_message && !options->message);
  if (own) {
    with_message.message = text;
    with_message.message_bytes = sizeof text;
  }
  hd_instance* made = nullptr;
  const int status = hd_create(&artifact, own ? &with_message : options, &made);
  handle_.reset(made);
  if (status) throw StatusError(status, own ? text : hd_error(nullptr));
}

void Instance::check(int status) const {
  if (status == HD_BUSY) throw StatusError(status, "another call of this instance is running");
  if (status) throw StatusError(status, hd_error(handle()));
}

std::uint32_t Instance::find(std::string_view function) const {
  const hd_artifact& artifact = *hd_artifact_of(handle());
  const int number = hd_find_function(&artifact, std::string(function).c_str());
  if (number >= 0) return static_cast<std::uint32_t>(number);
  std::string text = std::string(artifact.name) + ": there is no function '" +
                     std::string(function) + "'; there are";
  for (std::uint32_t i = 0; i < artifact.n_signatures; ++i) {
    if (static_cast<int>(i) != artifact.prepare)
      text += std::string(" '") + artifact.signatures[i].name + "'";
  }
  throw StatusError(HD_INVALID, text);
}

void Instance::run(std::string_view function, std::span<const hd_tensor> tensors) {
  run(find(function), tensors);
}

void Instance::run(std::uint32_t function, std::span<const hd_tensor> tensors) {
  check(hd_run_tensors(handle(), function, tensors.data(),
                       static_cast<std::uint32_t>(tensors.size())));
}

void Instance::run(std::uint32_t function, std::span<void* const> arguments) {
  check(hd_run(handle(), function, arguments.data(), static_cast<std::uint32_t>(arguments.size())));
}

std::string Instance::selftest(const std::string& check_file) {
  const int status = hd_selftest(handle(), check_file.c_str());
  std::string report(hd_report(handle(), nullptr, 0), '\0');
  hd_report(handle(), report.data(), report.size() + 1);
  if (status != HD_OK) throw StatusError(status, report.empty() ? hd_error(handle()) : report);
  return report;
}

LoadedArtifact::LoadedArtifact(const std::string& path, const hd_options* options)
    : object_(SharedObject::open(path)),
      artifact_(find_artifact(object_, path)),
      instance_(*artifact_, options) {}

}  // namespace heddle
