#include "sorus/formats/event_file.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <chrono>

#include "sorus/base/error.h"
#include "sorus/formats/summary.h"

namespace sorus::formats {
namespace {

constexpr uint64_t kRoom = 32;  // times what is written: others write to the disk as well

void need_room(const std::string& path, uint64_t bytes) {
  struct statvfs disk {};
  if (::statvfs(path.c_str(), &disk) != 0) return;  // then writing says what is wrong
  const uint64_t free = static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
  SORUS_CHECK(free / kRoom >= bytes, IOError, "{}: disk is nearly full: got room for {} bytes, need {} x {}",
              path, free, kRoom, bytes);
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

EventFile::EventFile(std::string path, Kind kind, std::optional<uint64_t> most_bytes)
    : path_(std::move(path)), kind_(kind), most_bytes_(most_bytes) {}

EventFile::~EventFile() { close(); }

bool EventFile::append(std::string_view event) {
  if (!out_) {
    out_.emplace(path_);
    if (kind_ == Kind::kSummary &&
        !append_record(encode_event({now(), std::nullopt, std::string(kSummaryVersion)})))
      return false;
  }
  return append_record(event);
}

bool EventFile::append_record(std::string_view record) {
  const uint64_t bytes = record.size() + kRecordOverhead;
  if (most_bytes_ && (out_->size() > *most_bytes_ || bytes > *most_bytes_ - out_->size())) return false;
  need_room(path_, bytes);
  out_->append(record);
  return true;
}

void EventFile::flush() {
  if (out_) out_->flush();
}

void EventFile::close() noexcept {
  if (!out_) return;
  out_.reset();
  ::chmod(path_.c_str(), S_IRUSR);  // a file that somebody has removed is no mistake
}

}  // namespace sorus::formats
