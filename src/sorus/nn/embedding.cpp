#include "sorus/nn/embedding.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/embedding.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::nn {

Embedding::Embedding(Place place, int64_t vocab_size, int64_t embedding_size, const EmbeddingOptions& options)
    : Cell(place) {
  SORUS_CHECK(vocab_size > 0 && embedding_size > 0, ValueError,
              "Embedding: sizes are not positive: got {} and {}, need 1 or more", vocab_size, embedding_size);
  Tensor table = initialize(options.embedding_table ? options.embedding_table : normal(),
                            {vocab_size, embedding_size}, options.dtype);
  if (options.padding_idx) {
    int64_t row = *options.padding_idx;
    SORUS_CHECK(row >= 0 && row < vocab_size, ValueError,
                "Embedding: padding_idx is out of range: got {}, need 0 to {}", row, vocab_size - 1);
    Tensor rows = reshape(arange(0, static_cast<double>(vocab_size), 1), {vocab_size, 1});
    table = where(equal(rows, scalar_beside(row, DType::kInt64)), scalar_beside(0, options.dtype), table);
  }
  embedding_table = add_parameter("embedding_table", table);
}

Tensor Embedding::construct(const Tensor& ids) { return embedding(ids, embedding_table); }

}  // namespace sorus::nn
