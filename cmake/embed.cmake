# Writes a C++ source that carries other files: cmake -DOUTPUT=x.cpp -DFUNCTION=f -DFILES=a;b [-DBINARY=1] -P embed.cmake
# Text: the files one behind the other, less their includes of each other. Binary: one file's bytes.
if(BINARY)
  file(READ "${FILES}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  set(body "alignas(16) static const unsigned char kBytes[] = {\n${bytes}};
std::span<const std::byte> ${FUNCTION}() { return std::as_bytes(std::span(kBytes)); }")
else()
  set(text "")
  foreach(file IN LISTS FILES)
    file(READ "${file}" part)
    string(REGEX REPLACE "#include \"heddle/[^\n]*\n" "" part "${part}")
    string(APPEND text "${part}")
  endforeach()
  string(LENGTH "${text}" length)
  set(body "static constexpr std::string_view kText = R\"embedded(${text})embedded\";
std::string_view ${FUNCTION}() { return kText; }")
endif()
file(WRITE "${OUTPUT}" "// Made by cmake/embed.cmake.
#include \"heddle/backends/artifact/embedded.h\"

namespace heddle {
${body}
}  // namespace heddle
")
