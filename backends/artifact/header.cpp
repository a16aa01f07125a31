#include "heddle/backends/artifact/header.h"

#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "heddle/backends/artifact/names.h"
#include "heddle/graph/error.h"

namespace heddle {
namespace {

// What every artifact has; NAME and name are replaced.
constexpr char kBegin[] =
    R"(/* $name: compiled by Heddle. The functions are one call at a time per instance; instances are independent. */
#ifndef $NAME_H_
#define $NAME_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions return; $name_error() has the text. */
enum {
  $NAME_OK = 0,
  $NAME_INVALID = 1,          /* a null or misaligned pointer, or a wrong option */
  $NAME_MISMATCH = 2,         /* a device's buffer that is too small */
  $NAME_OVERLAP = 3,          /* an output lies over another argument */
  $NAME_BUSY = 4,             /* another call of this instance is running */
  $NAME_CANCELLED = 5,        /* the cancel flag was set */
  $NAME_FAULT = 6,            /* a checked operation overflowed */
  $NAME_NONFINITE = 7,        /* $NAME_CHECK_NAN found a NaN or an infinity */
  $NAME_KERNEL_FAILED = 8,
  $NAME_UNSUPPORTED = 9,
  $NAME_NO_MEMORY = 10,
  $NAME_BAD_ARTIFACT = 11,
  $NAME_WRONG_CPU = 12,       /* the CPU lacks a feature the library was built for */
  $NAME_BAD_FILE = 13,        /* the check file is missing, damaged or of another program */
  $NAME_SELFTEST_FAILED = 14,
  $NAME_NO_DEVICE = 15,       /* the library runs on a device that this machine has not */
  $NAME_DEVICE_FAILED = 16    /* no memory left there, lost, or a kernel that it does not take */
};

typedef struct $name $name_t;

/* Seen by the step hook before (end = 0) and after (end = 1) each step. */
typedef struct $name_step_event {
  uint32_t end, function, step, wave;
  const char *kernel, *source;
  const uint32_t *nodes;
  uint32_t n_nodes, reserved;
  uint64_t bytes, flops;
} $name_step_event;

enum { $NAME_CHECK_NAN = 1 }; /* look for NaN and infinity after each step */

/* Set size = sizeof($name_options) and the rest to 0, then what you want. */
typedef struct $name_options {
  uint32_t size;
  int32_t threads;          /* 0: one per CPU */
  uint32_t flags;           /* $NAME_CHECK_NAN */
  uint32_t reserved;
  void *workspace;          /* yours, aligned to 64, in use until $name_destroy; NULL: allocated in create */
  uint64_t workspace_bytes; /* at least $name_workspace_bytes(threads) */
  void *(*allocate)(void *user, size_t bytes, size_t alignment); /* never called while a function runs */
  void (*release)(void *user, void *pointer, size_t bytes);
  void *allocator_user;
  /* instead of own threads: run task(context, i) for i in [0, n), return when all are done */
  void (*parallel_for)(void *user, int n, void (*task)(void *context, int i), void *context);
  void *parallel_user;
  void *pool;               /* NULL */
  const volatile int32_t *cancel; /* not 0: the run ends early with $NAME_CANCELLED */
  void (*step_hook)(void *user, const $name_step_event *event);
  void *step_user;
  const char *cpu_features; /* "sse41,avx": use only these of the CPU's features; NULL: all */
  char *message;            /* receives the text of a failed create */
  uint64_t message_bytes;
} $name_options;

/* Owns threads, workspace and packed constants. NULL options: defaults. NULL on failure: $name_error(NULL) has the text. */
$name_t *$name_create(const $name_options *options);
void $name_destroy($name_t *instance);
/* The text of the last failure; after $name_selftest as much of its report as fits. Never NULL. */
const char *$name_error(const $name_t *instance);
/* The exact bytes an instance with so many threads works in: peak, everything included. */
size_t $name_workspace_bytes(int threads);
/* The actual number of threads. */
int $name_threads(const $name_t *instance);
/* Runs the cases of $name.check: values against stored ones, gradients against directional derivatives. */
int $name_selftest($name_t *instance, const char *check_file);
/* The last self-test's report, whole, with a line per function: as snprintf writes and returns it. */
size_t $name_report(const $name_t *instance, char *text, size_t size);
)";

// Of libraries for devices that take buffers.
constexpr char kBuffers[] = R"(
/* A tensor in a buffer of the device: id<MTLBuffer>, from `offset` on, a multiple of 512. */
typedef struct $name_buffer {
  void *buffer;
  uint64_t offset;
} $name_buffer;
)";

constexpr char kEnd[] = R"(
#ifdef __cplusplus
}
#endif

#endif /* $NAME_H_ */
)";

constexpr char kFunctions[] = R"(#include "$name.h"

#include "abi.h"

extern const hd_artifact $name_hd_tables;

_Static_assert(sizeof($name_options) == sizeof(hd_options), "one layout");
_Static_assert(sizeof($name_step_event) == sizeof(hd_step_event), "one layout");

$name_t *$name_create(const $name_options *options) {
  hd_instance *instance = NULL;
  hd_create(&$name_hd_tables, (const hd_options *)options, &instance);
  return ($name_t *)instance;
}
void $name_destroy($name_t *instance) { hd_destroy((hd_instance *)instance); }
const char *$name_error(const $name_t *instance) { return hd_error((const hd_instance *)instance); }
size_t $name_workspace_bytes(int threads) { return hd_workspace_bytes(&$name_hd_tables, threads); }
int $name_threads(const $name_t *instance) { return hd_threads((const hd_instance *)instance); }
int $name_selftest($name_t *instance, const char *check_file) {
  return hd_selftest((hd_instance *)instance, check_file);
}
size_t $name_report(const $name_t *instance, char *text, size_t size) {
  return hd_report((const hd_instance *)instance, text, size);
}
)";

std::string fill(std::string_view text, const std::string& name) {
  return absl::StrReplaceAll(std::string(text), {{"$name", name}, {"$NAME", c_constant(name)}});
}

std::string type_text(const TensorDescription& t) {
  return absl::StrCat(std::string(name_of(t.dtype)), "[", absl::StrJoin(t.dims, ","), "]");
}

// "int mlp_train_step(mlp_t *instance, const float *x, float *loss)"
std::string prototype(const std::string& name, const SignatureDescription& s) {
  std::string text = absl::StrCat("int ", name, "_", c_spelling(s.name), "(", name, "_t *instance");
  const std::vector<std::string> names = parameter_names(s);
  for (std::uint32_t i = 0; i < s.arguments.size(); ++i) {
    absl::StrAppend(&text, ", ", s.arguments[i].access & HD_OUT ? "" : "const ",
                    std::string(pointee_type(s, i)), " *", names[i]);
  }
  return text + ")";
}

// "params: tree of 4 tensors, updated in place" or "x: f32[32,64]".
std::string argument_text(const SignatureDescription& s, std::uint32_t i,
                          const std::string& parameter) {
  const ArgumentDescription& a = s.arguments[i];
  std::string text = absl::StrCat("   ", parameter, ": ");
  const std::vector<const TensorDescription*> tensors = tensors_of(s, i);
  if (is_single(s, i)) {
    absl::StrAppend(&text, type_text(*tensors[0]));
  } else {
    absl::StrAppend(&text, tensors.size(), tensors.size() == 1 ? " tensor in " : " tensors in ",
                    a.bytes, " bytes");
  }
  if (a.access == (HD_IN | HD_OUT)) absl::StrAppend(&text, ", updated in place");
  if (a.access == HD_OUT) absl::StrAppend(&text, ", written");
  return text + "\n";
}

// "int mlp_train_step_buffers(mlp_t *instance, const mlp_buffer *buffers)"
std::string buffers_prototype(const std::string& name, const SignatureDescription& s) {
  return absl::StrCat("int ", name, "_", c_name(s.name), "_buffers(", name, "_t *instance, const ",
                      name, "_buffer *buffers)");
}

std::string buffers_text(const std::string& name, const SignatureDescription& s) {
  std::vector<std::string> tensors;
  for (const TensorDescription& t : s.inputs) tensors.push_back(t.name);
  for (const TensorDescription& t : s.outputs) {
    tensors.push_back(t.shares < 0 ? t.name : absl::StrCat(t.name, " (in place: NULL)"));
  }
  std::string text = absl::StrCat("\n/* ", s.name, " on tensors in the device's buffers:\n");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    absl::StrAppend(&text, "   ", i, ": ", tensors[i], "\n");
  }
  return absl::StrCat(text, "   The results are there when it returns. */\n",
                      buffers_prototype(name, s), ";\n");
}

std::string function_text(const std::string& name, const SignatureDescription& s) {
  std::string text = absl::StrCat("\n/* ", s.name, "\n");
  const std::vector<std::string> names = parameter_names(s);
  for (std::uint32_t i = 0; i < s.arguments.size(); ++i) text += argument_text(s, i, names[i]);
  absl::StrAppend(&text, "   Dense, row-major. 0 or one of the codes above. */\n",
                  prototype(name, s), ";\n");
  return text;
}

// The enum of one tree: "mlp_params_w1 = 0, ..., mlp_params_count = 9610".
std::string tree_text(const std::string& name, const SignatureDescription& s, std::uint32_t i) {
  const ArgumentDescription& a = s.arguments[i];
  const bool mixed = pointee_type(s, i) == "void";
  const std::vector<const TensorDescription*> tensors = tensors_of(s, i);
  const std::uint64_t unit = mixed ? 1 : size_of(tensors[0]->dtype);
  if (a.bytes / unit > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    throw NotImplementedError(
        {.message = absl::StrCat("tree '", a.name, "' is too large for offsets in an enum")});
  }
  const std::string units =
      mixed ? "bytes" : absl::StrCat("elements (", std::string(pointee_type(s, i)), ")");
  std::string text = absl::StrCat("\n/* Where the tensors of ", a.name, " lie, in ", units,
                                  " from its pointer. */\nenum {\n");
  for (const TensorDescription* t : tensors) {
    absl::StrAppend(&text, "  ", leaf_name(name, *t), " = ", t->offset / unit, ", /* ",
                    type_text(*t), " */\n");
  }
  absl::StrAppend(&text, "  ", size_name(name, s, i), " = ", a.bytes / unit,
                  " /* all of it */\n};\n");
  return text;
}

// Each tree once; ValueError when two functions disagree about one of a name.
std::string trees_text(const ArtifactDescription& d) {
  std::map<std::string, std::string> known;
  std::string text;
  for (std::size_t f = 0; f < d.signatures.size(); ++f) {
    const SignatureDescription& s = d.signatures[f];
    for (std::uint32_t i = 0; i < s.arguments.size(); ++i) {
      if (static_cast<int>(f) == d.prepare || is_single(s, i)) continue;
      const std::string tree = tree_text(d.name, s, i);
      const auto [place, is_new] = known.emplace(s.arguments[i].name, tree);
      if (is_new) text += tree;
      if (place->second != tree) {
        throw ValueError({.message = absl::StrCat("tree '", s.arguments[i].name,
                                                  "' has another layout in function '", s.name,
                                                  "' than in one before")});
      }
    }
  }
  return text;
}

}  // namespace

std::string header_text(const ArtifactDescription& d) {
  const std::string begin = fill(kBegin, d.name);
  check_names(d, begin);
  std::string text = begin + trees_text(d);
  for (std::size_t f = 0; f < d.signatures.size(); ++f) {
    if (static_cast<int>(f) != d.prepare) text += function_text(d.name, d.signatures[f]);
  }
  if (takes_buffers(d)) {
    text += fill(kBuffers, d.name);
    for (std::size_t f = 0; f < d.signatures.size(); ++f) {
      if (static_cast<int>(f) != d.prepare) text += buffers_text(d.name, d.signatures[f]);
    }
  }
  return text + fill(kEnd, d.name);
}

std::string functions_source(const ArtifactDescription& d) {
  std::string text = fill(kFunctions, d.name);
  for (std::size_t f = 0; f < d.signatures.size(); ++f) {
    if (static_cast<int>(f) == d.prepare) continue;
    const SignatureDescription& s = d.signatures[f];
    absl::StrAppend(&text, "\n", prototype(d.name, s), " {\n  void *const arguments[] = {");
    for (const std::string& parameter : parameter_names(s))
      absl::StrAppend(&text, "(void *)", parameter, ", ");
    absl::StrAppend(&text, "NULL};\n  return hd_run((hd_instance *)instance, ", f, ", arguments, ",
                    s.arguments.size(), ");\n}\n");
    if (!takes_buffers(d)) continue;
    absl::StrAppend(&text, buffers_prototype(d.name, s),
                    " {\n  return hd_run_buffers((hd_instance *)instance, ", f,
                    ", (const hd_device_buffer *)buffers, ", s.inputs.size() + s.outputs.size(),
                    ");\n}\n");
  }
  return text;
}

}  // namespace heddle
