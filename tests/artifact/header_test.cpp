// Names in an exported library's header: it compiles in every dialect, and what would have one name
// in C is refused with both.
#include "heddle/backends/artifact/header.h"

#include <fstream>
#include <iterator>

#include "artifact/handmade_plan.h"
#include "support/expect_error.h"

namespace heddle::testing {
namespace {

TensorDescription leaf(const std::string& name, std::uint32_t argument, DType dtype = DType::f32) {
  return {name, dtype, {2}, false, -1, argument, 0};
}

std::string source(const std::string& path) {
  std::ifstream file(HEDDLE_SOURCE_DIR "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A function of single tensors, then of one tree "params" with these leaves.
SignatureDescription function(const std::string& name, const std::vector<std::string>& singles,
                              const std::vector<std::string>& leaves = {},
                              DType last = DType::f32) {
  SignatureDescription s{name, "", {}, {}, {}};
  for (const std::string& single : singles) {
    s.inputs.push_back(leaf(single, static_cast<std::uint32_t>(s.arguments.size())));
    s.arguments.push_back({single, 8, HD_IN, 4});
  }
  const auto tree = static_cast<std::uint32_t>(s.arguments.size());
  for (const std::string& l : leaves) s.inputs.push_back(leaf("params." + l, tree));
  if (!leaves.empty()) {
    s.inputs.back().dtype = last;
    s.arguments.push_back({"params", 8 * leaves.size(), HD_IN, 4});
  }
  s.outputs.push_back(leaf("y", static_cast<std::uint32_t>(s.arguments.size())));
  s.arguments.push_back({"y", 8, HD_OUT, 4});
  return s;
}

ArtifactDescription library(std::vector<SignatureDescription> functions,
                            const std::string& name = "mlp") {
  ArtifactDescription d;
  d.name = name;
  d.signatures = std::move(functions);
  return d;
}

std::string refused(const ArtifactDescription& d) {
  return expect_error<ValueError>([&] { header_text(d); });
}

// Names of words of C and C++, of macros and types of their headers, and of the library's own code.
const std::vector<std::string> kBadNames = {
    "class",   "signed",      "int",      "linux",        "unix",     "I",
    "NULL",    "EOF",         "INT_MAX",  "errno",        "instance", "arguments",
    "hd_run",  "hd_instance", "int32_t",  "size_t",       "mlp_t",    "template",
    "and_eq",  "typeof",      "a/b",      "a_b",          "_Bool",    "__LINE__",
    "complex", "stdin",       "co_await", "thread_local", "f",        "mlp_f"};

TEST(Header, CompilesBehindAnyOther) {
  std::vector<SignatureDescription> functions = {
      function("f", kBadNames, {"class", "int", "linux", "w", "layer1.w"}), function("int", {"x"}),
      function("linux", {"x", "x"}), function("class", {"x"}), function("NULL", {"x"})};
  const ArtifactDescription d = library(functions);
  const TemporaryFolder folder;
  const std::string others =
      "#include <complex.h>\n#include <errno.h>\n#include <limits.h>\n#include <math.h>\n"
      "#include <signal.h>\n#include <stdio.h>\n#include <time.h>\n";
  const std::string use = "#include \"mlp.h\"\nint size = mlp_params_class + mlp_params_count;\n";
  put_file(folder.path(), "mlp.h", header_text(d));
  put_file(folder.path(), "a.c", others + use);
  put_file(folder.path(), "a.cpp", "#include <complex>\n" + others.substr(21) + use);
  put_file(folder.path(), "functions.c", functions_source(d));
  put_file(folder.path(), "abi.h", source("runtime/core/abi.h"));
  for (const std::string standard : {"c99", "gnu99", "gnu17"}) {
    run_tool(
        {tool("cc"), "-std=" + standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "a.c"},
        folder.path());
  }
  for (const std::string standard : {"c++11", "gnu++20"}) {
    run_tool({tool("c++"), "-std=" + standard, "-Wall", "-Werror", "-fsyntax-only", "a.cpp"},
             folder.path());
  }
  run_tool({tool("cc"), "-std=c11", "-Werror", "-fsyntax-only", "functions.c"}, folder.path());
}

TEST(Header, TwoThingsOfOneNameAreRefusedWithBoth) {
  EXPECT_EQ(refused(library({function("f", {}, {"a.w", "a_w"})})),
            "the leaf 'params.a.w' and the leaf 'params.a_w' have one name in C: found "
            "mlp_params_a_w, needed another name for one of them");
  const auto both = [](const ArtifactDescription& d, const std::string& a, const std::string& b) {
    const std::string text = refused(d);
    EXPECT_NE(text.find(a), std::string::npos) << text;
    EXPECT_NE(text.find(b), std::string::npos) << text;
  };
  both(library({function("f", {}, {"a/w", "a.w"})}), "'params.a/w'", "'params.a.w'");
  both(library({function("f", {}, {"count", "w"})}), "'params.count'", "size of the tree 'params'");
  both(library({function("f", {}, {"bytes", "w"}, DType::f64)}), "'params.bytes'", "'params'");
  both(library({function("params_w", {}, {"w", "v"})}), "function 'params_w'", "'params.w'");
  both(library({function("params_count", {}, {"w", "v"})}), "'params_count'", "tree 'params'");
  both(library({function("f", {}, {"w", "v"}), function("params_w", {"x"})}), "'params_w'",
       "'params.w'");
  both(library({function("a.b", {"x"}), function("a_b", {"x"})}), "'a.b'", "'a_b'");
  for (const char* taken : {"create", "options", "t", "step_event", "selftest", "error"}) {
    both(library({function(taken, {"x"})}), "what every library has", taken);
  }
  both(library({function("OK", {"x"})}, "M"), "what every library has", "'OK'");
  both(library({function("H_", {"x"})}, "M"), "what every library has", "'H_'");
  both(library({function("f", {"x"}), function("f", {"x"})}), "two functions", "'f'");
  for (const char* own : {"hd_run", "halide_malloc", "constant0", "hd_tables"}) {
    both(library({function(own, {"x"})}), "keep for themselves", own);
  }
  header_text(library({function("f", {}, {"counts", "w"}), function("f2", {}, {"counts", "w"})}));
}

TEST(Header, ALibrarysNameIsItsOwn) {
  for (const char* name :
       {"int", "class", "linux", "unix", "I", "NULL", "EOF", "size", "time", "pthread", "int32",
        "std", "hd", "halide", "_X", "1x", "", "two words"}) {
    EXPECT_NE(refused(library({function("f", {"x"})}, name)).find(name), std::string::npos);
  }
  for (const char* name : {"mlp", "M", "mlp2", "_mlp", "times"}) {
    header_text(library({function("f", {"x"})}, name));
  }
}

}  // namespace
}  // namespace heddle::testing
