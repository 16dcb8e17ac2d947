#include <gtest/gtest.h>

#include <numeric>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/shape/attributes.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

Tensor iota(const Shape& shape) {
  std::vector<int32_t> items(static_cast<size_t>(shape.numel()));
  std::iota(items.begin(), items.end(), 0);
  return Tensor(std::span<const int32_t>(items), shape);
}
using V = std::vector<int32_t>;

template <class F>
std::string error_of(F f) {
  try {
    (void)f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

bool shares_bytes(const Tensor& a, const Tensor& b) {
  return a.ready().storage.get() == b.ready().storage.get();
}

TEST(Reshape, GivesViewsOfDenseTensorsAndFindsOneExtent) {
  Tensor x = iota({2, 3, 4});
  Tensor y = reshape(x, {4, -1});
  EXPECT_EQ(y.shape(), (Shape{4, 6}));
  EXPECT_TRUE(shares_bytes(x, y));
  EXPECT_EQ(y.to_vector<int32_t>(), x.to_vector<int32_t>());
  EXPECT_EQ(reshape(iota({1}), {}).shape(), Shape{});
  EXPECT_EQ(reshape(iota({0, 3}), {3, 0}).shape(), (Shape{3, 0}));
}

TEST(Reshape, CopiesOnlyWhenStridesDoNotAllowAView) {
  Tensor t = transpose(iota({2, 3}), {1, 0});
  Tensor flat = reshape(t, {6});
  EXPECT_EQ(flat.to_vector<int32_t>(), (V{0, 3, 1, 4, 2, 5}));
  EXPECT_FALSE(shares_bytes(t, flat));
  Tensor split = reshape(t, {3, 1, 2, 1});
  EXPECT_TRUE(shares_bytes(t, split));
  EXPECT_EQ(split.to_vector<int32_t>(), (V{0, 3, 1, 4, 2, 5}));
  Tensor outer = transpose(iota({2, 4, 3}), {2, 0, 1});
  Tensor merged = reshape(outer, {3, 2, 2, 2});
  EXPECT_TRUE(shares_bytes(outer, merged));
  EXPECT_EQ(merged.to_vector<int32_t>(), outer.to_vector<int32_t>());
}

TEST(Reshape, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of([] {
              return reshape(iota({2, 3}), {4});
            }),
            "reshape: element counts differ: got (4,) for shape (2, 3) with 6 elements, need as many");
  EXPECT_EQ(error_of([] {
              return reshape(iota({2, 3}), {4, -1});
            }),
            "reshape: -1 cannot be found: got (4, -1) for 6 elements of shape (2, 3), need a divisor");
  EXPECT_EQ(error_of([] {
              return reshape(iota({2, 3}), {-1, -1});
            }),
            "reshape: -1 is given twice: got (-1, -1), need at most one -1");
  EXPECT_EQ(error_of([] {
              return reshape(iota({2, 3}), {-2, 3});
            }),
            "reshape: an extent is negative: got (-2, 3), need 0 or more, or one -1");
}

TEST(Reshape, FindsAnExtentFromSymbols) {
  const OpDef& op = *find_op("reshape");
  auto inferred = [&](const Shape& x, const Ints& wanted) {
    TensorType type{DType::kFloat32, {}, x};
    const TensorType* in[] = {&type};
    ShapeAttrs attrs{wanted};
    return infer_types(op, in, &attrs)[0].shape;
  };
  Dim n = Dim::symbol("batch");
  EXPECT_EQ(inferred({n, 3, 4}, {-1, 12}), (Shape{n, 12}));
  EXPECT_EQ(inferred({n, 12}, {-1, 3}), (Shape{n * Dim(4), 3}));
  EXPECT_EQ(inferred({n, 2}, {-1, 4}), (Shape{floor_divide(n * Dim(2), 4), 4}));
}

TEST(Transpose, PermutesAsAView) {
  Tensor x = iota({2, 3, 4});
  Tensor y = transpose(x, {-1, 0, 1});
  EXPECT_EQ(y.shape(), (Shape{4, 2, 3}));
  EXPECT_TRUE(shares_bytes(x, y));
  EXPECT_EQ(swap_last(iota({2, 2})).to_vector<int32_t>(), (V{0, 2, 1, 3}));
  EXPECT_EQ(movedim(x, {0}, {-1}).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(movedim(x, {0, 1}, {1, 0}).to_vector<int32_t>(), transpose(x, {1, 0, 2}).to_vector<int32_t>());
  EXPECT_EQ(swapaxes(x, 0, -1).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(transpose(iota({}), {}).shape(), Shape{});
}

TEST(Transpose, RefusesWrongAxes) {
  EXPECT_EQ(error_of([] {
              return transpose(iota({2, 3}), {0});
            }),
            "transpose: number of axes does not fit: got (0,) for shape (2, 3), need 2 axes");
  EXPECT_EQ(error_of([] {
              return transpose(iota({2, 3}), {0, 0});
            }),
            "transpose: an axis is given twice: got (0, 0), need each axis once");
  EXPECT_EQ(error_of([] {
              return transpose(iota({2, 3}), {0, 2});
            }),
            "transpose: axis is out of range: got 2, need -2 <= axis < 2");
}

TEST(ExpandDims, AddsAndRemovesAxesOfExtentOne) {
  Tensor x = iota({2, 3});
  EXPECT_EQ(expand_dims(x, 0).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(expand_dims(x, -1).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(expand_dims(x, Ints{0, 2, 4}).shape(), (Shape{1, 2, 1, 3, 1}));
  EXPECT_TRUE(expand_dims(x, 1).is_contiguous());
  EXPECT_EQ(squeeze(expand_dims(x, Ints{0, 2})).shape(), (Shape{2, 3}));
  EXPECT_EQ(squeeze(iota({1, 2, 1}), {-1}).shape(), (Shape{1, 2}));
  EXPECT_EQ(squeeze(iota({1, 1})).shape(), Shape{});
  EXPECT_EQ(error_of([&] { return squeeze(x, {0}); }),
            "squeeze: axis 0 is not of extent 1: got shape (2, 3), need 1");
}

TEST(BroadcastTo, RepeatsWithoutCopying) {
  Tensor x = iota({2, 1});
  Tensor y = broadcast_to(x, {2, 2, 3});
  EXPECT_TRUE(shares_bytes(x, y));
  EXPECT_EQ(y.to_vector<int32_t>(), (V{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(contiguous(y).to_vector<int32_t>(), y.to_vector<int32_t>());
  EXPECT_TRUE(contiguous(y).is_contiguous());
  EXPECT_EQ(broadcast_to(iota({1}), {0}).shape(), (Shape{0}));
  EXPECT_EQ(error_of([&] {
              return broadcast_to(x, {3, 3});
            }),
            "broadcast_to: shape does not broadcast: got (3, 3) for shape (2, 1), need each extent equal or "
            "from 1");
}

TEST(Pad, RefusesWidthsPast64Bits) {
  Tensor x({1.F, 2.F}, {2});
  for (PadMode mode : {PadMode::kConstant, PadMode::kReplicate})
    for (int64_t width : {INT64_MAX, INT64_MIN, int64_t{1} << 62})
      EXPECT_THROW((void)pad(x, {width}, {width}, mode), ValueError) << width;
  EXPECT_THROW((void)pad(x, {int64_t{1} << 61}, {int64_t{1} << 61}, PadMode::kReflect), ValueError);
}

TEST(Full, FillsEveryType) {
  for (int t = 0; t < kDTypeCount; ++t) {
    Tensor x = full({static_cast<DType>(t), {}, {2, 2}}, 1);
    EXPECT_EQ(x.dtype(), static_cast<DType>(t));
    EXPECT_EQ(squeeze(x).shape(), (Shape{2, 2}));
  }
  EXPECT_EQ(full({DType::kFloat32, {}, {2}}, 0.5).to_vector<float>(), (std::vector<float>{0.5F, 0.5F}));
  EXPECT_EQ(full({DType::kUInt8, {}, {}}, -1).item<int>(), 255);
}

}  // namespace
}  // namespace sorus
