#include "sorus/data/text/sentence_piece.h"

#include <fstream>

#include "sorus/data/text/detail/lines.h"
#include "sorus/data/text/detail/plugin.h"
#include "sorus/data/text/detail/rows.h"
#include "sorus/data/text/utf8.h"

namespace sorus::data::text {
namespace {

constexpr const char* kOp = "SentencePieceVocab";

void check_training(const PieceTraining& training) {
  SORUS_CHECK(training.vocab_size > 0 && training.vocab_size <= INT32_MAX, ValueError,
              "{}: vocab_size is out of range: got {}, need 1 to 2^31 - 1", kOp, training.vocab_size);
  SORUS_CHECK(training.character_coverage >= 0.98 && training.character_coverage <= 1, ValueError,
              "{}: character_coverage is out of range: got {}, need 0.98 to 1", kOp,
              training.character_coverage);
}

class SentencePieceTokenizer final : public Operation {
 public:
  SentencePieceTokenizer(SentencePiecePtr vocab, bool ids) : vocab_(std::move(vocab)), ids_(ids) {
    SORUS_CHECK(vocab_ != nullptr, ValueError, "SentencePieceTokenizer: vocab is missing: need a model");
  }
  std::string name() const override { return "SentencePieceTokenizer"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr& error) const override {
    detail::check_columns(name(), columns, 1);
    detail::StringRows rows(name(), columns.front(), 0, 0);
    error = rows.error();
    return {ids_ ? numbers(rows, error) : strings(rows, error)};
  }

 private:
  template <class Item, class Encode>
  static std::pair<std::vector<Item>, std::vector<Shape>> encoded(const detail::StringRows& rows,
                                                                  std::exception_ptr& error,
                                                                  const Encode& encode) {
    std::vector<std::vector<Item>> made(static_cast<size_t>(rows.rows()));
    const int64_t done = detail::run_rows(rows.rows(), error, [&](int64_t row) {
      const std::string& text = rows.items(row)[0];
      check_utf8("SentencePieceTokenizer", text);
      made[static_cast<size_t>(row)] = encode(text);
    });
    std::pair<std::vector<Item>, std::vector<Shape>> out;
    for (int64_t row = 0; row < done; ++row) {
      auto& items = made[static_cast<size_t>(row)];
      out.second.push_back(Shape{std::ssize(items)});
      std::move(items.begin(), items.end(), std::back_inserter(out.first));
    }
    return out;
  }
  Column strings(const detail::StringRows& rows, std::exception_ptr& error) const {
    auto [items, shapes] =
        encoded<std::string>(rows, error, [this](const std::string& text) { return vocab_->pieces(text); });
    return detail::strings_of_rows(std::move(items), shapes);
  }
  Column numbers(const detail::StringRows& rows, std::exception_ptr& error) const {
    auto [items, shapes] =
        encoded<int32_t>(rows, error, [this](const std::string& text) { return vocab_->ids(text); });
    Ref<Storage> store = Storage::allocate(items.size() * sizeof(int32_t));
    std::copy(items.begin(), items.end(), reinterpret_cast<int32_t*>(store->data()));
    return detail::numbers_of_rows(DType::kInt32, std::move(store), shapes);
  }
  SentencePiecePtr vocab_;
  bool ids_;
};

}  // namespace

SentencePiecePtr SentencePieceVocab::from_files(const std::vector<std::string>& paths,
                                                const PieceTraining& training) {
  check_training(training);
  SORUS_CHECK(!paths.empty(), ValueError, "{}: files are missing: need one or more", kOp);
  for (const std::string& path : paths) detail::Lines(kOp, path);  // all can be opened
  size_t file = 0;
  auto lines = std::make_unique<detail::Lines>(kOp, paths.front());
  auto next = [&](std::string_view& sentence) {
    while (!lines->next()) {
      if (++file == paths.size()) return false;
      lines = std::make_unique<detail::Lines>(kOp, paths[file]);
    }
    sentence = lines->line();
    return true;
  };
  return from_bytes(detail::plugin().train_pieces(next, training));
}

SentencePiecePtr SentencePieceVocab::from_dataset(const Dataset& dataset,
                                                  const std::vector<std::string>& columns,
                                                  const PieceTraining& training) {
  check_training(training);
  const std::vector<std::string> names = dataset.names();
  std::vector<size_t> places;
  for (const std::string& column : columns) places.push_back(find_column(kOp, names, column));
  if (columns.empty())
    for (size_t i = 0; i < names.size(); ++i) places.push_back(i);
  std::vector<std::string> sentences;
  detail::for_each_row(dataset, [&](const Chunk& chunk, int64_t row) {
    for (size_t place : places) {
      const Column cell = chunk.columns[place].cell(row);
      SORUS_CHECK(cell.type.kind == ItemKind::kStrings, TypeError,
                  "{}: column '{}' is no text: got {}, need strings", kOp, names[place], cell.type.text());
      for (const std::string& item : cell.row_strings(0)) sentences.push_back(item);
    }
  });
  size_t at = 0;
  auto next = [&](std::string_view& sentence) {
    if (at == sentences.size()) return false;
    sentence = sentences[at++];
    return true;
  };
  return from_bytes(detail::plugin().train_pieces(next, training));
}

SentencePiecePtr SentencePieceVocab::load(const std::string& path) {
  detail::Lines check(kOp, path);
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return from_bytes(std::move(bytes));
  } catch (const Error& error) {
    raise<IOError>("{}: file '{}' is no model: got '{}', need one of SentencePiece", kOp, path, error.what());
  }
}

SentencePiecePtr SentencePieceVocab::from_bytes(std::string bytes) {
  return detail::plugin().load_pieces(std::move(bytes));
}

void SentencePieceVocab::save(const std::string& path) const {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes().data(), std::ssize(bytes()));
  file.close();
  SORUS_CHECK(!file.fail(), IOError,
              "{}: file '{}' cannot be written: need a folder that is there, and space", kOp, path);
}

OperationPtr sentence_piece_tokenizer(SentencePiecePtr vocab, bool ids) {
  return std::make_shared<SentencePieceTokenizer>(std::move(vocab), ids);
}

}  // namespace sorus::data::text
