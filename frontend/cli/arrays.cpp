#include "heddle/frontend/cli/arrays.h"

#include "heddle/graph/error.h"
#include "heddle/runtime/npy.h"

namespace heddle::cli {
namespace {

Literal literal_of(NpyArray array) {
  Dims dims(array.shape.begin(), array.shape.end());
  return literal_from_bytes({array.dtype, std::move(dims)}, std::move(array.data));
}

// "all.npz:x" names a member; a file name may itself hold a colon elsewhere.
std::pair<std::string, std::string> split_member(const std::string& path, const std::string& name) {
  const std::size_t colon = path.rfind(".npz:");
  if (colon == path.npos) return {path, name};
  return {path.substr(0, colon + 4), path.substr(colon + 5)};
}

Literal read_member(const std::string& path, const std::string& member) {
  std::string known;
  for (auto& [name, array] : read_npz(path)) {
    if (name == member) return literal_of(std::move(array));
    known += (known.empty() ? "" : ", ") + name;
  }
  throw ValueError({.message = path + ": no array '" + member + "'; there are: " + known});
}

}  // namespace

Literal read_array(const std::string& path, const std::string& name) {
  const auto [file, member] = split_member(path, name);
  try {
    return file.ends_with(".npz") ? read_member(file, member) : literal_of(read_npy(file));
  } catch (const NpyError& e) {
    throw ParseError({.message = e.what()});
  }
}

void write_arrays(const std::string& path,
                  const std::vector<std::pair<std::string, Literal>>& arrays) {
  NpyArrays all;
  for (const auto& [name, literal] : arrays) {
    all.push_back(
        {name, {literal.type.dtype, constant_extents(literal.type.dims), *literal.bytes}});
  }
  try {
    write_npz(path, all);
  } catch (const NpyError& e) {
    throw RuntimeError({.message = e.what()});
  }
}

}  // namespace heddle::cli
