#include "sorus/core/strided_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "sorus/base/thread_pool.h"

/// The fast copy moves every element to where the plain one does, and touches nothing else.
namespace sorus {
namespace {

void expect_same_copies(const Shape& shape, const Strides& from, const Strides& to, size_t element_size) {
  SCOPED_TRACE(shape.text() + " of " + std::to_string(element_size) + " bytes");
  const size_t bytes = static_cast<size_t>(shape.numel()) * element_size;
  constexpr size_t kGuard = 64;
  std::vector<std::byte> source(bytes);
  for (size_t i = 0; i < bytes; ++i) source[i] = static_cast<std::byte>(i * 131 + i / 251);
  std::vector<std::byte> plain(bytes + kGuard, std::byte{7}), fast = plain;
  copy_strided_plainly(source.data(), from, plain.data(), to, shape, element_size);
  copy_strided(source.data(), from, fast.data(), to, shape, element_size);
  EXPECT_EQ(std::memcmp(plain.data(), fast.data(), plain.size()), 0);
}

TEST(StridedCopy, TurnsPlanesIntoPixelsAndBack) {
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    for (int64_t channels : {1, 2, 3, 4, 5, 8, 33})
      for (int64_t width : {1, 3, 4, 5, 31, 32, 33, 224}) {
        const Shape shape{2, channels, 7, width};
        const Strides planes = Strides::contiguous(shape), pixels = Strides::channels_last(shape);
        for (size_t size : {1, 2, 4, 8}) {
          expect_same_copies(shape, planes, pixels, size);
          expect_same_copies(shape, pixels, planes, size);
        }
      }
  }
  set_num_threads(2);
}

TEST(StridedCopy, CutsLargeOnesIntoPieces) {
  for (int64_t channels : {3, 6}) {
    const Shape shape{3, channels, 224, 223};
    expect_same_copies(shape, Strides::contiguous(shape), Strides::channels_last(shape), 4);
  }
  const Shape matrix{700, 901};
  Strides turned = Strides::contiguous(matrix);
  turned[0] = 1, turned[1] = 700;
  expect_same_copies(matrix, turned, Strides::contiguous(matrix), 4);
}

}  // namespace
}  // namespace sorus
