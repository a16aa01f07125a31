// SLEEF and libmvec beside our elementary functions. Largest errors: ours are those of
// tests/backends/math_test.cpp, SLEEF's 1.0 (u10) and 3.5 ulp (u35), libmvec's below 4.
#include <cstring>

#include "bench/compare.h"
#include "bench/math_peers.h"
#include "bench/works/works.h"

namespace heddle::bench {
namespace {

std::vector<float> elements(const Literal& literal) {
  std::vector<float> all(literal.bytes->size() / sizeof(float));
  std::memcpy(all.data(), literal.bytes->data(), literal.bytes->size());
  return all;
}

void add_peer(const Work& work, const MathPeer& peer) {
  const std::vector<Literal> inputs = work.inputs();
  add(work.name + "/" + peer.who,
      [run = peer.run, x = elements(inputs.front()), y = elements(inputs.back()),
       out = std::vector<float>(elements(inputs.front()).size())]() mutable {
        run(x.data(), y.data(), out.data(), out.size());
        benchmark::DoNotOptimize(out.data());
      });
}

const bool registered = [] {
  const std::vector<MathPeer> peers = math_peers();
  for (const Work& work : math_works()) {
    for (const MathPeer& peer : peers) {
      if (work.name.starts_with("math/" + peer.function + "/")) add_peer(work, peer);
    }
  }
  return true;
}();

}  // namespace
}  // namespace heddle::bench
