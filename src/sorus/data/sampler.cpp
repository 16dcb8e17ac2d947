#include "sorus/data/sampler.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <span>

#include "sorus/base/error.h"
#include "sorus/data/classes.h"
#include "sorus/data/detail/order.h"
#include "sorus/data/partial_sampler.h"

namespace sorus::data {
namespace {

using detail::draw_below;
using detail::shuffle;
using Count = std::optional<int64_t>;

void check_samples(const char* sampler, Count num_samples) {
  SORUS_CHECK(!num_samples || *num_samples > 0, ValueError,
              "{}: num_samples is out of range: got {}, need 1 or more", sampler, num_samples.value_or(0));
}
int64_t limited(Count num_samples, int64_t rows) { return std::min(num_samples.value_or(rows), rows); }

std::vector<int64_t> all_rows(int64_t rows) {
  std::vector<int64_t> ids(static_cast<size_t>(rows));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

/// An order that is shuffled again, from where it stands, for each epoch, with the next seed or the same.
struct Reshuffled {
  std::vector<int64_t> ids;
  uint32_t seed;
  uint32_t step = 1;

  const std::vector<int64_t>& next() {
    std::mt19937 random(seed);
    seed += step;
    shuffle(ids, random);
    return ids;
  }
};

/// The generator of MindRecord's reader.
using RecordRandom = std::minstd_rand0;

RowIds first_of(const std::vector<int64_t>& ids, int64_t count) {
  return {0, count, {ids.begin(), ids.begin() + count}};
}

class Sequential final : public Sampler {
 public:
  Sequential(int64_t start, Count num_samples) : start_(start), num_samples_(num_samples) {
    SORUS_CHECK(start >= 0, ValueError,
                "SequentialSampler: start_index is out of range: got {}, need 0 or more", start);
    check_samples("SequentialSampler", num_samples);
  }
  SamplerRun start(int64_t rows, uint32_t) const override {
    SORUS_CHECK(start_ < rows || rows == 0, ValueError,
                "SequentialSampler: start_index is out of range: got {}, need less than the {} rows", start_,
                rows);
    return [ids = RowIds{start_, *count(rows), {}}] { return ids; };
  }
  Count count(int64_t rows) const override {
    return limited(num_samples_, std::max<int64_t>(rows - start_, 0));
  }

 private:
  int64_t start_;
  Count num_samples_;
};

class Random final : public Sampler {
 public:
  Random(bool replacement, Count num_samples) : replacement_(replacement), num_samples_(num_samples) {
    check_samples("RandomSampler", num_samples);
  }
  SamplerRun start(int64_t rows, uint32_t seed) const override {
    int64_t n = *count(rows);
    if (!replacement_)
      return [order = Reshuffled{all_rows(rows), seed}, n]() mutable { return first_of(order.next(), n); };
    return [rows, n, seed]() mutable {
      std::mt19937 random(seed++);
      RowIds ids{0, n, {}};
      for (int64_t i = 0; i < n; ++i) ids.list.push_back(draw_below(random, rows));
      return ids;
    };
  }
  SamplerRun start_records(int64_t rows, uint32_t seed) const override {
    return [ids = all_rows(rows), n = *count(rows), seed, replace = replacement_]() mutable {
      ++seed;
      if (replace && !ids.empty()) {
        std::vector<int64_t> drawn;
        for (uint32_t i = 0; i < n; ++i) {
          std::mt19937 random(seed + i);  // a generator for each draw
          drawn.push_back(ids[static_cast<size_t>(draw_below(random, std::ssize(ids)))]);
        }
        ids = std::move(drawn);
      } else {
        RecordRandom random(seed);
        std::shuffle(ids.begin(), ids.end(), random);
        ids.resize(static_cast<size_t>(n));
      }
      return first_of(ids, n);
    };
  }
  Count count(int64_t rows) const override {
    return replacement_ && rows > 0 ? num_samples_.value_or(rows) : limited(num_samples_, rows);
  }

 private:
  bool replacement_;
  Count num_samples_;
};

class Distributed final : public Sampler {
 public:
  Distributed(int64_t num_shards, int64_t shard_id, bool shuffle, Count num_samples, int64_t offset)
      : shards_(num_shards), shard_(shard_id), shuffle_(shuffle), num_samples_(num_samples), offset_(offset) {
    SORUS_CHECK(num_shards > 0, ValueError,
                "DistributedSampler: num_shards is out of range: got {}, need 1 or more", num_shards);
    SORUS_CHECK(shard_id >= 0 && shard_id < num_shards, ValueError,
                "DistributedSampler: shard_id is out of range: got {}, need 0 to {}", shard_id,
                num_shards - 1);
    SORUS_CHECK(offset >= -1 && offset < num_shards, ValueError,
                "DistributedSampler: offset is out of range: got {}, need -1 to {}", offset, num_shards - 1);
    check_samples("DistributedSampler", num_samples);
  }
  SamplerRun start(int64_t rows, uint32_t seed) const override {
    // The first epoch already takes the next seed, as the engine that this follows does.
    return [*this, n = *count(rows), order = Reshuffled{all_rows(rows), seed + 1}]() mutable {
      return own_part(shuffle_ ? order.next() : order.ids, n);
    };
  }
  SamplerRun start_records(int64_t rows, uint32_t seed) const override {
    return [*this, n = *count(rows), rows, seed]() mutable {
      std::vector<int64_t> ids = all_rows(rows);
      RecordRandom random(++seed);
      if (shuffle_) std::shuffle(ids.begin(), ids.end(), random);
      return own_part(ids, n);
    };
  }
  Count count(int64_t rows) const override {
    if (rows == 0) return 0;
    if (offset_ < 0) return limited(num_samples_, (rows + shards_ - 1) / shards_);
    int64_t n = (rows + offset_) / shards_;
    if (shard_ < (rows + offset_) % shards_) ++n;
    if (shard_ < offset_) --n;
    return limited(num_samples_, n);
  }

 private:
  /// The first n rows of this shard.
  [[nodiscard]] RowIds own_part(const std::vector<int64_t>& ids, int64_t n) const {
    int64_t first = shard_ - std::max<int64_t>(offset_, 0);
    RowIds out{0, n, {}};
    for (int64_t place = first < 0 ? first + shards_ : first; std::ssize(out.list) < n; place += shards_)
      out.list.push_back(ids[static_cast<size_t>(place % std::ssize(ids))]);
    return out;
  }

  int64_t shards_;
  int64_t shard_;
  bool shuffle_;
  Count num_samples_;
  int64_t offset_;
};

/// Rows of files in order, and how many each has.
struct FileRows {
  std::vector<int64_t> ids;
  std::vector<int64_t> sizes;

  explicit FileRows(const std::vector<int64_t>& rows_by_file, int64_t rows = 0) : sizes(rows_by_file) {
    ids = all_rows(std::max(rows, std::accumulate(sizes.begin(), sizes.end(), int64_t{0})));
  }
  /// Puts the files in another order; rows behind them stay where they are.
  void shuffle_files(uint32_t seed) {
    RecordRandom random(seed);
    std::vector<std::span<const int64_t>> files;
    size_t begin = 0;
    for (int64_t size : sizes) {
      files.push_back(std::span(ids).subspan(begin, static_cast<size_t>(size)));
      begin += static_cast<size_t>(size);
    }
    std::shuffle(files.begin(), files.end(), random);
    std::vector<int64_t> order;
    order.reserve(ids.size());
    for (std::span<const int64_t> file : files) order.insert(order.end(), file.begin(), file.end());
    order.insert(order.end(), ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.end());
    ids = std::move(order);
  }
  void shuffle_within(uint32_t seed) {
    auto begin = ids.begin();
    for (int64_t size : sizes) {
      RecordRandom random(seed);
      std::shuffle(begin, begin + size, random);
      begin += size;
    }
  }
};

std::vector<int64_t> chosen_from(const std::vector<int64_t>& ids, const RowIds& places) {
  std::vector<int64_t> out;
  out.reserve(static_cast<size_t>(places.count));
  for (int64_t i = 0; i < places.count; ++i) out.push_back(ids[static_cast<size_t>(places[i])]);
  return out;
}

/// Where there are no shards, each epoch cuts the order that the one before gave into files of those sizes,
/// as the reader that this follows does.
class FileOrder final : public Sampler {
 public:
  FileOrder(std::vector<int64_t> rows_by_file, FileShuffle shuffle, SamplerPtr shard)
      : rows_by_file_(std::move(rows_by_file)), shuffle_(shuffle), shard_(std::move(shard)) {}
  SamplerRun start(int64_t, uint32_t seed) const override {
    return [*this, files = FileRows(rows_by_file_), seed]() mutable {
      if (shard_) files = FileRows(rows_by_file_);
      ++seed;
      if (shuffle_ == FileShuffle::kFiles)
        files.shuffle_files(seed);
      else
        files.shuffle_within(seed);
      const auto rows = std::ssize(files.ids);
      if (!shard_) return RowIds{0, rows, files.ids};
      std::vector<int64_t> own = chosen_from(files.ids, shard_->start(rows, seed)());
      const auto count = std::ssize(own);
      return RowIds{0, count, std::move(own)};
    };
  }
  Count count(int64_t rows) const override { return shard_ ? shard_->count(rows) : rows; }

 private:
  std::vector<int64_t> rows_by_file_;
  FileShuffle shuffle_;
  SamplerPtr shard_;
};

/// Files in random order; what `choice` takes of their rows is shuffled in pieces. Each epoch begins anew.
class PartialOrder final : public Sampler {
 public:
  PartialOrder(std::vector<int64_t> rows_by_file, SamplerPtr choice)
      : rows_by_file_(std::move(rows_by_file)), choice_(std::move(choice)) {}
  SamplerRun start(int64_t rows, uint32_t seed) const override {
    return [*this, rows, seed]() mutable {
      FileRows files(rows_by_file_, rows);
      files.shuffle_files(++seed);
      std::vector<int64_t> ids = chosen_from(files.ids, choice_->start(rows, seed)());
      constexpr int64_t kPiece = 1'000'000;
      for (int64_t begin = 0; begin < std::ssize(ids); begin += kPiece) {
        RecordRandom random(seed);
        std::shuffle(ids.begin() + begin, ids.begin() + std::min(begin + kPiece, std::ssize(ids)), random);
      }
      const auto count = std::ssize(ids);
      return RowIds{0, count, std::move(ids)};
    };
  }
  Count count(int64_t rows) const override { return choice_->count(rows); }

 private:
  std::vector<int64_t> rows_by_file_;
  SamplerPtr choice_;
};

class Subset final : public Sampler {
 public:
  Subset(std::vector<int64_t> ids, bool shuffle, Count num_samples)
      : ids_(std::move(ids)), shuffle_(shuffle), num_samples_(num_samples) {
    check_samples("SubsetSampler", num_samples);
  }
  SamplerRun start(int64_t rows, uint32_t seed) const override {
    for (int64_t id : ids_)
      SORUS_CHECK(id >= 0 && id < rows, IndexError,
                  "SubsetSampler: index is out of range: got {}, need 0 to {}", id, rows - 1);
    int64_t n = *count(rows);
    if (!shuffle_) return [ids = first_of(ids_, n)] { return ids; };
    return [order = Reshuffled{ids_, seed, 0}, n]() mutable { return first_of(order.next(), n); };
  }
  SamplerRun start_records(int64_t rows, uint32_t seed) const override {
    SamplerRun plain = start(rows, seed);
    if (!shuffle_) return plain;
    std::vector<int64_t> ids = ids_;
    RecordRandom random(seed + 1);
    std::shuffle(ids.begin(), ids.end(), random);
    return [ids = first_of(ids, *count(rows))] { return ids; };
  }
  Count count(int64_t) const override { return limited(num_samples_, std::ssize(ids_)); }

 private:
  std::vector<int64_t> ids_;
  bool shuffle_;
  Count num_samples_;
};

class Weighted final : public Sampler {
 public:
  Weighted(std::vector<double> weights, Count num_samples, bool replacement)
      : weights_(std::move(weights)), num_samples_(num_samples), replacement_(replacement) {
    check_samples("WeightedRandomSampler", num_samples);
    bool valid = std::all_of(weights_.begin(), weights_.end(), [](double w) { return w >= 0; });
    SORUS_CHECK(valid && std::accumulate(weights_.begin(), weights_.end(), 0.0) > 0, ValueError,
                "WeightedRandomSampler: weights are wrong: need none below 0 and one above");
  }
  SamplerRun start(int64_t rows, uint32_t seed) const override {
    SORUS_CHECK(std::ssize(weights_) <= rows, ValueError,
                "WeightedRandomSampler: too many weights: got {}, need at most the {} rows", weights_.size(),
                rows);
    int64_t n = *count(rows);
    return [this_ = *this, n, seed]() mutable {
      std::mt19937 random(seed++);
      return this_.replacement_ ? this_.with_replacement(n, random) : this_.without(n, random);
    };
  }
  Count count(int64_t rows) const override {
    return replacement_ ? num_samples_.value_or(rows) : limited(num_samples_, std::ssize(weights_));
  }

 private:
  RowIds with_replacement(int64_t n, std::mt19937& random) const {
    std::discrete_distribution<int64_t> draw(weights_.begin(), weights_.end());
    RowIds ids{0, n, {}};
    for (int64_t i = 0; i < n; ++i) ids.list.push_back(draw(random));
    return ids;
  }
  /// The rows with the smallest exponential(weight) variates. Source: Efraimidis, Spirakis, "Weighted random
  /// sampling with a reservoir", 2006.
  RowIds without(int64_t n, std::mt19937& random) const {
    std::exponential_distribution<double> draw(1);
    std::vector<std::pair<double, int64_t>> keys;
    for (double w : weights_) {
      double key = draw(random);
      keys.emplace_back(w > 0 ? key / w : std::numeric_limits<double>::infinity(), std::ssize(keys));
    }
    std::partial_sort(keys.begin(), keys.begin() + n, keys.end());
    RowIds ids{0, n, {}};
    for (int64_t i = 0; i < n; ++i) ids.list.push_back(keys[static_cast<size_t>(i)].second);
    return ids;
  }

  std::vector<double> weights_;
  Count num_samples_;
  bool replacement_;
};

class Chained final : public Sampler, public ChoosesByClass {
 public:
  Chained(SamplerPtr parent, SamplerPtr child) : parent_(std::move(parent)), child_(std::move(child)) {}
  SamplerRun start(int64_t rows, uint32_t seed) const override { return chain(rows, seed, &Sampler::start); }
  SamplerRun start_records(int64_t rows, uint32_t seed) const override {
    return chain(rows, seed, &Sampler::start_records);
  }
  SamplerPtr for_classes(const FindClasses& find) const override {
    SamplerPtr parent = sampler_for(parent_, find);
    SamplerPtr child = sampler_for(child_, find);
    if (parent == parent_ && child == child_) return nullptr;
    return std::make_shared<Chained>(std::move(parent), std::move(child));
  }
  Count count(int64_t rows) const override {
    Count n = child_->count(rows);
    return n ? parent_->count(*n) : n;
  }
  bool hosted() const override { return parent_->hosted() || child_->hosted(); }

 private:
  using Start = SamplerRun (Sampler::*)(int64_t, uint32_t) const;
  [[nodiscard]] SamplerRun chain(int64_t rows, uint32_t seed, Start begin) const {
    SamplerRun child = (child_.get()->*begin)(rows, seed);
    SamplerRun parent;
    int64_t parent_rows = -1;
    return [p = parent_, child, parent, parent_rows, seed, begin]() mutable {
      RowIds from = child();
      if (parent_rows != from.count) parent = (p.get()->*begin)(from.count, seed);
      parent_rows = from.count;
      RowIds ids = parent();
      if (from.list.empty() && ids.list.empty()) return RowIds{from.first + ids.first, ids.count, {}};
      RowIds out{0, ids.count, {}};
      for (int64_t i = 0; i < ids.count; ++i) out.list.push_back(from[ids[i]]);
      return out;
    };
  }

  SamplerPtr parent_;
  SamplerPtr child_;
};

}  // namespace

SamplerPtr sequential_sampler(int64_t start, Count num_samples) {
  return std::make_shared<Sequential>(start, num_samples);
}
SamplerPtr random_sampler(bool replacement, Count num_samples) {
  return std::make_shared<Random>(replacement, num_samples);
}
SamplerPtr distributed_sampler(int64_t num_shards, int64_t shard_id, bool shuffle, Count num_samples,
                               int64_t offset) {
  return std::make_shared<Distributed>(num_shards, shard_id, shuffle, num_samples, offset);
}
SamplerPtr subset_sampler(std::vector<int64_t> ids, Count num_samples) {
  return std::make_shared<Subset>(std::move(ids), false, num_samples);
}
SamplerPtr subset_random_sampler(std::vector<int64_t> ids, Count num_samples) {
  return std::make_shared<Subset>(std::move(ids), true, num_samples);
}
SamplerPtr weighted_sampler(std::vector<double> weights, Count num_samples, bool replacement) {
  return std::make_shared<Weighted>(std::move(weights), num_samples, replacement);
}
SamplerPtr chained_sampler(SamplerPtr parent, SamplerPtr child) {
  return std::make_shared<Chained>(std::move(parent), std::move(child));
}
SamplerPtr file_sampler(std::vector<int64_t> rows_by_file, FileShuffle shuffle, Count num_shards,
                        Count shard_id) {
  SORUS_CHECK(num_shards.has_value() == shard_id.has_value(), ValueError,
              "file_sampler: num_shards and shard_id belong together: got one of them, need both or none");
  SamplerPtr shard = num_shards ? distributed_sampler(*num_shards, *shard_id, false) : nullptr;
  return std::make_shared<FileOrder>(std::move(rows_by_file), shuffle, std::move(shard));
}
SamplerPtr partial_sampler(std::vector<int64_t> rows_by_file, SamplerPtr choice) {
  return std::make_shared<PartialOrder>(std::move(rows_by_file), std::move(choice));
}
SamplerPtr limited_sampler(SamplerPtr sampler, int64_t num_samples) {
  return chained_sampler(sequential_sampler(0, num_samples), std::move(sampler));
}

}  // namespace sorus::data
