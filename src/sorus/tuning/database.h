#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/base/digest.h"
#include "sorus/base/tunable.h"

/// What searches have found, in a file between runs of programs.
namespace sorus::tuning {

/// Values that were better than the defaults for one call, region or program.
struct Entry {
  TunedPart part = TunedPart::kCall;
  Digest::Words key{};   ///< dispatch/tuned.h, compiler/tuned_graph.h
  bool relaxed = false;  ///< found where bits may move
  int threads = 1;
  std::string what;  ///< for people
  TunedValues values;
  double before_ns = 0;  ///< with the defaults, as it was measured
  double after_ns = 0;
  int64_t time = 0;  ///< when, in seconds since 1970
};

/// Entries of one build of the library on one kind of processor, as a file has them. Names and values of
/// other builds are not understood, but kept.
struct Section {
  struct Stored {
    Entry entry;  ///< without values
    std::vector<std::pair<std::string, int64_t>> values;
  };
  std::string build, cpu;
  std::vector<Stored> entries;
};

/// The bytes of a file, without its seal, and back. Nothing is believed: throws ValueError for anything that
/// encode() does not write.
[[nodiscard]] SORUS_API std::string encode(std::span<const Section> sections);
[[nodiscard]] SORUS_API std::vector<Section> decode(std::string_view bytes);

/// A file of entries. Any number of processes and threads may use it at once: it is replaced as a whole,
/// under a lock (a file beside it). One that is damaged or of another kind counts as empty, with one warning,
/// and is made anew when something is stored; one that must not be read is never replaced. A missing file is
/// an empty one.
class SORUS_API Database {
 public:
  explicit Database(std::string path) : path_(std::move(path)) {}
  /// The entries for this build and processor. Entries that would not be taken as they are, such as values
  /// that a parameter does not have, are left out.
  [[nodiscard]] std::vector<Entry> read() const;
  /// Adds entries; of those with the same part and key the new one counts, and one without values takes the
  /// old one away. At most 4,096 entries of a section
  /// are kept, and 16 sections, the newest. Throws IOError when the file cannot be written.
  void store(std::span<const Entry> entries) const;
  /// Throws IOError when store() could not write the file, such as one that is not ours to read or in a
  /// folder that is not ours to write: for those who have much to do before they store.
  void check_access() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sorus::tuning

namespace sorus {

/// From now on this process takes tuned values from that file; an empty name: from none. What was compiled
/// before stays as it is. Without a call, SORUS_TUNING_DATABASE names it (`off`: none), and else it is
/// `sorus/tuning.db` in the folder for caches of the user (XDG_CACHE_HOME, or .cache in HOME).
SORUS_API void set_tuning_database(const std::string& path);
/// That file, which need not exist; empty for none.
[[nodiscard]] SORUS_API std::string tuning_database();
/// What it is without a call.
[[nodiscard]] SORUS_API std::string default_tuning_database();

namespace tuning {
/// The entries in use in this process, and others in their place.
[[nodiscard]] SORUS_API std::vector<Entry> entries_in_use();
SORUS_API void use_entries(std::vector<Entry> entries);
}  // namespace tuning

}  // namespace sorus
