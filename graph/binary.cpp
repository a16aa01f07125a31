#include "heddle/graph/binary.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "heddle/graph/builder.h"
#include "heddle/graph/extents.h"
#include "heddle/graph/operation.h"
#include "heddle/graph/schema.h"
#include "heddle/graph/text.h"
#include "heddle/runtime/whole_file.h"

namespace heddle {
namespace {

constexpr std::string_view kMagic = "HDPROG";
constexpr std::uint64_t kFormat = 1;
constexpr std::size_t kHead = kMagic.size() + 2, kDigest = 32;

// ---- writing ----

class Writer {
 public:
  void byte(std::uint8_t b) { bytes_.push_back(std::byte{b}); }
  void number(std::uint64_t n) {
    for (; n >= 0x80; n >>= 7) byte(static_cast<std::uint8_t>(n | 0x80));
    byte(static_cast<std::uint8_t>(n));
  }
  void signed_number(std::int64_t n) {
    number(static_cast<std::uint64_t>(n) << 1 ^ static_cast<std::uint64_t>(n >> 63));
  }
  void real(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    for (int i = 0; i < 64; i += 8) byte(static_cast<std::uint8_t>(bits >> i));
  }
  void blob(std::span<const std::byte> b) {
    number(b.size());
    bytes_.insert(bytes_.end(), b.begin(), b.end());
  }
  void text(std::string_view t) { blob(std::as_bytes(std::span(t))); }
  template <class Range, class Each>
  void list(const Range& range, Each each) {
    number(range.size());
    for (const auto& item : range) each(item);
  }

  void dims(const Dims& all) {
    list(all, [&](const Dim& d) {
      signed_number(d.offset());
      list(d.terms(), [&](const Dim::Term& t) {
        text(t.first);
        signed_number(t.second);
      });
    });
  }
  void type(const Type& t) {
    byte(static_cast<std::uint8_t>(t.dtype));
    dims(t.dims);
  }
  // As std::visit's visitor: the alternatives of Attribute.
  void operator()(std::int64_t n) { signed_number(n); }
  void operator()(double x) { real(x); }
  void operator()(const std::string& t) { text(t); }
  void operator()(bool b) { byte(b); }
  void operator()(const std::vector<std::int64_t>& ns) {
    list(ns, [&](std::int64_t n) { signed_number(n); });
  }
  void operator()(const std::vector<double>& xs) {
    list(xs, [&](double x) { real(x); });
  }
  void operator()(DType d) { byte(static_cast<std::uint8_t>(d)); }
  void operator()(const Dims& d) { dims(d); }

  void function(const Function& f) {
    std::vector<std::uint64_t> names(f.types.size());
    std::uint64_t next = 0;
    text(f.name);
    list(f.inputs, [&](const Input& in) {
      names[in.value.index] = next++;
      text(in.name);
      type(f.type(in.value));
      byte(in.donate);
    });
    list(f.nodes, [&](const Node& n) {
      node(n, names);
      for (ValueId r : n.results) names[r.index] = next++;
    });
    list(f.outputs, [&](const Output& out) {
      text(out.name);
      number(names[out.value.index]);
    });
  }

  std::vector<std::byte> finish() {
    const auto digest = sha256(bytes_);
    for (std::uint8_t b : digest) byte(b);
    return std::move(bytes_);
  }

 private:
  void node(const Node& n, const std::vector<std::uint64_t>& names) {
    text(n.op->name);
    number(static_cast<std::uint64_t>(n.op->version));
    list(n.operands, [&](ValueId o) { number(names[o.index]); });
    list(n.attributes.entries(), [&](const Attributes::Entry& e) {
      text(e.first);
      byte(static_cast<std::uint8_t>(e.second.index()));
      std::visit(*this, e.second);
    });
    if (n.literal) {
      type(n.literal->type);
      blob(*n.literal->bytes);
    }
    text(n.where.file ? n.where.file : "");
    number(n.where.line);
  }

  std::vector<std::byte> bytes_;
};

// ---- reading ----

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  [[noreturn]] void fail(const std::string& message) const {
    throw ParseError({.message = absl::StrCat(file_, ": offset ", position_, ": ", message)});
  }

  std::uint8_t byte() {
    if (position_ == bytes_.size()) fail("the file ends early");
    return static_cast<std::uint8_t>(bytes_[position_++]);
  }
  std::uint64_t number() {
    std::uint64_t n = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t b = byte();
      n |= static_cast<std::uint64_t>(b & 0x7f) << shift;
      if ((b & 0x80) == 0) return n;
    }
    fail("a number that does not end");
  }
  std::int64_t signed_number() {
    const std::uint64_t n = number();
    return static_cast<std::int64_t>(n >> 1 ^ (~(n & 1) + 1));
  }
  double real() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 64; i += 8) bits |= static_cast<std::uint64_t>(byte()) << i;
    return std::bit_cast<double>(bits);
  }
  // No list is longer than the bytes that are left.
  std::size_t count() {
    const std::uint64_t n = number();
    if (n > bytes_.size() - position_) fail("a list longer than the file");
    return static_cast<std::size_t>(n);
  }
  std::span<const std::byte> blob() {
    const std::size_t n = count();
    position_ += n;
    return bytes_.subspan(position_ - n, n);
  }
  std::string text() {
    const auto b = blob();
    return {reinterpret_cast<const char*>(b.data()), b.size()};
  }
  template <class T, class Each>
  std::vector<T> list(Each each) {
    std::vector<T> all(count());
    for (T& item : all) item = each();
    return all;
  }

  Dims dims() {
    return list<Dim>([&] {
      Dim d = signed_number();
      for (std::size_t t = count(); t-- > 0;) {
        const std::string name = text();
        d = d + signed_number() * Dim::symbol(name);
      }
      return d;
    });
  }
  DType dtype() {
    const std::uint8_t d = byte();
    if (d < static_cast<std::uint8_t>(DType::boolean) ||
        d > static_cast<std::uint8_t>(DType::f64)) {
      fail(absl::StrCat("no dtype has the number ", d));
    }
    return static_cast<DType>(d);
  }
  Type type() {
    const DType d = dtype();
    return {d, dims()};
  }
  Attribute attribute() {
    switch (byte()) {
      case 0:
        return signed_number();
      case 1:
        return real();
      case 2:
        return text();
      case 3:
        return byte() != 0;
      case 4:
        return list<std::int64_t>([&] { return signed_number(); });
      case 5:
        return list<double>([&] { return real(); });
      case 6:
        return dtype();
      case 7:
        return dims();
      default:
        fail("an attribute of an unknown kind");
    }
  }
  static_assert(std::variant_size_v<Attribute> == 8);

  Function function(const Program& callees) {
    const std::string called = text();
    if (called.empty()) fail("a function without a name");
    Builder b(called, &callees);
    Values values;
    for (std::size_t i = count(); i-- > 0;) {
      const std::string name = text();
      const Type t = type();
      values.push_back(b.input(name, t, byte() != 0));
    }
    for (std::size_t n = count(); n-- > 0;) node(b, values, called);
    for (std::size_t o = count(); o-- > 0;) {
      const std::string name = text();
      b.output(name, value(values));
    }
    return b.finish();
  }
  bool at_end() const { return position_ == bytes_.size(); }

 private:
  ValueId value(const Values& values) {
    const std::uint64_t n = number();
    if (n >= values.size()) fail("a value that is not there yet");
    return values[n];
  }

  void node(Builder& b, Values& values, const std::string& function) {
    const std::string name = text();
    const auto version = static_cast<int>(number());
    const Operation* op = find_operation(name, version);
    if (op == nullptr) fail(absl::StrCat("unknown operation ", name, "@", version));
    Values operands(count());
    for (ValueId& o : operands) o = value(values);
    std::vector<Attributes::Entry> entries(count());
    for (Attributes::Entry& e : entries) {
      e.first = text();
      if (!internal::is_identifier(e.first)) fail("an attribute's name that is no identifier");
      e.second = attribute();
    }
    std::optional<Literal> literal;
    if (op == &op_constant) {
      const Type t = type();
      check_extents(t, "@" + function + ": a constant", "", {});
      const auto data = blob();
      literal = literal_from_bytes(t, {data.begin(), data.end()});
    }
    const std::string file = text();
    const Location where(file.empty() ? nullptr : intern_file(file),
                         static_cast<std::uint32_t>(number()));
    const Values results = literal ? Values{b.constant(*literal, where)}
                                   : b.add(*op, operands, Attributes(std::move(entries)), where);
    values.insert(values.end(), results.begin(), results.end());
  }

  std::span<const std::byte> bytes_;
  std::string file_;
  std::size_t position_ = 0;
};

void check_head(const Reader& reader, std::span<const std::byte> bytes) {
  if (!is_binary(bytes)) reader.fail("this is no binary program");
  if (bytes.size() < kHead + kDigest) reader.fail("the file ends early");
  const auto format = static_cast<std::uint64_t>(bytes[kMagic.size()]) |
                      static_cast<std::uint64_t>(bytes[kMagic.size() + 1]) << 8;
  if (format != kFormat) {
    reader.fail(absl::StrCat("format ", format, ", and this version reads format ", kFormat));
  }
  const auto body = bytes.first(bytes.size() - kDigest);
  const auto digest = sha256(body);
  if (std::memcmp(digest.data(), bytes.data() + body.size(), kDigest) != 0) {
    reader.fail("the file is cut or changed: its checksum differs");
  }
}

}  // namespace

std::vector<std::byte> to_binary(const Program& program) {
  Writer w;
  for (char c : kMagic) w.byte(static_cast<std::uint8_t>(c));
  w.byte(kFormat & 0xff);
  w.byte(kFormat >> 8);
  w.list(program.functions(), [&](const Function& f) { w.function(f); });
  return w.finish();
}

Program from_binary(std::span<const std::byte> bytes, std::string_view file) {
  check_head(Reader(bytes, file), bytes);
  Reader reader(bytes.first(bytes.size() - kDigest), file);
  for (std::size_t i = 0; i < kHead; ++i) reader.byte();
  std::vector<Function> functions;
  try {
    for (std::size_t f = reader.count(); f-- > 0;) {
      functions.push_back(reader.function(Program(functions)));
    }
    if (!reader.at_end()) reader.fail("bytes after the last function");
    return Program(std::move(functions));
  } catch (const InternalError&) {
    throw;
  } catch (const ParseError&) {
    throw;
  } catch (const Error& e) {  // a node that its operation refuses
    reader.fail(e.what());
  }
}

bool is_binary(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() &&
         std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Program read_program(const std::string& path, Location where) {
  std::string reason;
  const auto bytes = read_whole_file(path, reason);
  if (!bytes) {
    throw ParseError({.message = "cannot read program '" + path + "': " + reason, .where = where});
  }
  return with_context({.where = where}, [&] {
    if (is_binary(*bytes)) return from_binary(*bytes, path);
    return parse({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path, {});
  });
}

}  // namespace heddle
