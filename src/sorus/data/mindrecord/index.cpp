#include "sorus/data/mindrecord/detail/index.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>

#include "sorus/base/error.h"

namespace sorus::data::mindrecord {
namespace {

constexpr const char* kFixedColumns[] = {
    "ROW_ID",       "PAGE_ID_RAW",  "PAGE_OFFSET_RAW",  "PAGE_OFFSET_RAW_END",
    "ROW_GROUP_ID", "PAGE_ID_BLOB", "PAGE_OFFSET_BLOB", "PAGE_OFFSET_BLOB_END"};

/// A compiled statement; finalizes itself.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql) : database_(database) {
    if (sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &handle_, nullptr) != SQLITE_OK) database.fail();
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(handle_); }
  /// True when there is a row.
  bool step() {
    const int status = sqlite3_step(handle_);
    if (status != SQLITE_ROW && status != SQLITE_DONE) database_.fail();
    return status == SQLITE_ROW;
  }
  void run() {
    (void)step();
    sqlite3_reset(handle_);
  }
  [[nodiscard]] int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return bytes ? std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(handle_, column))) : "";
  }
  void bind(int place, int64_t value) { check(sqlite3_bind_int64(handle_, place, value)); }
  void bind(int place, double value) { check(sqlite3_bind_double(handle_, place, value)); }
  void bind(int place, std::string_view value) {
    check(sqlite3_bind_text64(handle_, place, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  void bind(int place, std::monostate) { check(sqlite3_bind_null(handle_, place)); }

 private:
  void check(int status) const {
    if (status != SQLITE_OK) database_.fail();
  }
  const Database& database_;
  sqlite3_stmt* handle_ = nullptr;
};

void run(const Database& database, const std::string& sql) { Statement(database, sql).run(); }

/// Whether a table is there. A view of that name could compute anything, and is none.
bool has_table(const Database& database, const std::string& name) {
  return Statement(database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + name + "'")
      .step();
}

void check_table(const Database& database, const std::string& index) {
  SORUS_CHECK(
      has_table(database, "INDEXES"), IOError,
      "mindrecord: index '{}' has no table INDEXES: the file is damaged or of another kind; write the "
      "data again with FileWriter",
      index);
}

void check_shard_name(const Database& database, const std::string& index, const std::string& name) {
  if (!has_table(database, "SHARD_NAME")) return;  // the first releases wrote none
  Statement names(database, "SELECT NAME FROM SHARD_NAME");
  const std::string got = names.step() ? names.text(0) : "";
  SORUS_CHECK(
      got == name, IOError,
      "mindrecord: index '{}' is that of another file: got one of '{}', need one of '{}'; give a renamed "
      "file its old name, or write the data again under the new one",
      index, got, name);
}

/// Checks the places of one row against pages and file.
class PlaceCheck {
 public:
  PlaceCheck(const std::string& index, const Header& header, int64_t file_size)
      : index_(index), header_(header), size_(file_size) {}

  [[nodiscard]] RowPlace check(const Statement& row, int64_t id) const {
    RowPlace place;
    record(row, id, 1, false, place.raw_page, place.raw_begin, place.raw_end);
    record(row, id, 4, true, place.blob_page, place.blob_begin, place.blob_end);
    return place;
  }

 private:
  void record(const Statement& row, int64_t id, int column, bool blob, uint32_t& page, uint32_t& begin,
              uint32_t& end) const {
    const int64_t p = row.integer(column);
    const int64_t from = row.integer(column + 1);
    const int64_t to = row.integer(column + 2);
    const bool known =
        p >= 0 && p < std::ssize(header_.pages) && header_.pages[static_cast<size_t>(p)].is_blob == blob;
    SORUS_CHECK(
        known, IOError,
        "mindrecord: index '{}' names a wrong page for row {}: got {}, need a {} page among the {} pages",
        index_, id, p, blob ? "blob" : "raw", header_.pages.size());
    const bool fits = from >= 0 && to >= from + kLengthBytes && to <= header_.page_size &&
                      header_.page_begin(p) + to <= size_;
    SORUS_CHECK(
        fits, IOError,
        "mindrecord: index '{}' names a wrong place for row {}: got bytes {} to {} of page {}, need 8 or "
        "more within the page and the {} bytes of the file",
        index_, id, from, to, p, size_);
    page = static_cast<uint32_t>(p);
    begin = static_cast<uint32_t>(from);
    end = static_cast<uint32_t>(to);
  }

  const std::string& index_;
  const Header& header_;
  int64_t size_;
};

const char* sql_type(FieldType type) {
  switch (type) {
    case FieldType::kInt32:
    case FieldType::kInt64:
      return "INTEGER";
    case FieldType::kFloat32:
    case FieldType::kFloat64:
      return "REAL";
    default:
      return "TEXT";
  }
}

/// The statement that makes the table, character by character as MindSpore writes it.
std::string create_statement(const Header& header) {
  std::string sql = "CREATE TABLE INDEXES(";
  for (size_t i = 0; i < std::size(kFixedColumns); ++i)
    sql += fmt::format("{}{:<20} INT  NOT NULL", i == 0 ? "  " : ", ", kFixedColumns[i]);
  std::string key = "ROW_ID";
  for (size_t i = 0; i < header.index_fields.size(); ++i) {
    const std::string& field = header.index_fields[i];
    const FieldType type = header.schema.fields[static_cast<size_t>(header.schema.find(field))].type;
    sql += fmt::format(",INC_{} INT, {} {}", i, index_column(field), sql_type(type));
    key += fmt::format(",INC_{}", i);
  }
  return sql + ", PRIMARY KEY(" + key + "))";
}

std::string insert_statement(const Header& header) {
  std::string names;
  std::string marks;
  for (const char* column : kFixedColumns) {
    names += (names.empty() ? "" : ",") + std::string(column);
    marks += marks.empty() ? "?" : ",?";
  }
  for (size_t i = 0; i < header.index_fields.size(); ++i) {
    names += fmt::format(",INC_{},{}", i, index_column(header.index_fields[i]));
    marks += ",0,?";
  }
  return "INSERT INTO INDEXES(" + names + ") VALUES(" + marks + ")";
}

}  // namespace

std::string index_column(const std::string& field) { return field + "_0"; }

Database::Database(const std::string& path, bool writes) : path_(path) {
  std::error_code ignored;
  SORUS_CHECK(
      writes || std::filesystem::is_regular_file(path, ignored), IOError,
      "mindrecord: index '{}' is missing: need it beside its data file; bring it along, or write the data "
      "again with FileWriter",
      path);
  const int flags = writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  // No locks: file systems that are shared may have none, and nobody writes an index that has its name.
  const int status = sqlite3_open_v2(path.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, "unix-none");
  if (status != SQLITE_OK) {
    const std::string reason = sqlite3_errstr(status);
    sqlite3_close(handle_);
    raise<IOError>("mindrecord: index '{}' cannot be opened: got '{}', need a SQLite database", path, reason);
  }
  // A file is data, not a program.
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

Database::~Database() { sqlite3_close(handle_); }

void Database::fail() const {
  raise<IOError>("mindrecord: index '{}' cannot be used: got '{}', need a whole index of MindRecord", path_,
                 sqlite3_errmsg(handle_));
}

std::vector<RowPlace> read_places(const std::string& index, const std::string& name, const Header& header,
                                  int64_t file_size) {
  Database database(index, false);
  check_table(database, index);
  check_shard_name(database, index, name);
  const PlaceCheck check(index, header, file_size);
  // Each row has two records, each with a length: a damaged index can claim no more rows than the file holds.
  const int64_t most = file_size / (2 * kLengthBytes);
  std::vector<std::pair<int64_t, RowPlace>> found;
  Statement rows(database,
                 "SELECT ROW_ID, PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, PAGE_ID_BLOB, "
                 "PAGE_OFFSET_BLOB, PAGE_OFFSET_BLOB_END FROM INDEXES");
  while (rows.step()) {
    SORUS_CHECK(
        std::ssize(found) < most, IOError,
        "mindrecord: index '{}' is damaged: got more than {} rows, need no more than its data file holds",
        index, most);
    found.emplace_back(rows.integer(0), check.check(rows, rows.integer(0)));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<RowPlace> places;
  places.reserve(found.size());
  for (const auto& [id, place] : found) {
    SORUS_CHECK(id == std::ssize(places), IOError,
                "mindrecord: index '{}' has a wrong row: got number {}, need each of 0 to {} once", index, id,
                found.size() - 1);
    places.push_back(place);
  }
  return places;
}

std::vector<std::string> read_index_texts(const std::string& index, const std::string& field, int64_t rows) {
  Database database(index, false);
  check_table(database, index);
  Statement values(database, "SELECT ROW_ID, \"" + index_column(field) + "\" FROM INDEXES");
  std::vector<std::string> texts(static_cast<size_t>(rows));
  while (values.step()) {
    const int64_t id = values.integer(0);
    if (id >= 0 && id < rows) texts[static_cast<size_t>(id)] = values.text(1);
  }
  return texts;
}

struct IndexWriter::State {
  State(const std::string& path, const Header& header) : database(path, true) {
    run(database, "PRAGMA journal_mode = MEMORY");  // the file gets its name when it is whole
    run(database, "BEGIN TRANSACTION");
    run(database, create_statement(header));
    insert = std::make_unique<Statement>(database, insert_statement(header));
  }
  Database database;
  std::unique_ptr<Statement> insert;
  int64_t rows = 0;
};

IndexWriter::IndexWriter(const std::string& path, const Header& header)
    : state_(std::make_unique<State>(path, header)) {}
IndexWriter::~IndexWriter() = default;

void IndexWriter::add(int64_t group, const RowPlace& place, std::span<const Scalar> values) {
  const int64_t fixed[] = {state_->rows++, place.raw_page,  place.raw_begin,  place.raw_end,
                           group,          place.blob_page, place.blob_begin, place.blob_end};
  int at = 0;
  for (int64_t value : fixed) state_->insert->bind(++at, value);
  for (const Scalar& value : values) std::visit([&](auto v) { state_->insert->bind(++at, v); }, value);
  state_->insert->run();
}

void IndexWriter::finish(const std::string& name) {
  state_->insert.reset();
  run(state_->database, "CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)");
  Statement insert(state_->database, "INSERT INTO SHARD_NAME(NAME) VALUES(?)");
  insert.bind(1, std::string_view(name));
  insert.run();
  run(state_->database, "COMMIT TRANSACTION");
}

}  // namespace sorus::data::mindrecord
