#include "sorus/data/audio/detail/signal.h"

#include <algorithm>
#include <array>

namespace sorus::data::audio {
namespace {

class Signal final : public Transform {
 public:
  Signal(std::string name, ShapeOf shape_of, Work work, SignalTraits traits)
      : name_(std::move(name)), shape_of_(std::move(shape_of)), work_(std::move(work)), traits_(traits) {}
  std::string name() const override { return name_; }
  RowType infer(const RowType& in) const override {
    bool numeric = in.kind == ItemKind::kNumbers && in.dtype != DType::kBool;
    bool fits = numeric && (traits_.integers == Integers::kFloat32 || is_floating(in.dtype));
    SORUS_CHECK(fits, DTypeError, "{}: rows have the wrong type: got {}, need {}", name_, in.text(),
                traits_.integers == Integers::kFloat32 ? "real numbers" : "float16, float32 or float64");
    DType real = in.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
    return {ItemKind::kNumbers, traits_.result.value_or(real), shape_of_(in.shape)};
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext& context) const override {
    RowType out = infer(in);
    Samples x(static_cast<size_t>(in.items()));
    Samples y(static_cast<size_t>(out.items()));
    for (int64_t i = 0; i < rows; ++i, from += in.bytes(), to += out.bytes()) {
      visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
        const auto* values = reinterpret_cast<const T*>(from);
        for (size_t k = 0; k < x.size(); ++k)
          x[k] = static_cast<double>(static_cast<ComputeType<T>>(values[k]));
      });
      std::fill(y.begin(), y.end(), 0.0);
      Draws draws(context, i);
      work_(in.shape, x, y, draws);
      write(out.dtype, y, to);
    }
  }

 private:
  static void write(DType dtype, const Samples& y, std::byte* to) {
    auto copy = [&]<class T>(T* values) {
      for (size_t k = 0; k < y.size(); ++k) values[k] = static_cast<T>(y[k]);
    };
    if (dtype == DType::kFloat64) return copy(reinterpret_cast<double*>(to));
    if (dtype == DType::kFloat32) return copy(reinterpret_cast<float*>(to));
    copy(reinterpret_cast<int32_t*>(to));
  }
  std::string name_;
  ShapeOf shape_of_;
  Work work_;
  SignalTraits traits_;
};

}  // namespace

TransformPtr signal(std::string name, ShapeOf shape_of, Work work, SignalTraits traits) {
  return std::make_shared<Signal>(std::move(name), std::move(shape_of), std::move(work), traits);
}

void check_rank(const std::string& name, const Shape& shape, int least, const char* form) {
  SORUS_CHECK(shape.rank() >= least && shape.numel() > 0, ShapeError,
              "{}: rows have the wrong shape: got {}, need {} with at least one number", name, shape, form);
}

ShapeOf same_shape(std::string name, int least, const char* form) {
  return [name = std::move(name), least, form](const Shape& shape) {
    check_rank(name, shape, least, form);
    return shape;
  };
}

ShapeOf without_parts(std::string name) {
  return [name = std::move(name)](const Shape& shape) {
    check_rank(name, shape, 2, "(..., 2)");
    SORUS_CHECK(shape.size(shape.rank() - 1) == 2, ShapeError,
                "{}: rows have the wrong shape: got {}, need (..., 2)", name, shape);
    return replaced(shape, 1, {});
  };
}

Shape replaced(const Shape& shape, int dropped, std::initializer_list<int64_t> axes) {
  std::vector<int64_t> extents;
  for (int d = 0; d + dropped < shape.rank(); ++d) extents.push_back(shape.size(d));
  extents.insert(extents.end(), axes);
  return Shape(std::span<const int64_t>(extents));
}

}  // namespace sorus::data::audio
