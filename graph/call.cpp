#include "heddle/graph/call.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "heddle/graph/resolution_cache.h"

namespace heddle {
namespace {

std::string text(std::string_view s) { return std::string(s); }

/// Where an error of the call path comes from.
struct Site {
  const Operation& op;
  Location where;

  template <class E>
  [[noreturn]] void fail(int step, std::string message, std::string field = "",
                         std::string found = "", std::string needed = "") const {
    throw E(ErrorDetail{.message = std::move(message),
                        .step = step,
                        .operation = text(op.name),
                        .field = std::move(field),
                        .found = std::move(found),
                        .needed = std::move(needed),
                        .where = where});
  }
};

// Steps 1-4 -------------------------------------------------------------------------------------

using Overloads = std::vector<const OperationSchema*>;

bool takes_count(const OperationSchema& s, std::size_t n) {
  return s.variadic ? n >= s.operands.size() : n == s.operands.size();
}

Overloads with_count(const Site& site, std::size_t n) {
  Overloads result;
  std::string counts;
  for (const OperationSchema& s : site.op.surface.overloads) {
    if (takes_count(s, n)) result.push_back(&s);
    const std::string count = std::to_string(s.operands.size()) + (s.variadic ? " or more" : "");
    if (counts.find(count) == std::string::npos) counts += (counts.empty() ? "" : ", ") + count;
  }
  if (result.empty()) {
    site.fail<TypeError>(1, "wrong number of operands", "operands", std::to_string(n), counts);
  }
  return result;
}

const OptionSpec* find_option(const OperationSchema& s, std::string_view name) {
  for (const OptionSpec& o : s.options) {
    if (o.name == name) return &o;
  }
  return nullptr;
}

std::string option_names(const Overloads& overloads) {
  std::vector<std::string> names;
  for (const OperationSchema* s : overloads) {
    for (const OptionSpec& o : s->options) {
      if (std::find(names.begin(), names.end(), o.name) == names.end()) {
        names.push_back(text(o.name));
      }
    }
  }
  std::string list;
  for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
  return list.empty() ? "no options" : list;
}

Overloads knowing_options(const Site& site, const Overloads& overloads, const Attributes& options) {
  Overloads remaining = overloads;
  for (const auto& [name, value] : options.entries()) {
    Overloads knowing;
    for (const OperationSchema* s : remaining) {
      if (find_option(*s, name)) knowing.push_back(s);
    }
    if (knowing.empty()) {
      site.fail<TypeError>(2, "unknown option", "options." + name, "", option_names(remaining));
    }
    remaining = std::move(knowing);
  }
  return remaining;
}

Overloads with_required(const Site& site, const Overloads& overloads, const Attributes& options) {
  Overloads result;
  const OptionSpec* missing = nullptr;
  for (const OperationSchema* s : overloads) {
    bool complete = true;
    for (const OptionSpec& o : s->options) {
      if (!o.required() || options.find(o.name) != nullptr) continue;
      complete = false;
      if (missing == nullptr) missing = &o;
    }
    if (complete) result.push_back(s);
  }
  if (result.empty()) {
    site.fail<TypeError>(3, "missing option", "options." + text(missing->name));
  }
  return result;
}

bool fits(OperandKind kind, const Operand& operand) {
  switch (kind) {
    case OperandKind::tensor:
      return std::holds_alternative<Tensor>(operand);
    case OperandKind::structural:
      return std::holds_alternative<Attribute>(operand);
    case OperandKind::weak_scalar:
      break;
  }
  return !std::holds_alternative<Tensor>(operand) && !std::holds_alternative<Attribute>(operand);
}
const OperandSpec& spec_of(const OperationSchema& s, std::size_t i) {
  return s.operands[std::min(i, s.operands.size() - 1)];
}
std::string kind_text(OperandKind kind) {
  return kind == OperandKind::tensor        ? "a tensor"
         : kind == OperandKind::weak_scalar ? "a number"
                                            : "a structural value";
}
std::string kind_text(const Operand& operand) {
  if (const Tensor* t = std::get_if<Tensor>(&operand)) {
    return t->empty() ? "an empty tensor" : "a tensor " + to_text(t->type());
  }
  if (std::holds_alternative<Attribute>(operand)) return "a structural value";
  return "a number";
}

const OperationSchema& by_kinds(const Site& site, const Overloads& overloads, Operands operands,
                                bool types_only) {
  Overloads remaining = overloads;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Tensor* tensor = std::get_if<Tensor>(&operands[i]);
    const std::string field = "operands[" + std::to_string(i) + "]";
    if (tensor != nullptr && tensor->empty() && !types_only) {
      site.fail<TypeError>(4, "an empty tensor may only be assigned to", field, "an empty tensor",
                           "a tensor");
    }
    Overloads fitting;
    std::string needed;
    for (const OperationSchema* s : remaining) {
      const OperandSpec& spec = spec_of(*s, i);
      if (fits(spec.kind, operands[i])) fitting.push_back(s);
      const std::string kind = kind_text(spec.kind);
      if (needed.find(kind) == std::string::npos) needed += (needed.empty() ? "" : " or ") + kind;
    }
    if (fitting.empty()) {
      site.fail<TypeError>(4,
                           "wrong kind of operand '" + text(spec_of(*remaining[0], i).name) + "'",
                           field, kind_text(operands[i]), needed);
    }
    remaining = std::move(fitting);
  }
  return *remaining[0];
}

// OptionKind names the alternatives of Attribute, in their order.
Attribute option_value(const Site& site, const OptionSpec& spec, const Attribute& given) {
  if (given.index() == static_cast<std::size_t>(spec.kind)) return given;
  const auto* whole = std::get_if<std::int64_t>(&given);
  if (whole != nullptr && spec.kind == OptionKind::number) return static_cast<double>(*whole);
  constexpr std::string_view kKinds[] = {
      "an integer",         "a number",          "text",    "a flag",
      "a list of integers", "a list of numbers", "a dtype", "extents"};
  site.fail<TypeError>(4, "option of the wrong kind", "options." + text(spec.name),
                       decimal_text(given), text(kKinds[static_cast<std::size_t>(spec.kind)]));
}

Attributes filled_options(const Site& site, const OperationSchema& schema,
                          const Attributes& options) {
  std::vector<Attributes::Entry> entries;
  for (const OptionSpec& spec : schema.options) {
    const Attribute* given = options.find(spec.name);
    entries.push_back(
        {text(spec.name), given ? option_value(site, spec, *given) : spec.default_value()});
  }
  return Attributes(std::move(entries));
}

// Steps 5-13 ------------------------------------------------------------------------------------

std::string operand_text(Bound call, std::size_t i) {
  return absl::StrCat("operands[", i, "] ('", text(spec_of(*call.schema, i).name), "')");
}

// All concrete tensors on one carrier.
void check_carriers(Bound call) {
  const Tensor* first = nullptr;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&call.operands[i]);
    if (t == nullptr || t->storage()->carrier() == host_carrier()) continue;
    if (first == nullptr) first = t;
    if (t->storage()->carrier() == first->storage()->carrier()) continue;
    Site{*call.op, call.where}.fail<TypeError>(
        9, "tensors of two carriers do not mix: move one with hd::on", operand_text(call, i),
        "a tensor of another carrier", "one of the first operand's");
  }
}

// One home: all traced by one builder, or none traced.
void check_home(Bound call) {
  const Site site{*call.op, call.where};
  const TraceStorage* first = nullptr;
  for (const Operand& o : call.operands) {
    const Tensor* t = std::get_if<Tensor>(&o);
    if (t != nullptr && first == nullptr) first = traced(*t);
  }
  if (first == nullptr) return check_carriers(call);
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&call.operands[i]);
    if (t == nullptr || traced(*t) == first) continue;
    const TraceStorage* storage = traced(*t);
    if (storage == nullptr) {
      site.fail<ValueError>(
          9, "a concrete tensor in a trace: give it as an input, or as hd::constant(tensor)",
          operand_text(call, i), "a concrete tensor " + to_text(t->type()), "a traced tensor");
    }
    const bool live = !storage->released() && !first->released();
    if (live && storage->carrier() != first->carrier()) {
      site.fail<ValueError>(9, "tensors of two traces do not mix", operand_text(call, i),
                            to_text(t->type()) + " of another trace",
                            "a tensor of this trace, or hd::constant of a concrete one");
    }
  }
}

// Steps 14-17 -----------------------------------------------------------------------------------

/// The same error, with step, operation and place where they are missing.
template <class F>
auto at_step(int step, const Operation& op, Location where, F f) {
  try {
    return f();
  } catch (const InternalError&) {
    throw;
  } catch (const Error& e) {
    ErrorDetail d = e.detail();
    if (d.step == 0) d.step = step;
    if (d.operation != op.name) d.operation = text(op.name);
    if (d.where == Location{}) d.where = where;
    e.rethrow_with(std::move(d));
  }
}

}  // namespace

struct CallMaker {
  static BoundOperationCall make(const Operation& op, Operands operands, Attributes options,
                                 Location where, bool types_only) {
    const Site site{op, where};
    if (op.surface.overloads.empty()) {
      site.fail<TypeError>(1, "this operation is internal to programs: it cannot be called");
    }
    Overloads overloads = with_count(site, operands.size());
    overloads = knowing_options(site, overloads, options);
    overloads = with_required(site, overloads, options);
    const OperationSchema& schema = by_kinds(site, overloads, operands, types_only);
    Attributes filled = filled_options(site, schema, options);
    return {BoundOperationCall::Key(), op,   schema, {operands.begin(), operands.end()},
            std::move(filled),         where};
  }
};

BoundOperationCall bind(const Operation& op, Operands operands, Attributes options,
                        Location where) {
  return CallMaker::make(op, operands, std::move(options), where, false);
}
BoundOperationCall bind_types(const Operation& op, Operands operands, Attributes options,
                              Location where) {
  return CallMaker::make(op, operands, std::move(options), where, true);
}

void check(Bound call) { check_home(call); }

DtypePlan plan(Bound call) {
  return at_step(14, *call.op, call.where, [&] { return call.op->surface.plan(call); });
}

Invocation resolve(BoundOperationCall call, DtypePlan plan) {
  const Operation& op = *call.op;
  if (op.surface.resolve != nullptr) return op.surface.resolve(call);
  Function body = at_step(15, op, call.where, [&] { return op.surface.body(call, plan); });
  const Site site{op, call.where};
  std::vector<ResultSpec> results;
  for (const Output& o : body.outputs) {
    const Type& type = body.type(o.value);
    results.push_back({type, std::nullopt, tolerance_of(type.dtype)});
  }
  if (results.empty()) site.fail<TypeError>(16, "the body has no result");
  if (results[0].type.dtype != plan.output) {
    site.fail<ValueError>(17, "the body's result is not of the planned dtype", "results[0].dtype",
                          text(name_of(results[0].type.dtype)), text(name_of(plan.output)));
  }
  return {Invocation(std::move(call), std::move(plan), std::move(results)), std::move(body)};
}

namespace {

const TraceStorage* trace_of(Bound call) {
  for (const Operand& o : call.operands) {
    const Tensor* t = std::get_if<Tensor>(&o);
    if (t != nullptr && traced(*t) != nullptr) return traced(*t);
  }
  return nullptr;
}

void check_released(Bound call) {
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Tensor* t = std::get_if<Tensor>(&call.operands[i]);
    if (t == nullptr || !t->storage()->released()) continue;
    Site{*call.op, call.where}.fail<ReleasedError>(
        18, "the trace this tensor belongs to has ended", operand_text(call, i),
        "a released tensor " + to_text(t->type()),
        "a tensor of a running trace, or hd::constant of a concrete one");
  }
}

// A program has values, not storage that changes.
void check_traceable(const Invocation& inv) {
  check_released(inv.call);
  if (inv.mutated.empty()) return;
  Site{*inv.call.op, inv.call.where}.fail<NotImplementedError>(
      18, "an operation that changes an operand cannot be part of a program",
      operand_text(inv.call, static_cast<std::size_t>(inv.mutated[0])));
}

std::vector<Tensor> splice(const Invocation& inv, const TraceStorage& storage) {
  const std::shared_ptr<Builder> builder = storage.builder();
  Values arguments;
  for (const Operand& o : inv.call.operands) {
    const Tensor* t = std::get_if<Tensor>(&o);
    if (t != nullptr) arguments.push_back(traced(*t)->value());
  }
  std::vector<Tensor> results;
  for (ValueId v : builder->splice(inv.body, arguments, inv.call.where)) {
    results.emplace_back(builder->type(v), std::make_shared<TraceStorage>(builder, v));
  }
  return results;
}

Executor* installed = nullptr;

// The carrier all tensors live on; literals go with any. Null: a traced one among them, an empty
// one, two carriers, or no tensor: not for the cache, and check() has the words.
const void* common_carrier(Operands operands) {
  const void* carrier = nullptr;
  for (const Operand& o : operands) {
    const Tensor* t = std::get_if<Tensor>(&o);
    if (t == nullptr) continue;
    if (t->empty() || traced(*t) != nullptr) return nullptr;
    const void* own = t->storage()->carrier();
    const bool host = own == host_carrier() || carrier == host_carrier();
    if (carrier != nullptr && own != carrier && !host) return nullptr;
    if (carrier == nullptr || carrier == host_carrier()) carrier = own;
  }
  return carrier;
}

}  // namespace

std::vector<Tensor> call(const Operation& op, Operands operands, Attributes options,
                         Location where) {
  const void* carrier = common_carrier(operands);
  std::shared_ptr<const ResolvedCall> known;
  if (carrier != nullptr) known = resolution_cache().find(op, operands, options, carrier);
  if (known == nullptr) {
    Attributes given = options;
    BoundOperationCall bound = bind(op, operands, std::move(options), where);
    check(bound);
    DtypePlan dtypes = op.surface.resolve != nullptr ? DtypePlan() : plan(bound);
    const Invocation invocation = resolve(std::move(bound), std::move(dtypes));
    if (const TraceStorage* storage = trace_of(invocation.call)) {
      check_traceable(invocation);
      return splice(invocation, *storage);
    }
    if (installed == nullptr || carrier == nullptr) {
      Site{op, where}.fail<UnsupportedOperationPlan>(
          21, carrier == nullptr ? "no tensor operand says where to run"
                                 : "operations on concrete tensors need a carrier");
    }
    std::shared_ptr<void> prepared = installed->prepare(invocation, carrier);
    known = resolution_cache().insert(
        {invocation.without_storage(), std::move(given), carrier, std::move(prepared)});
  }
  return installed->run(known->invocation, known->prepared, operands, where);
}

Executor& executor() {
  if (installed == nullptr) {
    throw NotImplementedError(
        {.message = "no executor is installed: operations run inside hd::trace only"});
  }
  return *installed;
}

void install_executor(Executor* executor) { installed = executor; }

}  // namespace heddle
