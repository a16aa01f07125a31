// Constant factors are put once, when an instance is created, in the form that kernels read:
// function "@prepare".
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

/// An input of a body that can be read in another form. Of a product: its right factor, as it lies;
/// `inner` is its axis that is summed over. Without: the weights of a Winograd convolution.
struct Factor {
  std::size_t input = 0;
  std::optional<std::int64_t> inner;
  std::int64_t rows = 0;  ///< of a product
};
/// Nothing: the product is no matrix product of two rows or more in f32 or f64, or the factor is
/// computed or read otherwise, too.
std::optional<Factor> right_factor(const Function& body);
/// Nothing: the weights are computed, or read otherwise, too.
std::optional<Factor> winograd_factor(const Function& body);

/// A constant factor f[inner,columns] lies as panels p[columns / width, inner, width], with zeros
/// behind the last column; a row of a panel is a line of the cache, whatever the features. Weights
/// lie as winograd_panels gives them.
class Preparation {
 public:
  struct Panels {
    std::uint32_t output = 0;  ///< of @prepare
    Type type;
  };
  /// Each once.
  Panels panels(const Literal& literal, const Factor& factor);

  bool empty() const { return outputs_.empty(); }
  /// The function; once.
  Function finish();

 private:
  ValueId constant(const Literal& literal);
  ValueId columns(ValueId factor, std::int64_t inner);

  Builder build_{"prepare"};
  std::map<std::pair<const void*, std::string>, ValueId> constants_;
  std::map<std::pair<ValueId, std::optional<std::int64_t>>, Panels> outputs_;
};

/// A matrix of whole panels of columns, its axis `inner` summed over, as panels; both cut in
/// panels' extents: `matrix` is another type for the same storage.
struct PackedFactor {
  Function body;  ///< of a kernel: the panels of the matrix
  Type matrix, panels;
};
/// Nothing when the columns fill no whole panels.
std::optional<PackedFactor> pack_factor(const Type& factor, std::int64_t inner);

/// The body with the panels in the factor's place.
Function with_panels(const Function& body, const Factor& factor, const Type& panels);

/// The columns of a panel, of a factor that is read from panels as with_panels does; else 0.
std::int64_t panel_width(const Function& body, ValueId factor);

}  // namespace heddle

#endif  // HEDDLE_SCHEDULE_PREPARE_H_
