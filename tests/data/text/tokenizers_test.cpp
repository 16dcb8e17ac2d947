#include "tests/data/text/helpers.h"

namespace sorus::data::text {
namespace {

using Strings = std::vector<std::string>;
using Places = std::vector<uint32_t>;
using test::error_of;
using test::offsets_of;
using test::tokens_of;

TEST(Tokenizers, TakeTextApart) {
  EXPECT_EQ(tokens_of(unicode_char_tokenizer(), "a床 "), (Strings{"a", "床", " "}));
  EXPECT_EQ(offsets_of(unicode_char_tokenizer(true), "a床 "), (Places{0, 1, 4, 1, 4, 5}));
  EXPECT_EQ(tokens_of(whitespace_tokenizer(), " a\u3000bc\t"), (Strings{"a", "bc"}));
  EXPECT_EQ(offsets_of(whitespace_tokenizer(true), " a\u3000bc\t"), (Places{1, 5, 2, 7}));
  EXPECT_EQ(tokens_of(whitespace_tokenizer(), " "), (Strings{""}));
  EXPECT_EQ(tokens_of(unicode_script_tokenizer(), "abc中 文"), (Strings{"abc", "中", "文"}));
  EXPECT_EQ(tokens_of(case_fold(), "Straße"), (Strings{"strasse"}));
  EXPECT_EQ(tokens_of(normalize_utf8(NormalForm::kNFC), "e\u0301"), (Strings{"é"}));
  EXPECT_EQ(tokens_of(regex_replace("(a)(b)", "$2$1"), "abab"), (Strings{"baba"}));
  EXPECT_EQ(offsets_of(regex_tokenizer(",", "", true), "😀,b"), (Places{0, 5, 4, 6}));
  EXPECT_EQ(tokens_of(filter_wikipedia_xml(), "A <b>x</b> 1&amp;2\n\nC"), (Strings{"a one two c"}));
}

TEST(Tokenizers, WordsOfBert) {
  BasicOptions lower{.lower_case = true};
  EXPECT_EQ(tokens_of(basic_tokenizer(lower), "[CLS]Héllo[SEP] [unused12]X!"),
            (Strings{"[CLS]", "hello", "[SEP]", "[unused12]", "x", "!"}));
  const VocabPtr vocab = Vocab::from_list({"un", "##aff", "##able", "[CLS]", "!"});
  EXPECT_EQ(tokens_of(bert_tokenizer(vocab, {}, lower), "[CLS] Unaffable!"),
            (Strings{"[CLS]", "un", "##aff", "##able", "!"}));
  // One place for each token, also where a word's first pieces are known and the rest is not.
  EXPECT_EQ(tokens_of(bert_tokenizer(vocab), "unx !"), (Strings{"[UNK]", "!"}));
  EXPECT_EQ(offsets_of(bert_tokenizer(vocab, {}, {}, true), "unx !"), (Places{0, 4, 3, 5}));
  EXPECT_EQ(tokens_of(wordpiece_tokenizer(vocab, {.unknown = ""}), "unx"), (Strings{"unx"}));
}

TEST(Tokenizers, SayWhatIsWrong) {
  EXPECT_EQ(error_of<ValueError>([] { (void)regex_replace("(", ""); }),
            "RegexReplace: pattern is no regular expression of ICU: got '(' (U_REGEX_MISMATCHED_PAREN at "
            "character 1), "
            "need one");
  EXPECT_EQ(error_of<ValueError>([] { (void)tokens_of(case_fold(), "a\xFF"); }),
            "CaseFold: text is not UTF-8: got byte 0xff at 1 of 2, need whole characters");
  const Dataset numbers = data::test::numbers(2);
  EXPECT_EQ(error_of<DTypeError>([&] { (void)numbers.map({whitespace_tokenizer()}, {"x"}).types(); }),
            "WhitespaceTokenizer: rows have the wrong type: got int64(), need strings");
  const Dataset lists = from_columns({"text"}, {{make_strings(Shape{1}, {"a"}, 1)}, 1});
  EXPECT_EQ(error_of<ShapeError>([&] { (void)lists.map({whitespace_tokenizer()}, {"text"}).types(); }),
            "WhitespaceTokenizer: rows have the wrong shape: got string(1,), need one string");
}

TEST(Tokenizers, GiveSeveralColumnsInPipelines) {
  const Dataset rows = test::strings({"a bc", "d", "e f g"})
                           .map({whitespace_tokenizer(true)}, {"text"}, {"token", "begin", "end"});
  EXPECT_EQ(rows.names(), (Strings{"token", "begin", "end"}));
  Strings seen;
  Places ends;
  DatasetIterator iterator = rows.iterate();
  using Event = DatasetIterator::Event;
  for (Event event; (event = iterator.poll(std::chrono::seconds(10))) == Event::kRow;) {
    const Chunk& chunk = iterator.current();
    for (const std::string& token : chunk.columns[0].cell(iterator.row()).row_strings(0))
      seen.push_back(token);
    for (uint32_t end : chunk.columns[2].tensor(iterator.row()).to_vector<uint32_t>()) ends.push_back(end);
  }
  EXPECT_EQ(seen, (Strings{"a", "bc", "d", "e", "f", "g"}));
  EXPECT_EQ(ends, (Places{1, 4, 1, 1, 3, 5}));
}

TEST(Tokenizers, ManyRowsKeepTheirOrder) {
  Strings texts;
  for (int i = 0; i < 5000; ++i)
    texts.push_back(i % 3 == 0 ? fmt::format("w{} x", i) : fmt::format("w{}", i));
  const Dataset rows = test::strings(texts).map({whitespace_tokenizer()}, {"text"});
  DatasetIterator iterator = rows.iterate();
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(iterator.poll(std::chrono::seconds(10)), DatasetIterator::Event::kRow);
    const Column row = iterator.current().columns[0].cell(iterator.row());
    ASSERT_EQ(row.row_strings(0)[0], fmt::format("w{}", i));
    ASSERT_EQ(row.type.items(), i % 3 == 0 ? 2 : 1);
  }
}

/// Each token lies where its places say, and places go up.
void check_places(const OperationPtr& operation, const std::string& text) {
  const Strings tokens = tokens_of(operation, text);
  const Places places = offsets_of(operation, text);
  ASSERT_EQ(places.size(), 2 * tokens.size());
  uint32_t before = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const uint32_t begin = places[i];
    const uint32_t end = places[tokens.size() + i];
    ASSERT_LE(before, begin);
    ASSERT_EQ(text.substr(begin, end - begin), tokens[i]);
    before = end;
  }
}

TEST(Tokenizers, RandomBytesAreTakenApartOrRefused) {
  const VocabPtr vocab = Vocab::from_list({"a", "##b", "床", "[", "]", "1"});
  const std::vector<OperationPtr> exact = {unicode_char_tokenizer(true), whitespace_tokenizer(true),
                                           unicode_script_tokenizer(true, true),
                                           regex_tokenizer("[b-z]+", "c+", true)};
  const std::vector<OperationPtr> others = {basic_tokenizer({.lower_case = true}),
                                            bert_tokenizer(vocab),
                                            wordpiece_tokenizer(vocab),
                                            case_fold(),
                                            normalize_utf8(),
                                            filter_wikipedia_xml(),
                                            regex_replace("[ab]+", "$0$0")};
  std::mt19937 random(4);
  int good = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = test::random_bytes(random, 12);
    bool valid = true;
    try {
      (void)tokens_of(exact[0], text);
    } catch (const ValueError&) {
      valid = false;
    }
    good += valid ? 1 : 0;
    for (const OperationPtr& operation : exact)
      if (valid) check_places(operation, text);
    for (const auto* list : {&exact, &others})
      for (const OperationPtr& operation : *list) {
        if (valid) {
          EXPECT_FALSE(tokens_of(operation, text).empty());
        } else {
          EXPECT_THROW((void)tokens_of(operation, text), ValueError) << operation->name();
        }
      }
  }
  EXPECT_GT(good, 300);
}

TEST(Sequences, AreCutAndJoined) {
  std::exception_ptr error;
  auto run = [&](const OperationPtr& operation, std::vector<Column> columns) {
    auto made = operation->apply(std::move(columns), {}, error);
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
    return made;
  };
  auto list = [](Strings items) {
    const auto count = static_cast<int64_t>(items.size());
    return make_strings(Shape{count}, std::move(items), 1);
  };
  auto items = [](const Column& column) {
    auto row = column.cell(0).row_strings(0);
    return Strings(row.begin(), row.end());
  };
  const auto pair = run(truncate_pair(3), {list({"1", "2", "3"}), list({"4", "5"})});
  EXPECT_EQ(items(pair[0]), (Strings{"1", "2"}));
  EXPECT_EQ(items(pair[1]), (Strings{"4"}));
  EXPECT_EQ(items(run(ngram({2}, {"L", 5}, {}, "-"), {list({"a", "b"})})[0]), (Strings{"L-a", "a-b"}));
  EXPECT_EQ(items(run(add_token("T", false), {list({"a"})})[0]), (Strings{"a", "T"}));
  EXPECT_EQ(run(sliding_window(2), {list({"a", "b", "c"})})[0].type.shape, (Shape{2, 2}));
  EXPECT_THROW(run(truncate_pair(3), {list({"a"})}), ValueError);
  EXPECT_THROW(run(add_token("T"), {make_strings(Shape{}, {"a"}, 1)}), ShapeError);
}

}  // namespace
}  // namespace sorus::data::text
