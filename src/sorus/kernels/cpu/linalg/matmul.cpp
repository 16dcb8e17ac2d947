#include "sorus/kernels/cpu/matmul/matmul.h"

#include <algorithm>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/copy/strided_copy.h"
#include "sorus/kernels/cpu/elementwise/convert_tiles.h"
#include "sorus/kernels/cpu/linalg/matmul_call.h"

/// matmul, with or without bias, of float32 by the kernels of cpu/gemm and, where the CPU multiplies it,
/// bfloat16 by oneDNN, as operands lie; other 16-bit floats are widened to float32 first and rounded once at
/// the end.
namespace sorus {
namespace {

namespace onednn = kernels::onednn;

constexpr int64_t kGrain = 32 * 1024;

kernels::MatrixLayout layout_of(const MatmulCall::Matrix& x) {
  kernels::MatrixLayout r;
  std::copy(x.batch.begin(), x.batch.end(), r.batch_stride.begin());
  r.row_stride = x.row;
  r.col_stride = x.column;
  return r;
}

kernels::MatmulProblem problem_of(const KernelCall& call, onednn::ElementType type) {
  MatmulCall c(call);
  kernels::MatmulProblem p;
  p.m = c.m;
  p.n = c.n;
  p.k = c.k;
  p.batch = c.batch;
  p.a = layout_of(c.a);
  p.b = layout_of(c.b);
  p.out = layout_of(c.out);
  // The stride of an axis of extent 1 says nothing; the library wants to see rows of neighbours.
  if (p.n == 1) p.out.col_stride = 1;
  p.type = p.out_type = type;
  p.has_bias = call.in.size() > 2;
  return p;
}

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// The bias is widened into the first bytes of the workspace, wherever it lies.
size_t bias_bytes(const KernelCall& call) {
  return call.in.size() > 2 ? aligned(static_cast<size_t>(call.in[2].numel()) * sizeof(float)) : 0;
}
const float* widened_bias(const KernelCall& call) {
  if (call.in.size() <= 2) return nullptr;
  const Array& bias = call.in[2];
  auto* wide = static_cast<float*>(call.workspace);
  visit_floating(bias.dtype, [&]<class T>(std::type_identity<T>) {
    for (int64_t j = 0; j < bias.numel(); ++j)
      wide[j] = static_cast<float>(bias.as<T>()[j * bias.strides[0]]);
  });
  return wide;
}

/// The library is asked, not the processor: it knows what it was built with.
bool multiplies_bfloat16() {
  static const bool does = [] {
    kernels::MatmulProblem p;
    p.m = p.n = p.k = 16;
    p.a.row_stride = p.b.row_stride = p.out.row_stride = 16;
    p.type = p.out_type = onednn::ElementType::kBFloat16;
    try {
      (void)kernels::matmul::workspace(p);
      return true;
    } catch (const NotSupportedError&) {
      return false;
    }
  }();
  return does;
}

Refusal supports_native(const KernelCall& call) {
  DType t = call.out[0].dtype;
  if (t == DType::kFloat32) return kAccepted;
  if (t != DType::kBFloat16) return "element type is neither float32 nor bfloat16";
  return multiplies_bfloat16() ? kAccepted : "oneDNN does not multiply bfloat16 on this CPU";
}

onednn::ElementType native_type(const KernelCall& call) {
  return call.out[0].dtype == DType::kFloat32 ? onednn::ElementType::kFloat32
                                              : onednn::ElementType::kBFloat16;
}

size_t native_workspace(const KernelCall& call) {
  return bias_bytes(call) + kernels::matmul::workspace(problem_of(call, native_type(call)));
}

void multiply_native(const KernelCall& call, const PieceTaker* taker) {
  auto* space = static_cast<std::byte*>(call.workspace);
  kernels::MatmulProblem problem = problem_of(call, native_type(call));
  problem.b_is_packed = call.prepacked != nullptr;
  kernels::matmul::multiply(problem, call.in[0].data, call.prepacked ? call.prepacked : call.in[1].data,
                            widened_bias(call), call.out[0].data, space ? space + bias_bytes(call) : nullptr,
                            taker);
}
void run_native(const KernelCall& call) { multiply_native(call, nullptr); }

/// Asked before it is known how operands lie, it is answered for row-major ones.
bool has_pieces(const KernelCall& call) {
  SmallVector<Array, 4> in;
  for (const Array& a : call.in) {
    in.push_back(a);
    if (std::all_of(a.strides.data(), a.strides.data() + a.rank(), [](int64_t s) { return s == 0; }))
      in.back().strides = Strides::contiguous(*a.shape);
  }
  Array out = call.out[0];
  out.strides = Strides::contiguous(*out.shape);
  const std::span<const Array> result(&out, 1);
  return kernels::matmul::has_pieces(
      problem_of({call.op, call.attributes, {in.data(), in.size()}, result}, native_type(call)));
}
void run_pieces(const KernelCall& call, const PieceTaker& taker) { multiply_native(call, &taker); }

/// A matrix alone: those of a batch are activations.
size_t prepacked_bytes(const KernelCall& call) {
  if (call.in[1].rank() != 2 || call.out[0].numel() == 0 || call.in[1].numel() == 0) return 0;
  kernels::MatmulProblem problem = problem_of(call, native_type(call));
  const size_t planned = kernels::matmul::workspace(problem);
  problem.b_is_packed = true;
  if (kernels::matmul::workspace(problem) > planned) return 0;
  return kernels::matmul::packed_b_bytes(problem);
}
void prepack(const KernelCall& call, void* to) {
  kernels::matmul::pack_b(problem_of(call, native_type(call)), call.in[1].data, to);
}

Refusal supports_widened(const KernelCall& call) {
  return is_half(call.out[0].dtype) ? kAccepted : "element type is not a 16-bit float";
}

/// Places in the workspace of the operands and the result as dense float32, of one operand brought into
/// row-major order, and of the workspace of the product.
struct WidenedCall {
  std::vector<Array> in;
  Array out[1];
  size_t dense;
  size_t product;

  WidenedCall(const KernelCall& call, std::byte* space) {
    size_t used = bias_bytes(call);
    for (size_t i = 0; i < 2; ++i) in.push_back(place(call.in[i], space, used));
    if (call.in.size() > 2) in.push_back(call.in[2]);
    out[0] = place(call.out[0], space, used);
    dense = used;
    used += aligned(static_cast<size_t>(std::max(call.in[0].numel(), call.in[1].numel())) * sizeof(Float16));
    product = used;
  }
  [[nodiscard]] KernelCall call(const KernelCall& from) const { return {from.op, from.attributes, in, out}; }

 private:
  static Array place(const Array& x, std::byte* space, size_t& used) {
    Array r{space ? space + used : nullptr, DType::kFloat32, x.shape, Strides::contiguous(*x.shape)};
    used += aligned(static_cast<size_t>(x.numel()) * sizeof(float));
    return r;
  }
};

size_t widened_workspace(const KernelCall& call) {
  WidenedCall wide(call, nullptr);
  return wide.product +
         kernels::matmul::workspace(problem_of(wide.call(call), onednn::ElementType::kFloat32));
}

template <class T>
void widen(Array x, const Array& wide, std::byte* dense) {
  if (!is_contiguous(*x.shape, x.strides)) {
    Array copy{dense, x.dtype, x.shape, Strides::contiguous(*x.shape)};
    copy_array(x, copy);
    x = copy;
  }
  const T* from = x.as<T>();
  float* to = wide.as<float>();
  parallel_ranges(x.numel(), kGrain,
                  [&](int64_t begin, int64_t end) { cpu::widen(from + begin, to + begin, end - begin); });
}

template <class T>
void run_widened_as(const KernelCall& call) {
  auto* space = static_cast<std::byte*>(call.workspace);
  WidenedCall wide(call, space);
  for (size_t i = 0; i < 2; ++i) widen<T>(call.in[i], wide.in[i], space + wide.dense);
  kernels::matmul::multiply(problem_of(wide.call(call), onednn::ElementType::kFloat32), wide.in[0].data,
                            wide.in[1].data, widened_bias(call), wide.out[0].data, space + wide.product);
  T* to = call.out[0].as<T>();
  const float* from = wide.out[0].as<float>();
  parallel_ranges(call.out[0].numel(), kGrain,
                  [&](int64_t begin, int64_t end) { cpu::narrow(from + begin, to + begin, end - begin); });
}

void run_widened(const KernelCall& call) {
  if (call.out[0].numel() == 0) return;
  call.out[0].dtype == DType::kFloat16 ? run_widened_as<Float16>(call) : run_widened_as<BFloat16>(call);
}

const Kernel native{.name = "matmul_native",
                    .in_layout = Layout::kAny,
                    .supports = supports_native,
                    .workspace = native_workspace,
                    .run = run_native,
                    .has_pieces = has_pieces,
                    .run_pieces = run_pieces,
                    .prepacked_in = 1,
                    .prepacked_bytes = prepacked_bytes,
                    .prepack = prepack};
const Kernel widening{.name = "matmul_widened",
                      .in_layout = Layout::kAny,
                      .supports = supports_widened,
                      .workspace = widened_workspace,
                      .run = run_widened};
const KernelRegistrar registered[] = {{"matmul", native, kLibraryRank},
                                      {"matmul_bias", native, kLibraryRank},
                                      {"matmul", widening, kSimdRank},
                                      {"matmul_bias", widening, kSimdRank}};

}  // namespace
}  // namespace sorus
