// All works as benchmarks of Heddle.
#include "bench/compare.h"
#include "bench/works/works.h"

namespace heddle::bench {
namespace {

void add_work(const Work& work, const std::string& name, int threads) {
  add_lazily(name, [=] {
    const Program program = work.make();
    return std::make_shared<Bound>(program, threads, inputs_of(work, program));
  });
}

const bool registered = [] {
  for (const Work& work : works()) {
    if (!work.alone) {
      for (int threads : {1, 2}) {
        add_work(work, work.name + "/threads:" + std::to_string(threads) + "/heddle", threads);
      }
      continue;
    }
    add_work(work, work.name + "/heddle", 1);
    if (!work.beside.empty()) {
      add_work({.name = work.name, .make = work.make}, work.name + "/" + work.beside, 1);
    }
  }
  return true;
}();

}  // namespace
}  // namespace heddle::bench
