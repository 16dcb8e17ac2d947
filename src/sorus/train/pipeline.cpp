#include "sorus/train/pipeline.h"

namespace sorus::train {
namespace {

class PipelineBatches : public Batches {
 public:
  explicit PipelineBatches(const data::Dataset& dataset) : dataset_(dataset), size_(dataset.size()) {}
  [[nodiscard]] int64_t size() const override { return size_; }
  [[nodiscard]] TensorList next() override {
    if (!run_) run_ = std::make_unique<data::DatasetIterator>(dataset_.iterate({.epochs = -1, .seed = {}}));
    data::Row row;
    started_ = run_->next(row);
    return started_ ? TensorList(row.begin(), row.end()) : TensorList{};
  }
  void rewind() override {
    if (started_) run_.reset();  // in the midst of an epoch
    started_ = false;
  }

 private:
  data::Dataset dataset_;
  int64_t size_;
  std::unique_ptr<data::DatasetIterator> run_;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Batches> pipeline_batches(const data::Dataset& dataset) {
  return std::make_unique<PipelineBatches>(dataset);
}

}  // namespace sorus::train
