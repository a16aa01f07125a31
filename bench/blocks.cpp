// Real blocks, forward and with gradients: what networks and simulations spend their time in.
// The peers' side is bench/peers.py.
#include <cmath>
#include <random>

#include "bench/compare.h"
#include "heddle/frontend/heddle.h"

namespace heddle::bench {
namespace {

using Types = std::vector<Type>;
using Names = std::vector<std::string>;
constexpr std::int64_t kWidth = 768, kHeads = 12, kHead = 64, kHidden = 3072, kTokens = 128;

void add_program(const std::string& work, const std::function<Program()>& make, double limit = 1) {
  for (int threads : {1, 2}) {
    add_lazily(work + "/threads:" + std::to_string(threads) + "/heddle",
               [=] { return std::make_shared<Bound>(make(), threads, limit); });
  }
}

/// `work`, and `work`_grad: values and the cotangents of `wrt` (x0, x1 ...).
template <class F>
void add_with_gradient(const std::string& work, F f, Types types, Names wrt, double limit = 1) {
  add_program(
      work, [=] { return trace(f, types); }, limit);
  add_program(
      work + "_grad", [=] { return vjp(trace(f, types), wrt); }, limit);
}

/// f of its first argument; the others are constants, uniform in [-limit, limit): a network that is
/// only run.
template <class F>
Program trace_frozen(F f, const Types& types, double limit) {
  std::vector<Tensor> arguments;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-limit, limit);
  for (const Type& type : types) {
    std::vector<double> values(static_cast<std::size_t>(element_count(type)));
    for (double& v : values) v = uniform(random);
    arguments.push_back(tensor(std::span<const double>(values), constant_extents(type.dims)));
  }
  return trace(
      [=](const Tensor& x) {
        std::vector<Tensor> all{x};
        for (std::size_t i = 1; i < arguments.size(); ++i) all.push_back(constant(arguments[i]));
        return f(std::span<const Tensor>(all));
      },
      {types[0]});
}

Tensor affine(const Tensor& x, const Tensor& w, const Tensor& b) { return matmul(x, w) + b; }

// ---- rows of a matrix ----

void add_rows() {
  const Type square = f32({1024, 1024}), row = f32({1024});
  add_with_gradient("row/softmax", [](const Tensor& x) { return softmax(x); }, {square}, {"x0"});
  add_with_gradient(
      "row/layer_norm",
      [](const Tensor& x, const Tensor& g, const Tensor& b) { return layer_norm(x, g, b); },
      {square, row, row}, {"x0", "x1", "x2"});
  add_with_gradient(
      "row/gelu", [](const Tensor& x, const Tensor& w, const Tensor& b) { return gelu(x * w + b); },
      {square, row, row}, {"x0", "x1", "x2"});
  const auto loss = [](const Tensor& x, const Tensor& y) { return cross_entropy(x, y); };
  for (const auto& [n, classes] : {std::pair{1024, 1024}, {128, 32000}}) {
    const Types types = {f32({n, classes}), i32({n})};
    add_program("row/cross_entropy_grad_" + std::to_string(n) + "x" + std::to_string(classes),
                [=] { return value_and_grad(trace(loss, types), {"x0"}); });
  }
}

// ---- networks ----

Tensor mlp(std::span<const Tensor> x) {
  return affine(relu(affine(relu(affine(x[0], x[1], x[2])), x[3], x[4])), x[5], x[6]);
}

// [tokens, width] -> heads x [tokens, head].
Tensor split_heads(const Tensor& x, std::int64_t from) {
  const std::int64_t tokens = x.type().dims[0].constant();
  const Tensor part = slice(x, {0, from}, {tokens, from + kWidth});
  return transpose(reshape(part, {tokens, kHeads, kHead}), {1, 0, 2});
}

// x, then scale, shift; qkv weights, bias; output weights, bias; scale, shift; two layers.
Tensor transformer(std::span<const Tensor> x) {
  const Tensor qkv = affine(layer_norm(x[0], x[1], x[2]), x[3], x[4]);
  const Tensor heads =
      attention(split_heads(qkv, 0), split_heads(qkv, kWidth), split_heads(qkv, 2 * kWidth));
  const Tensor joined = reshape(transpose(heads, {1, 0, 2}), {kTokens, kWidth});
  const Tensor h = x[0] + affine(joined, x[5], x[6]);
  return h + affine(gelu(affine(layer_norm(h, x[7], x[8]), x[9], x[10])), x[11], x[12]);
}

Names numbered(int first, int last) {
  Names names;
  for (int i = first; i <= last; ++i) names.push_back("x" + std::to_string(i));
  return names;
}

void add_networks() {
  add_program("net/mlp", [] {
    return trace_frozen(mlp,
                        {f32({32, 784}), f32({784, 512}), f32({512}), f32({512, 256}), f32({256}),
                         f32({256, 10}), f32({10})},
                        0.05);
  });
  const Type wide = f32({kWidth});
  const Types block = {f32({kTokens, kWidth}),
                       wide,
                       wide,
                       f32({kWidth, 3 * kWidth}),
                       f32({3 * kWidth}),
                       f32({kWidth, kWidth}),
                       wide,
                       wide,
                       wide,
                       f32({kWidth, kHidden}),
                       f32({kHidden}),
                       f32({kHidden, kWidth}),
                       wide};
  add_program("net/transformer", [=] { return trace_frozen(transformer, block, 0.05); });
  add_program(
      "net/transformer_grad", [=] { return vjp(trace(transformer, block), numbered(1, 12)); },
      0.05);
  for (std::int64_t tokens : {128, 512, 2048}) {
    const Type heads = f32({kHeads, tokens, kHead});
    for (bool causal : {false, true}) {
      const std::string name = "net/attention_" + std::to_string(tokens);
      add_with_gradient(
          name + (causal ? "_causal" : ""),
          [=](const Tensor& q, const Tensor& k, const Tensor& v) {
            return attention(q, k, v, causal);
          },
          {heads, heads, heads}, numbered(0, 2));
    }
  }
}

// ---- convolutions ----

ConvOptions same(std::int64_t groups = 1) {
  ConvOptions o;
  o.low = o.high = {1, 1};
  o.groups = groups;
  return o;
}
Tensor per_channel(const Tensor& s) { return reshape(s, {1, s.type().dims[0], 1, 1}); }

Tensor basic_block(std::span<const Tensor> x) {
  const Tensor h = relu(conv(x[0], x[1], same()) * per_channel(x[2]) + per_channel(x[3]));
  return relu(conv(h, x[4], same()) * per_channel(x[5]) + per_channel(x[6]) + x[0]);
}

void add_convolutions() {
  const Type image = f32({1, 64, 56, 56}), taps = f32({64, 64, 3, 3}), channels = f32({64});
  add_with_gradient("conv/basic_block", basic_block,
                    {image, taps, channels, channels, taps, channels, channels}, numbered(0, 6),
                    0.1);
  add_program("conv/depthwise_pointwise", [] {
    return trace(
        [](const Tensor& x, const Tensor& depthwise, const Tensor& pointwise) {
          return relu(conv(relu(conv(x, depthwise, same(96))), pointwise));
        },
        {f32({1, 96, 56, 56}), f32({96, 1, 3, 3}), f32({96, 96, 1, 1})});
  });
}

// ---- simulation and sequences ----

// Lennard-Jones energy of all pairs: sum over i < j of 4 (r^-12 - r^-6).
Tensor lennard_jones(const Tensor& position) {
  const Dim n = position.type().dims[0];
  const Tensor d = reshape(position, {n, 1, 3}) - reshape(position, {1, n, 3});
  const Type square{DType::i32, {n, n}};
  const Tensor self = convert(equal(iota(square, 0), iota(square, 1)), position.type().dtype);
  const Tensor r2 = sum(d * d, {2}) + self;
  const Tensor s6 = (1 - self) / (r2 * r2 * r2);
  return 2 * sum(s6 * s6 - s6);
}

void add_simulation() {
  for (DType dtype : {DType::f32, DType::f64}) {
    const Type positions{dtype, {256, 3}};
    const std::string name = std::string("sim/lennard_jones_") + std::string(name_of(dtype));
    add_program(
        name, [=] { return trace(lennard_jones, {positions}); }, 5);
    add_program(
        name + "_forces", [=] { return value_and_grad(trace(lennard_jones, {positions}), {"x0"}); },
        5);
  }
}

// x: [steps, batch, in]; wx, wh, b; h, c. All hidden states.
Tensor lstm(std::span<const Tensor> x) {
  const std::int64_t steps = x[0].type().dims[0].constant(), batch = x[0].type().dims[1].constant(),
                     width = x[4].type().dims[1].constant();
  const Tensor inputs = matmul(x[0], x[1]) + x[3];
  Tensor h = x[4], c = x[5];
  std::vector<Tensor> all;
  for (std::int64_t t = 0; t < steps; ++t) {
    const Tensor gates =
        reshape(slice(inputs, {t, 0, 0}, {t + 1, batch, 4 * width}), {batch, 4 * width}) +
        matmul(h, x[2]);
    const auto gate = [&](std::int64_t g) {
      return slice(gates, {0, g * width}, {batch, (g + 1) * width});
    };
    c = logistic(gate(1)) * c + logistic(gate(0)) * tanh(gate(2));
    h = logistic(gate(3)) * tanh(c);
    all.push_back(reshape(h, {1, batch, width}));
  }
  return concatenate(all, 0);
}

void add_sequences() {
  add_with_gradient("seq/lstm", lstm,
                    {f32({64, 8, 128}), f32({128, 512}), f32({128, 512}), f32({512}), f32({8, 128}),
                     f32({8, 128})},
                    {"x0", "x1", "x2", "x3"}, 0.1);
}

// ---- memory-bound operations on a million elements ----

void add_movement() {
  const Type square = f32({1024, 1024});
  add_program("move/chain_12", [=] {
    return trace(
        [](const Tensor& x, const Tensor& y) {
          Tensor t = x;
          for (int i = 0; i < 4; ++i) t = maximum(t * y + x, y) - 0.5 * t;
          return t;
        },
        {square, square});
  });
  add_program("move/transpose",
              [=] { return trace([](const Tensor& x) { return transpose(x); }, {square}); });
  add_program("move/concat", [=] {
    return trace(
        [](const Tensor& x, const Tensor& y) {
          return concatenate({x, y}, 1);
        },
        {f32({1024, 512}), f32({1024, 512})});
  });
  add_program("move/gather", [=] {
    return trace([](const Tensor& x, const Tensor& i) { return take(x, i); },
                 {square, i32({1024})});
  });
  add_program("move/embedding_grad", [=] {
    return vjp(
        trace([](const Tensor& x, const Tensor& i) { return take(x, i); }, {square, i32({1024})}),
        {"x0"});
  });
  add_program("move/argmax",
              [=] { return trace([](const Tensor& x) { return argmax(x); }, {square}); });
  add_program("move/cumsum",
              [=] { return trace([](const Tensor& x) { return cumsum(x); }, {square}); });
  add_program("move/top_k",
              [=] { return trace([](const Tensor& x) { return top_k(x, 8).values; }, {square}); });
}

const bool registered = [] {
  add_rows();
  add_networks();
  add_convolutions();
  add_simulation();
  add_sequences();
  add_movement();
  return true;
}();

}  // namespace
}  // namespace heddle::bench
