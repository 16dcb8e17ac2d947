#include "sorus/compiler/signatures.h"

#include <gtest/gtest.h>

#include "sorus/compiler/boundary.h"
#include "sorus/compiler/recording.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

Tensor ones(int64_t n) { return full({DType::kFloat32, {}, Shape{n}}, 1); }

/// Does something else for each extent.
void call(uint64_t function, const Tensor& x) {
  const std::span<const Tensor> operands(&x, 1);
  NamedCall named(function, operands);
  BoundaryKey key(function);
  key.add(operands);
  run_boundary(key, [&] {
    for (int64_t i = 0; i < x.numel(); ++i) static_cast<void>(x + x);
  });
}

TEST(Signatures, AreCountedByFunction) {
  const uint64_t f = new_boundary_id(), g = new_boundary_id();
  const int64_t before = follow_stats().signatures;
  for (int64_t n : {1, 2, 1, 3, 2}) call(f, ones(n));
  call(g, ones(1));
  EXPECT_EQ(signatures_of(f), 3);
  EXPECT_EQ(signatures_of(g), 1);
  EXPECT_EQ(signatures_of(new_boundary_id()), 0);
  EXPECT_EQ(follow_stats().signatures - before, 4);
}

TEST(Signatures, ManyOfOneFunctionWarnOnce) {
  const uint64_t f = new_boundary_id();
  testing::internal::CaptureStderr();
  for (int64_t n = 1; n <= 3 * kManySignatures; ++n) call(f, ones(n));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      said.find("many sets of shapes and dtypes: got 32 in a function (last: tensor 0 is float32(32,), and "
                "was float32(31,)), need few"),
      std::string::npos)
      << said;
  EXPECT_EQ(said.find("many sets"), said.rfind("many sets"));
}

TEST(Signatures, NobodyIsKeptAlive) {
  const uint64_t f = new_boundary_id();
  Tensor x = ones(5);
  call(f, x);
  EXPECT_EQ(x.value()->refs.load(), 1U);
  EXPECT_EQ(NamedCall::current(), nullptr);
}

}  // namespace
}  // namespace sorus
