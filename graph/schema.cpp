#include "heddle/graph/schema.h"

#include <deque>
#include <mutex>

#include "heddle/graph/error.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

// Specs are few, are made once, and are named by definitions that are never freed.
template <class T>
const T& kept(T value) {
  static std::mutex mutex;
  static std::deque<T>* const all = new std::deque<T>;
  const std::lock_guard lock(mutex);
  return all->emplace_back(std::move(value));
}

}  // namespace

namespace internal {

void fail_name(std::string_view what, std::string_view name) {
  throw ValueError({.message = "the name of " + std::string(what) +
                               " is an identifier: a letter or _, then letters, digits and _",
                    .field = "name",
                    .found = "'" + std::string(name) + "'"});
}

void fail_schema(std::string_view rule, std::string_view name) {
  throw ValueError({.message = std::string(rule),
                    .field = "schema",
                    .found = name.empty() ? "" : "'" + std::string(name) + "'"});
}

std::string_view keep_name(std::string_view name) { return intern_file(name); }
const Attribute* keep_attribute(Attribute value) { return &kept(std::move(value)); }

}  // namespace internal

template <class Spec>
std::span<const Spec> SpecList<Spec>::keep(std::vector<Spec> specs) {
  return kept(std::move(specs));
}
template class SpecList<OperandSpec>;
template class SpecList<OptionSpec>;

}  // namespace heddle
