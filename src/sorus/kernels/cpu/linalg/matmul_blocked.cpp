#include <algorithm>
#include <type_traits>

#include "sorus/base/thread_pool.h"
#include "sorus/core/storage.h"
#include "sorus/kernels/cpu/linalg/matmul_call.h"
#include "sorus/kernels/cpu/linalg/panels.h"

/// matmul of float64 and integers: blocks of the result, one thread each; the operands of a block are packed
/// from whatever strides they have, so bits depend on the shapes alone.
namespace sorus {
namespace {

/// Rows and columns of a block of the result, and how deep its operands are packed at once: two packed
/// operands and the sums fit a second-level cache of 512 kB in 8-byte elements.
constexpr int64_t kBlockRows = 20 * kTileRows;
constexpr int64_t kBlockColumns = 128;
constexpr int64_t kBlockDepth = 128;

/// The type in which T is multiplied: unsigned integers wrap, and narrow ones wrap when stored.
template <class T>
using SumType = std::conditional_t<std::is_floating_point_v<T>, double,
                                   std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

/// `count` rows of `width` at a time: panel after panel, each as `depth` groups of `width`; missing rows are
/// 0.
template <class T, class Sum>
void pack(const T* from, int64_t step, int64_t depth_step, int64_t count, int64_t depth, int64_t width,
          Sum* to) {
  for (int64_t i = 0; i < count; i += width) {
    int64_t rows = std::min(width, count - i);
    const T* panel = from + i * step;
    if (rows < width) std::fill_n(to, depth * width, Sum(0));
    if (step == 1) {
      for (int64_t p = 0; p < depth; ++p) std::copy_n(panel + p * depth_step, rows, to + p * width);
    } else {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t p = 0; p < depth; ++p)
          to[p * width + r] = static_cast<Sum>(panel[r * step + p * depth_step]);
    }
    to += depth * width;
  }
}

template <class T>
class Product {
  using Sum = SumType<T>;

 public:
  Product(const MatmulCall& call, const T* a, const T* b, T* out) : c_(call), a_(a), b_(b), out_(out) {}

  void run() const {
    int64_t row_blocks = (c_.m + kBlockRows - 1) / kBlockRows;
    int64_t column_blocks = (c_.n + kBlockColumns - 1) / kBlockColumns;
    int64_t blocks = row_blocks * column_blocks;
    int64_t work = std::min(c_.m, kBlockRows) * std::min(c_.n, kBlockColumns) * std::max<int64_t>(c_.k, 1);
    constexpr int64_t kGrain = 64 * 1024;
    parallel_ranges(c_.batches() * blocks, std::max<int64_t>(kGrain / work, 1),
                    [&](int64_t begin, int64_t end) {
                      Scratch scratch(width_, c_);
                      for (int64_t i = begin; i < end; ++i)
                        run_block(i / blocks, i % blocks / column_blocks * kBlockRows,
                                  i % column_blocks * kBlockColumns, scratch);
                    });
  }

 private:
  /// Packed operands and sums of one block, no larger than the call needs.
  struct Scratch {
    Scratch(int64_t width, const MatmulCall& c) {
      int64_t rows = round_up(std::min(c.m, kBlockRows), kTileRows);
      int64_t columns = round_up(std::min(c.n, kBlockColumns), width);
      int64_t depth = std::min(c.k, kBlockDepth);
      bytes = Storage::allocate(static_cast<size_t>((rows + columns) * depth + rows * columns) * sizeof(Sum));
      sums = reinterpret_cast<Sum*>(bytes->data());
      a = sums + rows * columns;
      b = a + rows * depth;
    }
    static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
    Ref<Storage> bytes;
    Sum* a;
    Sum* b;
    Sum* sums;
  };

  void run_block(int64_t batch, int64_t row, int64_t column, const Scratch& s) const {
    int64_t rows = std::min(kBlockRows, c_.m - row);
    int64_t columns = std::min(kBlockColumns, c_.n - column);
    int64_t row_panels = (rows + kTileRows - 1) / kTileRows;
    int64_t column_panels = (columns + width_ - 1) / width_;
    const T* a = a_ + c_.offset(c_.a, batch) + row * c_.a.row;
    const T* b = b_ + c_.offset(c_.b, batch) + column * c_.b.column;
    for (int64_t p = 0; p < c_.k || p == 0; p += kBlockDepth) {
      int64_t depth = std::min(kBlockDepth, c_.k - p);
      pack(a + p * c_.a.column, c_.a.row, c_.a.column, rows, depth, kTileRows, s.a);
      pack(b + p * c_.b.row, c_.b.column, c_.b.row, columns, depth, width_, s.b);
      Panels<Sum>::multiply(s.a, s.b, s.sums, depth, row_panels, column_panels, p == 0);
    }
    T* out = out_ + c_.offset(c_.out, batch) + row * c_.out.row + column;
    for (int64_t i = 0; i < rows; ++i) {
      const Sum* tile = s.sums + (i / kTileRows * column_panels * kTileRows + i % kTileRows) * width_;
      for (int64_t j = 0; j < columns; j += width_, tile += kTileRows * width_)
        for (int64_t w = 0; w < std::min(width_, columns - j); ++w)
          out[i * c_.out.row + j + w] = static_cast<T>(tile[w]);
    }
  }

  MatmulCall c_;
  const T* a_;
  const T* b_;
  T* out_;
  int64_t width_ = Panels<Sum>::width();
};

Refusal supports_blocked(const KernelCall& call) {
  DType t = call.out[0].dtype;
  return t == DType::kFloat64 || is_integer(t) ? kAccepted : "element type is neither float64 nor an integer";
}

void run_blocked(const KernelCall& call) {
  if (call.out[0].numel() == 0) return;
  visit_dtype(call.out[0].dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, double> || (std::is_integral_v<T> && !std::is_same_v<T, bool>))
      Product<T>(MatmulCall(call), call.in[0].as<T>(), call.in[1].as<T>(), call.out[0].as<T>()).run();
  });
}

const KernelRegistrar registered{"matmul",
                                 Kernel{.name = "matmul_blocked",
                                        .in_layout = Layout::kAny,
                                        .supports = supports_blocked,
                                        .run = run_blocked},
                                 kSimdRank};

}  // namespace

void multiply_blocked(const MatmulCall& call, const double* a, const double* b, double* out) {
  Product<double>(call, a, b, out).run();
}

}  // namespace sorus
