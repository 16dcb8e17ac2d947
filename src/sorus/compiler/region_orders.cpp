#include "sorus/compiler/region_orders.h"

#include <algorithm>

namespace sorus {
namespace {

constexpr int32_t kAnyOrder = -1;

class Orders {
 public:
  Orders(const Graph& body, std::span<const Array> in) : body_(body), of_(body.value_count(), kAnyOrder) {
    for (const Node& n : body.nodes)
      if (const Shape& s = body.type(n.out[0]).shape; !shape_ || s.numel() > shape_->numel()) shape_ = &s;
    for (size_t i = 0; i < in.size(); ++i)
      if (*in[i].shape == *shape_)
        of_[static_cast<size_t>(body.inputs[i])] = number(output_strides(
            Kernel{.name = "region", .out_layout = Layout::kAny}, in.subspan(i, 1), *shape_, 0));
    for (const Node& n : body.nodes) {
      int32_t order = kAnyOrder;
      for (ValueId v : n.in)
        if (order == kAnyOrder) order = of(v);
      for (ValueId v : n.out) of_[static_cast<size_t>(v)] = order;
    }
  }

  [[nodiscard]] int32_t of(ValueId v) const {
    return v == kNoValue ? kAnyOrder : of_[static_cast<size_t>(v)];
  }

  [[nodiscard]] int32_t count() const { return static_cast<int32_t>(known_.size()); }

  /// Operands that the region would have to pick element by element.
  [[nodiscard]] int picked_by_region() const {
    int32_t own = kAnyOrder;
    int count = 0;
    for (ValueId v : body_.inputs) {
      if (own == kAnyOrder) own = of(v);
      if (of(v) != own && of(v) != kAnyOrder) ++count;
    }
    return count;
  }

  /// Operands that its calls would have to, one by one.
  [[nodiscard]] int picked_by_calls() const {
    int count = 0;
    for (const Node& n : body_.nodes)
      for (size_t k = 0; k < n.in.size(); ++k) {
        const bool is_first = std::find(n.in.begin(), n.in.begin() + k, n.in[k]) == n.in.begin() + k;
        if (is_first && of(n.in[k]) != of(n.out[0]) && of(n.in[k]) != kAnyOrder) ++count;
      }
    return count;
  }

 private:
  int32_t number(const Strides& order) {
    for (size_t i = 0; i < known_.size(); ++i)
      if (same_strides(*shape_, known_[i], order)) return static_cast<int32_t>(i);
    known_.push_back(order);
    return static_cast<int32_t>(known_.size()) - 1;
  }

  const Graph& body_;
  const Shape* shape_ = nullptr;  ///< of the region
  std::vector<int32_t> of_;       ///< by value: number of its order; for other shapes kAnyOrder
  std::vector<Strides> known_;
};

/// Takes all calls of one order that have their operands, then those of another: the first part is of the
/// order `first`.
std::vector<int32_t> scheduled(const Graph& body, const Orders& orders, int32_t first) {
  constexpr int32_t kNoPart = -1;
  std::vector<int32_t> parts(body.nodes.size(), kNoPart);
  std::vector<char> waits(body.value_count(), 0);
  for (const Node& n : body.nodes)
    for (ValueId v : n.out) waits[static_cast<size_t>(v)] = 1;
  int32_t part = 0;
  int32_t own = first;
  for (size_t left = parts.size(); left > 0; own = kAnyOrder) {
    const size_t before = left;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Node& n = body.nodes[i];
      const int32_t order = orders.of(n.out[0]);
      const bool is_ready = std::all_of(n.in.begin(), n.in.end(), [&](ValueId v) {
        return v == kNoValue || !waits[static_cast<size_t>(v)];
      });
      if (parts[i] != kNoPart || !is_ready) continue;
      if (own != kAnyOrder && order != kAnyOrder && order != own) continue;
      own = std::max(own, order);
      parts[i] = part;
      for (ValueId v : n.out) waits[static_cast<size_t>(v)] = 0;
      --left;
    }
    if (left < before) ++part;
  }
  return parts;
}

int32_t last_part(const std::vector<int32_t>& parts) { return *std::max_element(parts.begin(), parts.end()); }

}  // namespace

std::vector<int32_t> parts_by_order(const Graph& body, std::span<const Array> in) {
  // Rows are row-major whatever comes in.
  if (!std::all_of(body.nodes.begin(), body.nodes.end(),
                   [](const Node& n) { return n.op->traits.elementwise; }))
    return {};
  const Orders orders(body, in);
  if (orders.picked_by_region() <= std::max(1, orders.picked_by_calls())) return {};
  std::vector<int32_t> best;
  for (int32_t first = 0; first < orders.count(); ++first) {
    std::vector<int32_t> parts = scheduled(body, orders, first);
    if (best.empty() || last_part(parts) < last_part(best)) best = std::move(parts);
  }
  return last_part(best) > 0 ? best : std::vector<int32_t>{};
}

}  // namespace sorus
