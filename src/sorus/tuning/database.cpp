#include "sorus/tuning/database.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "sorus/base/cpu_features.h"
#include "sorus/base/error.h"
#include "sorus/base/flags.h"
#include "sorus/base/fork_mutex.h"
#include "sorus/base/log.h"
#include "sorus/compiler/build_id.h"
#include "sorus/dispatch/tuned.h"
#include "sorus/formats/file.h"
#include "sorus/formats/file_lock.h"
#include "sorus/formats/sealed.h"
#include "sorus/ir/byte_stream.h"

namespace sorus::tuning {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKind = "SRSTUN1";
constexpr size_t kMostEntries = 4096;
constexpr size_t kMostSections = 16;
constexpr uintmax_t kMostBytes = 64 << 20;
constexpr int kParts = 3;

void write_entry(ByteWriter& out, const Section::Stored& stored) {
  const Entry& e = stored.entry;
  out.byte(static_cast<uint8_t>(e.part));
  for (uint64_t word : e.key) out.fixed(word, 8);
  out.byte(e.relaxed ? 1 : 0);
  out.number(static_cast<uint64_t>(e.threads));
  out.text(e.what);
  out.fixed(std::bit_cast<uint64_t>(e.before_ns), 8);
  out.fixed(std::bit_cast<uint64_t>(e.after_ns), 8);
  out.integer(e.time);
  out.number(stored.values.size());
  for (const auto& [name, value] : stored.values) {
    out.text(name);
    out.integer(value);
  }
}

Section::Stored read_entry(ByteReader& in) {
  Section::Stored stored;
  Entry& e = stored.entry;
  e.part = static_cast<TunedPart>(in.index(kParts));
  for (uint64_t& word : e.key) word = in.fixed(8);
  e.relaxed = in.index(2) != 0;
  e.threads = static_cast<int>(in.index(1 << 20));
  e.what = std::string(in.text());
  e.before_ns = std::bit_cast<double>(in.fixed(8));
  e.after_ns = std::bit_cast<double>(in.fixed(8));
  e.time = in.integer();
  const size_t count = in.count(2);
  for (size_t i = 0; i < count; ++i) {
    std::string name(in.text());
    const int64_t value = in.integer();
    stored.values.emplace_back(std::move(name), value);
  }
  return stored;
}

/// The entry as this build understands it; false where it does not.
bool understand(const Section::Stored& stored, Entry* entry) {
  *entry = stored.entry;
  for (const auto& [name, value] : stored.values) {
    const Tunable* parameter = find_tunable(name);
    if (!parameter || !parameter->is_value(value) || parameter->spec().part != entry->part) return false;
    if (!entry->relaxed && parameter->spec().effect != BitEffect::kNeutral) return false;
    entry->values.set(*parameter, value);
  }
  return !entry->values.empty();
}

Section::Stored as_stored(const Entry& entry) {
  Section::Stored stored{entry, {}};
  stored.entry.values = {};
  for (const auto& [parameter, value] : entry.values.items())
    stored.values.emplace_back(std::string(parameter->spec().name), value);
  return stored;
}

bool is_mine(const Section& s) { return s.build == library_build() && s.cpu == describe_cpu(); }

int64_t time_of(const Section& s) {
  int64_t newest = INT64_MIN;
  for (const Section::Stored& e : s.entries) newest = std::max(newest, e.entry.time);
  return newest;
}

/// What the file holds; nothing where there is none, or none that can be read.
std::vector<Section> read_sections(const std::string& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error) return {};
  try {
    SORUS_CHECK(size <= kMostBytes, IOError, "{}: is too large: got {} bytes, need at most {}", path, size,
                kMostBytes);
    return decode(formats::unseal(kKind, formats::read_file(path), path));
  } catch (const Error& e) {
    warn_once("tuning database " + path, fmt::format("tuning: nothing is taken from a file: {}", e.what()));
    return {};
  }
}

void add(Section& section, const Entry& entry) {
  const auto is_same = [&](const Section::Stored& s) {
    return s.entry.part == entry.part && s.entry.key == entry.key;
  };
  std::erase_if(section.entries, is_same);
  if (!entry.values.empty()) section.entries.push_back(as_stored(entry));
}

/// Drops the oldest of what is too much.
void bound(std::vector<Section>& sections) {
  std::stable_sort(sections.begin(), sections.end(), [](const Section& a, const Section& b) {
    return is_mine(a) != is_mine(b) ? is_mine(a) : time_of(a) > time_of(b);
  });
  if (sections.size() > kMostSections) sections.resize(kMostSections);
  for (Section& s : sections)
    if (s.entries.size() > kMostEntries) {
      std::stable_sort(s.entries.begin(), s.entries.end(),
                       [](const auto& a, const auto& b) { return a.entry.time > b.entry.time; });
      s.entries.resize(kMostEntries);
    }
}

}  // namespace

std::string encode(std::span<const Section> sections) {
  ByteWriter out;
  out.number(sections.size());
  for (const Section& s : sections) {
    out.text(s.build);
    out.text(s.cpu);
    out.number(s.entries.size());
    for (const Section::Stored& e : s.entries) write_entry(out, e);
  }
  return std::move(out.bytes());
}

std::vector<Section> decode(std::string_view bytes) {
  constexpr size_t kLeastSection = 3;
  constexpr size_t kLeastEntry = 38;
  ByteReader in(bytes, "tuning");
  std::vector<Section> sections;
  for (size_t left = in.count(kLeastSection); left > 0; --left) {
    Section& s = sections.emplace_back();
    s.build = std::string(in.text());
    s.cpu = std::string(in.text());
    for (size_t more = in.count(kLeastEntry); more > 0; --more) s.entries.push_back(read_entry(in));
  }
  if (!in.done()) in.fail("the end");
  return sections;
}

std::vector<Entry> Database::read() const {
  std::vector<Entry> entries;
  for (const Section& s : read_sections(path_)) {
    if (!is_mine(s)) continue;
    for (const Section::Stored& stored : s.entries)
      if (Entry e; understand(stored, &e)) entries.push_back(std::move(e));
  }
  return entries;
}

namespace {

/// A new file and the lock of a database, once it is sure that both can be had. What others let nobody read
/// is not ours to replace.
class Update {
 public:
  explicit Update(const std::string& path)
      : file_(with_folder(path), formats::AtomicFile::Safety::kCache), lock_(path + ".lock") {
    SORUS_CHECK(::access(path.c_str(), F_OK) != 0 || ::access(path.c_str(), R_OK) == 0, IOError,
                "{}: cannot be read: got '{}', need a readable file or none", path, std::strerror(errno));
  }
  void commit(std::string_view bytes) {
    file_.write(bytes);
    file_.commit();
  }

 private:
  static const std::string& with_folder(const std::string& path) {
    std::error_code error;
    if (const fs::path folder = fs::path(path).parent_path(); !folder.empty())
      fs::create_directories(folder, error);  // where that fails, so does what follows
    return path;
  }
  formats::AtomicFile file_;  // refuses before a lock is there
  formats::FileLock lock_;
};

}  // namespace

void Database::check_access() const { const Update update(path_); }

void Database::store(std::span<const Entry> entries) const {
  Update update(path_);
  std::vector<Section> sections = read_sections(path_);
  auto mine = std::find_if(sections.begin(), sections.end(), is_mine);
  if (mine == sections.end()) mine = sections.insert(sections.begin(), {library_build(), describe_cpu(), {}});
  for (const Entry& e : entries) add(*mine, e);
  bound(sections);
  update.commit(formats::seal(kKind, encode(sections)));
}

}  // namespace sorus::tuning

std::string sorus::default_tuning_database() {
  const std::string wanted = env_string("SORUS_TUNING_DATABASE");
  if (!wanted.empty()) return wanted == "off" ? "" : wanted;
  if (const std::string caches = env_string("XDG_CACHE_HOME"); !caches.empty())
    return caches + "/sorus/tuning.db";
  if (const std::string home = env_string("HOME"); !home.empty()) return home + "/.cache/sorus/tuning.db";
  return "";
}

namespace sorus::tuning {
namespace {

/// Which file is in use, and what was taken from it.
class InUse {
 public:
  static InUse& instance() {
    static auto& in_use = *new InUse;
    return in_use;
  }
  std::string path() {
    std::lock_guard lock(mutex_);
    return path_;
  }
  void set_path(std::string path) {
    std::lock_guard lock(mutex_);
    path_ = std::move(path);
  }
  std::vector<Entry> entries() {
    std::lock_guard lock(mutex_);
    return entries_;
  }
  void use(std::vector<Entry> entries) {
    std::vector<TunedRecord> records;
    for (const Entry& e : entries)
      records.push_back({e.part, e.key, std::make_shared<const TunedValues>(e.values)});
    {
      std::lock_guard lock(mutex_);
      entries_.swap(entries);
    }
    set_tuned_records(records);
  }

 private:
  ForkMutex mutex_;
  std::string path_ = default_tuning_database();
  std::vector<Entry> entries_;
};

void load() {
  const std::string path = tuning_database();
  std::vector<Entry> entries;
  if (!path.empty()) entries = Database(path).read();
  use_entries(std::move(entries));
}

[[maybe_unused]] const bool registered = [] {
  set_tuning_loader(load);
  return true;
}();

}  // namespace

std::vector<Entry> entries_in_use() { return InUse::instance().entries(); }
void use_entries(std::vector<Entry> entries) { InUse::instance().use(std::move(entries)); }

}  // namespace sorus::tuning

namespace sorus {

void set_tuning_database(const std::string& path) {
  tuning::InUse::instance().set_path(path);
  tuning::load();
}

std::string tuning_database() { return tuning::InUse::instance().path(); }

}  // namespace sorus
