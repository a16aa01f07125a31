// The order of numbers along fibres: what a kernel that sorts calls. It allocates nothing.
#ifndef HEDDLE_RUNTIME_CORE_ARGSORT_H_
#define HEDDLE_RUNTIME_CORE_ARGSORT_H_

#include "heddle/runtime/core/abi.h"

namespace hdkernel {

constexpr int kDigits = 256;
constexpr int64_t kShort = 32;  // up to here insertion is quicker than counting digits
constexpr int64_t kFew = 16;    // and for as many leading places

// The first `count` of the stable order of n keys, each key put where it belongs among those found.
template <class Key>
void insert_all(const Key* keys, int64_t n, int64_t count, int32_t* order) {
  int64_t held = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (held == count && !(keys[i] < keys[order[count - 1]])) continue;
    int64_t place = held < count ? held++ : count - 1;
    for (; place > 0 && keys[i] < keys[order[place - 1]]; --place) order[place] = order[place - 1];
    order[place] = static_cast<int32_t>(i);
  }
}

template <class Key>
int digit(Key key, int place) {
  return static_cast<int>(key >> (8 * place)) & (kDigits - 1);
}

// The keys that can be among the first `count`: those whose highest digit is not beyond that of the
// last of them. Their places, in order; how many there are.
template <class Key>
int64_t list_candidates(const Key* keys, int64_t n, int64_t count, int32_t* places) {
  if (count == n) {
    for (int64_t i = 0; i < n; ++i) places[i] = static_cast<int32_t>(i);
    return n;
  }
  constexpr int kTop = static_cast<int>(sizeof(Key)) - 1;
  int64_t counts[kDigits] = {};
  for (int64_t i = 0; i < n; ++i) ++counts[digit(keys[i], kTop)];
  int last = 0;
  for (int64_t sum = counts[0]; sum < count; sum += counts[last]) ++last;
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) {
    places[found] = static_cast<int32_t>(i);
    found += digit(keys[i], kTop) <= last;
  }
  return found;
}

// Nothing of these lies over another: told so, a compiler keeps loads ahead of stores.
template <class Key>
void scatter(const Key* keys, int64_t n, int pass, const int32_t* __restrict from,
             int32_t* __restrict starts, int32_t* __restrict to) {
  for (int64_t i = 0; i < n; ++i) {
    const int32_t place = from[i];
    to[starts[digit(keys[place], pass)]++] = place;
  }
}

// Sorts n places by their keys, one digit after the other, the lowest first; `spare` holds n more.
template <class Key>
void sort_by_digits(const Key* keys, int64_t n, int32_t* order, int32_t* spare) {
  constexpr int kPasses = static_cast<int>(sizeof(Key));
  int32_t counts[kPasses][kDigits] = {};
  for (int64_t i = 0; i < n; ++i) {
    for (int p = 0; p < kPasses; ++p) ++counts[p][digit(keys[order[i]], p)];
  }
  int32_t *from = order, *to = spare;
  for (int p = 0; p < kPasses; ++p) {
    if (counts[p][digit(keys[order[0]], p)] == n) continue;  // all have the same one
    int32_t start = 0;
    for (int d = 0; d < kDigits; ++d) {
      const int32_t here = counts[p][d];
      counts[p][d] = start;
      start += here;
    }
    scatter(keys, n, p, from, counts[p], to);
    int32_t* sorted = to;
    to = from;
    from = sorted;
  }
  for (int64_t i = 0; from != order && i < n; ++i) order[i] = from[i];
}

// The first `count` places of the stable order of n keys; `order` and `spare` have room for n.
template <class Key>
void sort_fibre(const Key* keys, int64_t n, int64_t count, int32_t* order, int32_t* spare) {
  if (n <= kShort || count <= kFew) return insert_all(keys, n, count, order);
  sort_by_digits(keys, list_candidates(keys, n, count, order), order, spare);
}

// ---- as an extern stage of Halide ----

// A buffer of an extern stage without memory asks which region is wanted.
inline bool is_question(const hd_kernel_buffer* b) { return !b->host && !b->device; }

inline void ask_for_fibres(hd_kernel_buffer* keys, const hd_kernel_buffer* order, int32_t length) {
  keys->dim[0].min = 0;
  keys->dim[0].extent = length;
  for (int a = 1; a < order->dimensions; ++a) {
    keys->dim[a].min = order->dim[a].min;
    keys->dim[a].extent = order->dim[a].extent;
  }
}

inline uint8_t* row(const hd_kernel_buffer* b, int axis, int32_t place) {
  const hd_kernel_dimension& d = b->dim[axis];
  return b->host + int64_t{place - d.min} * d.stride * ((b->bits + 7) / 8);
}

// Axis by axis from the outermost one; axis 0 is the fibre.
template <class Key>
void sort_axes(hd_kernel_buffer keys, int32_t count, hd_kernel_buffer order, hd_kernel_buffer spare,
               int axis) {
  if (axis == 0) {
    return sort_fibre(reinterpret_cast<const Key*>(keys.host), keys.dim[0].extent, count,
                      reinterpret_cast<int32_t*>(order.host),
                      reinterpret_cast<int32_t*>(spare.host));
  }
  hd_kernel_buffer k = keys, o = order, s = spare;
  for (int32_t i = 0; i < order.dim[axis].extent; ++i) {
    const int32_t place = order.dim[axis].min + i;
    k.host = row(&keys, axis, place), o.host = row(&order, axis, place);
    s.host = row(&spare, axis, place);
    sort_axes<Key>(k, count, o, s, axis - 1);
  }
}

inline int sort_stage(hd_kernel_buffer* keys, int32_t length, int32_t count,
                      hd_kernel_buffer* order, hd_kernel_buffer* spare) {
  if (is_question(keys) || is_question(order)) {
    ask_for_fibres(keys, order, length);
    return 0;
  }
  const int last = order->dimensions - 1;
  if (keys->bits == 8) sort_axes<uint8_t>(*keys, count, *order, *spare, last);
  if (keys->bits == 16) sort_axes<uint16_t>(*keys, count, *order, *spare, last);
  if (keys->bits == 32) sort_axes<uint32_t>(*keys, count, *order, *spare, last);
  if (keys->bits == 64) sort_axes<uint64_t>(*keys, count, *order, *spare, last);
  return 0;
}

}  // namespace hdkernel

#endif  // HEDDLE_RUNTIME_CORE_ARGSORT_H_
