#include "sorus/data/sources/detail/row_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <numeric>

#include "sorus/base/fork_mutex.h"
#include "sorus/base/thread_pool.h"
#include "sorus/data/detail/order.h"
#include "sorus/data/sources/detail/byte_source.h"

namespace sorus::data::detail {
namespace {

Column dense_column(std::vector<Cell>& cells) {
  const RowType type = cells.front().type;
  auto rows = std::ssize(cells);
  if (type.is_text()) {
    std::vector<std::string> texts;
    for (Cell& cell : cells) std::move(cell.texts.begin(), cell.texts.end(), std::back_inserter(texts));
    return make_strings(type.shape, std::move(texts), rows, type.kind);
  }
  Column out = make_numbers(type, rows);
  for (int64_t i = 0; i < rows && type.bytes() > 0; ++i)
    std::memcpy(out.row(i), cells[static_cast<size_t>(i)].numbers.data(), type.bytes());
  return out;
}

/// Rows [begin, end) of a file.
struct Block {
  size_t file;
  int64_t begin;
  int64_t end;
};

/// A file that is being read, and the blocks that come after it.
struct Lane {
  std::deque<Block> blocks;
  std::unique_ptr<RecordStream> stream;
  int64_t at = 0;
};

class RowFilesNode;

class RowFilesStage final : public Stage {
 public:
  RowFilesStage(std::shared_ptr<const RowFilesNode> node, Run& run);
  Chunk next(int64_t wanted) override;
  void rewind() override;
  int64_t skip(int64_t count) override;
  void save(StageState& state) override { state.numbers.push_back(epochs_); }
  void load(StageState& state) override {
    const int64_t epochs = state.take_number();
    while (epochs_ < epochs) rewind();
  }

 private:
  struct Read {
    Record record;
    size_t file;
  };
  /// The next record of a lane; false when it has none left.
  bool read(Lane& lane, Read& to);
  /// The next record of all; false at the end of the epoch.
  bool read(Read& to);
  Chunk parse(std::vector<Read>& records);

  std::shared_ptr<const RowFilesNode> node_;
  Run& run_;
  std::vector<int64_t> order_;
  std::vector<Lane> lanes_;
  size_t turn_ = 0;
  int64_t rows_ = 0;
  int64_t epochs_ = 0;  ///< begun
  HeldError error_;
};

class RowFilesNode final : public Node, public std::enable_shared_from_this<RowFilesNode> {
 public:
  RowFilesNode(std::shared_ptr<const RowFormat> format, std::vector<std::string> files,
               RowFilesOptions options)
      : format_(std::move(format)), files_(std::move(files)), options_(std::move(options)) {
    if (options_.sorts_files) std::sort(files_.begin(), files_.end());
  }
  std::unique_ptr<Stage> make(Run& run) const override {
    return std::make_unique<RowFilesStage>(shared_from_this(), run);
  }
  std::optional<int64_t> size() const override {
    Run run;
    int64_t rows = 0;
    if (!options_.whole_files) {
      rows = shard_rows(run);
    } else {
      for (size_t i = 0; i < files_.size(); ++i)
        if (static_cast<int64_t>(i) % shards() == shard()) rows += counts(run)[i];
    }
    return limit() > 0 ? std::min(rows, limit()) : rows;
  }
  bool hosted() const override { return false; }
  std::vector<std::string> names() const override { return format_->names(); }
  std::vector<NodePtr> inputs() const override { return {}; }
  std::string text() const override {
    const char* orders[] = {"in order", "files shuffled", "rows shuffled"};
    return fmt::format("{}({}; {} files {}, {} rows at most, shard {} of {} by {}, {} at a time)",
                       format_->source(), joined(names()), files_.size(),
                       orders[static_cast<size_t>(options_.shuffle)], limit(), shard(), shards(),
                       options_.whole_files ? "files" : "rows", lanes());
  }
  /// Counting them means to read all files.
  bool has_exact_size() const override { return false; }

  const RowFormat& format() const { return *format_; }
  const std::vector<std::string>& files() const { return files_; }
  int64_t limit() const { return options_.num_samples; }
  int64_t shards() const { return options_.num_shards.value_or(1); }
  int64_t shard() const { return options_.shard_id.value_or(0); }
  bool shuffles_files() const { return options_.shuffle != RowShuffle::kNothing; }
  size_t lanes() const { return static_cast<size_t>(std::min<int64_t>(options_.lanes, std::ssize(files_))); }
  /// Rows of each file; read at the first call, which may be two threads' at once.
  const std::vector<int64_t>& counts(const Run& run) const {
    {
      std::lock_guard lock(fork_mutex_of(this));
      if (!counts_.empty()) return counts_;
    }
    std::vector<int64_t> counts(files_.size());
    parallel_ranges(std::ssize(files_), 1, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
        counts[i] = format_->count(files_[i], run);
    });
    std::lock_guard lock(fork_mutex_of(this));
    if (counts_.empty()) counts_.swap(counts);
    return counts_;
  }
  int64_t total(const Run& run) const {
    const std::vector<int64_t>& all = counts(run);
    return std::accumulate(all.begin(), all.end(), int64_t{0});
  }
  int64_t shard_rows(const Run& run) const { return (total(run) + shards() - 1) / shards(); }
  /// The blocks of an epoch whose files stand in that order.
  std::vector<Block> blocks(const std::vector<int64_t>& order, const Run& run) const {
    std::vector<Block> out;
    if (options_.whole_files || shards() == 1) {
      for (size_t i = 0; i < order.size(); ++i)
        if (static_cast<int64_t>(i) % shards() == shard())
          out.push_back({static_cast<size_t>(order[i]), 0, INT64_MAX});
      return out;
    }
    const std::vector<int64_t>& rows = counts(run);
    int64_t first = shard() * shard_rows(run);
    int64_t last = first + shard_rows(run);
    int64_t before = 0;
    while (before < last && total(run) > 0)
      for (int64_t file : order) {
        int64_t count = rows[static_cast<size_t>(file)];
        int64_t begin = std::max<int64_t>(first - before, 0);
        int64_t end = std::min(last - before, count);
        if (begin < end) out.push_back({static_cast<size_t>(file), begin, end});
        before += count;
      }
    return out;
  }
  /// Rows that a global shuffle draws from.
  int64_t shuffle_rows(const Run& run) const {
    constexpr int64_t kLeast = 10000;
    constexpr int64_t kFiles = 4;
    int64_t rows = shard_rows(run);
    if (limit() > 0) rows = std::min(rows, limit());
    return std::max(rows / std::ssize(files_) * kFiles, kLeast);
  }

 private:
  std::shared_ptr<const RowFormat> format_;
  std::vector<std::string> files_;
  RowFilesOptions options_;
  mutable std::vector<int64_t> counts_;
};

RowFilesStage::RowFilesStage(std::shared_ptr<const RowFilesNode> node, Run& run)
    : node_(std::move(node)), run_(run), order_(node_->files().size()) {
  std::iota(order_.begin(), order_.end(), 0);
  rewind();
}

void RowFilesStage::rewind() {
  ++epochs_;
  if (node_->shuffles_files()) {
    // Shards draw alike whatever the seed.
    std::mt19937 random(node_->shards() == 1 ? run_.order_seed : static_cast<uint32_t>(epochs_));
    shuffle(order_, random);
  }
  lanes_.clear();
  lanes_.resize(node_->lanes());
  turn_ = 0;
  rows_ = 0;
  size_t lane = 0;
  for (const Block& block : node_->blocks(order_, run_))
    lanes_[lane++ % lanes_.size()].blocks.push_back(block);
}

bool RowFilesStage::read(Lane& lane, Read& to) {
  for (; !lane.blocks.empty(); lane.blocks.pop_front(), lane.stream.reset()) {
    const Block& block = lane.blocks.front();
    if (!lane.stream) {
      lane.stream = node_->format().open(node_->files()[block.file]);
      lane.at = 0;
    }
    to.file = block.file;
    while (lane.at < block.end && lane.stream->next(to.record)) {
      if (++lane.at > block.begin) return true;
      constexpr int64_t kSome = 1024;
      if (lane.at % kSome == 0) run_.check();
    }
  }
  return false;
}

bool RowFilesStage::read(Read& to) {
  if (node_->limit() > 0 && rows_ == node_->limit()) return false;
  for (size_t tries = 0; tries < lanes_.size(); ++tries) {
    Lane& lane = lanes_[turn_++ % lanes_.size()];
    if (!read(lane, to)) continue;
    ++rows_;
    return true;
  }
  SORUS_CHECK(rows_ > 0, IOError, "{}: file '{}' has no rows{}: need one or more", node_->format().source(),
              node_->files().front(), node_->files().size() > 1 ? ", nor have the others" : "");
  return false;
}

int64_t RowFilesStage::skip(int64_t count) {
  error_.rethrow();
  int64_t skipped = 0;
  for (Read passed{}; skipped < count && read(passed); ++skipped) run_.check();
  return skipped;
}

Chunk RowFilesStage::next(int64_t wanted) {
  error_.rethrow();
  std::vector<Read> records;
  Patience patience;
  try {
    while (std::ssize(records) < wanted && (records.empty() || !patience.ended())) {
      run_.check();
      Read next{};
      if (!read(next)) break;
      records.push_back(std::move(next));
    }
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    if (records.empty()) throw;
    error_.slot() = std::current_exception();
  }
  Chunk chunk = parse(records);
  if (chunk.rows == 0) error_.rethrow();
  return chunk;
}

Chunk RowFilesStage::parse(std::vector<Read>& records) {
  constexpr int64_t kGrain = 64;
  size_t columns = node_->names().size();
  std::vector<std::vector<Cell>> cells(columns, std::vector<Cell>(records.size()));
  std::vector<std::exception_ptr> errors(records.size());
  parallel_ranges(std::ssize(records), kGrain, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) try {
        std::vector<Cell> row =
            node_->format().parse(std::move(records[i].record), node_->files()[records[i].file]);
        for (size_t c = 0; c < columns; ++c) cells[c][i] = std::move(row[c]);
      } catch (...) {
        errors[i] = std::current_exception();
        return;
      }
  });
  auto failed = std::find_if(errors.begin(), errors.end(), [](const auto& e) { return e != nullptr; });
  if (failed != errors.end()) error_.slot() = *failed;
  Chunk chunk;
  chunk.rows = failed - errors.begin();
  if (chunk.rows == 0) return {};
  for (std::vector<Cell>& column : cells) {
    column.resize(static_cast<size_t>(chunk.rows));
    chunk.columns.push_back(column_of(std::move(column)));
  }
  return chunk;
}

/// Rows drawn from a buffer whose size the files tell, which are counted when it starts.
class ShuffledRows final : public Derived {
 public:
  explicit ShuffledRows(std::shared_ptr<const RowFilesNode> files)
      : Derived(files), files_(std::move(files)) {}
  std::unique_ptr<Stage> make(Run& run) const override {
    return Dataset(input_).shuffle(files_->shuffle_rows(run)).node()->start(run);
  }
  std::string text() const override { return "shuffle(by the number of rows)"; }

 private:
  std::shared_ptr<const RowFilesNode> files_;
};

void check(const char* source, const std::vector<std::string>& files, const RowFilesOptions& options) {
  SORUS_CHECK(!files.empty(), ValueError, "{}: files are missing: got none, need one or more", source);
  SORUS_CHECK(options.num_samples >= 0, ValueError, "{}: num_samples is out of range: got {}, need 0 or more",
              source, options.num_samples);
  SORUS_CHECK(options.lanes > 0, ValueError, "{}: lanes are out of range: got {}, need 1 or more", source,
              options.lanes);
  SORUS_CHECK(options.num_shards.has_value() == options.shard_id.has_value(), ValueError,
              "{}: num_shards and shard_id belong together: got one of them, need both or none", source);
  int64_t shards = options.num_shards.value_or(1);
  int64_t shard = options.shard_id.value_or(0);
  SORUS_CHECK(shards > 0, ValueError, "{}: num_shards is out of range: got {}, need 1 or more", source,
              shards);
  SORUS_CHECK(shard >= 0 && shard < shards, ValueError, "{}: shard_id is out of range: got {}, need 0 to {}",
              source, shard, shards - 1);
  SORUS_CHECK(!options.whole_files || shards <= std::ssize(files), ValueError,
              "{}: num_shards is too large for shards of whole files: got {}, need at most {}", source,
              shards, files.size());
}

}  // namespace

Cell text_cell(std::string text) {
  return {{ItemKind::kStrings, DType::kFloat32, Shape{}}, {}, {std::move(text)}};
}

Column column_of(std::vector<Cell> cells) {
  const RowType& first = cells.front().type;
  if (std::all_of(cells.begin(), cells.end(), [&](const Cell& c) { return c.type == first; }))
    return dense_column(cells);
  std::vector<Column> parts;
  for (Cell& cell : cells) {
    std::vector<Cell> one;
    one.push_back(std::move(cell));
    parts.push_back(dense_column(one));
  }
  return concatenate(std::span<const Column>(parts));
}

int64_t RowFormat::count(const std::string& path, const Run& run) const {
  std::unique_ptr<RecordStream> stream = open(path);
  Record record;
  int64_t rows = 0;
  for (; stream->next(record); ++rows) run.check();
  return rows;
}

struct LineStream::State {
  ByteSource bytes;
  uint64_t line = 0;
};

LineStream::LineStream(const char* source, const std::string& path) : state_(new State{{source, path}, 0}) {}
LineStream::~LineStream() = default;

bool LineStream::next(Record& record) {
  record.bytes.clear();
  for (;;) {
    std::string_view there = state_->bytes.peek();
    size_t end = there.find('\n');
    record.bytes += there.substr(0, end);
    if (end == std::string_view::npos && !there.empty()) {
      state_->bytes.skip(there.size());
      continue;
    }
    if (!there.empty()) state_->bytes.skip(end + 1);
    record.place = ++state_->line;
    if (!record.bytes.empty()) return true;
    if (there.empty()) return false;
  }
}

Dataset from_row_files(std::shared_ptr<const RowFormat> format, std::vector<std::string> files,
                       const RowFilesOptions& options) {
  check(format->source(), files, options);
  auto node = std::make_shared<RowFilesNode>(std::move(format), std::move(files), options);
  if (options.shuffle != RowShuffle::kRows) return Dataset(std::move(node));
  return Dataset(std::make_shared<ShuffledRows>(std::move(node)));
}

}  // namespace sorus::data::detail
