// Sources and objects of the runtime that this library carries along (made by cmake/embed.cmake).
#ifndef HEDDLE_BACKENDS_ARTIFACT_EMBEDDED_H_
#define HEDDLE_BACKENDS_ARTIFACT_EMBEDDED_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace heddle {

/// runtime/core/abi.h.
std::string_view abi_source();
/// The whole core in one C++ source, in its strict dialect.
std::string_view core_source();
/// runtime/device/opencl.cc and metal.cc behind what they include; the core has the rest.
std::string_view opencl_source();
std::string_view metal_source();
/// runtime/core/halide_glue.cc behind abi.h.
std::string_view glue_source();
/// The glue, compiled for this machine.
std::span<const std::byte> glue_object();

}  // namespace heddle

#endif  // HEDDLE_BACKENDS_ARTIFACT_EMBEDDED_H_
