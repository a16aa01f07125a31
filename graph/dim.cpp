#include "heddle/graph/dim.h"

#include "heddle/graph/error.h"

namespace heddle {
namespace {

[[noreturn]] void overflow() { throw OverflowError({.message = "an extent does not fit 64 bits"}); }

std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) overflow();
  return sum;
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) overflow();
  return product;
}

}  // namespace

Dim Dim::symbol(std::string_view name) {
  Dim d;
  d.terms_.push_back({std::string(name), 1});
  return d;
}

std::int64_t Dim::constant() const {
  if (!is_constant()) {
    throw NotImplementedError(
        {.message = "a constant extent is needed here", .found = to_text(*this)});
  }
  return constant_;
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim sum(add(a.constant_, b.constant_));
  auto x = a.terms_.begin(), y = b.terms_.begin();
  while (x != a.terms_.end() || y != b.terms_.end()) {
    if (y == b.terms_.end() || (x != a.terms_.end() && x->first < y->first)) {
      sum.terms_.push_back(*x++);
    } else if (x == a.terms_.end() || y->first < x->first) {
      sum.terms_.push_back(*y++);
    } else {
      const std::int64_t coefficient = add(x->second, y->second);
      if (coefficient != 0) sum.terms_.push_back({x->first, coefficient});
      ++x, ++y;
    }
  }
  return sum;
}

Dim operator*(std::int64_t factor, const Dim& d) {
  if (factor == 0) return 0;
  Dim product = d;
  product.constant_ = multiply(product.constant_, factor);
  for (Dim::Term& t : product.terms_) t.second = multiply(t.second, factor);
  return product;
}

Dim operator-(const Dim& a, const Dim& b) { return a + (-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant()) return a.constant_ * b;
  if (b.is_constant()) return b.constant_ * a;
  throw NotImplementedError(
      {.message = "extents are affine: a product of two symbolic extents has no form",
       .found = to_text(a) + " * " + to_text(b)});
}

std::int64_t evaluate(const Dim& dim, const Bindings& bindings) {
  std::int64_t value = dim.offset();
  for (const auto& [name, coefficient] : dim.terms()) {
    auto it = bindings.find(name);
    if (it == bindings.end()) {
      throw ValueError({.message = "symbol '" + name + "' has no value", .found = to_text(dim)});
    }
    value = add(value, multiply(coefficient, it->second));
  }
  return value;
}

std::string to_text(const Dim& dim) {
  std::string text;
  for (const auto& [name, coefficient] : dim.terms()) {
    if (!text.empty() && coefficient > 0) text += '+';
    if (coefficient == -1) text += '-';
    if (coefficient != 1 && coefficient != -1) text += std::to_string(coefficient) + "*";
    text += name;
  }
  if (text.empty()) return std::to_string(dim.offset());
  if (dim.offset() > 0) text += "+";
  if (dim.offset() != 0) text += std::to_string(dim.offset());
  return text;
}

std::string to_text(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + to_text(dims[i]);
  return text + "]";
}

Dim element_count(const Dims& dims) {
  Dim count = 1;
  for (const Dim& d : dims) count = count * d;
  return count;
}

std::vector<std::int64_t> constant_extents(const Dims& dims) {
  std::vector<std::int64_t> extents;
  for (const Dim& d : dims) extents.push_back(d.constant());
  return extents;
}

}  // namespace heddle
