// Runs the cases of a .check file (FORMAT.md): every function on its seeded inputs, its outputs
// against the expected values, and its gradients g against a directional derivative: <g, v> = J v.
#include "heddle/runtime/core/core.h"

extern "C" {
void* fopen(const char* path, const char* mode);
size_t fread(void* to, size_t size, size_t count, void* file);
int fseek(void* file, long offset, int origin);
long ftell(void* file);
int fclose(void* file);
}

namespace hdcore {
namespace {

enum { kZeros = 0, kStored = 1, kUniform = 2 };
constexpr uint64_t kHeaderBytes = 64, kHashedFrom = 32;
constexpr uint32_t kVersion = 1;

struct Memory {  // from the instance's allocator; released at the end of its scope
  const hd_options& options;
  uint8_t* data = nullptr;
  uint64_t bytes = 0;
  explicit Memory(const hd_options& o) : options(o) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (data) options.release(options.allocator_user, data, bytes);
  }
  bool take(uint64_t size) {
    bytes = size ? size : 1;
    data = static_cast<uint8_t*>(options.allocate(options.allocator_user, bytes, HD_ALIGNMENT));
    return data != nullptr;
  }
};

// Reads on; past the end it gives zeros and remembers.
struct Reader {
  const uint8_t* at;
  const uint8_t* end;
  bool short_of = false;
  const uint8_t* bytes(uint64_t count) {
    const uint64_t padded = (count + 7) & ~uint64_t{7};
    if (padded < count || padded > static_cast<uint64_t>(end - at)) {
      short_of = true;
      return nullptr;
    }
    const uint8_t* start = at;
    at += padded;
    return start;
  }
  template <class T>
  T number() {
    T value{};
    if (sizeof(T) > static_cast<uint64_t>(end - at)) {
      short_of = true;
      return value;
    }
    memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  }
};

struct Selftest {
  hd_instance& instance;
  Reader reader;
  Text& report;
  // of the case that runs
  const hd_signature* signature = nullptr;
  uint8_t* storage = nullptr;  // of all arguments, one behind the other
  double worst_ulp = 0, worst_relative = 0, worst_gradient = 0;
  uint32_t n_gradients = 0, n_failures = 0;
};

int refuse(Text& report, const char* path, const char* why) {
  report << path << ": " << why;
  return HD_BAD_FILE;
}

int read_file(const char* path, Memory& memory, Text& report) {
  void* file = path ? fopen(path, "rb") : nullptr;
  if (!file) return refuse(report, path ? path : "(null)", "cannot be opened");
  fseek(file, 0, 2);
  const long size = ftell(file);
  fseek(file, 0, 0);
  bool whole = size >= 0 && size < 0x7fffffffffffl && memory.take(static_cast<uint64_t>(size));
  whole =
      whole && fread(memory.data, 1, static_cast<size_t>(size), file) == static_cast<size_t>(size);
  fclose(file);
  return whole ? HD_OK : refuse(report, path, "cannot be read");
}

int check_header(const hd_artifact& artifact, const char* path, const Memory& file, Text& report) {
  const uint64_t size = file.bytes;
  if (size < kHeaderBytes || memcmp(file.data, "HDCHECK1", 8) != 0) {
    return refuse(report, path, "is not a check file, or cut short");
  }
  Reader header{file.data + 8, file.data + kHeaderBytes};
  const uint32_t version = header.number<uint32_t>();
  header.number<uint32_t>();  // cases
  const uint64_t bytes = header.number<uint64_t>(), checksum = header.number<uint64_t>();
  if (version != kVersion) {
    report << path << ": has version " << version << ", this runtime knows " << kVersion;
    return HD_BAD_FILE;
  }
  if (bytes != size) {
    report << path << ": has " << size << " bytes instead of " << bytes;
    return HD_BAD_FILE;
  }
  const uint64_t head = hash_bytes(kHashStart, file.data + 8, 16);
  if (hash_bytes(head, file.data + kHashedFrom, size - kHashedFrom) != checksum) {
    return refuse(report, path, "is damaged: the checksum differs");
  }
  if (header.number<uint64_t>() != checksum_signatures(artifact)) {
    return refuse(report, path, "belongs to another program");
  }
  return HD_OK;
}

uint64_t count_of(const hd_signature& s, uint32_t tensor) {
  return count_elements(s.dims + s.tensors[tensor].first_dim, s.tensors[tensor].rank);
}

// Where argument number i begins in the storage of a case.
uint64_t offset_of(const hd_signature& s, uint32_t argument) {
  uint64_t offset = 0;
  for (uint32_t i = 0; i < argument; ++i) offset += round_up(s.arguments[i].bytes);
  return offset;
}

uint8_t* place_of(const Selftest& t, uint32_t tensor) {
  const hd_tensor_spec& spec = t.signature->tensors[tensor];
  return t.storage + offset_of(*t.signature, spec.argument) + spec.offset;
}

bool read_input(Selftest& t, uint32_t tensor) {
  const hd_tensor_spec& spec = t.signature->tensors[tensor];
  const uint64_t count = count_of(*t.signature, tensor);
  const uint32_t kind = t.reader.number<uint32_t>(), dtype = t.reader.number<uint32_t>();
  const uint64_t elements = t.reader.number<uint64_t>();
  const double low = t.reader.number<double>(), high = t.reader.number<double>();
  const uint64_t seed = t.reader.number<uint64_t>();
  if (t.reader.short_of || dtype != spec.dtype || elements != count || kind > kUniform)
    return false;
  if (kind == kUniform) fill_uniform(dtype, place_of(t, tensor), count, low, high, seed);
  if (kind != kStored) return true;
  const uint8_t* data = t.reader.bytes(count * size_of(dtype));
  if (data) memcpy(place_of(t, tensor), data, count * size_of(dtype));
  return data != nullptr;
}

bool is_nan(double x) { return x != x; }
double absolute(double x) { return x < 0 ? -x : x; }
double larger(double a, double b) { return a > b ? a : b; }

struct Tolerance {
  double relative, absolute;
};

// Near zero an error is measured against the output's own scale, which the absolute tolerance
// carries.
bool within(Selftest& t, uint32_t dtype, double found, double expected, Tolerance tolerance) {
  if (is_nan(expected) || is_nan(found)) return is_nan(expected) && is_nan(found);
  if (found == expected) return true;
  const double error = absolute(found - expected);
  if (!(error <= 1.7976931348623157e308)) return false;  // one of them is infinite
  const double scale = larger(absolute(expected),
                              tolerance.relative > 0 ? tolerance.absolute / tolerance.relative : 0);
  t.worst_ulp = larger(t.worst_ulp, error / ulp_of(dtype, scale));
  if (scale > 0) t.worst_relative = larger(t.worst_relative, error / scale);
  return error <= tolerance.absolute + tolerance.relative * absolute(expected);
}

void report_difference(Selftest& t, uint32_t tensor, uint64_t i, double found, double expected) {
  ++t.n_failures;
  t.report << t.instance.artifact->name << "." << t.signature->name << ": output '"
           << t.signature->tensors[tensor].name << "' element " << i << " is " << found
           << ", expected " << expected << "\n";
}

// The expected values of one output: elements 0, stride, 2 stride ...
bool compare_output(Selftest& t, uint32_t tensor) {
  const hd_tensor_spec& spec = t.signature->tensors[tensor];
  const uint64_t count = count_of(*t.signature, tensor);
  t.reader.number<uint32_t>();  // kind, for readers other than this
  const uint32_t dtype = t.reader.number<uint32_t>();
  const uint64_t elements = t.reader.number<uint64_t>(), stride = t.reader.number<uint64_t>();
  const double relative = t.reader.number<double>(), absolute_tolerance = t.reader.number<double>();
  if (t.reader.short_of || dtype != spec.dtype || elements != count || stride == 0) return false;
  bool reported = false;
  for (uint64_t i = 0; i < count; i += stride) {
    const uint8_t* place = place_of(t, tensor);
    const int64_t pattern = t.reader.number<int64_t>();
    if (t.reader.short_of) return false;
    const double found = element_as_double(dtype, place, i);
    double expected = static_cast<double>(pattern);
    if (dtype >= HD_F16) memcpy(&expected, &pattern, sizeof expected);
    const bool equal = dtype >= HD_F16
                           ? within(t, dtype, found, expected, {relative, absolute_tolerance})
                           : element_as_integer(dtype, place, i) == pattern;
    if (!equal && !reported) report_difference(t, tensor, i, found, expected);
    reported = reported || !equal;
  }
  return true;
}

bool check_gradient(Selftest& t) {
  const hd_signature& s = *t.signature;
  const uint32_t n_parts = t.reader.number<uint32_t>();
  t.reader.number<uint32_t>();
  const double expected = t.reader.number<double>(), tolerance = t.reader.number<double>();
  double product = 0, scale = absolute(expected);
  double magnitude = 0;
  for (uint32_t part = 0; part < n_parts; ++part) {
    const uint32_t output = t.reader.number<uint32_t>();
    t.reader.number<uint32_t>();
    const uint64_t seed = t.reader.number<uint64_t>();
    if (t.reader.short_of || output >= s.n_outputs) return false;
    const uint32_t tensor = s.n_inputs + output;
    for (uint64_t i = 0; i < count_of(s, tensor); ++i) {
      const double term = element_as_double(s.tensors[tensor].dtype, place_of(t, tensor), i) *
                          (2 * uniform(seed, i) - 1);
      product += term;
      magnitude += absolute(term);
    }
  }
  scale = larger(scale, magnitude);
  const double error = product == expected ? 0 : absolute(product - expected) / scale;
  t.worst_gradient = larger(t.worst_gradient, error);
  ++t.n_gradients;
  if (error <= tolerance) return true;
  ++t.n_failures;
  t.report << t.instance.artifact->name << "." << s.name << ": <gradient, v> is " << product
           << ", J v is " << expected << "\n";
  return true;
}

int run_function(Selftest& t, int function) {
  const hd_signature& s = *t.signature;
  Memory pointers(t.instance.options);
  if (!pointers.take(s.n_arguments * sizeof(void*))) return HD_NO_MEMORY;
  void** arguments = reinterpret_cast<void**>(pointers.data);
  for (uint32_t i = 0; i < s.n_arguments; ++i) arguments[i] = t.storage + offset_of(s, i);
  const int status = hd_run(&t.instance, static_cast<uint32_t>(function), arguments, s.n_arguments);
  if (status) t.report << t.instance.message << "\n";
  return status;
}

void report_case(Selftest& t, uint32_t failures_before) {
  const hd_signature& s = *t.signature;
  t.report << t.instance.artifact->name << "." << s.name
           << (t.n_failures == failures_before ? ": ok" : ": FAILED") << ", " << s.n_outputs
           << (s.n_outputs == 1 ? " output" : " outputs") << ", largest error " << t.worst_ulp
           << " ulp, " << t.worst_relative << " relative";
  if (t.n_gradients) {
    t.report << "; " << t.n_gradients << (t.n_gradients == 1 ? " gradient" : " gradients")
             << ", largest error " << t.worst_gradient;
  }
  t.report << "\n";
}

int run_case(Selftest& t, const char* path) {
  constexpr const char* kBroken = "does not fit this program";
  const hd_artifact& artifact = *t.instance.artifact;
  const uint32_t name_bytes = t.reader.number<uint32_t>(), n_inputs = t.reader.number<uint32_t>();
  const uint32_t n_outputs = t.reader.number<uint32_t>(), n_gradients = t.reader.number<uint32_t>();
  const uint8_t* name = t.reader.bytes(uint64_t{name_bytes});
  if (!name || !name_bytes || name[name_bytes - 1] != 0) return refuse(t.report, path, kBroken);
  const int function = hd_find_function(&artifact, reinterpret_cast<const char*>(name));
  if (function < 0) return refuse(t.report, path, kBroken);
  const hd_signature& s = artifact.signatures[function];
  if (n_inputs != s.n_inputs || n_outputs != s.n_outputs) return refuse(t.report, path, kBroken);

  Memory memory(t.instance.options);
  const uint64_t bytes = offset_of(s, s.n_arguments);
  if (!memory.take(bytes)) return refuse(t.report, path, "needs more memory than there is");
  memset(memory.data, 0, memory.bytes);
  const uint32_t failures = t.n_failures;
  t.signature = &s;
  t.storage = memory.data;
  t.worst_ulp = t.worst_relative = t.worst_gradient = 0;
  t.n_gradients = 0;
  for (uint32_t i = 0; i < n_inputs; ++i) {
    if (!read_input(t, i)) return refuse(t.report, path, kBroken);
  }
  if (const int status = run_function(t, function)) return status;
  for (uint32_t i = 0; i < n_outputs; ++i) {
    if (!compare_output(t, n_inputs + i)) return refuse(t.report, path, kBroken);
  }
  for (uint32_t i = 0; i < n_gradients; ++i) {
    if (!check_gradient(t)) return refuse(t.report, path, kBroken);
  }
  report_case(t, failures);
  return HD_OK;
}

int run_selftest(hd_instance& instance, const char* path, Text& report) {
  Memory file(instance.options);
  if (const int status = read_file(path, file, report)) return status;
  if (const int status = check_header(*instance.artifact, path, file, report)) return status;
  uint32_t n_cases;
  memcpy(&n_cases, file.data + 12, sizeof n_cases);
  Selftest test{instance, {file.data + kHeaderBytes, file.data + file.bytes}, report};
  for (uint32_t i = 0; i < n_cases; ++i) {
    if (const int status = run_case(test, path)) return status;
  }
  return test.n_failures ? HD_SELFTEST_FAILED : HD_OK;
}

}  // namespace
}  // namespace hdcore

int hd_selftest(hd_instance* instance, const char* check_file) {
  if (!instance) return hdcore::fail_null("the instance is null");
  hdcore::Text report(instance->options);
  int status = HD_BAD_FILE;
  if (check_file) {
    status = hdcore::run_selftest(*instance, check_file, report);
  } else {
    report << "the name of the check file is null";
  }
  hdcore::forget_report(*instance);
  instance->report = report.data();
  instance->report_bytes = report.size();
  hdcore::Text message(instance->message, sizeof instance->message);
  if (!report.cut()) {
    message << report.data();
    return status;
  }
  message << "there is no memory for a report";
  hdcore::forget_report(*instance);
  return status ? status : HD_NO_MEMORY;
}

size_t hd_report(const hd_instance* instance, char* text, size_t size) {
  const char* report = instance && instance->report ? instance->report : "";
  if (text) hdcore::Text(text, size) << report;
  return strlen(report);
}
