#include <algorithm>
#include <cmath>
#include <cstring>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/reference/blocks.h"
#include "sorus/ops/index/attributes.h"

/// Scatters take their updates in row-major order of the indices. They run in parallel over the columns of
/// the blocks, so that no element is reached by two threads and the order holds.
namespace sorus {
namespace {

constexpr int64_t kColumns = 256;

/// Products, sums and quotients of integers wrap; division by zero gives zero.
template <class T>
T arithmetic(ScatterMode mode, T old, T update) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<std::common_type_t<T, int>>;
    auto a = static_cast<U>(old);
    auto b = static_cast<U>(update);
    if (mode == ScatterMode::kAdd) return static_cast<T>(a + b);
    if (mode == ScatterMode::kSub) return static_cast<T>(a - b);
    if (mode == ScatterMode::kMul) return static_cast<T>(a * b);
    if (update == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (update == -1) return static_cast<T>(U{0} - a);
    return static_cast<T>(old / update);
  } else {
    if (mode == ScatterMode::kAdd) return old + update;
    if (mode == ScatterMode::kSub) return old - update;
    return mode == ScatterMode::kMul ? old * update : old / update;
  }
}

/// NaN wins over everything in a maximum or minimum.
template <class T>
T combine(ScatterMode mode, T old, T update) {
  if (mode == ScatterMode::kUpdate) return update;
  if (mode != ScatterMode::kMax && mode != ScatterMode::kMin) return arithmetic(mode, old, update);
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(old) || std::isnan(update)) return std::isnan(old) ? old : update;
  return mode == ScatterMode::kMax ? std::max(old, update) : std::min(old, update);
}

/// One update. 16-bit floats are only ever replaced here; their sums are made of floats.
template <class To, class From>
void take(ScatterMode mode, To& element, From update) {
  if constexpr (std::is_same_v<To, From> && !std::is_arithmetic_v<To>)
    element = update;
  else if constexpr (std::is_same_v<To, bool>)
    element = combine<int>(mode, element, update) != 0;
  else
    element = combine<To>(mode, element, static_cast<To>(update));
}

/// Takes the blocks of `updates` (contiguous, one after the other) into `out` at the bases. Blocks of `out`
/// are runs.
template <class To, class From>
void take_blocks(To* out, const std::vector<int64_t>& bases, int64_t size, const From* updates,
                 ScatterMode mode) {
  parallel_ranges(size, kColumns, [&](int64_t begin, int64_t end) {
    for (size_t n = 0; n < bases.size(); ++n) {
      To* at = out + bases[n];
      const From* from = updates + static_cast<int64_t>(n) * size;
      if (mode == ScatterMode::kAdd)
        for (int64_t i = begin; i < end; ++i) take(ScatterMode::kAdd, at[i], from[i]);
      else
        for (int64_t i = begin; i < end; ++i) take(mode, at[i], from[i]);
    }
  });
}

/// `out` holds what the updates meet. 16-bit floats are combined in float32 and rounded once.
void scatter_into(const Array& out, const std::vector<int64_t>& bases, int64_t size, const Array& updates,
                  ScatterMode mode) {
  if (bases.empty() || size == 0) return;
  visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
    T* to = out.as<T>();
    if constexpr (!std::is_arithmetic_v<T>) {
      if (mode == ScatterMode::kUpdate) return take_blocks(to, bases, size, updates.as<T>(), mode);
      auto count = static_cast<size_t>(out.numel());
      std::vector<float> wide(count);
      for (size_t i = 0; i < count; ++i) wide[i] = static_cast<float>(to[i]);
      take_blocks(wide.data(), bases, size, updates.as<T>(), mode);
      for (size_t i = 0; i < count; ++i) to[i] = T(wide[i]);
    } else {
      take_blocks(to, bases, size, updates.as<T>(), mode);
    }
  });
}

void run_gather_backward(const KernelCall& call) {
  const auto& a = call.attrs<GatherBackwardAttrs>();
  const Array& out = call.out[0];
  auto axis = static_cast<int>(a.axis);
  if (int64_t n = out.numel()) std::memset(out.data, 0, static_cast<size_t>(n) * dtype_size(out.dtype));
  scatter_into(out, blocks::gather_bases(out, axis, static_cast<int>(a.batch_dims), call.in[1]),
               blocks::Block(out, axis + 1).size, call.in[0], ScatterMode::kAdd);
}

void start_from(const Array& x, const Array& out) {
  if (x.data != out.data && out.numel() > 0)
    std::memcpy(out.data, x.data, static_cast<size_t>(out.numel()) * dtype_size(out.dtype));
}

void run_scatter_elements(const KernelCall& call) {
  const auto& a = call.attrs<ScatterElementsAttrs>();
  const Array& out = call.out[0];
  std::vector<int64_t> bases = blocks::element_bases(out, static_cast<int>(a.axis), call.in[1]);
  start_from(call.in[0], out);
  scatter_into(out, bases, 1, call.in[2], a.mode);
}

void run_tensor_scatter(const KernelCall& call) {
  const Array& out = call.out[0];
  int inner = 0;
  std::vector<int64_t> bases = blocks::nd_bases(out, call.in[1], &inner);
  start_from(call.in[0], out);
  scatter_into(out, bases, blocks::Block(out, inner).size, call.in[2], call.attrs<ScatterNdAttrs>().mode);
}

const KernelRegistrar registered_backward{
    "gather_backward", Kernel{.name = "gather_backward_reference", .run = run_gather_backward},
    kReferenceRank};
constexpr Kernel elements{.name = "scatter_elements_reference", .run = run_scatter_elements, .in_place = 1};
const KernelRegistrar registered_elements{"scatter_elements", elements, kReferenceRank};
const KernelRegistrar registered_elements_reduce{"scatter_elements_reduce", elements, kReferenceRank};
constexpr Kernel nd{.name = "tensor_scatter_reference", .run = run_tensor_scatter, .in_place = 1};
const KernelRegistrar registered_nd{"tensor_scatter", nd, kReferenceRank};
const KernelRegistrar registered_nd_reduce{"tensor_scatter_reduce", nd, kReferenceRank};

}  // namespace
}  // namespace sorus
