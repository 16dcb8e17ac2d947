#pragma once

#include <memory>
#include <vector>

#include "sorus/kernels/cpu/onednn/conv.h"
#include "sorus/kernels/cpu/onednn/detail/plan_cache.h"
#include "sorus/kernels/cpu/onednn/detail/primitive.h"

/// How the passes of a convolution are cut into pieces, each one oneDNN primitive on one thread.
namespace sorus::kernels::onednn {

[[nodiscard]] uint64_t hash_value(const ConvProblem& problem);

namespace detail {

/// Throws unless the problem keeps the contract of conv.h.
void check_problem(const ConvProblem& problem);

/// The problem of convolving part of it: `n` images, and rows [in_begin, in_begin + in) along the first
/// spatial dimension giving rows [out_begin, ...) of the output.
struct RowBlock {
  ConvProblem problem;
  int64_t in_begin = 0;
  int64_t out_begin = 0;
};

/// The primitive of a pass for a problem, or null when there is none. With `like`, it has the weights' layout
/// of that primitive, and is a direct kernel if that is one. The weights' gradient is float32, until the
/// parts of its sum are added.
[[nodiscard]] std::unique_ptr<Primitive> make_conv(const ConvProblem& problem, ConvPass pass,
                                                   const Primitive* like);

/// Copies weights between plain memory and the layout of a primitive, cut into slices of output channels so
/// that several threads take part.
class WeightsReorder {
 public:
  /// `type` is that of the plain side.
  WeightsReorder(const ConvProblem& problem, ElementType type, const dnnl_memory_desc_t& packed,
                 bool to_packed);
  void run(const void* from, void* to) const;

 private:
  std::vector<std::unique_ptr<Primitive>> slices_;
};

/// Bounds of `parts` nearly equal ranges of [0, count), in steps of `step`: parts + 1 or fewer ascending
/// numbers.
[[nodiscard]] std::vector<int64_t> cut_evenly(int64_t count, int64_t parts, int64_t step);

/// One image cut into at most `parts` blocks of output rows; one block when it cannot be cut.
[[nodiscard]] std::vector<RowBlock> cut_output_rows(const ConvProblem& image, int64_t parts);

/// How many pieces the work of a pass is worth; depends on the problem alone.
[[nodiscard]] int64_t conv_pieces(const ConvProblem& problem);

/// True when forward or backward data is better cut by the channels of its result than by images and rows.
[[nodiscard]] bool prefers_slices(const ConvProblem& problem, ConvPass pass);
/// With `turned` the weights are those of the convolution whose gradient of the input this forward pass is:
/// turn_weights() makes what it needs of them, slice by slice.
[[nodiscard]] size_t sliced_workspace(const ConvProblem& problem, ConvPass pass, bool turned = false);
[[nodiscard]] std::string sliced_implementation(const ConvProblem& problem, ConvPass pass);
void sliced_pass(const ConvProblem& problem, ConvPass pass, const void* source, const void* weights,
                 const float* bias, void* result, void* workspace, bool weights_packed, bool turned = false);
/// The weights of a forward pass, slice by slice.
[[nodiscard]] size_t sliced_packed_bytes(const ConvProblem& problem);
void pack_slices(const ConvProblem& problem, const void* weights, void* to);

/// True when backward data is better computed as a forward pass with the weights turned around.
[[nodiscard]] bool prefers_flipping(const ConvProblem& problem);
[[nodiscard]] size_t flipped_workspace(const ConvProblem& problem);
[[nodiscard]] bool flipped_is_sliced(const ConvProblem& problem);
[[nodiscard]] std::string flipped_implementation(const ConvProblem& problem);
/// to[i][o][last tap - t] = from[o][first + i][t] for `count` channels i. `turned` is the problem that takes
/// the result, so that its channels are the exchanged ones.
void turn_weights(const ConvProblem& turned, const float* from, int64_t first, int64_t count, float* to);
void flipped_backward_data(const ConvProblem& problem, const void* out_grad, const void* weights,
                           void* input_grad, void* workspace, const ConvOptions& options);

[[nodiscard]] size_t weights_pass_workspace(const ConvProblem& problem);
[[nodiscard]] std::string weights_pass_implementation(const ConvProblem& problem);
void weights_pass(const ConvProblem& problem, const void* input, const void* out_grad, void* weights_grad,
                  void* workspace);

}  // namespace detail
}  // namespace sorus::kernels::onednn
