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

}  // namespace heddle
