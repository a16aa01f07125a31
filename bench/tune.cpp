#include "bench/tune.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/works/bound.h"
#include "bench/works/works.h"
#include "heddle/schedule/target.h"
#include "heddle/schedule/tuned.h"

namespace heddle::bench {
namespace {

using Tile = Tuned::Tile;

// A column: what it may be, and the works that tell.
struct Column {
  std::string name;
  std::vector<std::string> works;
  std::vector<Tuned> candidates;
};

std::string text(int n) { return std::to_string(n); }
std::string text(const Tile& t) { return std::to_string(t.rows) + "x" + std::to_string(t.vectors); }

// Those whose sums, one row of vectors and a factor fit the registers and use half of them.
std::vector<Tile> tiles(int registers) {
  std::vector<Tile> all;
  for (int vectors = 1; vectors <= 4; ++vectors) {
    for (int rows = 2; rows <= 14; ++rows) {
      const int sums = rows * vectors;
      if (2 * sums >= registers && sums + vectors + 1 <= registers) all.push_back({rows, vectors});
    }
  }
  return all;
}

template <class Value>
Column column(const std::string& name, Value Tuned::*field, const Tuned& base,
              const std::vector<Value>& values, std::vector<std::string> works) {
  Column c{name, std::move(works), {base}};
  for (const Value& v : values) {
    if (v == base.*field) continue;
    c.candidates.push_back(base);
    c.candidates.back().*field = v;
  }
  return c;
}

double best_seconds(Bound& call) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  const auto end = Clock::now() + std::chrono::milliseconds(60);
  for (auto now = Clock::now(); now < end;) {
    call();
    const auto after = Clock::now();
    best = std::min(best, std::chrono::duration<double>(after - now).count());
    now = after;
  }
  return best;
}

// How many times as fast as the first each candidate is on one work. They take turns: the speed of
// a machine changes.
std::vector<double> speeds(const Work& work, const std::vector<Tuned>& candidates) {
  const Program program = work.make();
  const std::vector<Literal> inputs = inputs_of(work, program);
  std::vector<std::unique_ptr<Bound>> calls;
  for (const Tuned& t : candidates) {
    const TunedOverride numbers(t);
    calls.push_back(std::make_unique<Bound>(program, 1, inputs));
  }
  std::vector<double> best(calls.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < 5; ++round) {
    for (std::size_t c = 0; c < calls.size(); ++c) {
      best[c] = std::min(best[c], best_seconds(*calls[c]));
    }
  }
  std::vector<double> result;
  for (double b : best) result.push_back(best[0] / b);
  return result;
}

// The candidate to take; prints all.
Tuned measured(const Column& column, const std::function<std::string(const Tuned&)>& value) {
  constexpr double kWorthIt = 1.02;
  std::vector<double> together(column.candidates.size(), 1);
  std::printf("%-14s", column.name.c_str());
  for (const Tuned& t : column.candidates) std::printf("%8s", value(t).c_str());
  std::printf("\n");
  for (const Work& work : works()) {
    if (std::ranges::find(column.works, work.name) == column.works.end()) continue;
    std::fprintf(stderr, "measuring %s: %s\n", column.name.c_str(), work.name.c_str());
    const std::vector<double> x = speeds(work, column.candidates);
    std::printf("  %s\n%-14s", work.name.c_str(), "");
    for (std::size_t c = 0; c < x.size(); ++c) {
      std::printf("%8.3f", x[c]);
      together[c] *= std::pow(x[c], 1.0 / static_cast<double>(column.works.size()));
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  const auto top = std::ranges::max_element(together);
  const auto taken = *top > kWorthIt ? top - together.begin() : 0;
  std::printf("  %s: %s\n", column.name.c_str(),
              value(column.candidates[static_cast<std::size_t>(taken)]).c_str());
  return column.candidates[static_cast<std::size_t>(taken)];
}

template <class Value>
void take(Tuned& tuned, const std::string& name, Value Tuned::*field,
          const std::vector<Value>& values, std::vector<std::string> works) {
  tuned = measured(column(name, field, tuned, values, std::move(works)),
                   [field](const Tuned& t) { return text(t.*field); });
}

}  // namespace

void tune() {
  const Target host = Target::host();
  Tuned tuned = tuned_for(host);
  tuned.registers = host.vector_registers(), tuned.floats = host.vector_floats();
  const std::vector<Tile> all = tiles(tuned.registers);
  take(tuned, "tile", &Tuned::tile, all,
       {"gemm/NN/512", "gemm/NT/512", "gemm/NN/1024", "gemm/NN/128x768x3072",
        "gemm/NN/128x3072x768"});
  take(tuned, "few", &Tuned::few, all,
       {"gemm/NN/8x768x3072", "gemm/NN/32x768x3072", "train/mlp_784_512_256_10"});
  take(tuned, "ahead", &Tuned::ahead, {0, 4, 8, 12, 16, 24},
       {"gemm/NN/512", "gemm/NT/512", "gemm/NN/1024", "gemm/NN/128x768x3072", "net/transformer",
        "net/transformer_grad"});
  take(tuned, "prepared", &Tuned::prepared, all, {"net/mlp", "net/transformer"});
  take(tuned, "block", &Tuned::block, all, {"net/attention_128", "net/attention_512"});
  take(tuned, "queries", &Tuned::queries, {16, 32, 64}, {"net/attention_128", "net/attention_512"});
  take(tuned, "causal", &Tuned::causal, {8, 16, 32},
       {"net/attention_128_causal", "net/attention_512_causal"});
  take(tuned, "strip", &Tuned::strip, {4, 8, 16, 32}, {"sum/first_axis"});
  take(tuned, "lanes", &Tuned::lanes, {2, 4, 8}, {"sum/last_axis", "row/layer_norm"});
  std::printf("%s\n", to_text(tuned).c_str());
}

}  // namespace heddle::bench
