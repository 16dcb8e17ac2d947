#include "sorus/nn/window.h"

#include <algorithm>

namespace sorus::nn {

Ints window_numbers(std::string_view layer, std::string_view what, const Ints& items, int n) {
  SORUS_CHECK(items.size() == 1 || items.size() == n, ValueError,
              "{}: {} has {} numbers: got {}, need 1 or {}", layer, what, items.size(), items, n);
  SORUS_CHECK(std::all_of(items.begin(), items.end(), [](int64_t item) { return item > 0; }), ValueError,
              "{}: {} is out of range: got {}, need 1 or more", layer, what, items);
  return items.size() == 1 ? Ints::filled(n, items[0]) : items;
}

void check_padding(std::string_view layer, PadMode mode, const Ints& padding) {
  SORUS_CHECK(
      mode == PadMode::kPad || std::all_of(padding.begin(), padding.end(), [](int64_t p) { return p == 0; }),
      ValueError, "{}: padding is given with another pad_mode: got {}, need PadMode::kPad", layer, padding);
}

Ints spatial_size(const Tensor& x, int n) {
  Ints size;
  for (int i = x.rank() - n; i < x.rank(); ++i) size.push_back(x.size(i));
  return size;
}

}  // namespace sorus::nn
