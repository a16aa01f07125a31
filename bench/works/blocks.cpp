// Real blocks, forward and with gradients: what networks and simulations spend their time in.
// The peers' side is bench/peers.
#include "bench/works/models.h"
#include "bench/works/works.h"

namespace heddle::bench {
namespace {

using Types = std::vector<Type>;
using Names = std::vector<std::string>;

using Works = std::vector<Work>;

void add_program(Works& all, const std::string& name, std::function<Program()> make,
                 double limit = 1) {
  all.push_back({.name = name, .make = std::move(make), .limit = limit});
}

/// `name`, and `name`_grad: values and the cotangents of `wrt` (x0, x1 ...).
template <class F>
void add_with_gradient(Works& all, const std::string& name, F f, Types types, Names wrt,
                       double limit = 1) {
  add_program(
      all, name, [=] { return trace(f, types); }, limit);
  add_program(
      all, name + "_grad", [=] { return vjp(trace(f, types), wrt); }, limit);
}

// ---- rows of a matrix ----

void add_rows(Works& all) {
  const Type square = f32({1024, 1024}), row = f32({1024});
  add_with_gradient(all, "row/softmax", [](const Tensor& x) { return softmax(x); }, {square},
                    {"x0"});
  add_with_gradient(
      all, "row/layer_norm",
      [](const Tensor& x, const Tensor& g, const Tensor& b) { return layer_norm(x, g, b); },
      {square, row, row}, {"x0", "x1", "x2"});
  add_with_gradient(
      all, "row/gelu",
      [](const Tensor& x, const Tensor& w, const Tensor& b) { return gelu(x * w + b); },
      {square, row, row}, {"x0", "x1", "x2"});
  const auto loss = [](const Tensor& x, const Tensor& y) { return cross_entropy(x, y); };
  for (const auto& [n, classes] : {std::pair{1024, 1024}, {128, 32000}}) {
    const Types types = {f32({n, classes}), i32({n})};
    add_program(all, "row/cross_entropy_grad_" + std::to_string(n) + "x" + std::to_string(classes),
                [=] { return value_and_grad(trace(loss, types), {"x0"}); });
  }
}

// ---- networks ----

Names numbered(int first, int last) {
  Names names;
  for (int i = first; i <= last; ++i) names.push_back("x" + std::to_string(i));
  return names;
}

void add_networks(Works& all) {
  add_program(all, "net/mlp", [] { return trace_frozen(mlp, mlp_types(), 0.05); });
  add_program(all, "net/transformer",
              [] { return trace_frozen(transformer, transformer_types(), 0.05); });
  add_program(
      all, "net/transformer_grad",
      [] { return vjp(trace(transformer, transformer_types()), numbered(1, 12)); }, 0.05);
  for (std::int64_t tokens : {128, 512, 2048}) {
    const Type heads = f32({12, tokens, 64});
    for (bool causal : {false, true}) {
      const std::string name = "net/attention_" + std::to_string(tokens);
      add_with_gradient(
          all, name + (causal ? "_causal" : ""),
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

Tensor depthwise_pointwise(std::span<const Tensor> x) {
  return relu(conv(relu(conv(x[0], x[1], same(96))), x[2]));
}

void add_convolutions(Works& all) {
  const Type image = f32({1, 64, 56, 56}), taps = f32({64, 64, 3, 3}), channels = f32({64});
  const Types types{image, taps, channels, channels, taps, channels, channels};
  add_program(
      all, "conv/basic_block", [=] { return trace_frozen(basic_block, types, 0.1); }, 0.1);
  add_program(
      all, "conv/basic_block_grad", [=] { return vjp(trace(basic_block, types), numbered(0, 6)); },
      0.1);
  add_program(all, "conv/depthwise_pointwise", [] {
    return trace_frozen(depthwise_pointwise,
                        {f32({1, 96, 56, 56}), f32({96, 1, 3, 3}), f32({96, 96, 1, 1})}, 1);
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

void add_simulation(Works& all) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const Type positions{dtype, {256, 3}};
    const std::string name = std::string("sim/lennard_jones_") + std::string(name_of(dtype));
    add_program(
        all, name, [=] { return trace(lennard_jones, {positions}); }, 5);
    add_program(
        all, name + "_forces",
        [=] { return value_and_grad(trace(lennard_jones, {positions}), {"x0"}); }, 5);
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

void add_sequences(Works& all) {
  const std::vector<Type> types{f32({64, 8, 128}), f32({128, 512}), f32({128, 512}),
                                f32({512}),        f32({8, 128}),   f32({8, 128})};
  add_program(all, "seq/lstm", [=] { return trace_frozen(lstm, types, 0.1, {0, 4, 5}); });
  add_program(
      all, "seq/lstm_grad",
      [=] {
        return vjp(trace(lstm, types), {"x0", "x1", "x2", "x3"});
      },
      0.1);
}

// ---- memory-bound operations on a million elements ----

void add_movement(Works& all) {
  const Type square = f32({1024, 1024});
  add_program(all, "move/chain_12", [=] {
    return trace(
        [](const Tensor& x, const Tensor& y) {
          Tensor t = x;
          for (int i = 0; i < 4; ++i) t = maximum(t * y + x, y) - 0.5 * t;
          return t;
        },
        {square, square});
  });
  add_program(all, "move/transpose",
              [=] { return trace([](const Tensor& x) { return transpose(x); }, {square}); });
  add_program(all, "move/concat", [=] {
    return trace(
        [](const Tensor& x, const Tensor& y) {
          return concatenate({x, y}, 1);
        },
        {f32({1024, 512}), f32({1024, 512})});
  });
  add_program(all, "move/gather", [=] {
    return trace([](const Tensor& x, const Tensor& i) { return take(x, i); },
                 {square, i32({1024})});
  });
  add_program(all, "move/embedding_grad", [=] {
    return vjp(
        trace([](const Tensor& x, const Tensor& i) { return take(x, i); }, {square, i32({1024})}),
        {"x0"});
  });
  add_program(all, "move/argmax",
              [=] { return trace([](const Tensor& x) { return argmax(x); }, {square}); });
  add_program(all, "move/cumsum",
              [=] { return trace([](const Tensor& x) { return cumsum(x); }, {square}); });
  add_program(all, "move/top_k",
              [=] { return trace([](const Tensor& x) { return top_k(x, 8).values; }, {square}); });
}

}  // namespace

std::vector<Work> block_works() {
  Works all;
  add_rows(all);
  add_networks(all);
  add_convolutions(all);
  add_simulation(all);
  add_sequences(all);
  add_movement(all);
  return all;
}

}  // namespace heddle::bench
