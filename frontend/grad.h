// Derivatives by name: grad(program, {"w", "b"}).
#ifndef HEDDLE_FRONTEND_GRAD_H_
#define HEDDLE_FRONTEND_GRAD_H_

#include <string>
#include <vector>

#include "heddle/graph/ad/transforms.h"

namespace heddle {

using NameList = std::vector<std::string>;

inline Program grad(const Program& program, const std::string& name) {
  return grad(program, NameList{name});
}
inline Program value_and_grad(const Program& program, const std::string& name) {
  return value_and_grad(program, NameList{name});
}
inline Program jvp(const Program& program, const std::string& name) {
  return jvp(program, NameList{name});
}
inline Program vjp(const Program& program, const std::string& name) {
  return vjp(program, NameList{name});
}
inline Program hvp(const Program& program, const std::string& name) {
  return hvp(program, NameList{name});
}

}  // namespace heddle

#endif  // HEDDLE_FRONTEND_GRAD_H_
