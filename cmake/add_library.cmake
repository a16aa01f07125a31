# heddle_add_library(digits SOURCE digits_model.cpp TARGETS host arm-64-linux arm-64-osx)
#
# Builds the model's program, runs it when the build needs it (it traces, differentiates, compiles and exports), and gives a target
# `digits` to link: the static library for the first target's machine, with the folder of its header. Further targets of that machine are
# feature sets of the same library. Each other machine has its library in a target of its own, `digits-arm-64-osx`, for programs that are
# built for it; HEDDLE_ZIG names zig, which makes them, where it is not on the PATH. `digits_export` is the step alone; the files lie in
# ${CMAKE_CURRENT_BINARY_DIR}/digits_library/ and, for the other machines, in folders there of their names.
function(heddle_add_library name)
  cmake_parse_arguments(ARG "" "SOURCE" "TARGETS;LIBRARIES" ${ARGN})
  if(NOT ARG_SOURCE)
    message(FATAL_ERROR "heddle_add_library(${name}): SOURCE is missing")
  endif()
  if(NOT ARG_TARGETS)
    set(ARG_TARGETS host)
  endif()
  set(arguments "")
  set(machines "")
  foreach(target IN LISTS ARG_TARGETS)
    list(APPEND arguments --target ${target})
    heddle_machine_of(${target} machine)
    list(APPEND machines ${machine})
  endforeach()
  list(REMOVE_DUPLICATES machines)
  set(environment HEDDLE_KERNELC=$<TARGET_FILE:Heddle::kernelc>)
  if(HEDDLE_ZIG)
    list(APPEND environment HEDDLE_ZIG=${HEDDLE_ZIG})
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_library)
  file(MAKE_DIRECTORY ${folder})
  add_executable(${name}_model ${ARG_SOURCE})
  target_link_libraries(${name}_model PRIVATE Heddle::heddle ${ARG_LIBRARIES})
  find_package(Threads REQUIRED)
  set(files "")
  foreach(machine IN LISTS machines)
    heddle_library_of_machine(${name} ${machine} ${machines})
  endforeach()
  add_custom_command(OUTPUT ${files} DEPENDS ${name}_model Heddle::kernelc
    COMMAND ${CMAKE_COMMAND} -E env ${environment} $<TARGET_FILE:${name}_model> --output ${folder} ${arguments}
    COMMENT "Compiling the model ${name}" VERBATIM)
  add_custom_target(${name}_export DEPENDS ${files})
endfunction()

# "host" -> "x86-64-linux", "x86-64-linux-avx2" -> "x86-64-linux".
function(heddle_machine_of target result)
  if(target STREQUAL "host")
    string(REGEX REPLACE "^(x86_64|AMD64)$" "x86-64" machine "${CMAKE_HOST_SYSTEM_PROCESSOR}")
    string(REGEX REPLACE "^(aarch64|arm64)$" "arm-64" machine "${machine}")
    set(target ${machine}-linux)
    if(CMAKE_HOST_APPLE)
      set(target ${machine}-osx)
    endif()
  endif()
  string(REGEX MATCH "^[^-]+-[^-]+-[^-]+" machine "${target}")
  set(${result} "${machine}" PARENT_SCOPE)
endfunction()

# The imported target of one machine's library; its files are added to `files`.
macro(heddle_library_of_machine name machine first)
  set(machine_name ${name})
  set(machine_folder ${folder})
  if(NOT "${machine}" STREQUAL "${first}")
    set(machine_name ${name}-${machine})
    set(machine_folder ${folder}/${machine})
    file(MAKE_DIRECTORY ${machine_folder})
  endif()
  set(shared so)
  if("${machine}" MATCHES "-osx$")
    set(shared dylib)
  endif()
  foreach(extension a ${shared} h json check)
    list(APPEND files ${machine_folder}/${name}.${extension})
  endforeach()
  add_library(${machine_name} STATIC IMPORTED GLOBAL)
  set_target_properties(${machine_name} PROPERTIES
    IMPORTED_LOCATION ${machine_folder}/${name}.a
    INTERFACE_INCLUDE_DIRECTORIES ${machine_folder}
    INTERFACE_LINK_LIBRARIES "Threads::Threads;m")
  add_dependencies(${machine_name} ${name}_export)
endmacro()
