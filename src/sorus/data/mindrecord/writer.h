#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sorus/core/tensor.h"
#include "sorus/data/mindrecord/schema.h"

namespace sorus::data::mindrecord {

/// A field of a row: an int, a float, the bytes of a string, of `bytes` or of an array's elements in C order,
/// or an array.
using FieldValue = std::variant<int64_t, double, std::string, Tensor>;
/// One value for each field, in the schema's order.
using RowValues = std::vector<FieldValue>;

struct WriterOptions {
  int64_t files = 1;  ///< 1 to 1000; more than one are named FILE0, FILE1 ...
  std::optional<std::vector<std::string>> index = {};  ///< index fields; absent: all of numbers and strings
  int64_t header_size = int64_t{16} << 20;             ///< 16 KiB to 128 MiB, a multiple of 4
  int64_t page_size = int64_t{32} << 20;  ///< 32 KiB to 256 MiB, a multiple of 4; holds the largest row
  bool overwrite = false;
};

/// Throw ValueError naming the option.
SORUS_API void check_header_size(int64_t bytes);
SORUS_API void check_page_size(int64_t bytes);

/// Writes a set of MindRecord files, the same bytes as MindSpore 2.7. All files have temporary names until
/// commit(), which gives the indexes their names last: no moment leaves a set that looks whole and is not.
/// Without commit() nothing is left behind. For one thread at a time.
class SORUS_API Writer {
 public:
  /// Throws ValueError for wrong options and IOError when a file cannot be made or is there already.
  Writer(const std::string& file, Schema schema, const WriterOptions& options = {});
  /// Goes on with the set that a data file belongs to. The old files stay as they are until commit().
  [[nodiscard]] static Writer append(const std::string& file);
  ~Writer();
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) = delete;

  [[nodiscard]] const Schema& schema() const;
  /// Each file gets an equal part of the rows, one after the other; what is left over goes to the files with
  /// the fewest rows. Throws ValueError naming the field of a value that does not fit, and for a row that is
  /// larger than a page; nothing is written then.
  void write(std::span<const RowValues> rows);
  /// Writes headers and indexes and gives all files their names. Nothing can be written after it.
  void commit();
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sorus::data::mindrecord
