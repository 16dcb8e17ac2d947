#pragma once

#include <optional>

#include "sorus/nn/cell.h"
#include "sorus/nn/initializer.h"

namespace sorus::nn {

struct EmbeddingOptions {
  Initializer embedding_table = {};         ///< normal(0.01) unless given
  std::optional<int64_t> padding_idx = {};  ///< this row starts as zeros
  DType dtype = DType::kFloat32;
};
/// Rows of embedding_table (vocab_size, embedding_size) at int32 or int64 ids of any shape: ids.shape +
/// (embedding_size,). IndexError for an id outside the table.
class SORUS_API Embedding : public Cell {
 public:
  Embedding(Place place, int64_t vocab_size, int64_t embedding_size, const EmbeddingOptions& options = {});
  Tensor construct(const Tensor& ids) override;
  using Cell::construct;
  Parameter embedding_table;
};

}  // namespace sorus::nn
