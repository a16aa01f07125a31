// Single operations: matrix products in their layouts, sums, rows; and a call that has no work.
#include "bench/works/products.h"
#include "bench/works/works.h"
#include "heddle/frontend/heddle.h"

namespace heddle::bench {
namespace {

Program program(const Product& p) {
  return trace(
      [=](const Tensor& x, const Tensor& y) {
        return matmul(p.transpose_a ? transpose(x) : x, p.transpose_b ? transpose(y) : y);
      },
      {p.transpose_a ? f32({p.k, p.m}) : f32({p.m, p.k}),
       p.transpose_b ? f32({p.n, p.k}) : f32({p.k, p.n})});
}

Program of_square(Tensor (*f)(const Tensor& x)) {
  return trace(f, std::vector<Type>{f32({1024, 1024})});
}

// Elements of 16 bits, computed in f32: to be as fast as memory, or as products of f32.
void add_halves(std::vector<Work>& all) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Type square{dtype, {1024, 1024}}, small{dtype, {512, 512}};
    const std::string start = "half/" + std::string(name_of(dtype));
    const auto add = [&](const std::string& name, auto f, std::vector<Type> types) {
      all.push_back({.name = start + name, .make = [=] { return trace(f, types); }});
    };
    add("_add", [](const Tensor& x, const Tensor& y) { return x + y; }, {square, square});
    add("_sum", [](const Tensor& x) { return sum(x, {1}); }, {square});
    add("_softmax", [](const Tensor& x) { return softmax(x); }, {square});
    add("_product", [](const Tensor& x, const Tensor& y) { return matmul(x, y); }, {small, small});
  }
}

// Bytes, multiplied and summed in i32.
void add_bytes(std::vector<Work>& all) {
  for (const DType left : {DType::i8, DType::u8}) {
    for (const bool tb : {false, true}) {
      for (const int n : {512, 1024}) {
        const std::vector<Type> types{{left, {n, n}}, {DType::i8, {n, n}}};
        const auto f = [tb](const Tensor& x, const Tensor& y) {
          const Tensor wide = convert(y, DType::i32);
          return matmul(convert(x, DType::i32), tb ? transpose(wide) : wide);
        };
        all.push_back({.name = "gemm/" + std::string(name_of(left)) + (tb ? "_NT/" : "_NN/") +
                               std::to_string(n),
                       .make = [=] { return trace(f, types); }});
      }
    }
  }
}

}  // namespace

std::string Product::name() const {
  const std::string layout = std::string(transpose_a ? "T" : "N") + (transpose_b ? "T" : "N");
  const std::string sizes =
      m == k && k == n ? std::to_string(m)
                       : std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  return "gemm/" + layout + "/" + sizes;
}

std::vector<Product> products() {
  std::vector<Product> all;
  for (bool tb : {false, true}) {
    for (int n : {512, 1024}) all.push_back({n, n, n, false, tb});
    for (int m : {1, 8, 16, 32, 128}) {
      all.push_back({m, 768, 3072, false, tb});
      all.push_back({m, 3072, 768, false, tb});
    }
  }
  all.push_back({512, 512, 512, true, false});
  all.push_back({1024, 1024, 1024, true, false});
  return all;
}

std::vector<Work> operation_works() {
  std::vector<Work> all;
  for (const Product& p : products()) {
    all.push_back({.name = p.name(), .make = [p] { return program(p); }});
  }
  all.push_back({.name = "sum/first_axis",
                 .make = [] { return of_square([](const Tensor& x) { return sum(x, {0}); }); }});
  all.push_back({.name = "sum/last_axis",
                 .make = [] { return of_square([](const Tensor& x) { return sum(x, {1}); }); }});
  add_bytes(all);
  add_halves(all);
  const Type sixteen = f32({16});
  all.push_back({.name = "call/16_floats",
                 .make =
                     [=] {
                       return trace([](const Tensor& a, const Tensor& x,
                                       const Tensor& b) { return a * x + b; },
                                    {sixteen, sixteen, sixteen});
                     },
                 .alone = true});
  return all;
}

}  // namespace heddle::bench
