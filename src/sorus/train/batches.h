#pragma once

#include <memory>

#include "sorus/dispatch/op_def.h"

/// Where batches come from. A pipeline of the data room is one such source; anything else that gives lists of
/// tensors may be another.
namespace sorus::train {

/// Gives the batches of one epoch after another.
class SORUS_API Batches {
 public:
  virtual ~Batches() = default;
  /// Batches in an epoch, or 0 when that is not known.
  [[nodiscard]] virtual int64_t size() const = 0;
  /// The next batch, one tensor for each column; empty at the end of the epoch. The call after that begins
  /// the next epoch.
  [[nodiscard]] virtual TensorList next() = 0;
  /// Goes to the beginning of an epoch, wherever this one stands.
  virtual void rewind() = 0;
};

struct TensorBatchesOptions {
  int64_t batch = 32;
  bool shuffle = false;        ///< in another order each epoch
  uint64_t seed = 0;           ///< orders are a function of it
  bool drop_remainder = true;  ///< leave out a last batch that is not full
};
/// Batches of tensors that lie in memory, cut along their first axis, which must be equally long. Throws
/// ShapeError or ValueError.
[[nodiscard]] SORUS_API std::unique_ptr<Batches> tensor_batches(TensorList columns,
                                                                TensorBatchesOptions options = {});

}  // namespace sorus::train
