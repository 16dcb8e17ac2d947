#include "sorus/data/transform.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "sorus/base/thread_pool.h"

namespace sorus::data {
namespace {

constexpr int64_t kLevels = 256;  // values of a uint8

void check_numbers(const Transform& transform, const RowType& in) {
  SORUS_CHECK(in.kind == ItemKind::kNumbers, DTypeError, "{}: rows have the wrong type: got {}, need numbers",
              transform.name(), in.text());
}

/// A shape on which a chain of pointwise steps meets every value in every channel.
Shape table_shape(const Transform::Pointwise& p) {
  return p.channels_last ? Shape{1, kLevels, p.channels} : Shape{p.channels, 1, kLevels};
}

template <class T>
void look_up_elements(const T* table, const uint8_t* from, T* to, int64_t count,
                      const Transform::Pointwise& p, int64_t plane) {
  if (p.channels == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = table[from[i]];
  } else if (p.channels_last) {
    for (int64_t i = 0; i < count; i += p.channels)
      for (int64_t c = 0; c < p.channels; ++c) to[i + c] = table[from[i + c] * p.channels + c];
  } else {
    for (int64_t i = 0; i < count; i += plane)
      for (int64_t j = 0; j < plane; ++j) to[i + j] = table[i / plane % p.channels * kLevels + from[i + j]];
  }
}

}  // namespace

std::vector<Column> Transform::apply(std::vector<Column> columns, const RowContext& context,
                                     std::exception_ptr&) const {
  // The chain does not own this object; it ends with this call.
  std::shared_ptr<const Transform> self(std::shared_ptr<const Transform>(), this);
  for (Column& column : columns) column = run_transforms({self}, column, std::span(&context, 1));
  return columns;
}

TransformPlan::TransformPlan(std::vector<std::shared_ptr<const Transform>> chain, const RowType& in) {
  RowType type = in;
  for (size_t i = 0; i < chain.size(); ++i) {
    check_numbers(*chain[i], type);
    Step step{type, chain[i]->infer(type), chain[i], i, {}, {}};
    if (type.dtype == DType::kUInt8) {
      std::optional<Transform::Pointwise> merged = chain[i]->pointwise(type);
      size_t end = merged ? i + 1 : i;
      // Further steps join while the channels lie where the first has them.
      for (RowType next = step.out; merged && end < chain.size(); ++end) {
        auto p = chain[end]->pointwise(next);
        bool alike = p && (p->channels == 1 || merged->channels == 1 ||
                           (p->channels == merged->channels && p->channels_last == merged->channels_last));
        if (!alike) break;
        if (p->channels > 1) merged = p;
        next = chain[end]->infer(next);
      }
      if (merged) {
        step.pointwise = *merged;
        step = fold(std::span(chain).subspan(i, end - i), std::move(step));
        i = end - 1;
      }
    }
    type = step.out;
    steps_.push_back(std::move(step));
  }
}

TransformPlan::Step TransformPlan::fold(std::span<const std::shared_ptr<const Transform>> chain, Step step) {
  Column column = make_numbers({ItemKind::kNumbers, DType::kUInt8, table_shape(step.pointwise)}, 1);
  auto* levels = reinterpret_cast<uint8_t*>(column.row(0));
  for (int64_t i = 0; i < column.type.items(); ++i)
    levels[i] =
        static_cast<uint8_t>(step.pointwise.channels_last ? i / step.pointwise.channels : i % kLevels);
  step.out = step.in;
  for (const auto& transform : chain) {
    step.out = transform->infer(step.out);
    Column next = make_numbers(transform->infer(column.type), 1);
    transform->run(column.type, column.row(0), next.row(0), 1, {});
    column = std::move(next);
  }
  step.transform = nullptr;
  step.table = column.numbers;
  return step;
}

void TransformPlan::look_up(const Step& step, const std::byte* from, std::byte* to, int64_t rows) {
  auto run = [&]<class T>(T*) {
    int64_t plane = step.pointwise.channels_last ? 1 : step.in.items() / step.pointwise.channels;
    look_up_elements(reinterpret_cast<const T*>(step.table->data()), reinterpret_cast<const uint8_t*>(from),
                     reinterpret_cast<T*>(to), rows * step.in.items(), step.pointwise, plane);
  };
  switch (dtype_size(step.out.dtype)) {
    case 1:
      return run(static_cast<uint8_t*>(nullptr));
    case 2:
      return run(static_cast<uint16_t*>(nullptr));
    case 4:
      return run(static_cast<uint32_t*>(nullptr));
    default:
      return run(static_cast<uint64_t*>(nullptr));
  }
}

void TransformPlan::run_piece(const std::byte* from, std::byte* to, int64_t rows, int64_t first,
                              std::span<const RowContext> contexts) const {
  Ref<Storage> scratch[2];
  size_t largest = 0;
  for (const Step& step : steps_) largest = std::max(largest, step.out.bytes());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    bool last = i + 1 == steps_.size();
    Ref<Storage>& buffer = scratch[i % 2];
    if (!last && !buffer) buffer = Storage::allocate(largest * static_cast<size_t>(rows));
    std::byte* result = last ? to : buffer->data();
    if (step.transform) {
      RowContext context = contexts[step.context];
      context.first_row += first;
      step.transform->run(step.in, from, result, rows, context);
    } else {
      look_up(step, from, result, rows);
    }
    from = result;
  }
}

Column TransformPlan::run(const Column& column, std::span<const RowContext> contexts) const {
  Column result = make_numbers(out(), column.rows);
  constexpr size_t kPieceBytes = size_t{64} << 10;
  size_t largest = 1;
  for (const Step& step : steps_) largest = std::max({largest, step.in.bytes(), step.out.bytes()});
  auto grain = std::clamp<int64_t>(static_cast<int64_t>(kPieceBytes / largest), 1, 4096);
  parallel_ranges(column.rows, grain, [&](int64_t begin, int64_t end) {
    run_piece(column.row(begin), result.row(begin), end - begin, begin, contexts);
  });
  return result;
}

Column run_transforms(const std::vector<std::shared_ptr<const Transform>>& chain, const Column& column,
                      std::span<const RowContext> contexts) {
  if (chain.empty() || column.rows == 0) return column;
  if (!column.is_ragged()) {
    check_numbers(*chain.front(), column.type);
    return TransformPlan(chain, column.type).run(column, contexts);
  }
  std::vector<Column> cells;
  std::vector<RowContext> shifted(contexts.begin(), contexts.end());
  for (int64_t i = 0; i < column.rows; ++i) {
    cells.push_back(run_transforms(chain, column.cell(i), shifted));
    for (RowContext& context : shifted) ++context.first_row;
  }
  return concatenate(cells);
}

namespace {

template <class From, class To>
To cast_element(From value) {
  using Compute = ComputeType<From>;
  auto v = static_cast<Compute>(value);
  if constexpr (std::is_same_v<To, bool>) {
    return v != Compute{};
  } else if constexpr (std::is_floating_point_v<Compute> && std::is_integral_v<To>) {
    if (std::isnan(v)) return 0;
    if (v <= static_cast<Compute>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (v >= static_cast<Compute>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(v);
  } else {
    return static_cast<To>(static_cast<ComputeType<To>>(v));
  }
}

class TypeCast final : public Transform {
 public:
  explicit TypeCast(DType dtype) : dtype_(dtype) {}
  std::string name() const override { return "TypeCast"; }
  RowType infer(const RowType& in) const override { return {ItemKind::kNumbers, dtype_, in.shape}; }
  std::optional<Pointwise> pointwise(const RowType&) const override { return Pointwise{}; }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    int64_t count = in.items() * rows;
    visit_dtype(in.dtype, [&]<class From>(std::type_identity<From>) {
      visit_dtype(dtype_, [&]<class To>(std::type_identity<To>) {
        const auto* source = reinterpret_cast<const From*>(from);
        auto* target = reinterpret_cast<To*>(to);
        for (int64_t i = 0; i < count; ++i) target[i] = cast_element<From, To>(source[i]);
      });
    });
  }

 private:
  DType dtype_;
};

class OneHot final : public Transform {
 public:
  OneHot(int64_t classes, double smoothing) : classes_(classes), smoothing_(smoothing) {
    SORUS_CHECK(classes > 0, ValueError, "OneHot: num_classes is out of range: got {}, need 1 or more",
                classes);
    SORUS_CHECK(smoothing >= 0 && smoothing <= 1, ValueError,
                "OneHot: smoothing_rate is out of range: got {}, need 0 to 1", smoothing);
  }
  std::string name() const override { return "OneHot"; }
  RowType infer(const RowType& in) const override {
    SORUS_CHECK(is_integer(in.dtype), DTypeError, "OneHot: labels have the wrong type: got {}, need integers",
                in.text());
    SORUS_CHECK(in.shape.rank() == 0 || in.items() == 1, ShapeError,
                "OneHot: labels have the wrong shape: got {}, need one number a row", in.shape);
    DType dtype = smoothing_ == 0 ? in.dtype : DType::kFloat32;
    return {ItemKind::kNumbers, dtype, Shape{classes_}};
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    visit_dtype(in.dtype, [&]<class Label>(std::type_identity<Label>) {
      if constexpr (std::is_integral_v<Label>) {
        const auto* labels = reinterpret_cast<const Label*>(from);
        visit_dtype(infer(in).dtype, [&]<class T>(std::type_identity<T>) {
          auto* target = reinterpret_cast<T*>(to);
          for (int64_t i = 0; i < rows; ++i) fill_row(static_cast<int64_t>(labels[i]), target + i * classes_);
        });
      }
    });
  }

 private:
  template <class T>
  void fill_row(int64_t label, T* row) const {
    SORUS_CHECK(label >= 0 && label < classes_, ValueError,
                "OneHot: label is out of range: got {}, need 0 to {}", label, classes_ - 1);
    using Compute = ComputeType<T>;
    auto rest = static_cast<T>(static_cast<Compute>(smoothing_ / static_cast<double>(classes_)));
    std::fill_n(row, classes_, rest);
    row[label] =
        static_cast<T>(static_cast<Compute>(1 - smoothing_ + smoothing_ / static_cast<double>(classes_)));
  }
  int64_t classes_;
  double smoothing_;
};

class Compose final : public Operation {
 public:
  explicit Compose(std::vector<OperationPtr> operations) : operations_(std::move(operations)) {}
  std::string name() const override { return "Compose"; }
  std::span<const OperationPtr> parts() const override { return operations_; }
  bool hosted() const override {
    return std::any_of(operations_.begin(), operations_.end(),
                       [](const OperationPtr& o) { return o->hosted(); });
  }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                            std::exception_ptr& error) const override {
    uint64_t place = 0;
    for (const OperationPtr& operation : operations_) {
      RowContext own{hash_combine(context.key, place++), context.first_row};
      columns = operation->apply(std::move(columns), own, error);
    }
    return columns;
  }

 private:
  std::vector<OperationPtr> operations_;
};

}  // namespace

std::shared_ptr<const Transform> type_cast(DType dtype) { return std::make_shared<TypeCast>(dtype); }
std::shared_ptr<const Transform> one_hot(int64_t classes, double smoothing) {
  return std::make_shared<OneHot>(classes, smoothing);
}
OperationPtr compose(std::vector<OperationPtr> operations) {
  return std::make_shared<Compose>(std::move(operations));
}

}  // namespace sorus::data
