// Constant factors of products are packed once, when an instance is created: function "@prepare".
#ifndef HEDDLE_SCHEDULE_PREPARE_H_
#define HEDDLE_SCHEDULE_PREPARE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "heddle/graph/builder.h"
#include "heddle/schedule/kernel.h"

namespace heddle {

inline constexpr char kPrepare[] = "@prepare";

/// A constant factor f[inner,columns] lies as panels p[columns / width, inner, width], with zeros
/// behind the last column; a row of a panel is a line of the cache, whatever the features.
class Preparation {
 public:
  struct Panels {
    std::uint32_t output = 0;  ///< of @prepare
    Type type;
  };
  /// `factor` is a matrix; its axis `inner` is summed over. Each once.
  Panels panels(const Literal& factor, std::int64_t inner);

  bool empty() const { return outputs_.empty(); }
  /// The function; once.
  Function finish();

 private:
  ValueId constant(const Literal& literal);

  Builder build_{"prepare"};
  std::map<std::pair<const void*, std::string>, ValueId> constants_;
  std::map<std::pair<ValueId, std::int64_t>, Panels> outputs_;
};

/// The input that is the right factor of a body's product, as it lies: one that can be read from
/// panels. Nothing: the product is no matrix product of two rows or more in f32 or f64, or the
/// factor is computed or read otherwise, too.
struct RightFactor {
  std::size_t input = 0;
  std::int64_t inner = 0;  ///< its axis that is summed over
};
std::optional<RightFactor> right_factor(const Function& body);

/// The body with the panels in the factor's place.
Function with_panels(const Function& body, const RightFactor& factor, const Type& panels);

/// The columns of a panel, of a factor that is read from panels as with_panels does; else 0.
std::int64_t panel_width(const Function& body, ValueId factor);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_PREPARE_H_
