#include "sorus/data/mindrecord/reader.h"

#include <random>

#include "sorus/base/error.h"
#include "tests/data/mindrecord/fixtures.h"

namespace sorus::data::mindrecord {
namespace {

using data::test::error_of;
using test::Files;
using test::read_bytes;
using test::write_bytes;

std::vector<int64_t> all_fields(const Reader& reader) { return reader.places_of({}); }

/// What a row has to be, compared field by field.
void expect_row(const Reader& reader, int64_t row, const RowValues& wanted) {
  Record record;
  const auto fields = all_fields(reader);
  reader.read(row, fields, record);
  ASSERT_EQ(record.items.size(), wanted.size());
  for (size_t f = 0; f < wanted.size(); ++f) {
    const Field& field = reader.schema().fields[f];
    const Item& item = record.items[f];
    if (const auto* text = std::get_if<std::string>(&wanted[f])) {
      EXPECT_EQ(item.bytes, *text) << field.name << " of row " << row;
      const int64_t size = field.is_array ? static_cast<int64_t>(dtype_size(dtype_of(field.type))) : 0;
      EXPECT_EQ(item.shape.numel() * size, field.is_array ? std::ssize(*text) : 0) << field.name;
    } else if (const auto* number = std::get_if<double>(&wanted[f])) {
      EXPECT_EQ(item.number, *number) << field.name << " of row " << row;
    } else {
      EXPECT_EQ(item.integer, std::get<int64_t>(wanted[f])) << field.name << " of row " << row;
    }
  }
}

TEST(MindRecordReader, ReadsEveryTypeThatMindSporeWrote) {
  Files files({"every_type"});
  const Reader reader = Reader::open(files.path("every_type"));
  EXPECT_EQ(reader.schema().text(), test::every_type_schema().text());
  EXPECT_EQ(reader.schema().description, "one of each");
  EXPECT_EQ(reader.index_fields(), (std::vector<std::string>{"label", "file_name"}));
  ASSERT_EQ(reader.rows(), 7);
  for (int64_t i = 6; i >= 0; --i) expect_row(reader, i, test::every_type_row(i));
  Record record;
  reader.read(3, reader.places_of(std::vector<std::string>{"matrix"}), record);
  EXPECT_EQ(record.items[0].shape, (Shape{2, 4}));
}

TEST(MindRecordReader, FindsRowsInManyPages) {
  Files files({"pages"});
  const Reader reader = Reader::open(files.path("pages"));
  ASSERT_EQ(reader.rows(), 90);
  for (int64_t i = 0; i < 90; ++i) expect_row(reader, i, test::page_row(i));
}

TEST(MindRecordReader, WidensPackedIntegers) {
  Files files({"only_array"});
  const Reader reader = Reader::open(files.path("only_array"));
  const std::vector<int64_t> values = {0,
                                       1,
                                       127,
                                       128,
                                       255,
                                       256,
                                       65535,
                                       65536,
                                       INT32_MAX,
                                       -1,
                                       -32,
                                       -33,
                                       -128,
                                       -129,
                                       -32768,
                                       -32769,
                                       INT32_MIN,
                                       UINT32_MAX,
                                       int64_t{1} << 32,
                                       INT64_MAX,
                                       int64_t{INT32_MIN} - 1,
                                       INT64_MIN};
  ASSERT_EQ(reader.rows(), std::ssize(values));
  for (int64_t i = 0; i < reader.rows(); ++i)
    expect_row(reader, i, {test::elements(std::vector<int64_t>(values.begin(), values.begin() + i + 1))});
}

std::vector<int64_t> labels(const Reader& reader) {
  std::vector<int64_t> out;
  Record record;
  for (int64_t i = 0; i < reader.rows(); ++i) {
    reader.read(i, reader.places_of(std::vector<std::string>{"label"}), record);
    out.push_back(record.items[0].integer);
  }
  return out;
}

TEST(MindRecordReader, OpensASetByAnyOfItsFilesAndAListAsItIs) {
  Files files({"shards0", "shards1", "shards2"});
  const std::vector<int64_t> wanted = {0,  1,  2,  3,  4,  5,  18, 21, 22, 23, 24, 6,  7,  8,  9,  10, 11,
                                       19, 25, 26, 27, 28, 12, 13, 14, 15, 16, 17, 20, 29, 30, 31, 32};
  for (const char* name : {"shards0", "shards1", "shards2"})
    EXPECT_EQ(labels(Reader::open(files.path(name))), wanted);
  const Reader two = Reader::open_files({files.path("shards2"), files.path("shards0")});
  EXPECT_EQ(two.rows_by_file(), (std::vector<int64_t>{11, 11}));
  EXPECT_EQ(labels(two)[0], 12);
  EXPECT_EQ(labels(two)[11], 0);
}

TEST(MindRecordReader, ReadsAppendedAndEmptyFiles) {
  Files files({"appended", "empty"});
  EXPECT_EQ(labels(Reader::open(files.path("appended"))), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(Reader::open(files.path("empty")).rows(), 0);
}

TEST(MindRecordReader, CountsCategoriesAsMindSporeDoes) {
  Files files({"scalars"});
  const Reader reader = Reader::open(files.path("scalars"));
  const auto doubles = reader.categories("double");
  ASSERT_EQ(doubles.size(), 10U);
  EXPECT_EQ(doubles[1].name, "0.0");
  EXPECT_EQ(doubles[1].count, 5);
  EXPECT_EQ(doubles[3].name, "0.333333333333333");
  EXPECT_EQ(reader.rows_of_category("narrow", "127"), (std::vector<int64_t>{2, 19}));
  EXPECT_NE(
      error_of<KeyError>([&] { (void)reader.categories("nothing"); }).find("need one of double, narrow"),
      std::string::npos);
}

TEST(MindRecordReader, NamesWhatIsMissing) {
  Files files({"shards0", "shards1", "shards2", "every_type"});
  const auto text = [&](const std::string& name) {
    return error_of<IOError>([&] { (void)Reader::open(files.path(name)); });
  };
  EXPECT_NE(text("nothing").find("cannot be opened: got 'No such file or directory'"), std::string::npos);
  EXPECT_NE(error_of<IOError>([] { (void)Reader::open("/"); }).find("is no file: got a folder"),
            std::string::npos);
  std::filesystem::remove(files.path("shards1"));
  EXPECT_NE(text("shards0").find("is one of 3 files and '" + files.path("shards1") + "' is missing"),
            std::string::npos);
  std::filesystem::remove(files.path("every_type.db"));
  EXPECT_NE(text("every_type").find("index '" + files.path("every_type.db") + "' is missing: need it beside"),
            std::string::npos);
}

TEST(MindRecordReader, NamesWhatDoesNotBelongTogether) {
  Files files({"shards0", "every_type", "only_bytes"});
  const auto listed = [&](const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(files.path(name));
    return error_of<IOError>([&] { (void)Reader::open_files(paths); });
  };
  EXPECT_NE(listed({"shards0", "every_type"}).find("do not belong together: schema differs"),
            std::string::npos);
  for (const char* ending : {"", ".db"})
    std::filesystem::rename(files.path(std::string("only_bytes") + ending),
                            files.path(std::string("renamed") + ending));
  EXPECT_NE(listed({"renamed"}).find("got one of 'only_bytes', need one of 'renamed'"), std::string::npos);
  std::filesystem::copy_file(files.path("shards0"), files.path("only_bytes"));
  EXPECT_NE(listed({"only_bytes"}).find("index '" + files.path("only_bytes.db") + "' is missing"),
            std::string::npos);
}

class DamagedMindRecord : public testing::Test {
 protected:
  std::string error(const std::string& bytes) {
    write_bytes(files_.path("only_bytes"), bytes);
    return error_of<IOError>([&] {
      const Reader reader = Reader::open(files_.path("only_bytes"));
      Record record;
      for (int64_t i = 0; i < reader.rows(); ++i) reader.read(i, reader.places_of({}), record);
    });
  }
  Files files_{{"only_bytes"}};
  std::string whole_ = test::unpacked_fixture("only_bytes");
};

TEST_F(DamagedMindRecord, IsNamedWithItsPlace) {
  EXPECT_NE(error("").find("got 0 bytes, need a header (at byte 0)"), std::string::npos);
  EXPECT_NE(error(std::string(100, '\xff'))
                .find("got a header of 18446744073709551615 bytes, need 1 to 92 (at byte 0)"),
            std::string::npos);
  std::string other = whole_;
  other[20] = '\x01';
  EXPECT_NE(error(other).find("header is no JSON"), std::string::npos);
  EXPECT_NE(error(whole_.substr(0, 20000)).find("names a wrong place for row 0"), std::string::npos);
  other = whole_;
  other[test::kHeaderSize] = 99;
  const std::string text = error(other);
  EXPECT_NE(text.find("and its index differ: got a record of 99 bytes, need 1 (at byte 16384)"),
            std::string::npos)
      << text;
  other = whole_;
  other.replace(other.find("\"3.0\""), 5, "\"4.0\"");
  EXPECT_NE(error(other).find("header is wrong at 'version': got \"4.0\", need 2.0 or 3.0 (at byte 8)"),
            std::string::npos);
  other = whole_;
  other.replace(other.find("[\"only_bytes\"]"), 14, "[\"../x/yz/b_\"]");
  EXPECT_NE(error(other).find("need names of files in the same folder"), std::string::npos);
}

TEST_F(DamagedMindRecord, SaysThatFilesAreEncrypted) {
  write_bytes(files_.path("only_bytes"), whole_ + "AES-GCMENCRYPT");
  EXPECT_NE(error_of<NotSupportedError>([&] {
              (void)Reader::open(files_.path("only_bytes"));
            }).find("is encrypted"),
            std::string::npos);
}

TEST_F(DamagedMindRecord, MayNestDeeply) {
  const std::string deep = std::string(5000000, '[');
  std::string bytes(8, '\0');
  const uint64_t size = deep.size();
  std::memcpy(bytes.data(), &size, 8);
  EXPECT_NE(error(bytes + deep).find("header is no JSON"), std::string::npos);
}

/// Damaged bytes give rows or a typed error, never anything else.
void survive(const std::string& name, const std::string& damaged_name, int rounds, int wanted) {
  Files files({name});
  const std::string whole = read_bytes(files.path(damaged_name));
  std::vector<size_t> places;  // most bytes are the zeros between header and pages
  for (size_t i = 0; i < whole.size(); ++i)
    if (whole[i] != 0 || i % 4096 < 64) places.push_back(i);
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string bytes = whole;
    for (unsigned n = random() % 3 + 1; n > 0; --n) {
      const size_t at = places[random() % places.size()];
      if (random() % 8 == 0)
        bytes.resize(at + 1);
      else if (at < bytes.size())
        bytes[at] = static_cast<char>(
            random() % 2 == 0 ? random() : static_cast<uint8_t>(bytes[at]) ^ 1U << random() % 8);
    }
    write_bytes(files.path(damaged_name), bytes);
    try {
      const Reader reader = Reader::open(files.path(name));
      Record record;
      for (int64_t i = 0; i < reader.rows(); ++i) reader.read(i, all_fields(reader), record);
      for (const std::string& field : reader.index_fields()) (void)reader.categories(field);
      Writer writer = Writer::append(files.path(name));
    } catch (const IOError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, wanted);
}

TEST(MindRecordReader, DamagedBytesNeverCrash) {
  survive("every_type", "every_type", 1500, 700);
  survive("only_array", "only_array", 700, 200);
}

TEST(MindRecordReader, DamagedIndexesNeverCrash) { survive("every_type", "every_type.db", 1500, 300); }

TEST(MindRecordReader, TakesAViewForNoTable) {
  Files files({"every_type"});
  std::string bytes = read_bytes(files.path("every_type.db"));
  const size_t at = bytes.find("tableINDEXES");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 5, "view ");
  write_bytes(files.path("every_type.db"), bytes);
  EXPECT_THROW((void)Reader::open(files.path("every_type")), IOError);
}

}  // namespace
}  // namespace sorus::data::mindrecord
