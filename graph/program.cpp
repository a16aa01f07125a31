#include "heddle/graph/program.h"

#include <set>

#include "absl/strings/str_join.h"
#include "heddle/graph/text.h"

namespace heddle {
namespace {

template <class Named>
std::string names(std::span<const Named> items) {
  std::string text;
  for (const Named& item : items) text += (text.empty() ? "" : ", ") + item.name;
  return text.empty() ? "none" : text;
}

template <class Named>
const Named& find_named(std::span<const Named> items, std::string_view name, std::string_view kind,
                        std::string_view owner) {
  for (const Named& item : items) {
    if (item.name == name) return item;
  }
  throw ValueError({.message = "no " + std::string(kind) + " '" + std::string(name) + "' in " +
                               std::string(owner) + "; there are: " + names(items)});
}

}  // namespace

Program::Program(std::vector<Function> functions) {
  std::set<std::string_view> seen;
  for (const Function& f : functions) {
    if (!seen.insert(f.name).second) {
      throw ValueError({.message = "a program holds function '" + f.name + "' twice"});
    }
  }
  functions_ = std::make_shared<const std::vector<Function>>(std::move(functions));
}

const Function& Program::entry() const {
  if (functions_->empty()) throw ValueError({.message = "the program holds no function"});
  return functions_->front();
}

const Function* Program::find(std::string_view name) const {
  for (const Function& f : *functions_) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

const Function& Program::at(std::string_view name) const {
  return find_named(functions(), name, "function", "the program");
}

std::array<std::uint8_t, 32> Program::hash() const {
  const std::string text = to_text(*this, {.hash_constants = true});
  return sha256(std::as_bytes(std::span(text)));
}

std::vector<std::uint32_t> definitions(const Function& function) {
  std::vector<std::uint32_t> node_of(function.types.size(), kNoNode);
  for (std::uint32_t n = 0; n < function.nodes.size(); ++n) {
    for (ValueId r : function.nodes[n].results) node_of[r.index] = n;
  }
  return node_of;
}

std::vector<std::uint32_t> use_counts(const Function& function) {
  std::vector<std::uint32_t> uses(function.types.size(), 0);
  for (const Node& node : function.nodes) {
    for (ValueId o : node.operands) ++uses[o.index];
  }
  for (const Output& o : function.outputs) ++uses[o.value.index];
  return uses;
}

ValueId input_value(const Function& function, std::string_view name) {
  return find_named(std::span(function.inputs), name, "input", "@" + function.name).value;
}

ValueId output_value(const Function& function, std::string_view name) {
  return find_named(std::span(function.outputs), name, "output", "@" + function.name).value;
}

}  // namespace heddle
