#include "sorus/data/text/sentence_piece.h"

#include "tests/data/text/helpers.h"

namespace sorus::data::text {
namespace {

using Strings = std::vector<std::string>;
using test::error_of;
using test::TemporaryFolder;
using test::tokens_of;

const std::string kFixtures = std::string(SORUS_SOURCE_DIR) + "/tests/fixtures/text/";

TEST(SentencePiece, TrainsSavesAndLoads) {
  TemporaryFolder folder;
  const SentencePiecePtr trained = SentencePieceVocab::from_files(
      {kFixtures + "corpus.txt"},
      {.vocab_size = 80, .character_coverage = 1, .algorithm = PieceAlgorithm::kBpe});
  EXPECT_EQ(trained->size(), 80);
  const std::string path = folder.path() + "/bpe.model";
  trained->save(path);
  const SentencePiecePtr loaded = SentencePieceVocab::load(path);
  EXPECT_EQ(loaded->bytes(), trained->bytes());
  const Strings pieces = tokens_of(sentence_piece_tokenizer(loaded), "the quick fox");
  EXPECT_EQ(pieces, trained->pieces("the quick fox"));
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  EXPECT_EQ(text, "▁the▁quick▁fox");
  EXPECT_EQ(loaded->ids("the quick fox").size(), pieces.size());
  EXPECT_THROW(trained->save(folder.path() + "/none/bpe.model"), IOError);
}

TEST(SentencePiece, TrainsOnDatasets) {
  Strings lines;
  std::ifstream file(kFixtures + "corpus.txt");
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  const PieceTraining training{.vocab_size = 80, .character_coverage = 1, .algorithm = PieceAlgorithm::kBpe};
  const auto of_rows = SentencePieceVocab::from_dataset(test::strings(lines), {"text"}, training);
  EXPECT_EQ(of_rows->bytes(), SentencePieceVocab::from_files({kFixtures + "corpus.txt"}, training)->bytes());
  EXPECT_THROW((void)SentencePieceVocab::from_dataset(data::test::numbers(3), {}, training), TypeError);
}

TEST(SentencePiece, SaysWhatIsWrong) {
  const std::string corpus = kFixtures + "corpus.txt";
  EXPECT_THROW((void)SentencePieceVocab::from_files({corpus}, {.vocab_size = 1000000}), RuntimeError);
  EXPECT_THROW((void)SentencePieceVocab::from_files({corpus}, {.vocab_size = 80, .more = {{"no_such", "1"}}}),
               RuntimeError);
  EXPECT_THROW((void)SentencePieceVocab::from_files({corpus}, {.vocab_size = 0}), ValueError);
  EXPECT_THROW((void)SentencePieceVocab::from_files({"none"}, {}), IOError);
  EXPECT_THROW((void)SentencePieceVocab::from_files({}, {}), ValueError);
  EXPECT_THROW((void)SentencePieceVocab::load(corpus), IOError);
  EXPECT_THROW((void)SentencePieceVocab::load("none"), IOError);
  const auto model = SentencePieceVocab::load(kFixtures + "unigram.model");
  EXPECT_THROW((void)tokens_of(sentence_piece_tokenizer(model), "a\xFF"), ValueError);
}

}  // namespace
}  // namespace sorus::data::text
