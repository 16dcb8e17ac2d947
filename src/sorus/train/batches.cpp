#include "sorus/train/batches.h"

#include <numeric>
#include <random>

#include "sorus/base/error.h"
#include "sorus/ops/index/index_ops.h"

namespace sorus::train {
namespace {

class TensorBatches : public Batches {
 public:
  TensorBatches(TensorList columns, TensorBatchesOptions options)
      : columns_(std::move(columns)), options_(options), random_(options.seed) {
    SORUS_CHECK(!columns_.empty(), ValueError, "tensor_batches: no columns: got none, need one or more");
    SORUS_CHECK(options.batch > 0, ValueError,
                "tensor_batches: batch is not positive: got {}, need 1 or more", options.batch);
    for (const Tensor& c : columns_)
      SORUS_CHECK(c.rank() > 0 && c.size(0) == columns_[0].size(0), ShapeError,
                  "tensor_batches: columns differ in length: got shapes {} and {}, need equal first axes",
                  columns_[0].shape(), c.shape());
    order_.resize(static_cast<size_t>(columns_[0].size(0)));
    std::iota(order_.begin(), order_.end(), 0);
    rewind();
  }
  [[nodiscard]] int64_t size() const override {
    auto rows = static_cast<int64_t>(order_.size());
    return options_.drop_remainder ? rows / options_.batch : (rows + options_.batch - 1) / options_.batch;
  }
  [[nodiscard]] TensorList next() override {
    if (at_ == size()) {
      rewind();
      return {};
    }
    auto begin = static_cast<size_t>(at_++ * options_.batch);
    size_t end = std::min(begin + static_cast<size_t>(options_.batch), order_.size());
    Tensor rows{std::span<const int64_t>(order_).subspan(begin, end - begin),
                Shape{static_cast<int64_t>(end - begin)}};
    TensorList batch;
    for (const Tensor& c : columns_) batch.push_back(gather(c, rows, 0));
    return batch;
  }
  void rewind() override {
    at_ = 0;
    if (!options_.shuffle) return;
    // Fisher, Yates 1938; the standard's distributions differ from library to library.
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_() % i]);
  }

 private:
  TensorList columns_;
  TensorBatchesOptions options_;
  std::mt19937_64 random_;
  std::vector<int64_t> order_;
  int64_t at_ = 0;
};

}  // namespace

std::unique_ptr<Batches> tensor_batches(TensorList columns, TensorBatchesOptions options) {
  return std::make_unique<TensorBatches>(std::move(columns), options);
}

}  // namespace sorus::train
