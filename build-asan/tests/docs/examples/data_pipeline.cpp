#line 18 "/work/h/lead/sorus/docs/rooms/data.md"
// example: data_pipeline
#include <cstdio>

#include "sorus/data/vision.h"
#include "sorus/data/dataset.h"

int main() {
  using namespace sorus;
  std::vector<uint8_t> pixels(100 * 28 * 28);
  Tensor images(std::span<const uint8_t>(pixels), Shape{100, 28, 28, 1});
  data::Dataset train = data::from_tensors({"image"}, {images})  // or data::mnist(folder, "train")
                            .map({data::resize(32, 32), data::rescale(1 / 255.0, 0), data::hwc_to_chw()}, {"image"})
                            .shuffle(64)
                            .batch(32);
  int64_t rows = 0;
  for (const data::Row& row : train.iterate()) rows += row[0].size(0);  // row[0]: float32 (32, 1, 32, 32)
  std::printf("%ld\n", static_cast<long>(rows));
  return rows == 100 ? 0 : 1;
}
