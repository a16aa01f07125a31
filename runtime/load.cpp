// heddle_open and its companions: a shared artifact under this process' own copy of the core.
#include <exception>
#include <new>
#include <string>

#include "heddle/runtime/heddle_runtime.h"
#include "heddle/runtime/runtime.hpp"

struct heddle_program {
  heddle::LoadedArtifact artifact;
  std::string error;
};

namespace {

thread_local std::string open_error;

int fail_open(int status, const char* text) {
  open_error = text;
  return status;
}

}  // namespace

int heddle_open(const char* path, const hd_options* options, heddle_program** program) {
  if (!path || !program) return fail_open(HD_INVALID, "heddle_open: a pointer is null");
  *program = nullptr;
  try {
    *program = new heddle_program{heddle::LoadedArtifact(path, options), ""};
    return HD_OK;
  } catch (const heddle::StatusError& error) {
    return fail_open(error.status(), error.what());
  } catch (const std::exception& error) {
    return fail_open(HD_NO_MEMORY, error.what());
  }
}

void heddle_close(heddle_program* program) { delete program; }

int heddle_run(heddle_program* program, const char* function, const hd_tensor* tensors,
               uint32_t n_tensors) {
  if (!program || !function) return HD_INVALID;
  program->error.clear();
  const int number = hd_find_function(heddle_artifact(program), function);
  if (number < 0) {
    program->error =
        std::string(heddle_artifact(program)->name) + ": there is no function '" + function + "'";
    return HD_INVALID;
  }
  const int status =
      hd_run_tensors(heddle_instance(program), static_cast<uint32_t>(number), tensors, n_tensors);
  if (status == HD_BUSY)
    program->error = "another call of this program is running";
  else if (status)
    program->error = hd_error(heddle_instance(program));
  return status;
}

const hd_artifact* heddle_artifact(const heddle_program* program) {
  return &program->artifact.artifact();
}
hd_instance* heddle_instance(heddle_program* program) {
  return program->artifact.instance().handle();
}
const char* heddle_error(const heddle_program* program) {
  return program ? program->error.c_str() : open_error.c_str();
}
