#pragma once

#include <exception>
#include <optional>

#include "sorus/base/hash.h"
#include "sorus/core/philox.h"
#include "sorus/data/column.h"
#include "sorus/data/vision/image_file.h"

/// Operations on rows, as map() takes them.
namespace sorus::data {

/// Where the rows of a call stand, and so which random numbers they get: those are a pure function of
/// (seed, place of the operation, epoch, row), so workers cannot change a pixel.
struct SORUS_API RowContext {
  uint64_t key = 0;       ///< made of seed, place and epoch
  int64_t first_row = 0;  ///< number of the first row of the call within the epoch

  [[nodiscard]] static RowContext make(uint32_t seed, uint64_t place, uint64_t epoch, int64_t first_row) {
    uint64_t key = hash_combine(hash_combine(seed, place), epoch);
    return {key, first_row};
  }
  /// Random words for row `first_row + i`; `draw` numbers the calls for one row, below 2^16.
  [[nodiscard]] std::array<uint32_t, 4> draw(int64_t i, uint64_t number = 0) const {
    return philox(key, static_cast<uint64_t>(first_row + i) << 16 | number);
  }
};
/// A float64 in [0, 1) from a random word.
[[nodiscard]] constexpr double to_unit(uint32_t word) { return static_cast<double>(word) * 0x1p-32; }
/// An integer in [0, n), without the bias that matters, from a random word.
[[nodiscard]] constexpr int64_t to_below(uint32_t word, int64_t n) {
  return static_cast<int64_t>(static_cast<uint64_t>(word) * static_cast<uint64_t>(n) >> 32);
}

/// A step of map(): columns in, columns out, row by row.
class SORUS_API Operation {
 public:
  virtual ~Operation() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// What it is called, to tell pipelines apart.
  [[nodiscard]] virtual std::string text() const { return name(); }
  /// The operations that this one stands for, if it stands for several.
  [[nodiscard]] virtual std::span<const std::shared_ptr<const Operation>> parts() const { return {}; }
  /// True when it calls into the host language, where rows come one by one and reading ahead may be seen.
  [[nodiscard]] virtual bool hosted() const { return false; }
  /// Processes of its own that it works in, 0: none. It then gets as many rows at once as there are wanted.
  [[nodiscard]] virtual int64_t processes() const { return 0; }
  /// The most rows that it should get at once: fewer where results are much larger than rows.
  [[nodiscard]] virtual int64_t rows_at_once() const { return INT64_MAX; }
  /// One operation for this one and `next` after it, with the numbers that `next` draws, or null.
  [[nodiscard]] virtual std::shared_ptr<const Operation> joined_with(
      const std::shared_ptr<const Operation>&) const {
    return nullptr;
  }
  /// All rows. When a row fails, either throws, or gives the rows before it and sets `error`.
  [[nodiscard]] virtual std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                                                  std::exception_ptr& error) const = 0;
};
using OperationPtr = std::shared_ptr<const Operation>;

/// An operation on dense numbers whose output type follows from its input type. It works on each column of
/// its input alone; random ones draw the same numbers for each. Runs on any thread.
class SORUS_API Transform : public Operation {
 public:
  /// Throws ShapeError or DTypeError naming the operation.
  [[nodiscard]] virtual RowType infer(const RowType& in) const = 0;
  /// `rows` rows of type `in` at `from` to rows of infer(in) at `to`; they do not overlap.
  virtual void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
                   const RowContext& context) const = 0;
  /// How it acts on elements of images of type `in`, when each result depends on its element and at most on
  /// the channel that lies there: chains of such steps over uint8 become one look-up in a table.
  struct Pointwise {
    int64_t channels = 1;       ///< 1: the channel does not matter
    bool channels_last = true;  ///< (H, W, C), else (C, H, W)
  };
  [[nodiscard]] virtual std::optional<Pointwise> pointwise(const RowType&) const { return {}; }
  /// True when it begins with taking a part of an image, for which window() may tell which.
  [[nodiscard]] virtual bool crops() const { return false; }
  /// The part that it takes of row `i`, an image of type `in`, when that lies within the image; run() then
  /// gives after_window() of that part, or the part itself when there is none.
  [[nodiscard]] virtual std::optional<Window> window(const RowType&, int64_t, const RowContext&) const {
    return {};
  }
  [[nodiscard]] virtual std::shared_ptr<const Transform> after_window() const { return nullptr; }
  [[nodiscard]] std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                                          std::exception_ptr& error) const final;
};

/// A chain of transforms prepared for one type of row: steps over uint8 that act element by element are
/// folded into tables, made by running those very steps, so that bits stay. Immutable; runs on any thread.
class SORUS_API TransformPlan {
 public:
  /// Throws what infer() of a transform throws.
  TransformPlan(std::vector<std::shared_ptr<const Transform>> chain, const RowType& in);
  [[nodiscard]] const RowType& in() const { return steps_.front().in; }
  [[nodiscard]] const RowType& out() const { return steps_.back().out; }
  /// All rows of a dense column of type in(), in pieces on the thread pool, so that intermediate rows stay in
  /// the cache. `contexts`: one for each transform.
  [[nodiscard]] Column run(const Column& column, std::span<const RowContext> contexts) const;

 private:
  struct Step {
    RowType in;
    RowType out;
    std::shared_ptr<const Transform> transform;  ///< null: look up in `table`
    size_t context = 0;                          ///< number of the transform in the chain
    Transform::Pointwise pointwise;
    Ref<Storage> table;  ///< (256, channels) or (channels, 256) elements of out.dtype
  };
  [[nodiscard]] static Step fold(std::span<const std::shared_ptr<const Transform>> chain, Step step);
  static void look_up(const Step& step, const std::byte* from, std::byte* to, int64_t rows);
  void run_piece(const std::byte* from, std::byte* to, int64_t rows, int64_t first,
                 std::span<const RowContext> contexts) const;

  std::vector<Step> steps_;
};

/// A chain over any column: dense ones through one plan, ragged ones row by row.
[[nodiscard]] SORUS_API Column run_transforms(const std::vector<std::shared_ptr<const Transform>>& chain,
                                              const Column& column, std::span<const RowContext> contexts);

/// Casts numbers as a C++ static_cast does, floating to integer saturating.
[[nodiscard]] SORUS_API std::shared_ptr<const Transform> type_cast(DType dtype);
/// An integer label to a vector of `classes` numbers: `smoothing` spread over all, the rest on the label.
[[nodiscard]] SORUS_API std::shared_ptr<const Transform> one_hot(int64_t classes, double smoothing = 0);
/// Extents changed to `shape` (-1: kept), by cutting off ends or filling them with `value`.
[[nodiscard]] SORUS_API std::shared_ptr<const Transform> pad_end(std::vector<int64_t> shape,
                                                                 double value = 0);
/// Every element becomes `value`; type and shape stay.
[[nodiscard]] SORUS_API std::shared_ptr<const Transform> fill(double value);
enum class Comparison : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
/// 1 where an element compares so with `constant`, else 0. Compares in float64.
[[nodiscard]] SORUS_API std::shared_ptr<const Transform> mask(Comparison comparison, double constant,
                                                              DType dtype = DType::kBool);
/// What slice() takes along one axis: places listed, or the range that a slice of Python is.
struct SliceAxis {
  std::optional<int64_t> start = {};
  std::optional<int64_t> stop = {};
  int64_t step = 1;
  std::vector<int64_t> list = {};
};
/// Parts of an array, axis by axis; axes without a slice stay whole.
[[nodiscard]] SORUS_API std::shared_ptr<const Transform> slice(std::vector<SliceAxis> axes);
/// All columns of the map joined to one, with an array before and one behind; arrays of rank 1 and one type.
[[nodiscard]] SORUS_API OperationPtr concatenate_arrays(std::optional<Tensor> prepend = {},
                                                        std::optional<Tensor> append = {});
/// One column twice.
[[nodiscard]] SORUS_API OperationPtr duplicate();
/// The different numbers of each row, sorted; for each of its elements the place among them, and for each of
/// them how often it comes, both int32: three columns.
[[nodiscard]] SORUS_API OperationPtr unique();

/// All of the operations with this probability, else none, for each row anew.
[[nodiscard]] SORUS_API OperationPtr random_apply(std::vector<OperationPtr> operations,
                                                  double probability = 0.5);
/// One of the operations for each row, each equally likely.
[[nodiscard]] SORUS_API OperationPtr random_choice(std::vector<OperationPtr> operations);
/// All of the operations for each row, in random order.
[[nodiscard]] SORUS_API OperationPtr random_order(std::vector<OperationPtr> operations);
/// Operations and the probability of each.
using Subpolicy = std::vector<std::pair<OperationPtr, double>>;
/// One of the subpolicies for each row, each equally likely; its operations run with their probabilities.
[[nodiscard]] SORUS_API OperationPtr random_subpolicy(const std::vector<Subpolicy>& policy);
/// All of them in order, as one operation.
[[nodiscard]] SORUS_API OperationPtr compose(std::vector<OperationPtr> operations);

}  // namespace sorus::data
