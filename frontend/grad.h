// Differentiation by one name, or by names in braces; graph/ad/transforms.h has the rest.
//
//   hd::Program g = hd::grad(f, "x"), h = hd::grad(f, {"w", "b"});
#ifndef HEDDLE_FRONTEND_GRAD_H_
#define HEDDLE_FRONTEND_GRAD_H_

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/graph/ad/transforms.h"

namespace heddle {

using NameList = std::vector<std::string>;
/// A literal, a string or a view. (Two literals in braces are a list, not the ends of a string.)
template <class T>
concept OneName = std::convertible_to<const T&, std::string_view>;

template <OneName T>
Program grad(const Program& program, const T& name) {
  return grad(program, NameList{std::string(name)});
}
inline Program grad(const Program& program, std::initializer_list<std::string> names) {
  return grad(program, NameList(names));
}
template <OneName T>
Program value_and_grad(const Program& program, const T& name) {
  return value_and_grad(program, NameList{std::string(name)});
}
inline Program value_and_grad(const Program& program, std::initializer_list<std::string> names) {
  return value_and_grad(program, NameList(names));
}
template <OneName T>
Program jvp(const Program& program, const T& name) {
  return jvp(program, NameList{std::string(name)});
}
inline Program jvp(const Program& program, std::initializer_list<std::string> names) {
  return jvp(program, NameList(names));
}
template <OneName T>
Program vjp(const Program& program, const T& name) {
  return vjp(program, NameList{std::string(name)});
}
inline Program vjp(const Program& program, std::initializer_list<std::string> names) {
  return vjp(program, NameList(names));
}
template <OneName T>
Program hvp(const Program& program, const T& name) {
  return hvp(program, NameList{std::string(name)});
}
inline Program hvp(const Program& program, std::initializer_list<std::string> names) {
  return hvp(program, NameList(names));
}

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_GRAD_H_
