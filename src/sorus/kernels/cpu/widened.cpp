#include "sorus/kernels/cpu/widened.h"

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/elementwise/convert_tiles.h"

namespace sorus::cpu {
namespace {

constexpr int64_t kGrain = 32 * 1024;

/// f of type, begin and end for pieces of the 16-bit floats of `x`.
template <class F>
void for_pieces(const Array& x, F f) {
  parallel_ranges(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
    if (x.dtype == DType::kFloat16)
      f(x.as<Float16>(), begin, end);
    else
      f(x.as<BFloat16>(), begin, end);
  });
}

}  // namespace

WidenedCall::WidenedCall(const KernelCall& from, void* space)
    : from_(from), space_(static_cast<std::byte*>(space)) {
  for (const Array& x : from.in) in_.push_back(place(x));
  for (const Array& x : from.out) out_.push_back(place(x));
}

/// Other types stay as they are.
Array WidenedCall::place(const Array& x) {
  if (!x.present() || !is_half(x.dtype)) return x;
  Array wide = x;
  wide.dtype = DType::kFloat32;
  wide.data = space_ ? space_ + used_ : nullptr;
  used_ += (static_cast<size_t>(x.numel()) * sizeof(float) + 63) / 64 * 64;
  return wide;
}

KernelCall WidenedCall::call() const {
  return {from_.op,
          from_.attributes,
          {in_.data(), in_.size()},
          {out_.data(), out_.size()},
          space_ ? space_ + used_ : nullptr};
}

void WidenedCall::widen_operands() const {
  for (size_t i = 0; i < in_.size(); ++i)
    if (in_[i].data != from_.in[i].data)
      for_pieces(from_.in[i], [&](const auto* x, int64_t begin, int64_t end) {
        widen(x + begin, in_[i].as<float>() + begin, end - begin);
      });
}

void WidenedCall::narrow_results() const {
  for (size_t i = 0; i < out_.size(); ++i)
    if (out_[i].data != from_.out[i].data)
      for_pieces(from_.out[i], [&](auto* x, int64_t begin, int64_t end) {
        narrow(out_[i].as<float>() + begin, x + begin, end - begin);
      });
}

}  // namespace sorus::cpu
