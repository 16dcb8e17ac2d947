#include "sorus/data/text/jieba.h"

#include <cmath>
#include <map>

#include "tests/data/text/helpers.h"

namespace sorus::data::text {
namespace {

using Strings = std::vector<std::string>;
using test::error_of;
using test::TemporaryFolder;
using test::tokens_of;

constexpr const char* kModel =
    "# start\n-0.3 -3.14e+100 -3.14e+100 -1.4\n# transitions\n-3.14e+100 -0.5 -0.9 -3.14e+100\n"
    "-0.6 -3.14e+100 -3.14e+100 -0.8\n-3.14e+100 -0.3 -1.3 -3.14e+100\n-0.7 -3.14e+100 -3.14e+100 -0.7\n"
    "# B\n甲:-1.0,乙:-3.0,丙:-2.0\n# E\n甲:-3.0,乙:-1.0,丙:-1.5\n# M\n甲:-2.0,乙:-2.5,丙:-4.0\n# "
    "S\n甲:-2.2,乙:-2.0,丙:-1.1\n";

struct Files {
  TemporaryFolder folder;
  std::string hmm = test::write(folder, "hmm", kModel);
  std::string words = test::write(folder, "words", "甲 50 x\n甲乙 20 x\n乙丙 30 x\n甲乙丙 2 x\n丙丙 1 x\n");
};

std::string joined(const Strings& words) {
  std::string out;
  for (const std::string& word : words) out += word + "/";
  return out;
}

/// All ways to write a text as words; the best sum by a table of weights.
void best_words(const std::string& text, const std::map<std::string, double>& weights, double unknown,
                const Strings& words, double sum, std::pair<double, Strings>& best) {
  if (text.empty()) {
    if (sum > best.first) best = {sum, words};
    return;
  }
  constexpr size_t kCharacter = 3;  // bytes of each of these characters
  for (size_t size = kCharacter; size <= text.size(); size += kCharacter) {
    const std::string word = text.substr(0, size);
    auto found = weights.find(word);
    if (found == weights.end() && size > kCharacter) continue;
    Strings more = words;
    more.push_back(word);
    best_words(text.substr(size), weights, unknown, more,
               sum + (found == weights.end() ? unknown : found->second), best);
  }
}

TEST(Jieba, FindsTheMostProbableWords) {
  Files files;
  std::map<std::string, double> weights;
  for (auto [word, count] :
       std::map<std::string, double>{{"甲", 50}, {"甲乙", 20}, {"乙丙", 30}, {"甲乙丙", 2}, {"丙丙", 1}})
    weights[word] = std::log(count / 103.0);
  const OperationPtr tokenizer =
      jieba_tokenizer({.hmm_path = files.hmm, .mp_path = files.words, .mode = JiebaMode::kMaxProbability});
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (size_t n = 1 + random() % 7; n > 0; --n) text += Strings{"甲", "乙", "丙"}[random() % 3];
    std::pair<double, Strings> best{-1e9, {}};
    best_words(text, weights, std::log(1 / 103.0), {}, 0, best);
    EXPECT_EQ(joined(tokens_of(tokenizer, text)), joined(best.second));
  }
}

TEST(Jieba, FindsTheLikeliestStates) {
  Files files;
  const double never = -3.14e100;
  const double start[] = {-0.3, never, never, -1.4};
  const double moves[4][4] = {{never, -0.5, -0.9, never},
                              {-0.6, never, never, -0.8},
                              {never, -0.3, -1.3, never},
                              {-0.7, never, never, -0.7}};
  const double emits[4][3] = {{-1.0, -3.0, -2.0}, {-3.0, -1.0, -1.5}, {-2.0, -2.5, -4.0}, {-2.2, -2.0, -1.1}};
  const OperationPtr tokenizer =
      jieba_tokenizer({.hmm_path = files.hmm, .mp_path = files.words, .mode = JiebaMode::kHmm});
  std::mt19937 random(6);
  for (int i = 0; i < 200; ++i) {
    std::vector<size_t> text(1 + random() % 6);
    for (size_t& c : text) c = random() % 3;
    double best = -1e200;
    std::string expected;
    for (size_t path = 0; path < size_t{1} << 2 * text.size(); ++path) {
      auto state = [&](size_t k) { return path >> 2 * k & 3; };
      double sum = start[state(0)] + emits[state(0)][text[0]];
      for (size_t k = 1; k < text.size(); ++k)
        sum += moves[state(k - 1)][state(k)] + emits[state(k)][text[k]];
      const size_t last = state(text.size() - 1);
      if ((last != 1 && last != 3) || sum <= best) continue;
      best = sum;
      expected.clear();
      for (size_t k = 0; k < text.size(); ++k) {
        expected += Strings{"甲", "乙", "丙"}[text[k]];
        if (state(k) == 1 || state(k) == 3) expected += "/";
      }
    }
    std::string all;
    for (size_t c : text) all += Strings{"甲", "乙", "丙"}[c];
    EXPECT_EQ(joined(tokens_of(tokenizer, all)), expected);
  }
}

TEST(Jieba, TakesWordsOfTheUser) {
  Files files;
  JiebaOptions options{.hmm_path = files.hmm, .mp_path = files.words, .words = {{"丁戊己", 0}}};
  EXPECT_EQ(tokens_of(jieba_tokenizer(options), "甲乙丁戊己ab1 2.5"),
            (Strings{"甲乙", "丁戊己", "ab1", " ", "2.5"}));
  options.words = {{"", 0}};
  EXPECT_THROW((void)jieba_tokenizer(options), ValueError);
}

TEST(Jieba, SaysWhatIsWrongWithFiles) {
  Files files;
  auto words_error = [&](const std::string& content) {
    const std::string path = test::write(files.folder, "bad", content);
    return error_of<IOError>([&] { (void)jieba_tokenizer({.hmm_path = files.hmm, .mp_path = path}); });
  };
  EXPECT_NE(words_error("甲\n").find("line 1 of file"), std::string::npos);
  EXPECT_NE(words_error("甲 1 x\n乙 0 x\n").find("line 2 of file"), std::string::npos);
  EXPECT_NE(words_error("甲 1e999 x\n").find("got '甲 1e999 x'"), std::string::npos);
  EXPECT_NE(words_error("\xFF 1 x\n").find("is damaged"), std::string::npos);
  EXPECT_NE(words_error("").find("has no words"), std::string::npos);
  EXPECT_THROW((void)jieba_tokenizer({.hmm_path = files.hmm, .mp_path = files.folder.path()}), IOError);
  EXPECT_THROW((void)jieba_tokenizer({.hmm_path = "none", .mp_path = files.words}), IOError);
}

TEST(Jieba, RandomFilesAreReadOrRefused) {
  Files files;
  std::mt19937 random(7);
  int read = 0;
  for (int i = 0; i < 400; ++i) {
    std::string model = kModel;
    std::string words = "甲 50 x\n甲乙 20 x\n";
    std::string& damaged = i % 2 == 0 ? model : words;
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    if (i % 5 == 0) damaged.resize(random() % damaged.size());
    const std::string hmm = test::write(files.folder, "hmm2", model);
    const std::string mp = test::write(files.folder, "words2", words);
    try {
      const OperationPtr tokenizer = jieba_tokenizer({.hmm_path = hmm, .mp_path = mp});
      std::string again;
      for (const std::string& word : tokens_of(tokenizer, "甲乙丙x1甲")) again += word;
      EXPECT_EQ(again, "甲乙丙x1甲");
      ++read;
    } catch (const IOError&) {
    }
  }
  EXPECT_GT(read, 20);
}

}  // namespace
}  // namespace sorus::data::text
