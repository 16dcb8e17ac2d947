#include "sorus/data/sources/file_sources.h"

#include <fmt/format.h>
#include <zlib.h>

#include <random>

#include "sorus/formats/record_file.h"
#include "sorus/formats/wire.h"
#include "tests/data/helpers.h"

/// Sources that read rows from files. Orders, and what a file means, were recorded from the genuine
/// MindSpore; tests/python/test_file_sources.py compares them.
namespace sorus::data {
namespace {

using test::error_of;
using test::TemporaryFolder;

void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class... T>
std::string numbers_of(const Tensor& tensor) {
  std::string out;
  auto add = [&]<class U>(U) {
    if (tensor.dtype() == dtype_of<U>) out = fmt::format("{}", fmt::join(tensor.to_vector<U>(), ","));
  };
  (add(T{}), ...);
  return out;
}

/// All rows as text: strings as they are, numbers behind their types, columns apart by a bar.
std::vector<std::string> rows_of(const Dataset& dataset, uint32_t seed = 0) {
  std::vector<std::string> out;
  DatasetIterator iterator = dataset.iterate({.epochs = 1, .seed = seed});
  while (iterator.poll(std::chrono::hours(1)) == DatasetIterator::Event::kRow) {
    std::vector<std::string> row;
    for (const Column& column : iterator.current().columns) {
      Column cell = column.cell(iterator.row());
      if (cell.type.is_text())
        row.push_back(fmt::format("{}", fmt::join(cell.row_strings(0), "")));
      else
        row.push_back(cell.type.text() +
                      numbers_of<uint8_t, int8_t, int32_t, uint32_t, int64_t, float, double>(cell.tensor(0)));
    }
    out.push_back(fmt::format("{}", fmt::join(row, "|")));
  }
  return out;
}

FileOptions in_order() { return {.shuffle = RowShuffle::kNothing}; }

/// A folder with files a, b and c of 5, 3 and 4 lines.
class FileSources : public testing::Test {
 protected:
  FileSources() {
    for (auto [name, rows] : {std::pair("a", 5), std::pair("b", 3), std::pair("c", 4)}) {
      std::string text;
      for (int i = 0; i < rows; ++i) text += name + std::to_string(i) + "\n";
      write_text(path(name), text);
    }
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] std::vector<std::string> files() const { return {path("c"), path("a"), path("b")}; }

  TemporaryFolder folder_;
};

using Lines = std::vector<std::string>;

TEST_F(FileSources, LinesComeInOrderOfFiles) {
  Dataset lines = text_files(files(), in_order());
  EXPECT_EQ(rows_of(lines), (Lines{"a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2", "c0", "c1", "c2", "c3"}));
  EXPECT_EQ(lines.size(), 12);
  EXPECT_EQ(lines.names(), Lines{"text"});
}

TEST_F(FileSources, LanesGiveRowsInTurn) {
  FileOptions two = in_order();
  two.lanes = 2;
  EXPECT_EQ(rows_of(text_files(files(), two)),
            (Lines{"a0", "b0", "a1", "b1", "a2", "b2", "a3", "a4", "c0", "c1", "c2", "c3"}));
}

TEST_F(FileSources, ShardsAreEquallyLong) {
  FileOptions shard = in_order();
  shard.num_shards = 5;
  Lines all;
  for (int64_t i = 0; i < 5; ++i) {
    shard.shard_id = i;
    Dataset rows = text_files(files(), shard);
    EXPECT_EQ(rows.size(), 3);
    Lines own = rows_of(rows);
    all.insert(all.end(), own.begin(), own.end());
  }
  EXPECT_EQ(
      all, (Lines{"a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2", "c0", "c1", "c2", "c3", "a0", "a1", "a2"}));
}

TEST_F(FileSources, SamplesAreCutOffBeforeTheyAreShuffled) {
  FileOptions options;
  options.num_samples = 4;
  options.shuffle = RowShuffle::kRows;
  Lines rows = rows_of(text_files({path("a")}, options), 3);
  EXPECT_NE(rows, (Lines{"a0", "a1", "a2", "a3"}));
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (Lines{"a0", "a1", "a2", "a3"}));
}

TEST_F(FileSources, ALineMayBeLongerThanABuffer) {
  std::string longest(200000, 'x');
  write_text(path("long"), "first\n" + longest + "\nlast");
  EXPECT_EQ(rows_of(text_files({path("long")}, in_order())), (Lines{"first", longest, "last"}));
}

TEST_F(FileSources, OptionsAndFilesAreChecked) {
  EXPECT_THROW((void)text_files({}), ValueError);
  EXPECT_THROW((void)text_files(files(), {.num_samples = -1}), ValueError);
  EXPECT_THROW((void)text_files(files(), {.num_shards = 2}), ValueError);
  EXPECT_THROW((void)text_files(files(), {.num_shards = 2, .shard_id = 2}), ValueError);
  EXPECT_THROW((void)text_files(files(), {.lanes = 0}), ValueError);
  EXPECT_NE(error_of<IOError>([&] { (void)rows_of(text_files({path("none")}, in_order())); }).find("none"),
            std::string::npos);
  write_text(path("empty"), "\n\n");
  EXPECT_NE(
      error_of<IOError>([&] { (void)rows_of(text_files({path("empty")}, in_order())); }).find("no rows"),
      std::string::npos);
}

TEST_F(FileSources, CsvHasQuotesAndAllLineEnds) {
  write_text(path("csv"), "x,y\r\n\"a,b\",\"c \"\"q\"\"\"\r\n\r\"d\ne\",f\r\"\",g");
  EXPECT_EQ(rows_of(csv_files({path("csv")}, {}, in_order())), (Lines{"a,b|c \"q\"", "d\ne|f", "|g"}));
}

TEST_F(FileSources, CsvColumnsHaveTheTypesOfTheirDefaults) {
  write_text(path("csv"), "1, 2.5 ,x\n,,\n");
  CsvOptions csv{',', {int32_t{7}, 0.25F}, {"i", "f", "s"}};
  EXPECT_EQ(rows_of(csv_files({path("csv")}, csv, in_order())),
            (Lines{"int32()1|float32()2.5|x", "int32()7|float32()0.25|"}));
}

TEST_F(FileSources, CsvErrorsNameFileAndLine) {
  auto error = [&](const char* text) {
    write_text(path("csv"), text);
    return error_of<IOError>([&] {
      (void)rows_of(csv_files({path("csv")}, {',', {int32_t{0}}, {"i", "s"}}, in_order()));
    });
  };
  for (auto [text, found] : {std::pair("1,a\n2\n", "at line 2: got 1 fields"),
                             std::pair("1,a\n\nx,b\n", "column 'i' at line 3: got 'x'"),
                             std::pair("1,\"a\nb\nc", "at line 1: got a quote that is never closed"),
                             std::pair("1,\"a\nb\"c\n", "at line 1: got characters behind"),
                             std::pair("1,a\"b\n", "got a quote within"),
                             std::pair("3000000000,a\n", "number that int32 holds")}) {
    std::string got = error(text);
    EXPECT_NE(got.find(found), std::string::npos) << got;
    EXPECT_NE(got.find(path("csv")), std::string::npos) << got;
  }
}

TEST_F(FileSources, RowsBeforeAWrongOneAreDelivered) {
  write_text(path("csv"), "1\n2\nx\n");
  auto iterator =
      csv_files({path("csv")}, {',', {int32_t{0}}, {"i"}}, in_order()).iterate({.epochs = 1, .seed = 0});
  EXPECT_EQ(iterator.poll(std::chrono::hours(1)), DatasetIterator::Event::kRow);
  EXPECT_EQ(iterator.poll(std::chrono::hours(1)), DatasetIterator::Event::kRow);
  EXPECT_THROW((void)iterator.poll(std::chrono::hours(1)), IOError);
}

/// A tf.Example with a feature of each kind.
std::string example(int64_t number, const std::string& text) {
  using namespace formats;
  auto entry = [](const std::string& name, uint32_t kind, const std::string& values) {
    std::string list;
    put_bytes(list, kind, values);
    std::string out;
    put_bytes(out, 1, name);
    put_bytes(out, 2, list);
    return out;
  };
  std::string integers;
  std::string packed;
  for (int i = 0; i < 3; ++i) put_varint(packed, static_cast<uint64_t>(number + i));
  put_bytes(integers, 1, packed);
  std::string floats;
  put_float(floats, 1, 0.5F);
  std::string bytes;
  put_bytes(bytes, 1, text);
  std::string features;
  put_bytes(features, 1, entry("z", 3, integers));
  put_bytes(features, 1, entry("f", 2, floats));
  put_bytes(features, 1, entry("b", 1, bytes));
  std::string out;
  put_bytes(out, 1, features);
  return out;
}

class TfRecords : public FileSources {
 protected:
  TfRecords() {
    formats::RecordWriter writer(path("tf"));
    for (int i = 0; i < 4; ++i) writer.append(example(10 * i, "ab"));
  }
};

TEST_F(TfRecords, FeaturesAreColumns) {
  Dataset rows = tfrecord_files({path("tf")}, {}, in_order());
  EXPECT_EQ(rows.names(), (Lines{"b", "f", "z"}));
  EXPECT_EQ(rows_of(rows).at(1), "uint8(2,)97,98|float32(1,)0.5|int64(3,)10,11,12");
  EXPECT_EQ(rows.size(), 4);
}

TEST_F(TfRecords, ASchemaGivesTypesAndShapes) {
  RecordSchema schema;
  schema.read(R"({"numRows": 2, "columns": {"z": {"type": "int8", "shape": [3, -1]}, "f": {"type": "float64"},
              "b": {"type": "string"}}})");
  Dataset rows = tfrecord_files({path("tf")}, {.schema = schema}, in_order());
  EXPECT_EQ(rows_of(rows), (Lines{"ab|float64()0.5|int8(3, 1)0,1,2", "ab|float64()0.5|int8(3, 1)10,11,12"}));
}

TEST_F(TfRecords, ValuesThatDoNotFitAreErrors) {
  auto error = [&](const char* type, std::optional<std::vector<int64_t>> shape) {
    RecordSchema schema;
    schema.add_column("z", type, std::move(shape));
    return error_of<IOError>(
        [&] { (void)rows_of(tfrecord_files({path("tf")}, {.schema = schema}, in_order())); });
  };
  EXPECT_NE(error("int64", {{2}}).find("column 'z' of the record at byte 0: got 3 values"),
            std::string::npos);
  EXPECT_NE(error("float32", {}).find("got integers, need floats"), std::string::npos);
  EXPECT_NE(error("string", {}).find("got integers, need bytes"), std::string::npos);
}

std::string packed(const std::string& bytes, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST_F(TfRecords, CompressedFilesGiveTheSameRows) {
  Lines plain = rows_of(tfrecord_files({path("tf")}, {}, in_order()));
  std::string bytes = read_text(path("tf"));
  write_text(path("gz"), packed(bytes, 15 + 16) + packed(bytes, 15 + 16));  // two members, as gzip allows
  write_text(path("zlib"), packed(bytes, 15));
  Lines twice = plain;
  twice.insert(twice.end(), plain.begin(), plain.end());
  EXPECT_EQ(rows_of(tfrecord_files({path("gz")}, {.compression = RecordCompression::kGzip}, in_order())),
            twice);
  EXPECT_EQ(rows_of(tfrecord_files({path("zlib")}, {.compression = RecordCompression::kZlib}, in_order())),
            plain);
  EXPECT_THROW((void)tfrecord_files({path("tf")}, {.compression = RecordCompression::kGzip}), IOError);
}

/// Cuts and flips the file's bytes; `read` must give rows or a typed error each time.
template <class F>
void damage(const std::string& path, F&& read) {
  const std::string whole = read_text(path);
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    std::string bytes = whole;
    if (i % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
    for (uint32_t flips = i % 4 == 0 ? 0 : 1 + random() % 3; flips > 0; --flips)
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    write_text(path, bytes);
    try {
      read();
    } catch (const Error&) {
    }
  }
  write_text(path, whole);
}

TEST_F(TfRecords, DamagedFilesNeverCrash) {
  int64_t wrong = 0;
  const Lines good = rows_of(tfrecord_files({path("tf")}, {}, in_order()));
  damage(path("tf"), [&] {
    for (const std::string& row : rows_of(tfrecord_files({path("tf")}, {}, in_order())))
      wrong += std::count(good.begin(), good.end(), row) == 0;
  });
  EXPECT_EQ(wrong, 0);  // checksums see to it
  write_text(path("zlib"), packed(read_text(path("tf")), 15));
  damage(path("zlib"), [&] {
    (void)rows_of(tfrecord_files({path("zlib")}, {.compression = RecordCompression::kZlib}, in_order()));
  });
}

TEST_F(TfRecords, DamagedMessagesNeverCrash) {
  const std::string whole = example(5, "text");
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) {
    std::string bytes = whole;
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    for (uint32_t flips = random() % 4; flips > 0 && !bytes.empty(); --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    formats::RecordWriter(path("fuzz")).append(bytes);
    try {
      (void)rows_of(tfrecord_files({path("fuzz")}, {}, in_order()));
    } catch (const Error&) {
    }
  }
}

TEST_F(FileSources, DamagedTextsNeverCrash) {
  write_text(path("csv"), "i,f,s\n1,2.5,\"a \"\"b\"\"\"\n-3,1e3,\n4,.5,\"x\ny\"\n");
  damage(path("csv"), [&] {
    (void)rows_of(csv_files({path("csv")}, {',', {int32_t{0}, 0.5F}, {}}, in_order()));
  });
  write_text(path("clue"), R"({"id": 1, "abst": "A", "keyword": ["k1", "k2"], "label": "0"})"
                           "\n"
                           R"({"id": 2, "abst": "B", "keyword": ["k"], "label": "1"})");
  EXPECT_EQ(rows_of(clue_files({path("clue")}, "CSL", "train", in_order())).at(0), "A|uint32()1|k1k2|0");
  damage(path("clue"), [&] { (void)rows_of(clue_files({path("clue")}, "CSL", "train", in_order())); });
}

TEST(RecordSchemas, JsonGoesRound) {
  RecordSchema schema;
  schema.add_column("a", "float16", {{2, -1}});
  schema.add_column("b", "string", {});
  RecordSchema again;
  EXPECT_THROW(again.read("{"), ValueError);
  EXPECT_THROW(again.read(R"({"columns": {}, "foo": 1})"), ValueError);
  EXPECT_THROW(again.read(R"({"datasetType": "TF"})"), ValueError);
  EXPECT_THROW(again.add_columns(R"([{"type": "int8"}])"), ValueError);
  EXPECT_THROW(again.add_columns(R"({"x": {"type": "int7"}})"), TypeError);
  EXPECT_THROW(again.add_column("x", "int8", {{-2}}), ValueError);
  again.read(schema.to_json());
  EXPECT_EQ(again.columns.at(0).shape, (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(again.columns.at(1).kind, ItemKind::kStrings);
}

}  // namespace
}  // namespace sorus::data
