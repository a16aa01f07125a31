// Files that commands write: whole or not at all.
#ifndef HEDDLE_FRONTEND_CLI_FILES_H_
#define HEDDLE_FRONTEND_CLI_FILES_H_

#include <string>
#include <vector>

#include "heddle/graph/program.h"

namespace heddle::cli {

/// ValueError unless the name ends with one of them; what is there already and is no file, such as
/// a device, may have any.
void check_extension(const char* command, const std::string& path,
                     const std::vector<std::string>& extensions);
/// A name that ends with ".hdb" gets the binary form, any other the text. RuntimeError names the
/// path and the reason.
void write_program(const std::string& path, const Program& program);

}  // namespace heddle::cli

#endif  // HEDDLE_FRONTEND_CLI_FILES_H_
