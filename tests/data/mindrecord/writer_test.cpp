#include "sorus/data/mindrecord/writer.h"

#include "sorus/base/error.h"
#include "tests/data/mindrecord/fixtures.h"

namespace sorus::data::mindrecord {
namespace {

using data::test::error_of;
using test::Files;
using test::kHeaderSize;
using test::kPageSize;
using test::read_bytes;

void write_batches(Writer& writer, const std::vector<int64_t>& sizes, RowValues (*row)(int64_t)) {
  int64_t next = 0;
  for (int64_t size : sizes) {
    std::vector<RowValues> batch;
    for (int64_t i = 0; i < size; ++i) batch.push_back(row(next++));
    writer.write(batch);
  }
}

std::vector<std::pair<int64_t, std::string>> rows_of(const std::string& file, int64_t label, int64_t data) {
  const Reader reader = Reader::open(file);
  std::vector<std::pair<int64_t, std::string>> rows;
  Record record;
  for (int64_t i = 0; i < reader.rows(); ++i) {
    reader.read(i, reader.places_of({}), record);
    rows.emplace_back(record.items[static_cast<size_t>(label)].integer,
                      record.items[static_cast<size_t>(data)].bytes);
  }
  return rows;
}

TEST(MindRecordWriter, WritesTheBytesOfMindSpore) {
  Files files({});
  Writer pages(files.path("pages"), test::pages_schema(),
               {.index = {{"label"}}, .header_size = kHeaderSize, .page_size = kPageSize});
  write_batches(pages, {1, 2, 13, 5, 1, 1, 30, 7, 20, 10}, test::page_row);
  pages.commit();
  EXPECT_TRUE(read_bytes(files.path("pages")) == test::unpacked_fixture("pages"));
  Writer types(files.path("every_type"), test::every_type_schema(),
               {.index = {{"label", "file_name"}}, .header_size = kHeaderSize, .page_size = kPageSize});
  write_batches(types, {4, 1, 2}, test::every_type_row);
  types.commit();
  EXPECT_TRUE(read_bytes(files.path("every_type")) == test::unpacked_fixture("every_type"));
  std::vector<std::pair<int64_t, std::string>> wanted;
  for (int64_t i = 0; i < 90; ++i) wanted.emplace_back(i, test::page_text(i));
  EXPECT_EQ(rows_of(files.path("pages"), 1, 2), wanted);
}

TEST(MindRecordWriter, WritesTheBytesOfMindSporeInSeveralFiles) {
  Files files({});
  const Schema schema = Schema::parse(R"({"label": {"type": "int32"}, "data": {"type": "bytes"}})");
  Writer writer(files.path("shards"), schema,
                {.files = 3, .header_size = kHeaderSize, .page_size = kPageSize});
  EXPECT_EQ(writer.files()[2], files.path("shards2"));
  write_batches(writer, {18, 3, 12}, [](int64_t i) { return RowValues{std::to_string(i), i}; });
  writer.commit();
  for (const char* name : {"shards0", "shards1", "shards2"})
    EXPECT_TRUE(read_bytes(files.path(name)) == test::unpacked_fixture(name)) << name;
}

TEST(MindRecordWriter, GivesLeftOverRowsToTheShortestFiles) {
  Files files({});
  Writer writer(files.path("x"), Schema::parse(R"({"n": {"type": "int64"}})"), {.files = 11});
  write_batches(writer, std::vector<int64_t>(25, 1), [](int64_t i) { return RowValues{i}; });
  writer.commit();
  const Reader reader = Reader::open(files.path("x07"));
  EXPECT_EQ(reader.rows_by_file(), (std::vector<int64_t>{3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2}));
}

TEST(MindRecordWriter, AppendsAsMindSporeDoes) {
  Files files({});
  const Schema schema =
      Schema::parse(R"({"label": {"type": "int32"}, "ids": {"type": "int32", "shape": [-1]}})");
  const auto row = [](int64_t i, int64_t count) {
    std::vector<int32_t> ids;
    for (int64_t k = 0; k < count; ++k) ids.push_back(static_cast<int32_t>(k));
    return RowValues{test::elements(ids), i};
  };
  const std::string path = files.path("appended");
  Writer writer(path, schema, {.index = {{"label"}}, .header_size = kHeaderSize, .page_size = kPageSize});
  writer.write(std::vector<RowValues>{row(0, 1), row(1, 2), row(2, 3)});
  writer.commit();
  const std::string first = read_bytes(path);
  Writer more = Writer::append(path);
  more.write(std::vector<RowValues>{row(3, 3), row(4, 4), row(5, 5), row(6, 6), row(7, 7)});
  more.write(std::vector<RowValues>{row(8, 1)});
  EXPECT_EQ(read_bytes(path), first);
  more.commit();
  std::string wanted = test::unpacked_fixture("appended");
  EXPECT_EQ(read_bytes(path).size(), wanted.size());
  EXPECT_EQ(Reader::open(path).rows(), 9);
}

/// Files of version 2.0 hold integers as they are, and go on doing so.
TEST(MindRecordWriter, KeepsTheVersionOfWhatItAppendsTo) {
  Files files({});
  const std::string path = files.path("x");
  Writer(path, Schema::parse(R"({"ids": {"type": "int32", "shape": [-1]}})"), {.header_size = kHeaderSize})
      .commit();
  std::string bytes = read_bytes(path);
  bytes.replace(bytes.find("\"3.0\""), 5, "\"2.0\"");
  test::write_bytes(path, bytes);
  const std::string ids = test::elements(std::vector<int32_t>{1, -2, 3});
  Writer more = Writer::append(path);
  more.write(std::vector<RowValues>{{ids}});
  more.commit();
  EXPECT_EQ(read_bytes(path).substr(kHeaderSize, 20), std::string("\x0c\0\0\0\0\0\0\0", 8) + ids);
  const Reader reader = Reader::open(path);
  Record record;
  reader.read(0, reader.places_of({}), record);
  EXPECT_EQ(record.items[0].bytes, ids);
}

TEST(MindRecordWriter, TakesTensorsAsArrays) {
  Files files({});
  Writer writer(files.path("x"), Schema::parse(R"({"x": {"type": "float32", "shape": [-1, 2]}})"));
  Tensor tensor(std::span<const float>(std::vector<float>{1, 2, 3, 4, 5, 6}), Shape{3, 2});
  writer.write(std::vector<RowValues>{{tensor}});
  writer.commit();
  const Reader reader = Reader::open(files.path("x"));
  Record record;
  reader.read(0, reader.places_of({}), record);
  EXPECT_EQ(record.items[0].shape, (Shape{3, 2}));
  EXPECT_EQ(record.items[0].bytes, test::elements(std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(MindRecordWriter, LeavesNothingBehindWithoutCommit) {
  Files files({"only_bytes"});
  {
    Writer writer(files.path("only_bytes"), test::pages_schema(), {.files = 1, .overwrite = true});
    writer.write(std::vector<RowValues>{test::page_row(1)});
    Writer abandoned = Writer::append(files.path("only_bytes"));
    EXPECT_EQ(files.list().size(), 4U);
  }
  EXPECT_EQ(files.list(), (std::vector<std::string>{"only_bytes", "only_bytes.db"}));
  EXPECT_EQ(read_bytes(files.path("only_bytes")), test::unpacked_fixture("only_bytes"));
}

TEST(MindRecordWriter, RemovesWhatKilledWritersLeft) {
  Files files({"only_bytes"});
  const std::string own = "only_bytes.tmp." + std::to_string(getpid()) + ".99";
  // No process has a number so large.
  for (const std::string& name :
       {std::string("only_bytes.tmp.999999999.0"), std::string("only_bytes.tmp.999999999.0.db"),
        std::string("only_bytes.tmp.note"), std::string("other.tmp.999999999.0"), own})
    test::write_bytes(files.path(name), "x");
  { Writer writer(files.path("only_bytes"), test::pages_schema(), {.overwrite = true}); }
  std::vector<std::string> wanted = {"only_bytes", "only_bytes.db", own, "only_bytes.tmp.note",
                                     "other.tmp.999999999.0"};
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(files.list(), wanted);
}

TEST(MindRecordWriter, RefusesToAppendToWhatIsDamaged) {
  Files files({"appended"});
  std::string bytes = read_bytes(files.path("appended"));
  bytes[kHeaderSize] = 99;  // the length of the first blob record
  test::write_bytes(files.path("appended"), bytes);
  Writer writer = Writer::append(files.path("appended"));
  EXPECT_NE(error_of<IOError>([&] { writer.commit(); }).find("appended': record is damaged"),
            std::string::npos);
}

TEST(MindRecordWriter, ReplacesOnlyWhenAsked) {
  Files files({"only_bytes"});
  EXPECT_NE(error_of<IOError>([&] {
              Writer(files.path("only_bytes"), test::pages_schema());
            }).find("is there already"),
            std::string::npos);
  Writer writer(files.path("only_bytes"), test::pages_schema(), {.overwrite = true});
  writer.write(std::vector<RowValues>{test::page_row(5)});
  writer.commit();
  EXPECT_EQ(rows_of(files.path("only_bytes"), 1, 0),
            (std::vector<std::pair<int64_t, std::string>>{{5, test::page_data(5)}}));
  EXPECT_THROW(writer.commit(), ValueError);
  EXPECT_THROW(writer.write(std::vector<RowValues>{test::page_row(5)}), ValueError);
}

TEST(MindRecordWriter, RefusesValuesThatDoNotFit) {
  Files files({});
  const Schema schema = Schema::parse(R"({"a": {"type": "int32", "shape": [2]}, "n": {"type": "int32"},
    "s": {"type": "string"}})");
  Writer writer(files.path("x"), schema, {.page_size = kPageSize});
  const std::string two = test::elements(std::vector<int32_t>{1, 2});
  const auto text = [&](const RowValues& row) {
    return error_of<ValueError>([&] { writer.write(std::span(&row, 1)); });
  };
  EXPECT_EQ(text({two, int64_t{1} << 40, std::string()}),
            "mindrecord: value of field 'n' does not fit: got 1099511627776, need int32");
  EXPECT_EQ(text({two + "x", int64_t{1}, std::string()}),
            "mindrecord: value of field 'a' does not fit: got 9 bytes, need int32[2]");
  EXPECT_EQ(text({two, 1.5, std::string()}),
            "mindrecord: value of field 'n' does not fit: got another kind, need int32");
  EXPECT_EQ(text({two}), "mindrecord: a row has the wrong number of values: got 1, need 3");
  EXPECT_NE(text({two, int64_t{1}, std::string(40000, 'x')}).find("set_page_size makes room"),
            std::string::npos);
  writer.commit();
  EXPECT_EQ(Reader::open(files.path("x")).rows(), 0);
}

TEST(MindRecordWriter, RefusesWrongOptions) {
  const auto text = [](const WriterOptions& options) {
    return error_of<ValueError>([&] { Writer("/nowhere/x", test::pages_schema(), options); });
  };
  EXPECT_NE(text({.files = 0}).find("number of files is out of range: got 0"), std::string::npos);
  EXPECT_NE(text({.index = {{"data"}}}).find("cannot be an index field: got bytes"), std::string::npos);
  EXPECT_NE(text({.index = {{"nothing"}}}).find("index field is not there"), std::string::npos);
  EXPECT_NE(text({.header_size = 100}).find("header size is out of range: got 100"), std::string::npos);
  EXPECT_NE(text({.page_size = 32770}).find("page size is out of range: got 32770"), std::string::npos);
  EXPECT_THROW(Writer("/nowhere/x", test::pages_schema()), IOError);
}

TEST(MindRecordSchema, RefusesWhatIsNone) {
  const auto text = [](const std::string& json) {
    return error_of<ValueError>([&] { (void)Schema::parse(json); });
  };
  EXPECT_EQ(text("{}"), "mindrecord: schema has no fields: need one or more");
  EXPECT_NE(text(R"({"a b": {"type": "int32"}})").find("name of a field is wrong: got 'a b'"),
            std::string::npos);
  EXPECT_NE(text(R"({"a": {"type": "int8"}})").find("type of field 'a' is unknown: got 'int8'"),
            std::string::npos);
  EXPECT_NE(text(R"({"a": {"type": "bytes", "shape": [1]}})").find("cannot have a shape"), std::string::npos);
  EXPECT_NE(text(R"({"a": {"type": "int32", "shape": [-1, -1]}})").find("one may be -1"), std::string::npos);
  EXPECT_NE(text(R"({"a": {"type": "int32", "shape": []}})").find("got 0 extents"), std::string::npos);
  EXPECT_NE(text(R"({"a": {"type": "int32", "size": 3}})").find("says too much: got 'size'"),
            std::string::npos);
  EXPECT_NE(text("[]").find("schema is no JSON object"), std::string::npos);
}

}  // namespace
}  // namespace sorus::data::mindrecord
