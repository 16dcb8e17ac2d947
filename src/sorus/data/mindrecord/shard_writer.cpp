#include "sorus/data/mindrecord/detail/shard_writer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <utility>

#include "sorus/base/error.h"
#include "sorus/data/mindrecord/detail/index.h"
#include "sorus/data/mindrecord/detail/shard.h"

namespace sorus::data::mindrecord {

namespace fs = std::filesystem;

namespace {

std::string temporary_name(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  return fmt::format("{}.tmp.{}.{}", path, ::getpid(), count++);
}

std::string copy_of(const std::string& path) {
  std::string copy = temporary_name(path);
  std::error_code error;
  fs::copy_file(path, copy, error);
  SORUS_CHECK(!error, IOError,
              "mindrecord: '{}' cannot be copied to append to it: got '{}', need space beside it", path,
              error.message());
  return copy;
}

void rename_to(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  SORUS_CHECK(!error, IOError, "mindrecord: '{}' cannot get its name: got '{}', need a writable folder", to,
              error.message());
}

/// The process of a temporary name's end "PID.NUMBER" or "PID.NUMBER.db"; 0 where it is none.
pid_t writer_of(std::string_view end) {
  pid_t pid = 0;
  const auto [rest, error] = std::from_chars(end.data(), end.data() + end.size(), pid);
  return error == std::errc{} && rest != end.data() + end.size() && *rest == '.' ? pid : 0;
}

/// Removes what processes that ended while they wrote the file `path` have left. A writer also holds a lock,
/// by which one is known whose number says nothing here, as in another container.
void remove_left_behind(const std::string& path) {
  const std::string begin = data_file_name(path) + ".tmp.";
  const fs::path folder = fs::path(path).parent_path();
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin)) continue;
    const pid_t pid = writer_of(std::string_view(name).substr(begin.size()));
    if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) fs::remove(entry.path(), ignored);
    ::close(fd);
  }
}

/// Finds records that follow each other in a page, each with its length before it.
class RecordWalk {
 public:
  RecordWalk(const DataFile& file, const std::string& name, int64_t page, int64_t used, int64_t at)
      : file_(file), name_(name), page_(page), used_(used), at_(at) {}

  /// Where the next one begins and ends, in the page.
  std::pair<int64_t, int64_t> next() {
    const int64_t begin = at_;
    const int64_t room = used_ - begin - kLengthBytes;
    const uint64_t length = room < 0 ? 0 : get_little(file_.read(page_ + begin, kLengthBytes));
    if (room < 0 || length > static_cast<uint64_t>(room))
      Place{name_, page_}.fail(begin, "got one that goes beyond its page");
    at_ = begin + kLengthBytes + static_cast<int64_t>(length);
    return {begin, at_};
  }

 private:
  const DataFile& file_;
  const std::string& name_;
  int64_t page_, used_, at_;
};

/// Reads the values of the index fields of a raw record.
std::vector<Scalar> index_values(const Header& header, std::string_view record, const Place& place) {
  std::vector<Scalar> values(header.index_fields.size());
  read_scalars(record, place, [&](std::string_view name, const Scalar& value) {
    for (size_t i = 0; i < values.size(); ++i)
      if (header.index_fields[i] == name) values[i] = value;
  });
  return values;
}

}  // namespace

ShardWriter::ShardWriter(std::string path, std::string temporary, DataFile::Mode mode, Header header)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      file_(temporary_, mode),
      header_(std::move(header)) {
  for (const Page& page : header_.pages) (page.is_blob ? last_blob_ : last_raw_) = page.id;
}

ShardWriter::ShardWriter(const std::string& path, Header header)
    : ShardWriter(path, temporary_name(path), DataFile::Mode::kCreate, std::move(header)) {
  remove_left_behind(path);
}

ShardWriter ShardWriter::append(const std::string& path, Header header) {
  const Page* raw = nullptr;
  const Page* blob = nullptr;
  for (const Page& page : header.pages) (page.is_blob ? blob : raw) = &page;
  const bool whole =
      raw && blob ? !raw->groups.empty() && raw->groups.back().first == blob->type_id : !raw && !blob;
  SORUS_CHECK(
      whole, IOError,
      "mindrecord: '{}' cannot be appended to: got a last raw page without the rows of the last blob page, "
      "need a whole file",
      path);
  remove_left_behind(path);
  return {path, copy_of(path), DataFile::Mode::kContinue, std::move(header)};
}

ShardWriter::~ShardWriter() {
  if (temporary_.empty()) return;  // moved from, or named
  std::error_code ignored;
  fs::remove(temporary_, ignored);
  fs::remove(index_name(temporary_), ignored);
}

int64_t ShardWriter::rows() const { return last(last_blob_) ? last(last_blob_)->end_row : 0; }

Page& ShardWriter::new_page(bool is_blob, int64_t type_id) {
  Page page;
  page.id = std::ssize(header_.pages);
  page.shard_id = header_.shard_id;
  page.is_blob = is_blob;
  page.type_id = type_id;
  (is_blob ? last_blob_ : last_raw_) = page.id;
  return header_.pages.emplace_back(std::move(page));
}

std::vector<ShardWriter::Group> ShardWriter::cut(std::span<const EncodedRow> rows) const {
  const Page* raw_page = last(last_raw_);
  int64_t blob = last(last_blob_) ? last(last_blob_)->used : 0;
  int64_t raw = raw_page ? raw_page->used - raw_page->groups.back().second : 0;
  std::vector<Group> groups(1);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto more_blob = std::ssize(rows[i].blob);
    const auto more_raw = std::ssize(rows[i].raw);
    if (blob == 0 || blob + more_blob > header_.page_size || raw + more_raw > header_.page_size) {
      groups.push_back({i, i, 0, 0});
      blob = raw = 0;
    }
    blob += more_blob;
    raw += more_raw;
    groups.back().end = i + 1;
    groups.back().blob += more_blob;
    groups.back().raw += more_raw;
  }
  return groups;
}

void ShardWriter::add(std::span<const EncodedRow> rows) {
  if (rows.empty()) return;
  const auto groups = cut(rows);
  write_blobs(rows, groups);
  const Page* raw_page = last(last_raw_);
  if (groups[0].raw > 0 && raw_page->used + groups[0].raw > header_.page_size) shift_last_group();
  write_raws(rows, groups);
}

void ShardWriter::write_blobs(std::span<const EncodedRow> rows, std::span<const Group> groups) {
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].begin == groups[g].end) continue;
    if (g > 0) {
      const Page* before = last(last_blob_);
      const int64_t first_row = before ? before->end_row : 0;
      Page& page = new_page(true, before ? before->type_id + 1 : 0);
      page.start_row = page.end_row = first_row;
      page.groups = {{0, 0}};
    }
    Page& page = *last(last_blob_);
    std::string bytes;
    bytes.reserve(static_cast<size_t>(groups[g].blob));
    for (size_t i = groups[g].begin; i < groups[g].end; ++i) bytes += rows[i].blob;
    file_.write(header_.page_begin(page.id) + page.used, bytes);
    page.used += groups[g].blob;
    page.end_row += static_cast<int64_t>(groups[g].end - groups[g].begin);
  }
}

/// The raw records of a group lie together: when the page of the last group is too full for what joins it,
/// the group moves to a new page.
void ShardWriter::shift_last_group() {
  Page& from = *last(last_raw_);
  const auto [group, offset] = from.groups.back();
  const std::string bytes = file_.read(header_.page_begin(from.id) + offset, from.used - offset);
  from.used = offset;
  from.groups.pop_back();
  Page& to = new_page(false, from.id + 1);  // ends the life of `from`
  to.groups = {{group, 0}};
  to.used = std::ssize(bytes);
  file_.write(header_.page_begin(to.id), bytes);
}

void ShardWriter::write_raws(std::span<const EncodedRow> rows, std::span<const Group> groups) {
  int64_t group = last(last_raw_) ? last(last_raw_)->groups.back().first : -1;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].begin == groups[g].end) continue;
    const Page* before = last(last_raw_);
    if (!before || before->used + groups[g].raw > header_.page_size)
      new_page(false, before ? before->id + 1 : 0);
    Page& page = *last(last_raw_);
    if (g > 0) page.groups.emplace_back(++group, page.used);
    std::string bytes;
    bytes.reserve(static_cast<size_t>(groups[g].raw));
    for (size_t i = groups[g].begin; i < groups[g].end; ++i) bytes += rows[i].raw;
    file_.write(header_.page_begin(page.id) + page.used, bytes);
    page.used += groups[g].raw;
  }
}

void ShardWriter::write_index() const {
  std::map<int64_t, std::pair<int64_t, int64_t>> raw_of_group;  // page and offset
  for (const Page& page : header_.pages)
    for (const auto& [group, offset] : page.groups)
      if (!page.is_blob) raw_of_group[group] = {page.id, offset};
  IndexWriter index(index_name(temporary_), header_);
  for (const Page& blob_page : header_.pages) {
    if (!blob_page.is_blob) continue;
    const auto found = raw_of_group.find(blob_page.type_id);
    SORUS_CHECK(found != raw_of_group.end(), IOError,
                "mindrecord: '{}': header names no raw page of row group {}: the file is damaged", path_,
                blob_page.type_id);
    const Page& raw_page = header_.pages[static_cast<size_t>(found->second.first)];
    const int64_t raw_begin = header_.page_begin(raw_page.id);
    RecordWalk raws(file_, path_, raw_begin, raw_page.used, found->second.second);
    RecordWalk blobs(file_, path_, header_.page_begin(blob_page.id), blob_page.used, 0);
    for (int64_t row = blob_page.start_row; row < blob_page.end_row; ++row) {
      const auto [raw, raw_end] = raws.next();
      const auto [blob, blob_end] = blobs.next();
      const Place place{path_, raw_begin + raw + kLengthBytes};
      const std::string body = file_.read(place.offset, raw_end - raw - kLengthBytes);
      const RowPlace at{static_cast<uint32_t>(raw_page.id), static_cast<uint32_t>(raw),
                        static_cast<uint32_t>(raw_end),     static_cast<uint32_t>(blob_page.id),
                        static_cast<uint32_t>(blob),        static_cast<uint32_t>(blob_end)};
      index.add(blob_page.type_id, at, index_values(header_, body, place));
    }
  }
  index.finish(data_file_name(path_));
  std::error_code ignored;  // for its owner alone, as the data file
  fs::permissions(index_name(temporary_), fs::perms::owner_read | fs::perms::owner_write, ignored);
}

void ShardWriter::finish(int64_t compression_size) {
  header_.compression_size = compression_size;
  const std::string text = header_text(header_);
  SORUS_CHECK(
      kLengthBytes + std::ssize(text) <= header_.header_size, ValueError,
      "mindrecord: '{}': header is too large: got {} bytes, need at most {}; set_header_size makes room",
      path_, text.size(), header_.header_size - kLengthBytes);
  std::string head;
  put_little(head, text.size(), kLengthBytes);
  file_.write(0, head + text);
  file_.sync();
  write_index();
}

void ShardWriter::take_data_name() { rename_to(temporary_, path_); }

void ShardWriter::take_index_name() {
  rename_to(index_name(temporary_), index_name(path_));
  temporary_.clear();
}

}  // namespace sorus::data::mindrecord
