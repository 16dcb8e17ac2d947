#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sorus/base/export.h"

/// Which rows of a source are read, and in what order. Orders for a seed are those of MindSpore: std::shuffle
/// on std::mt19937, as libstdc++ had both before GCC 11, and for MindRecord files on std::minstd_rand0.
namespace sorus::data {

/// Row numbers: those listed, or when `list` is empty the range [first, first + count).
struct RowIds {
  int64_t first = 0;
  int64_t count = 0;
  std::vector<int64_t> list;

  [[nodiscard]] int64_t operator[](int64_t i) const {
    return list.empty() ? first + i : list[static_cast<size_t>(i)];
  }
};

/// Gives the rows of one epoch after another; has the random state.
using SamplerRun = std::function<RowIds()>;

/// An immutable rule. Its state lives in the run.
class SORUS_API Sampler {
 public:
  virtual ~Sampler() = default;
  /// A run over a source of `rows` rows. Throws ValueError or IndexError when the rule does not fit them.
  [[nodiscard]] virtual SamplerRun start(int64_t rows, uint32_t seed) const = 0;
  /// The same over MindRecord files, whose reader draws with generators of its own: those of epoch n with the
  /// seed + n, counted from 1, and where there are no shards each epoch chooses among what the one before
  /// gave.
  [[nodiscard]] virtual SamplerRun start_records(int64_t rows, uint32_t seed) const {
    return start(rows, seed);
  }
  /// True when it calls into the host language, whose answers need not be the same again.
  [[nodiscard]] virtual bool hosted() const { return false; }
  /// Rows per epoch; nothing when only a run can tell.
  [[nodiscard]] virtual std::optional<int64_t> count(int64_t rows) const = 0;
};
using SamplerPtr = std::shared_ptr<const Sampler>;

/// `num_samples` absent: all. Rows from `start` on.
[[nodiscard]] SORUS_API SamplerPtr sequential_sampler(int64_t start = 0,
                                                      std::optional<int64_t> num_samples = {});
[[nodiscard]] SORUS_API SamplerPtr random_sampler(bool replacement = false,
                                                  std::optional<int64_t> num_samples = {});
/// Shard `shard_id` of `num_shards`: every num_shards-th row of the (shuffled) order, wrapping round so that
/// shards are equally long. With `offset` >= 0 the order begins that many places later and shards may differ
/// in length.
[[nodiscard]] SORUS_API SamplerPtr distributed_sampler(int64_t num_shards, int64_t shard_id,
                                                       bool shuffle = true,
                                                       std::optional<int64_t> num_samples = {},
                                                       int64_t offset = -1);
[[nodiscard]] SORUS_API SamplerPtr subset_sampler(std::vector<int64_t> ids,
                                                  std::optional<int64_t> num_samples = {});
[[nodiscard]] SORUS_API SamplerPtr subset_random_sampler(std::vector<int64_t> ids,
                                                         std::optional<int64_t> num_samples = {});
[[nodiscard]] SORUS_API SamplerPtr weighted_sampler(std::vector<double> weights,
                                                    std::optional<int64_t> num_samples = {},
                                                    bool replacement = true);
/// `parent` chooses among the rows that `child` gives.
[[nodiscard]] SORUS_API SamplerPtr chained_sampler(SamplerPtr parent, SamplerPtr child);
/// Rows of files that hold so many each: files in random order, or the rows within each file. With shards
/// every num_shards-th of them, wrapping round.
enum class FileShuffle { kFiles, kInFile };
[[nodiscard]] SORUS_API SamplerPtr file_sampler(std::vector<int64_t> rows_by_file, FileShuffle shuffle,
                                                std::optional<int64_t> num_shards = {},
                                                std::optional<int64_t> shard_id = {});
/// The first `num_samples` of what `sampler` gives.
[[nodiscard]] SORUS_API SamplerPtr limited_sampler(SamplerPtr sampler, int64_t num_samples);

}  // namespace sorus::data
