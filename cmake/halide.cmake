# Halide 21.0.0 from its wheel, as an imported target (its own package file wants a newer CMake). Only heddle-kernelc links it.
# HALIDE_ROOT: the folder of the Python package `halide`; ./dev passes it.
if(NOT HALIDE_ROOT)
  file(GLOB candidates ${PROJECT_BINARY_DIR}/venv/lib/python3*/site-packages/halide
                       ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/halide)
  list(APPEND candidates "")
  list(GET candidates 0 HALIDE_ROOT)
endif()
set(HALIDE_ROOT "${HALIDE_ROOT}" CACHE PATH "The halide package of a Python environment")
if(NOT EXISTS "${HALIDE_ROOT}/lib64/libHalide.so")
  message(FATAL_ERROR "Halide 21.0.0 not found in HALIDE_ROOT='${HALIDE_ROOT}'. Run ./dev, or pip install halide==21.0.0 "
                      "into build/venv and pass -DHALIDE_ROOT=<site-packages>/halide.")
endif()
find_package(Threads REQUIRED)
add_library(Halide::Halide SHARED IMPORTED)
set_target_properties(Halide::Halide PROPERTIES
  IMPORTED_LOCATION "${HALIDE_ROOT}/lib64/libHalide.so"
  INTERFACE_INCLUDE_DIRECTORIES "${HALIDE_ROOT}/include"
  INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS}")

# Part of every cache key.
file(STRINGS "${HALIDE_ROOT}/include/Halide.h" halide_version_lines REGEX "^#define HALIDE_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
string(REGEX REPLACE "[^0-9]+" "." HALIDE_VERSION "${halide_version_lines}")
string(REGEX REPLACE "^\\.|\\.$" "" HALIDE_VERSION "${HALIDE_VERSION}")
