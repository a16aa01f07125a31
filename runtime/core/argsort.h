// The order of numbers along fibres: what a kernel that sorts calls. It allocates nothing.
#ifndef HEDDLE_RUNTIME_CORE_ARGSORT_H_
#define HEDDLE_RUNTIME_CORE_ARGSORT_H_

#include <stddef.h>
#include <stdint.h>

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

}  // namespace hdkernel

#endif  // HEDDLE_RUNTIME_CORE_ARGSORT_H_
