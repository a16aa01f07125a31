// The tables of core/abi.h printed as C initialisers.
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "heddle/backends/artifact/header.h"

namespace heddle {
namespace {

std::string quoted(const char* text) {
  std::string out = "\"";
  for (const char* c = text; *c; ++c) {
    const unsigned char u = static_cast<unsigned char>(*c);
    if (u == '"' || u == '\\' || u < 0x20 || u > 0x7e || u == '?') {
      const char digits[] = {'\\', static_cast<char>('0' + (u >> 6)),
                             static_cast<char>('0' + (u >> 3 & 7)),
                             static_cast<char>('0' + (u & 7)), 0};
      out += digits;
    } else {
      out += *c;
    }
  }
  return out + "\"";
}

// "static const TYPE NAME[] = { ... };" and its use, or NULL for an empty one.
class Array {
 public:
  Array(std::string type, std::string name) : type_(std::move(type)), name_(std::move(name)) {}
  template <class... T>
  void add(const T&... parts) {
    absl::StrAppend(&rows_, rows_.empty() ? "" : "\n", "  ", parts..., ",");
  }
  std::string definition() const {
    return rows_.empty()
               ? ""
               : absl::StrCat("static const ", type_, " ", name_, "[] = {\n", rows_, "\n};\n");
  }
  std::string use() const { return rows_.empty() ? "NULL" : name_; }

 private:
  std::string type_, name_, rows_;
};

template <class T>
Array numbers(const char* type, std::string name, const T* values, std::uint32_t count) {
  Array array(type, std::move(name));
  for (std::uint32_t i = 0; i < count; ++i) array.add(values[i]);
  return array;
}

std::string brace(std::initializer_list<std::string> parts) {
  std::string out = "{";
  for (const std::string& p : parts) absl::StrAppend(&out, out.size() > 1 ? ", " : "", p);
  return out + "}";
}

template <class T>
std::string number(T value) {
  return absl::StrCat(value);
}
std::string wide(std::uint64_t value) { return absl::StrCat(value, "u"); }

void add_signature(std::string& out, Array& signatures, const hd_signature& s,
                   std::uint32_t index) {
  const std::string prefix = absl::StrCat("s", index, "_");
  Array arguments("hd_argument", prefix + "arguments"),
      tensors("hd_tensor_spec", prefix + "tensors");
  for (std::uint32_t i = 0; i < s.n_arguments; ++i) {
    const hd_argument& a = s.arguments[i];
    arguments.add(brace({quoted(a.name), wide(a.bytes), number(a.access), number(a.alignment)}));
  }
  for (std::uint32_t i = 0; i < s.n_inputs + s.n_outputs; ++i) {
    const hd_tensor_spec& t = s.tensors[i];
    tensors.add(
        brace({quoted(t.name), number(t.argument), number(+t.dtype), number(+t.rank),
               number(+t.donated), "0", number(t.shares), number(t.first_dim), wide(t.offset)}));
  }
  const Array dims = numbers("int64_t", prefix + "dims", s.dims, s.n_dims);
  absl::StrAppend(&out, arguments.definition(), tensors.definition(), dims.definition());
  signatures.add(
      brace({quoted(s.name), quoted(s.doc), arguments.use(), tensors.use(), dims.use(),
             number(s.n_arguments), number(s.n_inputs), number(s.n_outputs), number(s.n_dims)}));
}

Array steps_of(const hd_plan& p, std::string name) {
  Array steps("hd_step", std::move(name));
  for (std::uint32_t i = 0; i < p.n_steps; ++i) {
    const hd_step& s = p.steps[i];
    steps.add(brace({number(s.kind), number(s.n_inputs), number(s.n_outputs), number(s.flags),
                     number(s.wave), number(s.kernel), number(s.first_arg),
                     brace({number(s.sub[0]), number(s.sub[1])}), number(s.source), number(s.fault),
                     number(s.first_node), number(s.n_nodes)}));
  }
  return steps;
}

Array buffers_of(const hd_plan& p, std::string name) {
  Array buffers("hd_buffer", std::move(name));
  for (std::uint32_t i = 0; i < p.n_buffers; ++i) {
    const hd_buffer& b = p.buffers[i];
    buffers.add(brace({number(+b.space), number(+b.dtype), number(+b.rank), "0", number(b.index),
                       number(b.first_dim), "0", wide(b.offset), "0"}));
  }
  return buffers;
}

// The table of a device's functions, in the object of the device's side.
std::string device_symbol(const hd_plan& p) {
  return absl::StrCat("hd_", p.device->name, "_device");
}

void add_plan(std::string& out, Array& plans, const hd_plan& p, std::uint32_t index) {
  const std::string prefix = absl::StrCat("p", index, "_");
  Array functions("hd_function", prefix + "functions"), kernels("hd_kernel", prefix + "kernels");
  Array sources("char *const", prefix + "sources");
  for (std::uint32_t i = 0; i < p.n_functions; ++i) {
    const hd_function& f = p.functions[i];
    functions.add(brace({number(f.first_step), number(f.n_steps), number(f.first_buffer),
                         number(f.n_buffers), wide(f.arena_bytes)}));
  }
  for (std::uint32_t i = 0; i < p.n_kernels; ++i) {
    const hd_kernel& k = p.kernels[i];
    kernels.add(brace({k.name, quoted(k.name), wide(k.flops), wide(k.bytes), wide(k.scratch_once),
                       wide(k.scratch_task), wide(k.device_bytes)}));
  }
  for (std::uint32_t i = 0; i < p.n_sources; ++i) sources.add(quoted(p.sources[i]));
  const Array steps = steps_of(p, prefix + "steps"), buffers = buffers_of(p, prefix + "buffers");
  const Array args = numbers("uint32_t", prefix + "args", p.args, p.n_args);
  const Array nodes = numbers("uint32_t", prefix + "nodes", p.nodes, p.n_nodes);
  const Array dims = numbers("int64_t", prefix + "dims", p.dims, p.n_dims);
  for (const Array* a : std::initializer_list<const Array*>{&functions, &steps, &buffers, &args,
                                                            &nodes, &dims, &kernels, &sources})
    out += a->definition();
  plans.add(brace({quoted(p.features),
                   functions.use(),
                   steps.use(),
                   buffers.use(),
                   args.use(),
                   nodes.use(),
                   dims.use(),
                   kernels.use(),
                   sources.use(),
                   number(p.n_functions),
                   number(p.n_steps),
                   number(p.n_buffers),
                   number(p.n_args),
                   number(p.n_nodes),
                   number(p.n_dims),
                   number(p.n_kernels),
                   number(p.n_sources),
                   wide(p.prepared_bytes),
                   wide(p.scratch_once),
                   wide(p.scratch_task),
                   p.device ? "&" + device_symbol(p) : "NULL"}));
}

std::string declarations(const hd_artifact& artifact) {
  std::set<std::string> names;
  for (std::uint32_t p = 0; p < artifact.n_plans; ++p) {
    for (std::uint32_t k = 0; k < artifact.plans[p].n_kernels; ++k)
      names.insert(artifact.plans[p].kernels[k].name);
  }
  std::string text;
  for (const std::string& name : names)
    absl::StrAppend(&text, "extern int ", name, "(void **argv);\n");
  std::set<std::string> devices;
  for (std::uint32_t p = 0; p < artifact.n_plans; ++p) {
    if (artifact.plans[p].device) devices.insert(device_symbol(artifact.plans[p]));
  }
  for (const std::string& name : devices)
    absl::StrAppend(&text, "extern const hd_device ", name, ";\n");
  return text;
}

}  // namespace

std::string tables_source(const hd_artifact& artifact) {
  const std::string name = artifact.name;
  std::string out = "#include \"abi.h\"\n\n" + declarations(artifact);
  Array signatures("hd_signature", "signatures"), plans("hd_plan", "plans"),
      constants("hd_constant", "constants");
  for (std::uint32_t i = 0; i < artifact.n_constants; ++i) {
    absl::StrAppend(&out, "extern const unsigned char ", name, "_constant", i, "[];\n");
    constants.add(brace({absl::StrCat(name, "_constant", i), wide(artifact.constants[i].bytes)}));
  }
  for (std::uint32_t i = 0; i < artifact.n_signatures; ++i)
    add_signature(out, signatures, artifact.signatures[i], i);
  for (std::uint32_t i = 0; i < artifact.n_plans; ++i) add_plan(out, plans, artifact.plans[i], i);
  absl::StrAppend(&out, signatures.definition(), plans.definition(), constants.definition());
  absl::StrAppend(
      &out, "extern const hd_artifact ", name, "_hd_tables;\nconst hd_artifact ", name,
      "_hd_tables = ",
      brace({wide(artifact.magic), number(artifact.abi), number(artifact.format),
             number(artifact.n_signatures), number(artifact.n_plans), number(artifact.n_constants),
             number(artifact.prepare), "0", wide(artifact.checksum), quoted(artifact.name),
             signatures.use(), plans.use(), constants.use()}),
      ";\n");
  return out;
}

std::string constants_source(const hd_artifact& artifact, bool mach_o) {
  std::string out = mach_o ? ".section __TEXT,__const\n" : ".section .rodata,\"a\"\n";
  // Where a device can use them without a copy.
  const int alignment = artifact.plans[0].device != nullptr ? 9 : 6;
  for (std::uint32_t i = 0; i < artifact.n_constants; ++i) {
    const std::string symbol = absl::StrCat(mach_o ? "_" : "", artifact.name, "_constant", i);
    absl::StrAppend(&out, ".p2align ", alignment, "\n.globl ", symbol, "\n", symbol, ":\n");
    if (artifact.constants[i].bytes) absl::StrAppend(&out, ".incbin \"constant", i, ".bin\"\n");
  }
  return out +
         (mach_o ? ".subsections_via_symbols\n" : ".section .note.GNU-stack,\"\",%progbits\n");
}

}  // namespace heddle
