# heddle_add_library(digits SOURCE digits_model.cpp TARGETS host)
#
# Builds the model's program, runs it when the build needs it (it traces, differentiates, compiles and exports), and gives a target
# `digits` to link: the static library, with the folder of its header. `digits_export` is the step alone; the files lie in
# ${CMAKE_CURRENT_BINARY_DIR}/digits_library/.
function(heddle_add_library name)
  cmake_parse_arguments(ARG "" "SOURCE" "TARGETS;LIBRARIES" ${ARGN})
  if(NOT ARG_SOURCE)
    message(FATAL_ERROR "heddle_add_library(${name}): SOURCE is missing")
  endif()
  if(NOT ARG_TARGETS)
    set(ARG_TARGETS host)
  endif()
  set(arguments "")
  foreach(target IN LISTS ARG_TARGETS)
    list(APPEND arguments --target ${target})
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_library)
  file(MAKE_DIRECTORY ${folder})
  add_executable(${name}_model ${ARG_SOURCE})
  target_link_libraries(${name}_model PRIVATE Heddle::heddle ${ARG_LIBRARIES})
  set(files ${folder}/${name}.a ${folder}/${name}.so ${folder}/${name}.h ${folder}/${name}.json ${folder}/${name}.check)
  add_custom_command(OUTPUT ${files} DEPENDS ${name}_model Heddle::kernelc
    COMMAND ${CMAKE_COMMAND} -E env HEDDLE_KERNELC=$<TARGET_FILE:Heddle::kernelc>
            $<TARGET_FILE:${name}_model> --output ${folder} ${arguments} COMMENT "Compiling the model ${name}" VERBATIM)
  add_custom_target(${name}_export DEPENDS ${files})
  find_package(Threads REQUIRED)
  add_library(${name} STATIC IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION ${folder}/${name}.a
    INTERFACE_INCLUDE_DIRECTORIES ${folder}
    INTERFACE_LINK_LIBRARIES "Threads::Threads;m")
  add_dependencies(${name} ${name}_export)
endfunction()
