#pragma once

#include <cstdint>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/onednn/conv.h"

/// Special values for kernels that multiply more than a result's taps read: the zeros around an image by
/// weights, or neighbouring pixels by zeros behind the channels. With finite numbers that adds zero; an
/// infinity or NaN makes NaN of it. What a result's own taps read always reaches it, so a result that is
/// finite is right, and only one that is not is computed again: the sum in double over the taps that lie
/// inside of the image, in the order of the reference kernel and with its bits.
namespace sorus::kernels::conv {

/// Mends the results of forward or backward data before they are handed on. Used by several threads at once.
class SORUS_API ResultMender final : public PieceTaker {
 public:
  /// `source` is what the pass reads beside `weights`, which are plain ones. `bias` and `next` may be null.
  ResultMender(const onednn::ConvProblem& problem, onednn::ConvPass pass, const void* source,
               const void* weights, const float* bias, const PieceTaker* next);
  /// A piece in memory of the kernel, or of the result, which may be written to.
  void take(const ResultPiece& piece) const override;
  /// A result that did not come in pieces.
  void mend_all(void* result) const;

 private:
  /// A tap and the position of the image of the source that it reads.
  struct Meeting {
    int64_t tap, place;
  };
  void mend(const ResultPiece& piece) const;
  template <class T>
  void mend_row(T* row, int64_t position, int64_t column, int64_t columns) const;
  template <class T>
  double sum(const T* image, const T* weights, const Meeting* begin, const Meeting* end) const;

  const onednn::ConvProblem& problem_;
  const void* source_;
  const void* weights_;
  const float* bias_;
  const PieceTaker* next_;
  bool forward_;
  int64_t result_channels_, source_channels_;
  int64_t group_results_, group_sources_;        // channels
  int64_t result_positions_, source_positions_;  // of an image
  int64_t result_step_, source_step_;            // of the weights, in elements, from channel to channel
};

/// Whether the two operands of a pass, being far fewer than its results, tell that all of these are finite,
/// before the bias: no sum of so many products of such numbers overflows. Bias and results are not looked at.
[[nodiscard]] SORUS_API bool is_known_finite(const onednn::ConvProblem& problem, onednn::ConvPass pass,
                                             const void* first, const void* second);

/// Mends the gradient of the weights.
SORUS_API void mend_weights(const onednn::ConvProblem& problem, const void* input, const void* out_grad,
                            void* weights_grad);

}  // namespace sorus::kernels::conv
