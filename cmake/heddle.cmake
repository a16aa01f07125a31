# Helpers shared by every folder: one library target per folder, one test program per test folder.

set(HEDDLE_FOLDERS runtime graph schedule backends frontend)

add_library(heddle_options INTERFACE)
target_compile_options(heddle_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers -Werror>
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Werror>)
# g++ 12 sees overflows in the string library that are not there, when it inlines more (GCC bug 105651).
target_compile_options(heddle_options INTERFACE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds -Wno-stringop-overread>)
target_include_directories(heddle_options INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
if(HEDDLE_SANITIZE)
  # Not the null checks: with them g++ 12 no longer compares a function's address with null at compile time, as define_op does.
  target_compile_options(heddle_options INTERFACE -fsanitize=address,undefined -fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute
    -fno-omit-frame-pointer)
  target_link_options(heddle_options INTERFACE -fsanitize=address,undefined)
endif()
if(HEDDLE_VERIFY)
  target_compile_definitions(heddle_options INTERFACE HEDDLE_VERIFY=1)
endif()

# Includes are spelled "heddle/<folder>/<file>.h" in the tree as after an install: a folder of links.
function(heddle_include_view)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/heddle)
  foreach(folder IN LISTS HEDDLE_FOLDERS)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/include/heddle/${folder} SYMBOLIC)
  endforeach()
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/frontend/heddle.h ${PROJECT_BINARY_DIR}/include/heddle/heddle.h SYMBOLIC)
endfunction()

# What nearly every source includes: read once per library.
set(HEDDLE_STANDARD_HEADERS <algorithm> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <tuple>
    <variant> <vector>)

# heddle_library(graph DEPENDS heddle_runtime absl::strings EXCLUDE halide cli)
# All .cpp files of the folder and its subfolders, less the excluded subfolders, make one static library heddle_<name>.
function(heddle_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(folder IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
  endforeach()
  add_library(heddle_${name} STATIC ${sources})
  # Warnings as errors are the house's own; who links the library gets the headers alone.
  target_link_libraries(heddle_${name} PRIVATE $<BUILD_INTERFACE:heddle_options> PUBLIC ${ARG_DEPENDS})
  target_include_directories(heddle_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_precompile_headers(heddle_${name} PRIVATE ${HEDDLE_STANDARD_HEADERS})
  set_property(GLOBAL APPEND PROPERTY HEDDLE_INSTALLED heddle_${name})
endfunction()

# heddle_test(graph DEPENDS heddle_graph): every .cpp of tests/<name> in one program, one ctest entry per TEST; label = name, or LABEL.
# LONG: those whose suite begins with Long have the label long instead.
function(heddle_test name)
  cmake_parse_arguments(ARG "LONG" "PREFIX;LABEL" "DEPENDS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL ${name})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE ${ARG_DEPENDS} heddle_options GTest::gtest_main)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(test_${name} PRIVATE HEDDLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HEDDLE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_precompile_headers(test_${name} PRIVATE <gtest/gtest.h> <string> <vector>)
  # A cache of the build's own: tests leave the user's alone.
  set(short "")
  if(ARG_LONG)
    set(short TEST_FILTER "-Long*")
    gtest_discover_tests(test_${name} DISCOVERY_TIMEOUT 60 TEST_PREFIX "${ARG_PREFIX}" TEST_FILTER "Long*" TEST_LIST ${name}_long
      PROPERTIES LABELS long ENVIRONMENT "HEDDLE_CACHE=${PROJECT_BINARY_DIR}/test-cache")
  endif()
  gtest_discover_tests(test_${name} DISCOVERY_TIMEOUT 60 TEST_PREFIX "${ARG_PREFIX}" ${short}
    PROPERTIES LABELS ${ARG_LABEL} ENVIRONMENT "HEDDLE_CACHE=${PROJECT_BINARY_DIR}/test-cache")
endfunction()
