#include "sorus/kernels/cpu/matmul/matmul.h"

#include <algorithm>

#include "sorus/kernels/cpu/linalg/matmul_call.h"
#include "sorus/kernels/cpu/widened.h"

/// matmul, with or without bias, of float32 by the kernels of cpu/gemm and, where the CPU multiplies it,
/// bfloat16 by oneDNN, as operands lie; other 16-bit floats are widened to float32 first and rounded once at
/// the end.
namespace sorus {
namespace {

namespace onednn = kernels::onednn;

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
const Kernel widening = cpu::Widened<native>::kernel("matmul_widened", Layout::kContiguous);
const KernelRegistrar registered[] = {{"matmul", native, kLibraryRank},
                                      {"matmul_bias", native, kLibraryRank},
                                      {"matmul", widening, kSimdRank},
                                      {"matmul_bias", widening, kSimdRank}};

}  // namespace
}  // namespace sorus
