#include "heddle/graph/error.h"

#include <cstring>

namespace heddle {
namespace {

std::string compose(const ErrorDetail& d) {
  std::string text;
  if (!d.operation.empty()) text += "[" + d.operation + "] ";
  if (std::string place = to_text(d.where); !place.empty()) text += place + ": ";
  text += d.message;
  if (!d.field.empty()) text += (d.message.empty() ? "" : "; ") + d.field;
  if (!d.found.empty()) text += ": found " + d.found;
  if (!d.needed.empty()) text += ", needed " + d.needed;
  if (!d.carrier.empty()) text += " (carrier " + d.carrier + ")";
  return text;
}

}  // namespace

std::string to_text(const Location& location) {
  if (location.file == nullptr) return "";
  const char* slash = std::strrchr(location.file, '/');
  return std::string(slash ? slash + 1 : location.file) + ":" + std::to_string(location.line);
}

Error::Error(ErrorDetail detail)
    : std::runtime_error(compose(detail)), detail_(std::move(detail)) {}

void Error::throw_same(ErrorDetail detail) const {
  if (typeid(*this) == typeid(Error)) throw Error(std::move(detail));
}
void Error::rethrow_with(ErrorDetail detail) const {
  throw_same(std::move(detail));
  throw;
}

void rethrow_in(const ErrorContext& context, const Error& error) {
  if (dynamic_cast<const InternalError*>(&error) != nullptr) throw;
  ErrorDetail detail = error.detail();
  if (detail.operation.empty()) detail.operation = context.operation;
  if (detail.step == 0) detail.step = context.step;
  if (detail.carrier.empty()) detail.carrier = context.carrier;
  if (detail.where == Location{}) detail.where = context.where;
  error.rethrow_with(std::move(detail));
}

}  // namespace heddle
