#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sorus/data/gate.h"
#include "sorus/data/iterator.h"
#include "sorus/data/sampler.h"
#include "sorus/data/stage.h"
#include "sorus/data/transform.h"

/// Definitions of data pipelines. A Dataset is a cheap, immutable handle: each operation gives a new one and
/// changes none, so pipelines may share their beginnings.
///
///   auto train = data::mnist(folder, "train").map({data::resize(32, 32)},
///   {"image"}).shuffle(1000).batch(32); for (const data::Row& row : train.iterate()) step(row[0], row[1]);
namespace sorus::data {

/// Which batch is being made: epoch and number within it, from 0.
struct BatchInfo {
  int64_t epoch = 0;
  int64_t batch = 0;
};

/// Works on the rows of a batch before they become one: columns of as many rows each, in and out.
class SORUS_API BatchOperation {
 public:
  virtual ~BatchOperation() = default;
  [[nodiscard]] virtual std::string text() const { return ""; }
  /// Processes of its own that it works in, 0: none. It then gets several batches at once.
  [[nodiscard]] virtual int64_t processes() const { return 0; }
  /// apply() for batches whose numbers follow `first`; fewer when one fails, with `error` set.
  [[nodiscard]] virtual std::vector<std::vector<Column>> apply_all(std::vector<std::vector<Column>> batches,
                                                                   const BatchInfo& first,
                                                                   std::exception_ptr& error) const;
  [[nodiscard]] virtual std::vector<Column> apply(std::vector<Column> columns,
                                                  const BatchInfo& info) const = 0;
};

/// To what a column is padded: extents (-1: the largest of the batch; empty: all so) and the filling.
struct PadTo {
  std::vector<int64_t> shape;
  double value = 0;
  std::string text;  ///< filling of strings
};

struct BatchOptions {
  int64_t size = 1;
  std::function<int64_t(const BatchInfo&)> size_of;  ///< instead of `size`
  bool drop_remainder = false;
  std::shared_ptr<const BatchOperation> operation;
  std::vector<std::string> inputs;   ///< columns of the operation; empty: all
  std::vector<std::string> outputs;  ///< what they become; empty: the same
  bool pads = false;
  std::map<std::string, PadTo> pad_to;  ///< with `pads`: by column; empty: all columns
};

/// Says which rows stay.
class SORUS_API Predicate {
 public:
  virtual ~Predicate() = default;
  /// What it is called, to tell pipelines apart.
  [[nodiscard]] virtual std::string text() const { return ""; }
  [[nodiscard]] virtual bool hosted() const { return false; }
  /// One answer a row; fewer with `error` set when a row fails.
  [[nodiscard]] virtual std::vector<bool> test(const std::vector<Column>& columns, int64_t rows,
                                               std::exception_ptr& error) const = 0;
};

/// Says how long rows are.
class SORUS_API RowLength {
 public:
  virtual ~RowLength() = default;
  [[nodiscard]] virtual std::string text() const { return ""; }
  [[nodiscard]] virtual bool hosted() const { return false; }
  /// One number a row; fewer with `error` set when a row fails.
  [[nodiscard]] virtual std::vector<int64_t> measure(const std::vector<Column>& columns, int64_t rows,
                                                     std::exception_ptr& error) const = 0;
};

/// How rows of like lengths are put together. Bucket i takes lengths below boundaries[i] that no bucket
/// before it takes, the last one all others.
struct BucketOptions {
  std::vector<std::string> columns;              ///< those that tell the length
  std::vector<int64_t> boundaries;               ///< ascending, above 0
  std::vector<int64_t> batch_sizes;              ///< of each bucket: one more than boundaries
  std::shared_ptr<const RowLength> length = {};  ///< absent: the extent of the first axis of the one column
  bool pads = false;
  std::map<std::string, PadTo> pad_to =
      {};                        ///< with `pads`; other columns grow to their longest row, with zeros
  bool pad_to_boundary = false;  ///< extents of -1 in `pad_to` are the greatest length of the bucket
  bool drop_remainder = false;
};

class SORUS_API Dataset {
 public:
  explicit Dataset(NodePtr node) : node_(std::move(node)) {}

  /// Operations on the columns named (none: the first), one after the other. When they give as many columns
  /// as they take, these take their places; else they come first, before the columns left over.
  [[nodiscard]] Dataset map(const std::vector<OperationPtr>& operations, std::vector<std::string> inputs = {},
                            std::vector<std::string> outputs = {}) const;
  [[nodiscard]] Dataset batch(int64_t size, bool drop_remainder = false) const;
  [[nodiscard]] Dataset batch(BatchOptions options) const;
  /// Batches of rows of like lengths, each handed on when its bucket is full; what is left at the end of an
  /// epoch comes bucket by bucket. Throws ValueError for options that do not fit, KeyError for columns that
  /// are not there.
  [[nodiscard]] Dataset bucket_batch_by_length(BucketOptions options) const;
  /// Rows drawn at random from a buffer of `buffer_size` rows that is refilled in order.
  [[nodiscard]] Dataset shuffle(int64_t buffer_size) const;
  /// The steps so far give their rows in the same order in every epoch and run, that of `seed`, so that parts
  /// cut out with skip() and take() have no rows in common. Random transforms still draw anew in each epoch.
  [[nodiscard]] Dataset fix_order(uint32_t seed) const;
  /// `count` epochs as one; -1: without end.
  [[nodiscard]] Dataset repeat(int64_t count = -1) const;
  /// The first `count` rows; -1: all.
  [[nodiscard]] Dataset take(int64_t count = -1) const;
  [[nodiscard]] Dataset skip(int64_t count) const;
  /// The columns named, in that order.
  [[nodiscard]] Dataset project(std::vector<std::string> columns) const;
  [[nodiscard]] Dataset rename(const std::vector<std::string>& from,
                               const std::vector<std::string>& to) const;
  [[nodiscard]] Dataset filter(std::shared_ptr<const Predicate> predicate,
                               std::vector<std::string> inputs = {}) const;
  [[nodiscard]] Dataset filter(std::function<bool(const Row&)> predicate,
                               std::vector<std::string> inputs = {}) const;
  /// Rows of this one, then of the others.
  [[nodiscard]] Dataset concat(const std::vector<Dataset>& others) const;

  /// Lets `num_batch` of the rows that the reader gets pass, then as many more for each sync_update() of that
  /// condition. Rows are made one by one then, and none ahead of an update. Throws ValueError for a num_batch
  /// below 1 and RuntimeError for a condition that is in use; shuffle() cannot follow. A reader that waits
  /// longer than config().callback_timeout gets a RuntimeError.
  [[nodiscard]] Dataset sync_wait(const std::string& condition, int64_t num_batch = 1,
                                  GateCallback callback = {}) const;
  /// Waits until running pipelines have made the rows that may pass, calls the callback and lets `num_batch`
  /// more pass (absent: that of sync_wait), so that just these see what the callback did. Throws RuntimeError
  /// for a condition that is not there.
  void sync_update(const std::string& condition, std::optional<int64_t> num_batch = {},
                   const std::any& data = {}) const;
  /// Opens all gates for good.
  void disable_sync() const;
  /// The gate of a condition; throws RuntimeError when there is none.
  [[nodiscard]] std::shared_ptr<Gate> gate(const std::string& condition) const;

  [[nodiscard]] std::vector<std::string> names() const { return node_->names(); }
  /// Rows per epoch; reads an epoch when nothing else tells.
  [[nodiscard]] int64_t size() const;
  /// Types of the columns, found by reading one row.
  [[nodiscard]] std::vector<RowType> types() const;
  [[nodiscard]] DatasetIterator iterate(IterateOptions options = {}) const;
  [[nodiscard]] const NodePtr& node() const { return node_; }

 private:
  NodePtr node_;
};

/// Columns of all of them side by side; as long as the shortest. Column names must differ.
[[nodiscard]] SORUS_API Dataset zip(const std::vector<Dataset>& datasets);

/// A source whose rows can be read in any order. Thread-safe.
class SORUS_API RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  [[nodiscard]] virtual int64_t rows() const = 0;
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  [[nodiscard]] virtual bool hosted() const { return false; }
  /// Processes of its own that read() works in, 0: none.
  [[nodiscard]] virtual int64_t processes() const { return 0; }
  /// Samplers order its rows as those of MindRecord files.
  [[nodiscard]] virtual bool has_record_order() const { return false; }
  /// Rows ids[begin] to ids[begin + count - 1], or fewer but one; none or fewer when `error` is set.
  [[nodiscard]] virtual Chunk read(const RowIds& ids, int64_t begin, int64_t count, const Run& run,
                                   std::exception_ptr& error) const = 0;
};
/// pick: rows ids[begin] on, a view where they are a range. from_source: the rows that a sampler names.
[[nodiscard]] SORUS_API Chunk pick(const Chunk& rows, const RowIds& ids, int64_t begin, int64_t count);
[[nodiscard]] SORUS_API Dataset from_source(std::shared_ptr<const RandomAccess> source, SamplerPtr sampler);
/// Columns in memory, all of as many rows.
[[nodiscard]] SORUS_API Dataset from_columns(std::vector<std::string> names, Chunk rows,
                                             SamplerPtr sampler = sequential_sampler());
/// The first axis of each tensor as rows.
[[nodiscard]] SORUS_API Dataset from_tensors(std::vector<std::string> names,
                                             const std::vector<Tensor>& tensors,
                                             SamplerPtr sampler = sequential_sampler());

/// The sampler that num_samples, shuffle, num_shards and shard_id stand for. `sampler` excludes the others
/// except num_samples; throws ValueError otherwise.
struct SourceOptions {
  std::optional<int64_t> num_samples = {};
  std::optional<bool> shuffle = {};  ///< absent: true
  SamplerPtr sampler = {};
  std::optional<int64_t> num_shards = {};
  std::optional<int64_t> shard_id = {};
};
[[nodiscard]] SORUS_API SamplerPtr choose_sampler(const char* source, const SourceOptions& options);

}  // namespace sorus::data
