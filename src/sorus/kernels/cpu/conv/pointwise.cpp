#include "sorus/kernels/cpu/conv/pointwise.h"

#include <algorithm>
#include <cstring>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/matmul/matmul.h"

namespace sorus::kernels::pointwise {
namespace {

using onednn::ConvOptions;
using onednn::ConvPass;
using onednn::ConvProblem;

bool has_stride(const ConvProblem& p) {
  for (int i = 0; i < p.rank; ++i) {
    if (p.stride[i] != 1) return true;
  }
  return false;
}

size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Bytes of the used positions of the input, gathered.
size_t gathered_bytes(const ConvProblem& p) {
  if (!has_stride(p)) return 0;
  return rounded(static_cast<size_t>(p.n * p.out_positions() * p.in_channels) * onednn::element_size(p.type));
}

/// Calls body(input position, output row, run) for every row of output positions along the last dimension.
template <class Body>
void for_rows(const ConvProblem& p, Body&& body) {
  int64_t width = p.out(p.rank - 1), rows = p.n * p.out_positions() / width;
  int64_t grain = std::max<int64_t>(1, 16384 / (width * p.in_channels));
  parallel_ranges(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row, position = 0, scale = p.in[p.rank - 1];
      for (int i = p.rank - 2; i >= 0; --i) {
        position += rest % p.out(i) * p.stride[i] * scale;
        rest /= p.out(i);
        scale *= p.in[i];
      }
      body(rest * p.in_positions() + position, row * width, width);
    }
  });
}

void gather(const ConvProblem& p, const char* input, char* gathered) {
  auto bytes = static_cast<size_t>(p.in_channels) * onednn::element_size(p.type);
  int64_t step = p.stride[p.rank - 1];
  for_rows(p, [&](int64_t position, int64_t row, int64_t width) {
    for (int64_t i = 0; i < width; ++i) {
      std::memcpy(gathered + static_cast<size_t>(row + i) * bytes,
                  input + static_cast<size_t>(position + i * step) * bytes, bytes);
    }
  });
}

void scatter(const ConvProblem& p, const char* gathered, char* input) {
  auto bytes = static_cast<size_t>(p.in_channels) * onednn::element_size(p.type);
  int64_t step = p.stride[p.rank - 1];
  int64_t total = p.n * p.in_positions() * static_cast<int64_t>(bytes);
  parallel_ranges(total, 65536, [&](int64_t begin, int64_t end) {
    std::memset(input + begin, 0, static_cast<size_t>(end - begin));
  });
  for_rows(p, [&](int64_t position, int64_t row, int64_t width) {
    for (int64_t i = 0; i < width; ++i) {
      std::memcpy(input + static_cast<size_t>(position + i * step) * bytes,
                  gathered + static_cast<size_t>(row + i) * bytes, bytes);
    }
  });
}

MatmulProblem product(const ConvProblem& p, ConvPass pass) {
  MatmulProblem m;
  int64_t positions = p.n * p.out_positions(), ic = p.in_channels, oc = p.out_channels;
  m.type = p.type, m.out_type = p.type;
  switch (pass) {
    case ConvPass::kForward:
      m.m = positions, m.n = oc, m.k = ic;
      m.a.row_stride = ic;
      m.b.row_stride = 1, m.b.col_stride = ic;
      m.out.row_stride = oc;
      m.has_bias = p.has_bias;
      m.activation = p.activation;
      break;
    case ConvPass::kBackwardData:
      m.m = positions, m.n = ic, m.k = oc;
      m.a.row_stride = oc;
      m.b.row_stride = ic;
      m.out.row_stride = ic;
      break;
    case ConvPass::kBackwardWeights:
      m.m = oc, m.n = ic, m.k = positions;
      m.a.row_stride = 1, m.a.col_stride = oc;
      m.b.row_stride = ic;
      m.out.row_stride = ic;
      m.out_type = p.weights_grad_type;
      break;
  }
  return m;
}

}  // namespace

bool takes(const ConvProblem& p) {
  if (p.groups != 1 || p.rank < 1 || p.rank > onednn::kMaxSpatialRank) return false;
  if (p.n <= 0 || p.in_channels <= 0 || p.out_channels <= 0) return false;
  for (int i = 0; i < p.rank; ++i) {
    if (p.kernel[i] != 1 || p.pad_low[i] != 0 || p.pad_high[i] != 0) return false;
    if (p.in[i] <= 0 || p.stride[i] < 1 || p.dilation[i] < 1) return false;
  }
  // With a stride oneDNN's own kernels of one tap are faster in float32 (up to twice) where they take the
  // channels as they are.
  constexpr int64_t kVector = 16;
  bool own = p.type == onednn::ElementType::kFloat32 && p.rank <= 2 && p.in_channels >= kVector &&
             p.out_channels >= kVector;
  return !own || !has_stride(p);
}

size_t workspace(const ConvProblem& p, ConvPass pass) {
  return gathered_bytes(p) + matmul::workspace(product(p, pass));
}

void forward(const ConvProblem& p, const void* input, const void* weights, const float* bias, void* out,
             void* workspace, const ConvOptions& options) {
  char* space = static_cast<char*>(workspace);
  if (has_stride(p)) {
    gather(p, static_cast<const char*>(input), space);
    input = space;
  }
  MatmulProblem m = product(p, ConvPass::kForward);
  m.b_is_packed = options.weights_packed;
  matmul::multiply(m, input, weights, bias, out, space + gathered_bytes(p), options.taker);
}

void backward_data(const ConvProblem& p, const void* out_grad, const void* weights, void* input_grad,
                   void* workspace, const ConvOptions& options) {
  char* space = static_cast<char*>(workspace);
  void* target = has_stride(p) ? space : input_grad;
  matmul::multiply(product(p, ConvPass::kBackwardData), out_grad, weights, nullptr, target,
                   space + gathered_bytes(p), options.taker);
  if (has_stride(p)) scatter(p, space, static_cast<char*>(input_grad));
}

bool has_pieces(const ConvProblem& p, ConvPass pass) {
  if (pass != ConvPass::kForward && has_stride(p)) return false;
  MatmulProblem m = product(p, pass);
  m.b_is_packed = pass == ConvPass::kForward;  // as it is where weights stay the same
  return matmul::has_pieces(m);
}

bool gives_rows(const ConvProblem& p) {
  return !has_stride(p) && matmul::gives_rows(product(p, ConvPass::kForward));
}

void forward_rows(const ConvProblem& p, const void* input, const void* packed_weights, const float* bias,
                  int64_t begin, int64_t end, float* to) {
  matmul::multiply_rows(product(p, ConvPass::kForward), input, packed_weights, bias, begin, end, to);
}

size_t packed_bytes(const ConvProblem& p) { return matmul::packed_b_bytes(product(p, ConvPass::kForward)); }

void pack_weights(const ConvProblem& p, const void* weights, void* to) {
  matmul::pack_b(product(p, ConvPass::kForward), weights, to);
}

void backward_weights(const ConvProblem& p, const void* input, const void* out_grad, void* weights_grad,
                      void* workspace) {
  char* space = static_cast<char*>(workspace);
  if (has_stride(p)) {
    gather(p, static_cast<const char*>(input), space);
    input = space;
  }
  matmul::multiply(product(p, ConvPass::kBackwardWeights), out_grad, input, nullptr, weights_grad,
                   space + gathered_bytes(p));
}

}  // namespace sorus::kernels::pointwise
