#include "support/metal/shader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>
#include <vector>

#include "support/metal/device.h"

namespace heddle::testing::metal {
namespace {

namespace fs = std::filesystem;

struct Found {
  std::string name;
  bool barriers;
};

std::vector<Found> kernels_of(const std::string& text) {
  std::vector<Found> found;
  constexpr std::string_view kHead = "kernel void ";
  for (std::size_t at = text.find(kHead); at != std::string::npos;) {
    const std::size_t name = at + kHead.size(), next = text.find(kHead, name);
    const std::string body = text.substr(at, next == std::string::npos ? next : next - at);
    found.push_back({text.substr(name, text.find('(', name) - name),
                     body.find("threadgroup_barrier") != std::string::npos});
    at = next;
  }
  return found;
}

std::string hexadecimal(std::uint64_t value) {
  std::ostringstream out;
  out << std::hex << value;
  return out.str();
}

std::uint64_t hash_of(const std::string& text) {  // FNV-1a
  std::uint64_t h = 14695981039346656037u;
  for (unsigned char c : text) h = (h ^ c) * 1099511628211u;
  return h;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string header() { return read_file(HEDDLE_SOURCE_DIR "/tests/support/metal/metal_stdlib.h"); }

// The compiler's words, when it fails.
std::string compile(const std::string& command, const std::string& base) {
  const std::string all = command + " > " + base + ".log 2>&1";
  return std::system(all.c_str()) == 0 ? "" : read_file(base + ".log");
}

}  // namespace

std::string as_cpp(const std::string& text) {
  std::string cpp;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find("[[", at);
    cpp.append(text, at, begin == std::string::npos ? begin : begin - at);
    if (begin == std::string::npos) break;
    at = text.find("]]", begin) + 2;
  }
  const std::string include = "#include <metal_stdlib>";
  cpp.replace(cpp.find(include), include.size(),
              "#include \"" HEDDLE_SOURCE_DIR "/tests/support/metal/metal_stdlib.h\"");
  cpp +=
      "\ntemplate <int... I> struct Places {};\n"
      "template <int N, int... I> struct Make : Make<N - 1, N - 1, I...> {};\n"
      "template <int... I> struct Make<0, I...> { typedef Places<I...> type; };\n"
      "template <class... A, int... I> void call_all(void (*f)(uint3, uint3, A...), uint3 a, "
      "uint3 b, void** p, Places<I...>) { f(a, b, (A)p[I]...); }\n"
      "template <class... A> void call(void (*f)(uint3, uint3, A...), uint3 a, uint3 b, void** p) "
      "{ call_all(f, a, b, p, typename Make<sizeof...(A)>::type()); }\n"
      "extern \"C\" { void (*heddle_barrier_function)(); }\n"
      "void heddle_barrier() { heddle_barrier_function(); }\n";
  for (const Found& k : kernels_of(text)) {
    cpp += "extern \"C\" void entry" + k.name + "(uint3 a, uint3 b, void** p) { call(" + k.name +
           ", a, b, p); }\n";
  }
  return cpp;
}

std::string compiled(const std::string& text, std::string& error) {
  const std::string cpp = as_cpp(text);
  fs::create_directories(HEDDLE_SHADER_CACHE);
  const std::string path =
      std::string(HEDDLE_SHADER_CACHE) + "/" + hexadecimal(hash_of(cpp + header())) + ".so";
  if (fs::exists(path)) return path;
  static std::atomic<int> count{0};
  const std::string base = path + "." + std::to_string(::getpid()) + "_" + std::to_string(count++);
  std::ofstream(base + ".cpp") << cpp;
  error = compile("c++ -std=c++17 -O1 -march=native -ffp-contract=off -w -fPIC -shared " + base +
                      ".cpp -o " + base,
                  base);
  fs::remove(base + ".log");
  if (!error.empty()) return path;
  fs::remove(base + ".cpp");
  fs::rename(base, path);
  return path;
}

ShaderModule::ShaderModule(const std::string& text, std::string& error) {
  const std::string path = compiled(text, error);
  if (!error.empty()) return;
  library_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    error = ::dlerror();
    return;
  }
  *static_cast<void (**)()>(::dlsym(library_, "heddle_barrier_function")) = wait_at_barrier;
  for (const Found& k : kernels_of(text)) {
    auto entry = reinterpret_cast<Shader::Entry>(::dlsym(library_, ("entry" + k.name).c_str()));
    shaders_[k.name] = {entry, k.barriers};
  }
}

void compile_shaders(const std::vector<std::string>& texts) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < texts.size(); i = next++) {
      std::string error;  // seen again when the module is loaded
      compiled(texts[i], error);
    }
  };
  std::thread other(work);
  work();
  other.join();
}

ShaderModule::~ShaderModule() {
  if (library_ != nullptr) ::dlclose(library_);
}

const Shader* ShaderModule::find(const std::string& name) const {
  const auto found = shaders_.find(name);
  return found == shaders_.end() ? nullptr : &found->second;
}

std::string shader_text(const std::vector<std::byte>& object) {
  const std::string_view all(reinterpret_cast<const char*>(object.data()), object.size());
  const std::size_t begin = all.find("#pragma clang diagnostic");
  if (begin == std::string_view::npos) return "";
  return std::string(all.substr(begin, all.find('\0', begin) - begin));
}

std::string complaints(const std::string& shader, const std::string& compiler) {
  const std::string base =
      (fs::temp_directory_path() / ("shader" + std::to_string(::getpid()))).string();
  const std::string cpp = as_cpp(shader);
  std::ofstream(base + ".cpp") << cpp.substr(0, cpp.find("\ntemplate <int... I>"));
  std::string words = compile(
      compiler + " -std=c++17 -fsyntax-only -w -DHEDDLE_ADDRESS_SPACES " + base + ".cpp", base);
  fs::remove(base + ".cpp"), fs::remove(base + ".log");
  return words;
}

}  // namespace heddle::testing::metal
