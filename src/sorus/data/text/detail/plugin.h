#pragma once

#include "sorus/data/text/sentence_piece.h"
#include "sorus/data/text/text.h"

/// What needs ICU and SentencePiece lies in a library of its own, libsorus_text.so beside libsorus.so, which
/// is loaded at the first use: programs without it neither load nor need them.
namespace sorus::data::text::detail {

/// Gives sentences one by one; false at the end. Views hold until the next call.
using NextSentence = std::function<bool(std::string_view&)>;

/// The functions of that library, by their names in text.h.
struct Plugin {
  const char* version;  ///< of the library that it was built with
  OperationPtr (*case_fold)();
  OperationPtr (*normalize_utf8)(NormalForm);
  OperationPtr (*regex_replace)(const std::string&, const std::string&, bool);
  OperationPtr (*regex_tokenizer)(const std::string&, const std::string&, bool);
  OperationPtr (*unicode_script_tokenizer)(bool, bool);
  OperationPtr (*basic_tokenizer)(const BasicOptions&, bool);
  OperationPtr (*bert_tokenizer)(VocabPtr, const WordpieceOptions&, const BasicOptions&, bool);
  SentencePiecePtr (*load_pieces)(std::string bytes);
  /// The trained model's bytes.
  std::string (*train_pieces)(const NextSentence&, const PieceTraining&);
};

/// The library's one symbol.
using PluginEntry = const Plugin* (*)();
inline constexpr const char* kPluginSymbol = "sorus_text_plugin";

/// Loads it at the first call. Throws IOError with what the loader says.
[[nodiscard]] const Plugin& plugin();

}  // namespace sorus::data::text::detail
