// Every constraint a record states (C1, C2 ...), broken once: the error's class and words.
#include <set>

#include "ops/support.h"

namespace heddle::ops_test {
namespace {

struct Broken {
  const Operation* op;
  const char* constraint;  ///< "C1"
  std::vector<Type> operands;
  Attributes attributes;
  bool type_error;    ///< else a ValueError
  const char* words;  ///< in the message
};

Type t(DType dtype, Dims dims = {}) { return {dtype, std::move(dims)}; }
Type f(Dims dims) { return t(DType::f32, std::move(dims)); }
Attributes axes(std::vector<std::int64_t> a) {
  return Attributes::of(AxesAttributes{std::move(a)});
}
Attributes axis(std::int64_t a) { return Attributes::of(AxisAttributes{a}); }

std::vector<Broken> by_hand() {
  const Attributes lt = Attributes::of(CompareAttributes{"lt"});
  const auto broadcast = [](Dims d, std::vector<std::int64_t> a) {
    return Attributes::of(BroadcastAttributes{std::move(d), std::move(a)});
  };
  const auto slice = [](std::int64_t s, std::int64_t l, std::int64_t stride) {
    return Attributes::of(SliceAttributes{{s}, {l}, {stride}});
  };
  const auto pad = [](std::int64_t low, std::int64_t high, std::int64_t interior) {
    return Attributes::of(PadAttributes{{low}, {high}, {interior}});
  };
  constexpr std::int64_t kTooMany = (std::int64_t{1} << 60) + 1;
  const auto gather = [](std::int64_t a, const char* mode) {
    return Attributes::of(GatherAttributes{a, mode});
  };
  const auto to = [](DType d) { return Attributes::of(ConvertAttributes{d}); };
  const auto reshape = [](Dims d) { return Attributes::of(ReshapeAttributes{std::move(d)}); };
  const auto permute = [](std::vector<std::int64_t> p) {
    return Attributes::of(TransposeAttributes{std::move(p)});
  };
  const Type idx = t(DType::i32, {2}), pred = t(DType::boolean, {2});
  const Attributes nn = Attributes::of(DotAttributes{{}, {}, {1}, {0}});
  const auto window = [](WindowAttributes a) { return Attributes::of(a); };
  const auto conv = [](ConvAttributes a) { return Attributes::of(a); };
  const auto order = [](std::int64_t a, std::int64_t count) {
    return Attributes::of(ArgsortAttributes{a, count});
  };
  const auto upscale = [](ConvTransposeAttributes a) { return Attributes::of(a); };
  const auto pool = [](PoolAttributes a) { return Attributes::of(a); };
  const auto average = [](PoolAttributes a) {
    AvgPoolAttributes own;
    static_cast<PoolAttributes&>(own) = std::move(a);
    return Attributes::of(own);
  };
  const auto total = [](std::int64_t a, DType accumulator) {
    return Attributes({{"axes", std::vector<std::int64_t>{a}}, {"accumulator", accumulator}});
  };
  const auto product = [](DType accumulator) {
    return Attributes({{"rhs_transposed", false}, {"accumulator", accumulator}});
  };
  const Attributes four = Attributes::of(RandomAttributes{{4}});
  const Type key = t(DType::u32, {2}), counter = t(DType::u32, {4});
  const WindowAttributes pairs{{2}, {1}, {0}, {0}, {1}, {1}};
  const ConvAttributes plain{{1}, {0}, {0}, {1}, {1}, 1}, grouped{{1}, {0}, {0}, {1}, {1}, 2};
  const ConvTransposeAttributes up{{1}, {0}, {0}, {0}, {1}, 2};
  const Attributes slice_of_1 = Attributes::of(DynamicSliceAttributes{{1}});
  const Type start = t(DType::i32, {1});
  std::vector<Broken> all = {
      {&op_compare, "C1", {f({2}), t(DType::i32, {2})}, lt, true, "differ in dtype"},
      {&op_compare, "C2", {f({2}), f({3})}, lt, false, "differ in shape"},
      {&op_compare,
       "C3",
       {f({2}), f({2})},
       Attributes::of(CompareAttributes{"less"}),
       false,
       "unknown direction"},
      {&op_select, "C1", {f({2}), f({2}), f({2})}, {}, true, "needed bool"},
      {&op_select, "C2", {pred, f({2}), idx}, {}, true, "differ in dtype"},
      {&op_select, "C3", {pred, f({3}), f({3})}, {}, false, "differ in shape"},
      {&op_clamp, "C1", {pred, pred, pred}, {}, true, "unsupported dtype"},
      {&op_clamp, "C2", {f({2}), f({2}), f({3})}, {}, false, "differ in shape"},
      {&op_bitcast, "C1", {pred}, to(DType::i8), true, "unsupported dtype"},
      {&op_bitcast, "C2", {t(DType::i8, {2})}, to(DType::boolean), true, "unsupported dtype"},
      {&op_bitcast, "C3", {f({2})}, to(DType::f64), true, "bits of another width"},
      {&op_iota,
       "C1",
       {},
       Attributes::of(IotaAttributes{DType::i32, {3}, 1}),
       false,
       "axis out of range"},
      {&op_iota,
       "C2",
       {},
       Attributes::of(IotaAttributes{DType::boolean, {3}, 0}),
       true,
       "unsupported dtype"},
      {&op_constant, "C1", {}, {}, true, "needs its value"},
      {&op_broadcast_in_dim, "C1", {f({2})}, broadcast({2, 3}, {}), false, "one entry per axis"},
      {&op_broadcast_in_dim, "C2", {f({2, 3})}, broadcast({3, 2}, {1, 0}), false, "ascending"},
      {&op_broadcast_in_dim, "C3", {f({2})}, broadcast({4}, {0}), false, "cannot stretch"},
      {&op_reshape, "C1", {f({2})}, reshape({-2}), false, "negative extent"},
      {&op_reshape, "C2", {f({2, 3})}, reshape({5}), false, "keeps the number of elements"},
      {&op_transpose, "C1", {f({2, 3})}, permute({0}), false, "one entry per axis"},
      {&op_transpose, "C2", {f({2, 3})}, permute({0, 0}), false, "every axis once"},
      {&op_slice, "C1", {f({2, 3})}, slice(0, 1, 1), false, "one entry per axis"},
      {&op_slice, "C2", {f({3})}, slice(1, 4, 1), false, "no such range"},
      {&op_slice, "C3", {f({3})}, slice(0, 3, 0), false, "at least 1"},
      {&op_pad, "C1", {f({3}), t(DType::i32)}, pad(0, 1, 0), true, "differ in dtype"},
      {&op_pad, "C2", {f({3}), f({1})}, pad(0, 1, 0), false, "scalar"},
      {&op_pad, "C3", {f({3, 3}), f({})}, pad(0, 1, 0), false, "one entry per axis"},
      {&op_pad, "C4", {f({3}), f({})}, pad(0, 1, -1), false, "at least 0"},
      {&op_pad, "C4", {f({3}), f({})}, pad(0, 0, kTooMany), false, "at most 1152921504606846976"},
      {&op_pad, "C4", {f({3}), f({})}, pad(kTooMany, -kTooMany, 0), false, "number too large"},
      {&op_pad, "C4", {f({3}), f({})}, pad(-kTooMany, kTooMany, 0), false, "number too small"},
      {&op_pad, "C5", {f({3}), f({})}, pad(-2, -2, 0), false, "cut by more"},
      {&op_concatenate, "C1", {}, axis(0), true, "wrong number of operands"},
      {&op_concatenate, "C2", {f({2}), f({3})}, axis(1), false, "axis out of range"},
      {&op_concatenate, "C3", {f({2}), idx}, axis(0), true, "differ in dtype"},
      {&op_concatenate, "C4", {f({2, 2}), f({2, 3})}, axis(0), false, "differ in shape"},
      {&op_reverse, "C1", {f({2, 2})}, axes({1, 1}), false, "ascending"},
      {&op_gather, "C1", {f({2}), f({2})}, gather(0, "clip"), true, "needed i32"},
      {&op_gather, "C2", {f({2}), idx}, gather(1, "clip"), false, "axis out of range"},
      {&op_gather, "C3", {f({2}), idx}, gather(0, "wrap"), false, "unknown mode"},
      {&op_scatter, "C1", {pred, idx, pred}, gather(0, "clip"), true, "unsupported dtype"},
      {&op_scatter, "C2", {f({2}), f({2}), f({2})}, gather(0, "clip"), true, "needed i32"},
      {&op_scatter, "C3", {f({2}), idx, idx}, gather(0, "clip"), true, "differ in dtype"},
      {&op_scatter, "C4", {f({2}), idx, f({3})}, gather(0, "clip"), false, "another shape"},
      {&op_scatter, "C5", {f({2}), idx, f({2})}, gather(-1, "clip"), false, "axis out of range"},
      {&op_scatter, "C6", {f({2}), idx, f({2})}, gather(0, "add"), false, "unknown mode"},
      {&op_dot_general, "C1", {f({2, 3}), t(DType::i32, {3, 2})}, nn, true, "differ in dtype"},
      {&op_dot_general,
       "C2",
       {f({2, 3}), f({3, 2})},
       Attributes::of(DotAttributes{{1}, {0}, {1}, {0}}),
       false,
       "named twice"},
      {&op_dot_general, "C3", {f({2, 3}), f({4, 2})}, nn, false, "contract extents differ"},
      {&op_dynamic_slice, "C1", {f({2}), f({1})}, slice_of_1, true, "needed i32"},
      {&op_dynamic_slice, "C2", {f({2}), idx}, slice_of_1, false, "one start per axis"},
      {&op_dynamic_slice,
       "C3",
       {f({2}), start},
       Attributes::of(DynamicSliceAttributes{{3}}),
       false,
       "does not fit"},
      {&op_dynamic_update_slice, "C1", {f({2}), f({1}), f({1})}, {}, true, "needed i32"},
      {&op_dynamic_update_slice, "C2", {f({2}), idx, f({1})}, {}, false, "one start per axis"},
      {&op_dynamic_update_slice, "C3", {f({2}), start, start}, {}, true, "differ in dtype"},
      {&op_dynamic_update_slice, "C4", {f({2}), start, f({3})}, {}, false, "does not fit"},
      {&op_conv_general,
       "C1",
       {f({1, 1, 2}), t(DType::i32, {1, 1, 2})},
       conv(plain),
       true,
       "differ in dtype"},
      {&op_conv_general,
       "C2",
       {f({1, 1, 2}), f({1, 1})},
       conv(plain),
       false,
       "[out, channels, ..]"},
      {&op_conv_general,
       "C3",
       {f({1, 1, 2}), f({1, 1, 2})},
       conv({{0}, {0}, {0}, {1}, {1}}),
       false,
       "too small"},
      {&op_conv_general, "C4", {f({1, 2, 2}), f({3, 1, 2})}, conv(grouped), false, "equal size"},
      {&op_conv_general,
       "C5",
       {f({1, 4, 2}), f({2, 1, 2})},
       conv(grouped),
       false,
       "channels differ"},
      {&op_conv_general,
       "C6",
       {f({1, 1, 2}), f({1, 1, 0})},
       conv(plain),
       false,
       "window of nothing"},
      {&op_argsort, "C1", {f({2})}, order(1, 2), false, "axis out of range"},
      {&op_argsort, "C2", {f({2})}, order(0, 3), false, "no such number"},
      {&op_rng_bits, "C1", {idx, counter}, four, true, "needed u32"},
      {&op_rng_bits, "C2", {key, key}, four, false, "a counter four"},
      {&op_rng_bits,
       "C3",
       {key, counter},
       Attributes::of(RandomAttributes{{-1}}),
       false,
       "negative extent"},
      {&op_random_uniform, "C1", {idx, counter}, four, true, "needed u32"},
      {&op_random_uniform, "C2", {key, key}, four, false, "a counter four"},
      {&op_random_uniform,
       "C3",
       {key, counter},
       Attributes::of(RandomAttributes{{-1}}),
       false,
       "negative extent"},
      {&op_random_normal, "C1", {idx, counter}, four, true, "needed u32"},
      {&op_random_normal, "C2", {key, key}, four, false, "a counter four"},
      {&op_random_normal,
       "C3",
       {key, counter},
       Attributes::of(RandomAttributes{{-1}}),
       false,
       "negative extent"},
      {&op_take_along_axis, "C1", {f({2}), f({2})}, gather(0, "clip"), true, "needed i32"},
      {&op_take_along_axis, "C2", {f({2}), idx}, gather(1, "clip"), false, "axis out of range"},
      {&op_take_along_axis, "C3", {f({2}), idx}, gather(0, "wrap"), false, "unknown mode"},
      {&op_take_along_axis, "C4", {f({2, 3}), idx}, gather(0, "clip"), false, "but along the axis"},
      {&op_sort, "C1", {f({2})}, Attributes::of(SortAttributes{1}), false, "axis out of range"},
      {&op_top_k, "C1", {f({})}, Attributes::of(TopKAttributes{1}), false, "no last axis"},
      {&op_top_k, "C2", {f({2})}, Attributes::of(TopKAttributes{3}), false, "no such number"},
      {&op_max_pool, "C1", {pred}, pool({{2}, {1}, {0}, {0}}), true, "unsupported dtype"},
      {&op_max_pool,
       "C2",
       {f({2})},
       pool({{2, 2}, {1, 1}, {0, 0}, {0, 0}}),
       false,
       "more spatial axes"},
      {&op_max_pool, "C3", {f({2})}, pool({{2}, {1}, {-1}, {0}}), false, "too small"},
      {&op_avg_pool, "C1", {idx}, average({{2}, {1}, {0}, {0}}), true, "unsupported dtype"},
      {&op_avg_pool, "C2", {f({2})}, average({{2}, {1, 1}, {0}, {0}}), false, "one entry per axis"},
      {&op_avg_pool, "C3", {f({2})}, average({{0}, {1}, {0}, {0}}), false, "too small"},
      {&op_conv_transpose,
       "C1",
       {f({1, 2, 2}), t(DType::i32, {2, 1, 2})},
       upscale(up),
       true,
       "differ in dtype"},
      {&op_conv_transpose,
       "C2",
       {f({1, 2, 2}), f({2, 1})},
       upscale(up),
       false,
       "[channels, out, ..]"},
      {&op_conv_transpose,
       "C3",
       {f({1, 2, 2}), f({2, 1, 2})},
       upscale({{1}, {0}, {0}, {0, 0}, {1}, 2}),
       false,
       "one entry per axis"},
      {&op_conv_transpose,
       "C4",
       {f({1, 3, 2}), f({3, 1, 2})},
       upscale(up),
       false,
       "channels differ"},
      {&op_conv_transpose,
       "C5",
       {f({1, 2, 2}), f({2, 1, 0})},
       upscale(up),
       false,
       "window of nothing"},
      {&op_narrow, "C1", {t(DType::i32, {2})}, {}, true, "i64"},
      {&op_checked_add, "C1", {pred, pred}, {}, true, "i32 and floats"},
      {&op_checked_add, "C2", {f({2}), f({3})}, {}, false, ""},
      {&op_checked_mul, "C1", {f({2}), t(DType::i32, {2})}, {}, true, "differ in dtype"},
      {&op_checked_mul, "C2", {f({2}), f({3})}, {}, false, ""},
      {&op_checked_elementwise_mul, "C1", {pred, pred}, {}, true, "i32 and floats"},
      {&op_checked_elementwise_mul, "C2", {f({2}), f({3})}, {}, false, ""},
      {&op_checked_reduce_sum,
       "C1",
       {t(DType::i64, {2})},
       total(0, DType::f32),
       true,
       "i32 and floats"},
      {&op_checked_reduce_sum, "C2", {f({2})}, total(1, DType::f32), false, ""},
      {&op_checked_reduce_sum, "C3", {f({2})}, total(0, DType::f16), true, "f32 or f64"},
      {&op_checked_matmul,
       "C1",
       {t(DType::i8, {2, 2}), t(DType::i8, {2, 2})},
       product(DType::f32),
       true,
       "i32 and floats"},
      {&op_checked_matmul, "C2", {f({2}), f({2, 2})}, product(DType::f32), false, "matrices"},
      {&op_checked_matmul,
       "C3",
       {f({2, 3}), f({2, 3})},
       product(DType::f32),
       false,
       "K is 3 from x and 2 from y"},
      {&op_checked_matmul,
       "C4",
       {t(DType::i32, {2, 3}), t(DType::i32, {3, 2})},
       product(DType::bf16),
       true,
       "needed f32 or f64"},
      {&op_matmul, "C1", {f({2, 3}), t(DType::i32, {3, 2})}, {}, true, "differ in dtype"},
      {&op_matmul, "C2", {f({3}), f({3, 2})}, {}, false, "rank 2"},
      {&op_matmul, "C3", {f({2, 3}), f({4, 2})}, {}, false, "K is 3 from x and 4 from y"},
      {&op_matmul, "C4", {f({2, 2, 3}), f({3, 3, 2})}, {}, false, "batch extents differ"},
      {&op_relu, "C1", {pred}, {}, true, "unsupported dtype"},
      {&op_gelu, "C1", {idx}, Attributes::of(GeluAttributes{}), true, "unsupported dtype"},
      {&op_layer_norm,
       "C1",
       {idx, idx, idx},
       Attributes::of(LayerNormAttributes{}),
       true,
       "unsupported dtype"},
      {&op_layer_norm,
       "C2",
       {f({}), f({}), f({})},
       Attributes::of(LayerNormAttributes{}),
       false,
       "no last axis"},
      {&op_layer_norm,
       "C3",
       {f({2, 3}), f({2}), f({3})},
       Attributes::of(LayerNormAttributes{}),
       false,
       "vectors of the last extent"},
      {&op_layer_norm,
       "C4",
       {f({3}), f({3}), f({3})},
       Attributes::of(LayerNormAttributes{-1.0}),
       false,
       "epsilon"},
      {&op_mean, "C1", {idx}, axes({0}), true, "unsupported dtype"},
      {&op_mean, "C2", {f({2})}, axes({1}), false, "axis out of range"},
      {&op_cross_entropy, "C1", {t(DType::i32, {2, 3}), idx}, {}, true, "unsupported dtype"},
      {&op_cross_entropy, "C2", {f({2, 3}), f({2})}, {}, true, "needed i32"},
      {&op_cross_entropy, "C3", {f({2, 3}), t(DType::i32, {3})}, {}, false, "one label per row"},
  };
  for (const Operation* op : {&op_argmax, &op_argmin}) {
    all.push_back({op, "C1", {pred}, axis(0), true, "unsupported dtype"});
    all.push_back({op, "C2", {f({2})}, axis(1), false, "axis out of range"});
    all.push_back({op, "C3", {f({2, 0})}, axis(1), false, "nothing wins"});
  }
  const Attributes attention = Attributes::of(AttentionAttributes{});
  const auto cut = [](std::vector<Type> types, std::size_t i, Type other) {
    types[i] = std::move(other);
    return types;
  };
  for (const Operation* op :
       {&op_attention, &op_attention_gradient, &op_attention_dq, &op_attention_dkv}) {
    std::vector<Type> good{f({2, 3, 4}), f({2, 5, 4}), f({2, 5, 6})};
    if (op != &op_attention) {
      good.insert(good.end(), {f({2, 3}), f({2, 3, 6}), f({2, 3})});
      all.push_back({op, "C3", cut(good, 3, f({2, 5})), attention, false, "one logsumexp"});
      all.push_back({op, "C3", cut(good, 4, f({2, 3, 4})), attention, false, "cotangent has"});
      all.push_back({op, "C3", cut(good, 5, f({3})), attention, false, "one delta"});
      all.push_back({op, "C3", cut(good, 1, f({2, 5, 3})), attention, false, "as deep as"});
    } else {
      all.push_back({op, "C3", cut(good, 1, f({1, 5, 4})), attention, false, "as many heads"});
      all.push_back({op, "C4", cut(good, 2, f({2, 4, 6})), attention, false, "one value for each"});
    }
    all.push_back({op, "C1", std::vector<Type>(good.size(), idx), attention, true, "unsupported"});
    all.push_back({op, "C2", cut(good, 0, f({3, 4})), attention, false, "[heads, tokens, depth]"});
  }
  for (const Operation* op : {&op_softmax, &op_log_softmax, &op_logsumexp}) {
    all.push_back({op, "C1", {idx}, axis(0), true, "unsupported dtype"});
    all.push_back({op, "C2", {f({2})}, axis(1), false, "axis out of range"});
  }
  for (const Operation* op : {&op_reduce_sum, &op_reduce_prod, &op_reduce_max, &op_reduce_min,
                              &op_reduce_any, &op_reduce_all}) {
    const bool truth = op == &op_reduce_any || op == &op_reduce_all;
    all.push_back({op, "C1", {truth ? idx : pred}, axes({0}), true, "unsupported dtype"});
    all.push_back({op, "C2", {truth ? pred : f({2})}, axes({1}), false, "axis out of range"});
  }
  for (const Operation* op : {&op_cumsum, &op_cumprod, &op_cummax, &op_cummin}) {
    const auto along = [](std::int64_t a) { return Attributes::of(CumulativeAttributes{a}); };
    all.push_back({op, "C1", {pred}, along(0), true, "unsupported dtype"});
    all.push_back({op, "C2", {f({2})}, along(1), false, "axis out of range"});
  }
  for (const Operation* op :
       {&op_reduce_window_sum, &op_reduce_window_max, &op_reduce_window_min}) {
    all.push_back({op, "C1", {pred}, window(pairs), true, "unsupported dtype"});
    all.push_back({op, "C2", {f({2, 2})}, window(pairs), false, "one entry per axis"});
    all.push_back({op, "C3", {f({2})}, window({{0}, {1}, {0}, {0}, {1}, {1}}), false, "too small"});
  }
  return all;
}

/// Elementwise records share their constraints: C1 the dtype, C2 (of two operands) the shape.
std::vector<Broken> elementwise() {
  std::vector<Broken> all;
  for (const Operation* op : built_in_operations()) {
    if (op->strict.pattern != Pattern::elementwise && op != &op_silu) continue;
    const std::size_t n = op->strict.roles.size();
    if (op == &op_compare || op == &op_convert || op == &op_bitcast || n > 2) continue;
    const bool bits = op == &op_not_ || op == &op_and_ || op == &op_or_ || op == &op_xor_;
    const bool shift = op == &op_shl || op == &op_shr;
    const Type bad = bits || shift ? f({2}) : t(DType::boolean, {2});
    const Type good = bits ? t(DType::boolean, {2}) : shift ? t(DType::i32, {2}) : f({2});
    all.push_back({op, "C1", std::vector<Type>(n, bad), {}, true, "unsupported dtype"});
    if (n == 2) {
      const DType other = op == &op_atan2 ? DType::f64 : DType::i64;
      all.push_back({op, "C1", {good, t(other, {2})}, {}, true, "differ in dtype"});
      all.push_back({op, "C2", {good, {good.dtype, {3}}}, {}, false, "differ in shape"});
    }
  }
  return all;
}

std::vector<Broken> all_broken() {
  std::vector<Broken> all = by_hand();
  for (Broken& b : elementwise()) all.push_back(std::move(b));
  return all;
}

TEST(constraints, each_has_its_words) {
  for (const Broken& b : all_broken()) {
    SCOPED_TRACE(std::string(b.op->name) + " " + b.constraint);
    try {
      program_of(*b.op, b.operands, b.attributes);
      ADD_FAILURE() << "accepted";
    } catch (const Error& e) {
      EXPECT_EQ(dynamic_cast<const TypeError*>(&e) != nullptr, b.type_error) << e.what();
      EXPECT_EQ(dynamic_cast<const ValueError*>(&e) != nullptr, !b.type_error) << e.what();
      EXPECT_NE(std::string(e.what()).find(b.words), std::string::npos) << e.what();
      EXPECT_EQ(e.detail().operation, b.op->name);
    }
  }
}

TEST(constraints, none_is_untested) {
  std::set<std::string> tested;
  for (const Broken& b : all_broken()) tested.insert(std::string(b.op->name) + b.constraint);
  for (const Operation* op : built_in_operations()) {
    const std::string text(op->strict.text);
    for (int c = 1; c < 10; ++c) {
      const std::string name = "C" + std::to_string(c);
      if (text.find("\n" + name + " ") == std::string::npos) continue;
      EXPECT_TRUE(tested.count(std::string(op->name) + name)) << op->name << " " << name;
    }
  }
}

TEST(constraints, operand_counts_are_checked) {
  for (const Operation* op : built_in_operations()) {
    if (op == &op_constant || op->strict.variadic) continue;
    const Workload row = op->strict.workloads().at(0);
    std::vector<Type> more = row.operands;
    more.push_back(f({2}));
    try {
      program_of(*op, more, row.attributes);
      ADD_FAILURE() << op->name << " takes one operand too many";
    } catch (const TypeError& e) {
      EXPECT_NE(std::string(e.what()).find("wrong number of operands"), std::string::npos)
          << e.what();
    }
  }
}

TEST(constraints, attributes_are_checked) {
  for (const Operation* op : built_in_operations()) {
    const Workload row = op->strict.workloads().at(0);
    if (row.attributes.empty()) continue;
    EXPECT_THROW(program_of(*op, row.operands), TypeError) << op->name << " without attributes";
    std::vector<Attributes::Entry> entries = row.attributes.entries();
    entries.push_back({"unheard_of", true});
    EXPECT_THROW(program_of(*op, row.operands, Attributes(entries)), TypeError) << op->name;
  }
}

}  // namespace
}  // namespace heddle::ops_test
