#include "sorus/data/text/detail/lines.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace sorus::data::text::detail {

Lines::Lines(const char* op, const std::string& path) : op_(op), path_(path) {
  std::error_code ignored;
  SORUS_CHECK(!std::filesystem::is_directory(path, ignored), IOError,
              "{}: file '{}' cannot be opened: got a folder, need a file", op, path);
  errno = 0;
  file_.open(path, std::ios::binary);
  SORUS_CHECK(file_.is_open(), IOError, "{}: file '{}' cannot be opened: got '{}', need a readable file", op,
              path, std::generic_category().message(errno));
}

bool Lines::next() {
  if (!std::getline(file_, line_)) {
    SORUS_CHECK(file_.eof(), IOError,
                "{}: file '{}' cannot be read: got an error after line {}, need its end", op_, path_,
                number_);
    return false;
  }
  ++number_;
  return true;
}

void for_each_row(const Dataset& dataset, const std::function<void(const Chunk&, int64_t)>& body) {
  using Event = DatasetIterator::Event;
  DatasetIterator iterator = dataset.iterate();
  constexpr std::chrono::milliseconds kPatience{1000};
  for (;;) {
    const Event event = iterator.poll(kPatience);
    if (event == Event::kRow) body(iterator.current(), iterator.row());
    if (event == Event::kEndOfEpoch || event == Event::kFinished) return;
  }
}

}  // namespace sorus::data::text::detail
