#include "sorus/dispatch/in_place.h"

#include <gtest/gtest.h>

#include <vector>

#include "sorus/autograd/grad.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

Tensor numbers(int64_t n) { return arange(0, static_cast<double>(n), 1, DType::kFloat32); }
Tensor one(double value) { return full({DType::kFloat32, {}, Shape{}}, value); }
const std::byte* memory(const Tensor& t) { return t.value()->storage->data(); }

Tensor put(const Tensor& t, int64_t at, const Tensor& value) {
  const IndexItem item = at;
  const InPlaceUpdate update(t);
  return index_update(t, IndexSpan(&item, 1), value);
}

TEST(InPlaceUpdate, WritesOverAValueThatNobodyElseHolds) {
  const Tensor x = numbers(1000);
  const Tensor y = put(x, 5, one(-1));
  EXPECT_EQ(memory(y), memory(x));
  std::vector<float> expected = numbers(1000).to_vector<float>();
  expected[5] = -1;
  EXPECT_EQ(y.to_vector<float>(), expected);
}

TEST(InPlaceUpdate, CopiesWhatSomebodyElseHolds) {
  const Tensor x = numbers(8);
  const Tensor second = x;  // NOLINT: it is the other holder
  EXPECT_NE(memory(put(x, 5, one(-1))), memory(x));
  EXPECT_EQ(second.to_vector<float>()[5], 5);
}

TEST(InPlaceUpdate, CopiesWhatAViewShows) {
  const Tensor x = numbers(8);
  const Tensor view = strided_slice(x, {2}, {8});
  EXPECT_NE(memory(put(x, 5, one(-1))), memory(x));
  EXPECT_EQ(view.to_vector<float>()[3], 5);
}

TEST(InPlaceUpdate, CopiesWhatTheCallReadsTwice) {
  const Tensor x = numbers(8);
  const InPlaceUpdate update(x);
  EXPECT_NE(memory(x + x), memory(x));
}

TEST(InPlaceUpdate, CopiesBytesOfSomebodyElse) {
  std::vector<float> bytes = {0, 1, 2, 3};
  Ref<Value> v = Value::make({DType::kFloat32, {}, Shape{4}});
  v->strides = Strides::contiguous(v->type.shape);
  v->storage = Storage::external(bytes.data(), 16, {}, nullptr, [](void*) {});
  static_cast<void>(put(Tensor(std::move(v)), 1, one(-1)));
  EXPECT_EQ(bytes[1], 1);
}

TEST(InPlaceUpdate, HasNoEffectWhereCallsAreDifferentiated) {
  static_cast<void>(grad(
      [](const Tensor& t) {
        const Tensor x = numbers(4);
        const InPlaceUpdate update(x);
        EXPECT_EQ(InPlaceUpdate::current(), nullptr);
        return x * t;
      },
      one(2)));
  EXPECT_EQ(InPlaceUpdate::current(), nullptr);
}

}  // namespace
}  // namespace sorus
