#include "tests/data/text/helpers.h"

namespace sorus::data::text {
namespace {

using test::error_of;
using test::TemporaryFolder;

TEST(Vocab, NumbersWordsInOrder) {
  const VocabPtr vocab = Vocab::from_list({"a", "b"}, {{"<pad>"}, true});
  EXPECT_EQ(vocab->id("<pad>"), 0);
  EXPECT_EQ(vocab->id("b"), 2);
  EXPECT_EQ(vocab->id("c"), Vocab::kMissing);
  EXPECT_EQ(vocab->token(1), "a");
  EXPECT_EQ(vocab->token(7), "");
  EXPECT_EQ(Vocab::from_list({"a", "b"}, {{"<pad>"}, false})->id("<pad>"), 2);
  EXPECT_EQ(error_of<ValueError>([] {
              (void)Vocab::from_list({"a", "a"});
            }),
            "Vocab: a token comes twice: got 'a', need each token once");
  EXPECT_EQ(error_of<ValueError>([] {
              (void)Vocab::from_entries({{"a", -1}});
            }),
            "Vocab: number of token 'a' is out of range: got -1, need 0 or more");
}

TEST(Vocab, ReadsFiles) {
  TemporaryFolder folder;
  const std::string path = test::write(folder, "vocab", "one,1\ntwo,2\n\nthree");
  const VocabPtr vocab = Vocab::from_file(path, ",");
  EXPECT_EQ(vocab->entries(), (std::vector<Vocab::Entry>{{"one", 0}, {"two", 1}, {"", 2}, {"three", 3}}));
  EXPECT_EQ(Vocab::from_file(path, ",", 2, {{"<u>"}, false})->size(), 3U);
  const std::string twice = test::write(folder, "twice", "a\nb\na\n");
  EXPECT_EQ(error_of<ValueError>([&] { (void)Vocab::from_file(twice); }),
            "Vocab: a token comes twice: got 'a' in line 3 of file '" + twice + "', need each token once");
  EXPECT_THROW((void)Vocab::from_file(folder.path()), IOError);
  EXPECT_THROW((void)Vocab::from_file(folder.path() + "/none"), IOError);
  EXPECT_THROW((void)Vocab::from_file(path, "", 0), ValueError);
}

TEST(Vocab, CountsDatasets) {
  const Dataset rows = test::strings({"b", "a", "c", "b", "a", "a", "d"});
  const VocabPtr vocab = Vocab::from_dataset(rows, {.special = {{"<u>"}, true}});
  EXPECT_EQ(vocab->entries(),
            (std::vector<Vocab::Entry>{{"<u>", 0}, {"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}}));
  EXPECT_EQ(Vocab::from_dataset(rows, {.least = 2})->size(), 2U);
  EXPECT_EQ(Vocab::from_dataset(rows, {.top = 3})->id("d"), Vocab::kMissing);
  EXPECT_THROW((void)Vocab::from_dataset(rows, {.least = 3, .most = 2}), ValueError);
  EXPECT_THROW((void)Vocab::from_dataset(rows, {.columns = {"other"}}), KeyError);
  EXPECT_THROW((void)Vocab::from_dataset(data::test::numbers(3), {}), TypeError);
}

TEST(Vectors, SayWhatIsWrongWithAFile) {
  TemporaryFolder folder;
  auto error = [&](const std::string& content) {
    const std::string path = test::write(folder, "vectors", content);
    std::string text = error_of<IOError>([&] { (void)Vectors::from_file(VectorsFile::kPlain, path); });
    return text.replace(text.find(path), path.size(), "F");
  };
  EXPECT_EQ(error(""), "Vectors: file 'F' has no vectors: got 0 lines, need a token a line");
  EXPECT_EQ(error("a 1 2\nb 1\n"), "Vectors: line 2 of file 'F' has too few numbers: got 1, need 2 or more");
  EXPECT_EQ(error("a 1 2\nb 1 2 3\n"),
            "Vectors: line 2 of file 'F' has another length: got 3 numbers, need 2 as before");
  EXPECT_EQ(error("a 1 x\n"),
            "Vectors: line 1 of file 'F' is damaged: got 'x', need numbers after the token");
  EXPECT_EQ(error("a  1 2\n"),
            "Vectors: line 1 of file 'F' is damaged: got '', need numbers after the token");
  EXPECT_THROW((void)Vectors::from_file(VectorsFile::kPlain, folder.path()), IOError);
  const std::string path = test::write(folder, "vectors", "a 1 2\n");
  EXPECT_THROW((void)Vectors::from_file(VectorsFile::kGloVe, path), ValueError);
  EXPECT_THROW((void)Vectors::from_file(VectorsFile::kFastText, path), ValueError);
}

TEST(Vectors, RandomFilesAreReadOrRefused) {
  TemporaryFolder folder;
  std::mt19937 random(2);
  int read = 0;
  for (int i = 0; i < 600; ++i) {
    std::string content = "ab 1 2.5\ncd -1e3 4\n";
    for (int changes = static_cast<int>(random() % 3); changes > 0; --changes)
      content[random() % content.size()] = static_cast<char>(random() % 256);
    if (i % 4 == 0) content = test::random_bytes(random, 60);
    const std::string path = test::write(folder, "vectors", content);
    try {
      const auto vectors = Vectors::from_file(VectorsFile::kPlain, path);
      std::vector<float> values(static_cast<size_t>(vectors->dim()));
      read += vectors->find("ab", values) ? 1 : 0;
    } catch (const IOError&) {
    }
    try {
      (void)Vocab::from_file(path, " ");
    } catch (const ValueError&) {
    }
  }
  EXPECT_GT(read, 50);
}

TEST(Lookup, NumbersStringsOfAnyShape) {
  const VocabPtr vocab = Vocab::from_list({"a", "b", "c"});
  Dataset rows = from_columns({"text"}, {{make_strings(Shape{2}, {"a", "b", "c", "x"}, 2)}, 2});
  std::vector<int32_t> ids;
  for (const Row& row : rows.map({lookup(vocab, "a")}, {"text"}).iterate())
    for (int32_t id : row[0].to_vector<int32_t>()) ids.push_back(id);
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(error_of<ValueError>([&] { (void)lookup(vocab, "x"); }),
            "Lookup: unknown_token is not in the vocabulary: got 'x', need one of its 3 tokens");
}

TEST(Lookup, RowsBeforeAnErrorAreDelivered) {
  const VocabPtr vocab = Vocab::from_list({"a"});
  const Dataset rows = test::strings({"a", "a", "x", "a"}).map({lookup(vocab)}, {"text"});
  DatasetIterator iterator = rows.iterate();
  Row row;
  EXPECT_TRUE(iterator.next(row));
  EXPECT_TRUE(iterator.next(row));
  EXPECT_EQ(error_of<ValueError>([&] { iterator.next(row); }),
            "Lookup: a token is not in the vocabulary: got 'x', need one of its 1 tokens, or unknown_token");
}

TEST(ToNumber, ReadsNumbersAsCDoes) {
  auto number = [](const std::string& text, DType dtype) {
    std::exception_ptr error;
    auto made = to_number(dtype)->apply({make_strings(Shape{}, {text}, 1)}, {}, error);
    if (error) std::rethrow_exception(error);
    return made.at(0).tensor(0);
  };
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const auto bits = static_cast<int64_t>(random());
    EXPECT_EQ(number(" " + std::to_string(bits) + "x", DType::kInt64).item<int64_t>(), bits);
    const double value = std::ldexp(static_cast<double>(bits), static_cast<int>(random() % 900) - 450);
    EXPECT_EQ(number(fmt::format("{:.17g}", value), DType::kFloat64).item<double>(), value);
    EXPECT_EQ(number(fmt::format("{:a}", value), DType::kFloat64).item<double>(), value);
  }
  for (const char* text : {"", " ", "x", "--1", "+-1", "-"}) {
    EXPECT_THROW(number(text, DType::kInt32), ValueError) << text;
    EXPECT_THROW(number(text, DType::kFloat32), ValueError) << text;
  }
  EXPECT_THROW((void)to_number(DType::kBool), TypeError);
}

}  // namespace
}  // namespace sorus::data::text
