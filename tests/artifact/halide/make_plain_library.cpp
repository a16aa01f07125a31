// Writes plain.a and plain.h: an ahead-of-time library as Halide's own users make it, with Halide's
// runtime in it.
#include <Halide.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const Halide::ImageParam in(Halide::Float(32), 1, "in");
    Halide::Func sum("sum"), out("out");
    Halide::Var x("x");
    sum(x) = in(x) + 1.0f;
    out(x) = sum(x) * 2.0f;
    sum.compute_root();
    out.parallel(x, 4);
    out.compile_to_static_library(std::string(argv[1]) + "/plain", {in}, "plain_twice",
                                  Halide::Target("x86-64-linux"));
  } catch (const Halide::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
