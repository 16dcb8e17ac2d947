#include "sorus/compiler/poison.h"

#include <atomic>

namespace sorus {
namespace {

/// Stands behind the values of a run that failed, and goes with the last of them.
class Poison final : public PendingSource {
 public:
  Poison(std::exception_ptr error, size_t values) : error_(std::move(error)), values_(values) {}
  void materialize(Value&) override { std::rethrow_exception(error_); }
  void abandon(Value&) noexcept override {
    if (values_.fetch_sub(1) == 1) delete this;
  }

 private:
  std::exception_ptr error_;
  std::atomic<size_t> values_;
};

}  // namespace

void poison_values(const std::exception_ptr& error, std::span<Value* const> values) {
  if (values.empty()) return;
  auto* poison = new Poison(error, values.size());
  for (Value* v : values) {
    v->source.store(poison, std::memory_order_release);
    v->source.notify_all();
  }
}

}  // namespace sorus
