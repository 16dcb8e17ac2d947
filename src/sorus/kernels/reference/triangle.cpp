#include <algorithm>
#include <cstring>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/ops/shape/attributes.h"

namespace sorus {
namespace {

constexpr int64_t kGrain = 64 * 1024;

/// Row by row: what is kept is one run of each row, the rest is zero.
void run_triangle(const KernelCall& call) {
  const auto& a = call.attrs<TriangleAttrs>();
  const Array& x = call.in[0];
  const Array& out = call.out[0];
  if (out.numel() == 0) return;
  int64_t rows = out.size(out.rank() - 2);
  int64_t columns = out.size(out.rank() - 1);
  auto size = static_cast<int64_t>(dtype_size(out.dtype));
  parallel_ranges(out.numel() / columns, std::max<int64_t>(kGrain / columns, 1),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t row = begin; row < end; ++row) {
                      int64_t edge = row % rows + a.diagonal;
                      int64_t from = a.lower ? 0 : std::clamp<int64_t>(edge, 0, columns);
                      int64_t to = a.lower ? std::clamp<int64_t>(edge + 1, 0, columns) : columns;
                      std::byte* at = out.data + row * columns * size;
                      std::memset(at, 0, static_cast<size_t>(from * size));
                      std::memmove(at + from * size, x.data + (row * columns + from) * size,
                                   static_cast<size_t>((to - from) * size));
                      std::memset(at + to * size, 0, static_cast<size_t>((columns - to) * size));
                    }
                  });
}

const KernelRegistrar registered{
    "triangle", Kernel{.name = "triangle_reference", .run = run_triangle, .in_place = 1}, kReferenceRank};

}  // namespace
}  // namespace sorus
