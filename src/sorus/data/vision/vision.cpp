#include "sorus/data/vision/vision.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sorus/base/cpu_features.h"

namespace sorus::data {

ImageSize image_size(const Transform& transform, const RowType& in) {
  const Shape& s = in.shape;
  SORUS_CHECK((s.rank() == 2 || s.rank() == 3) && s.numel() > 0, ShapeError,
              "{}: image has the wrong shape: got {}, need (H, W) or (H, W, C) with at least one pixel",
              transform.name(), s);
  return {s.size(0), s.size(1), s.rank() == 3 ? s.size(2) : 1};
}

RowType with_size(const RowType& in, int64_t height, int64_t width) {
  RowType out = in;
  out.shape[0] = height;
  out.shape[1] = width;
  return out;
}

namespace {

void check_bytes(const Transform& transform, const RowType& in) {
  SORUS_CHECK(in.dtype == DType::kUInt8, DTypeError, "{}: image has the wrong type: got {}, need uint8",
              transform.name(), in.dtype);
}

template <class T>
void multiply_add(const T* from, float* to, int64_t count, float factor, float shift) {
  constexpr int64_t kBlock = 16;  // a fixed count, which the compiler turns into vectors
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock)
    for (int64_t j = 0; j < kBlock; ++j) to[i + j] = std::fma(static_cast<float>(from[i + j]), factor, shift);
  for (; i < count; ++i) to[i] = std::fma(static_cast<float>(from[i]), factor, shift);
}
/// The same with the processor's own fused multiply-add; the bits are equal.
[[gnu::target("avx2,fma")]] void multiply_add_fast(const float* from, float* to, int64_t count, float factor,
                                                   float shift) {
  constexpr int64_t kBlock = 16;
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock)
    for (int64_t j = 0; j < kBlock; ++j) to[i + j] = __builtin_fmaf(from[i + j], factor, shift);
  for (; i < count; ++i) to[i] = __builtin_fmaf(from[i], factor, shift);
}

class Rescale final : public Transform {
 public:
  Rescale(double factor, double shift)
      : factor_(static_cast<float>(factor)), shift_(static_cast<float>(shift)) {}
  std::string name() const override { return "Rescale"; }
  RowType infer(const RowType& in) const override { return {ItemKind::kNumbers, DType::kFloat32, in.shape}; }
  std::optional<Pointwise> pointwise(const RowType&) const override { return Pointwise{}; }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    int64_t count = in.items() * rows;
    auto* target = reinterpret_cast<float*>(to);
    if (in.dtype == DType::kFloat32 && cpu_features().avx2)
      return multiply_add_fast(reinterpret_cast<const float*>(from), target, count, factor_, shift_);
    visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
      multiply_add(reinterpret_cast<const T*>(from), target, count, factor_, shift_);
    });
  }

 private:
  float factor_;
  float shift_;
};

class Normalize final : public Transform {
 public:
  Normalize(std::vector<float> mean, std::vector<float> std, bool is_hwc)
      : mean_(std::move(mean)), std_(std::move(std)), is_hwc_(is_hwc) {
    SORUS_CHECK(!mean_.empty() && mean_.size() == std_.size(), ValueError,
                "Normalize: mean and std differ in length: got {} and {}, need one of each for every channel",
                mean_.size(), std_.size());
    SORUS_CHECK(std::none_of(std_.begin(), std_.end(), [](float s) { return !(s > 0); }), ValueError,
                "Normalize: std is out of range: need more than 0 in every channel");
  }
  std::string name() const override { return "Normalize"; }
  RowType infer(const RowType& in) const override {
    int64_t channels = channels_of(in);
    auto given = static_cast<int64_t>(mean_.size());
    SORUS_CHECK(given == 1 || given == channels, ShapeError,
                "Normalize: number of channels does not fit: got an image of shape {} and {} means, need {}",
                in.shape, given, channels);
    return {ItemKind::kNumbers, DType::kFloat32, in.shape};
  }
  std::optional<Pointwise> pointwise(const RowType&) const override {
    return Pointwise{static_cast<int64_t>(mean_.size()), is_hwc_};
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    int64_t channels = channels_of(in);
    // Elements of one channel lie `step` apart in runs of `plane`.
    int64_t plane = is_hwc_ ? 1 : in.items() / channels;
    visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
      const auto* source = reinterpret_cast<const T*>(from);
      auto* target = reinterpret_cast<float*>(to);
      for (int64_t begin = 0, c = 0; begin < in.items() * rows; begin += plane, c = (c + 1) % channels) {
        auto at = mean_.size() == 1 ? 0 : static_cast<size_t>(c);
        float mean = mean_[at];
        float deviation = std_[at];
        for (int64_t i = begin; i < begin + plane; ++i)
          target[i] = (static_cast<float>(source[i]) - mean) / deviation;
      }
    });
  }

 private:
  int64_t channels_of(const RowType& in) const {
    ImageSize size = image_size(*this, in);
    if (is_hwc_ || in.shape.rank() == 2) return size.channels;
    return in.shape.size(0);
  }
  std::vector<float> mean_;
  std::vector<float> std_;
  bool is_hwc_;
};

template <class T>
void transpose_channels(const T* from, T* to, int64_t pixels, int64_t channels) {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < pixels; ++i) to[c * pixels + i] = from[i * channels + c];
}

void transpose_image(const ImageSize& size, size_t element, const std::byte* from, std::byte* to) {
  int64_t pixels = size.height * size.width;
  auto run = [&]<class T>(T*) {
    transpose_channels(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), pixels, size.channels);
  };
  if (size.channels == 1)
    std::memcpy(to, from, static_cast<size_t>(pixels) * element);
  else if (element == 1)
    run(static_cast<uint8_t*>(nullptr));
  else if (element == 2)
    run(static_cast<uint16_t*>(nullptr));
  else if (element == 4)
    run(static_cast<uint32_t*>(nullptr));
  else
    run(static_cast<uint64_t*>(nullptr));
}

RowType channels_first(const Transform& transform, const RowType& in) {
  ImageSize size = image_size(transform, in);
  return {ItemKind::kNumbers, in.dtype, Shape{size.channels, size.height, size.width}};
}

class HwcToChw final : public Transform {
 public:
  std::string name() const override { return "HWC2CHW"; }
  RowType infer(const RowType& in) const override {
    image_size(*this, in);
    return in.shape.rank() == 2 ? in : channels_first(*this, in);
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    ImageSize size = image_size(*this, in);
    for (int64_t i = 0; i < rows; ++i, from += in.bytes(), to += in.bytes())
      transpose_image(size, dtype_size(in.dtype), from, to);
  }
};

class ToTensor final : public Transform {
 public:
  explicit ToTensor(DType dtype) : dtype_(dtype) {}
  std::string name() const override { return "ToTensor"; }
  RowType infer(const RowType& in) const override {
    check_bytes(*this, in);
    RowType out = channels_first(*this, in);
    out.dtype = dtype_;
    return out;
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    ImageSize size = image_size(*this, in);
    int64_t pixels = size.height * size.width;
    visit_dtype(dtype_, [&]<class T>(std::type_identity<T>) {
      T table[256];
      for (int v = 0; v < 256; ++v)
        table[v] = static_cast<T>(static_cast<ComputeType<T>>(static_cast<float>(v) * (1.F / 255.F)));
      const auto* source = reinterpret_cast<const uint8_t*>(from);
      auto* target = reinterpret_cast<T*>(to);
      for (int64_t row = 0; row < rows; ++row, source += pixels * size.channels)
        for (int64_t c = 0; c < size.channels; ++c)
          for (int64_t i = 0; i < pixels; ++i) *target++ = table[source[i * size.channels + c]];
    });
  }

 private:
  DType dtype_;
};

class Invert final : public Transform {
 public:
  std::string name() const override { return "Invert"; }
  RowType infer(const RowType& in) const override {
    check_bytes(*this, in);
    return in;
  }
  std::optional<Pointwise> pointwise(const RowType&) const override { return Pointwise{}; }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    std::transform(from, from + static_cast<int64_t>(in.bytes()) * rows, to, [](std::byte b) { return ~b; });
  }
};

}  // namespace

TransformPtr rescale(double factor, double shift) { return std::make_shared<Rescale>(factor, shift); }
TransformPtr normalize(std::vector<float> mean, std::vector<float> std, bool is_hwc) {
  return std::make_shared<Normalize>(std::move(mean), std::move(std), is_hwc);
}
TransformPtr hwc_to_chw() { return std::make_shared<HwcToChw>(); }
TransformPtr to_tensor(DType dtype) { return std::make_shared<ToTensor>(dtype); }
TransformPtr invert() { return std::make_shared<Invert>(); }

}  // namespace sorus::data
