/* Runs exported artifacts that are loaded by name, from C. Link heddle_runtime. A program that
   knows its artifact when it is compiled includes the artifact's own header instead and needs
   nothing of this. */
#ifndef HEDDLE_RUNTIME_HEDDLE_RUNTIME_H_
#define HEDDLE_RUNTIME_HEDDLE_RUNTIME_H_

#include "heddle/runtime/core/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_program heddle_program;

/* Loads a shared artifact, checks it, and makes an instance. NULL options: defaults.
   Returns an HD_ status; on failure *program is NULL and the text is heddle_error(NULL), per
   thread. */
int heddle_open(const char* path, const hd_options* options, heddle_program** program);
void heddle_close(heddle_program* program);

/* Runs a function by name: one hd_tensor per input, then per output, in the signature's order. One
 * call at a time. */
int heddle_run(heddle_program* program, const char* function, const hd_tensor* tensors,
               uint32_t n_tensors);

/* The tables (names, types, plans) and the instance, for the rest of core/abi.h. */
const hd_artifact* heddle_artifact(const heddle_program* program);
hd_instance* heddle_instance(heddle_program* program);

const char* heddle_error(const heddle_program* program);

#ifdef __cplusplus
}
#endif

#endif /* HEDDLE_RUNTIME_HEDDLE_RUNTIME_H_ */
