#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sorus/formats/record_file.h"

namespace sorus::formats {

/// A file of events that a run writes while others read it: made at the first event, and read-only for its
/// owner once it is closed. One thread at a time.
class SORUS_API EventFile {
 public:
  enum class Kind {
    kSummary,  ///< events of summary.h; the file begins with the version
    kLineage   ///< events of lineage.h
  };
  /// `most_bytes` is what the file may grow to; any size by default.
  EventFile(std::string path, Kind kind, std::optional<uint64_t> most_bytes = {});
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// Writes an encoded event; false when the file would grow beyond its limit, and is left as it is. Throws
  /// IOError naming path and reason where it cannot be written, or the disk has less room than 32 times what
  /// is to be written.
  [[nodiscard]] bool append(std::string_view event);
  /// Waits until all events are on the disk. Throws IOError where they cannot be.
  void flush();
  /// Ends the file; nothing happens where it is none or has ended.
  void close() noexcept;

 private:
  [[nodiscard]] bool append_record(std::string_view record);
  std::string path_;
  Kind kind_;
  std::optional<uint64_t> most_bytes_;
  std::optional<RecordWriter> out_;
};

}  // namespace sorus::formats
