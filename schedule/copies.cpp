#include "heddle/schedule/copies.h"

#include <algorithm>

#include "heddle/graph/op_attributes.h"
#include "heddle/graph/operation.h"

namespace heddle {
namespace {

std::int64_t number(const Dim& d) { return d.constant(); }

class Copies {
 public:
  explicit Copies(const Kernel& kernel) : k_(kernel), f_(kernel.body) {}

  std::optional<std::vector<PortCopy>> make() {
    if (k_.out.size() != 1 || k_.out[0].shares >= 0) return std::nullopt;
    for (const Node& n : f_.nodes) {
      if (n.literal) continue;
      if (node_ != nullptr) return std::nullopt;
      node_ = &n;
    }
    if (node_ == nullptr) return std::nullopt;
    std::vector<PortCopy> result;
    if (node_->op == &op_slice) {
      if (!slice(result)) return std::nullopt;
    } else if (node_->op == &op_broadcast_in_dim) {
      if (!broadcast(result)) return std::nullopt;
    } else if (node_->op == &op_concatenate) {
      if (!concatenate(result)) return std::nullopt;
    } else if (node_->op != &op_pad || !pad(result)) {
      return std::nullopt;
    }
    return result;
  }

 private:
  const Dims& in_strides(std::size_t port) const { return k_.in[port].strides; }
  const Dims& out_strides() const { return k_.out[0].strides; }
  const Type& result() const { return f_.type(node_->results[0]); }

  // The port of an operand; nothing for a constant.
  std::optional<std::size_t> port_of(ValueId v) const {
    for (std::size_t i = 0; i < f_.inputs.size(); ++i) {
      if (f_.inputs[i].value == v) return i;
    }
    return std::nullopt;
  }

  bool slice(std::vector<PortCopy>& all) const {
    const auto port = port_of(node_->operands[0]);
    if (!port) return false;
    const auto a = node_->attributes.as<SliceAttributes>();
    PortCopy copy{*port, std::nullopt, {}, {0, out_strides()}, result().dims};
    for (std::size_t d = 0; d < a.starts.size(); ++d) {
      const std::int64_t stride = number(in_strides(*port)[d]);
      copy.from.offset += a.starts[d] * stride;
      copy.from.strides.push_back(a.strides[d] * stride);
    }
    all.push_back(std::move(copy));
    return true;
  }

  // An axis that is repeated has stride 0.
  bool broadcast(std::vector<PortCopy>& all) const {
    const auto port = port_of(node_->operands[0]);
    if (!port) return false;
    const auto axes = node_->attributes.as<BroadcastAttributes>().axes;
    const Dims &from = f_.type(node_->operands[0]).dims, &to = result().dims;
    PortCopy copy{*port, std::nullopt, {0, Dims(to.size(), 0)}, {0, out_strides()}, to};
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const auto axis = static_cast<std::size_t>(axes[d]);
      if (from[d] == to[axis]) copy.from.strides[axis] = in_strides(*port)[d];
    }
    all.push_back(std::move(copy));
    return true;
  }

  bool concatenate(std::vector<PortCopy>& all) const {
    const auto axis = static_cast<std::size_t>(node_->attributes.as<AxisAttributes>().axis);
    std::int64_t begin = 0;
    for (ValueId v : node_->operands) {
      const auto port = port_of(v);
      if (!port) return false;
      const Dims& dims = f_.type(v).dims;
      all.push_back({*port,
                     std::nullopt,
                     {0, in_strides(*port)},
                     {begin * number(out_strides()[axis]), out_strides()},
                     dims});
      begin += number(dims[axis]);
    }
    return true;
  }

  // Elements i0 .. of an axis land at low + i (interior + 1), where that is inside the result.
  bool pad(std::vector<PortCopy>& all) const {
    const auto port = port_of(node_->operands[0]);
    if (!port) return false;
    const auto a = node_->attributes.as<PadAttributes>();
    const Dims& from = f_.type(node_->operands[0]).dims;
    PortCopy copy{.in = *port};
    bool empty = false;
    for (std::size_t d = 0; d < from.size(); ++d) {
      const std::int64_t step = a.interior[d] + 1, extent = number(result().dims[d]);
      const std::int64_t first = a.low[d] < 0 ? (-a.low[d] + step - 1) / step : 0;
      const std::int64_t start = a.low[d] + first * step;
      const std::int64_t room = start < extent ? (extent - 1 - start) / step + 1 : 0;
      const std::int64_t count = std::min(number(from[d]) - first, room);
      const std::int64_t stride_in = number(in_strides(*port)[d]);
      const std::int64_t stride_out = number(out_strides()[d]);
      copy.from.offset += first * stride_in;
      copy.to.offset += start * stride_out;
      copy.from.strides.push_back(stride_in);
      copy.to.strides.push_back(step * stride_out);
      copy.dims.push_back(count);
      empty |= count <= 0;
    }
    all.push_back(filled());
    if (!empty) all.push_back(std::move(copy));
    return true;
  }

  // The whole result from the padding's value: an operand whose strides are 0.
  PortCopy filled() const {
    const ValueId v = node_->operands[1];
    PortCopy copy{
        .from = {0, Dims(result().rank(), 0)}, .to = {0, out_strides()}, .dims = result().dims};
    if (const auto port = port_of(v)) {
      copy.in = *port;
    } else {
      copy.scalar = *f_.nodes[definitions(f_)[v.index]].literal;
    }
    return copy;
  }

  const Kernel& k_;
  const Function& f_;
  const Node* node_ = nullptr;
};

}  // namespace

std::optional<std::vector<PortCopy>> as_copies(const Kernel& kernel) {
  return Copies(kernel).make();
}

}  // namespace heddle
