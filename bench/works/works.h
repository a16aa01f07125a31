// Pieces of work that are programs: most rows of the table are one of these with 1 and with 2
// threads. Google Benchmark runs them (bench/ours.cpp), and a test checks some.
#ifndef HEDDLE_BENCH_WORKS_WORKS_H_
#define HEDDLE_BENCH_WORKS_WORKS_H_

#include <functional>
#include <string>
#include <vector>

#include "heddle/graph/literal.h"
#include "heddle/graph/program.h"

namespace heddle::bench {

struct Work {
  std::string name;  ///< "net/mlp"; the bench adds "/threads:2/heddle"
  std::function<Program()> make;
  double limit = 1;  ///< inputs are uniform in [-limit, limit), integers below 10 ...
  std::function<std::vector<Literal>()> inputs{};  ///< ... unless these are there
  bool alone = false;    ///< measured with one thread only, and no word of it in the name
  std::string beside{};  ///< the same program with inputs of [-1, 1) is measured as this peer
};

std::vector<Work> operation_works();  ///< matrix products, sums, softmax, a call on 16 floats
std::vector<Work> block_works();      ///< networks, convolutions, simulation, sequences, movement
std::vector<Work> training_works();   ///< whole training steps
std::vector<Work> math_works();       ///< elementary functions on arrays in the caches
std::vector<Work> special_works();    ///< on denormal numbers, infinities and NaN

/// All of them.
std::vector<Work> works();

/// A tensor of uniform numbers in [low, high), the same for the same name.
Literal between(const Type& type, double low, double high, const std::string& name);
/// What `work` is run on.
std::vector<Literal> inputs_of(const Work& work, const Program& program);

}  // namespace heddle::bench

#endif  // HEDDLE_BENCH_WORKS_WORKS_H_
