#pragma once

#include "sorus/core/tensor.h"

namespace sorus {

struct AttentionOptions {
  Tensor mask = {};     ///< bool (true: attends) or floating (added to the scores); broadcasts to (..., L, S)
  bool causal = false;  ///< position i attends to positions up to i; not beside a mask
  double scale = 0;     ///< of the scores; 0: 1 / sqrt(E)
  double dropout = 0;   ///< probability with which a weight becomes 0
  Tensor dropout_key = {};  ///< random key (uint64[2]), needed for a dropout above 0
};

/// softmax(query * key^T * scale + mask) * value: query (..., L, E), key (..., S, E), value (..., S, V),
/// result (..., L, V); batch axes broadcast. With a dropout, the weights go through dropout() with the key.
/// No scores are stored, whatever the options. A row that attends to nothing is NaN. Throws ShapeError,
/// DTypeError, TypeError or ValueError naming what does not fit.
[[nodiscard]] SORUS_API Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                                            const Tensor& value,
                                                            const AttentionOptions& options = {});

}  // namespace sorus
