#pragma once

#include "sorus/data/text/vectors.h"
#include "sorus/data/text/vocab.h"
#include "sorus/data/transform.h"

/// Operations of map() on strings.
///
/// A tokenizer takes one string a row and gives its tokens, one empty token where there are none. With
/// `offsets` it gives three columns: tokens, and where each begins and ends in the text, uint32, in bytes.
namespace sorus::data::text {

/// Each string to its number, as `dtype`. Strings that the vocabulary lacks get the number of `unknown`, or
/// are an error. Throws ValueError when the vocabulary lacks `unknown`.
[[nodiscard]] SORUS_API OperationPtr lookup(VocabPtr vocab, const std::optional<std::string>& unknown = {},
                                            DType dtype = DType::kInt32);
/// Each string to the number that it begins with, behind white space, as C reads numbers.
[[nodiscard]] SORUS_API OperationPtr to_number(DType dtype);
/// Each string to its vector: float32, (dim) for one string, else (strings, dim). What the table lacks
/// becomes `unknown`, or zeros.
[[nodiscard]] SORUS_API OperationPtr to_vectors(std::shared_ptr<const Vectors> vectors,
                                                std::vector<float> unknown = {},
                                                bool lower_case_backup = false);

/// A token more at the beginning or end of the last axis; rank 1 or 2.
[[nodiscard]] SORUS_API OperationPtr add_token(std::string token, bool begin = true);
/// At most so many of the last axis; strings or numbers of rank 1 or 2.
[[nodiscard]] SORUS_API OperationPtr truncate(int64_t most);
/// Two columns of rank 1, the longer one of which is cut off, one by one, until both together have so many.
[[nodiscard]] SORUS_API OperationPtr truncate_pair(int64_t most);
struct NgramPad {
  std::string token = {};
  int64_t width = 0;  ///< at most n - 1 are added
};
/// For each of `sizes` all so many neighbours, joined; one empty string where there are too few.
[[nodiscard]] SORUS_API OperationPtr ngram(std::vector<int64_t> sizes, NgramPad left = {},
                                           NgramPad right = {}, std::string separator = " ");
/// All windows of a row of rank 1, (windows, width); none, (0), when it is shorter.
[[nodiscard]] SORUS_API OperationPtr sliding_window(int64_t width, int64_t axis = 0);

/// Each character a token.
[[nodiscard]] SORUS_API OperationPtr unicode_char_tokenizer(bool offsets = false);
/// What stands between white space.
[[nodiscard]] SORUS_API OperationPtr whitespace_tokenizer(bool offsets = false);
struct WordpieceOptions {
  std::string suffix_indicator = "##";
  int64_t max_bytes = 100;        ///< longer words are unknown as a whole
  std::string unknown = "[UNK]";  ///< empty: unknown words stay as they are
};
/// Words, one or a row of them, to the longest pieces that the vocabulary has, from the left.
[[nodiscard]] SORUS_API OperationPtr wordpiece_tokenizer(VocabPtr vocab, const WordpieceOptions& options = {},
                                                         bool offsets = false);
/// The text of a dump of Wikipedia as lower-case letters a to z and single spaces: markup in angle brackets
/// and entities go, digits are spelt out, anything else is a space.
[[nodiscard]] SORUS_API OperationPtr filter_wikipedia_xml();

enum class NormalForm : uint8_t { kNone, kNFC, kNFKC, kNFD, kNFKD };
/// Without differences of case, as Unicode's NFKC_Casefold: also without those of width and the like.
[[nodiscard]] SORUS_API OperationPtr case_fold();
[[nodiscard]] SORUS_API OperationPtr normalize_utf8(NormalForm form = NormalForm::kNFKC);
/// Matches of a pattern as ICU has them replaced: all, or the first of each string. `$1` is a group.
[[nodiscard]] SORUS_API OperationPtr regex_replace(const std::string& pattern, const std::string& replacement,
                                                   bool all = true);
/// What stands between matches of `delimiter`, and those matches that `kept` matches as a whole.
[[nodiscard]] SORUS_API OperationPtr regex_tokenizer(const std::string& delimiter,
                                                     const std::string& kept = "", bool offsets = false);
/// Runs of one script, and of white space if that is kept.
[[nodiscard]] SORUS_API OperationPtr unicode_script_tokenizer(bool keep_whitespace = false,
                                                              bool offsets = false);
struct BasicOptions {
  bool lower_case = false;  ///< folds case and takes accents off, whatever `form` says
  bool keep_whitespace = false;
  NormalForm form = NormalForm::kNone;
  bool preserve_unused = true;  ///< [CLS], [SEP], [UNK], [PAD], [MASK] and [unused7] stay whole
};
/// Words, punctuation and Chinese characters, as BERT has them. Offsets count in the normalized text.
[[nodiscard]] SORUS_API OperationPtr basic_tokenizer(const BasicOptions& options = {}, bool offsets = false);
/// The pieces of the tokens of basic_tokenizer.
[[nodiscard]] SORUS_API OperationPtr bert_tokenizer(VocabPtr vocab, const WordpieceOptions& pieces = {},
                                                    const BasicOptions& words = {}, bool offsets = false);

}  // namespace sorus::data::text
