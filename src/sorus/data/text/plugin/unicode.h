#pragma once

#include <unicode/normalizer2.h>

#include <string>
#include <string_view>

#include "sorus/data/text/detail/rows.h"

/// Text by ICU, inside libsorus_text.so.
namespace sorus::data::text::plugin {

/// Throws RuntimeError naming `op` when ICU failed.
void check_icu(std::string_view op, UErrorCode status);
/// Null for NormalForm::kNone.
[[nodiscard]] const icu::Normalizer2* normalizer_of(std::string_view op, NormalForm form);
[[nodiscard]] const icu::Normalizer2* case_folding(std::string_view op);
/// Text in a form; as it is for null. Throws ValueError naming `op` for what is no UTF-8.
[[nodiscard]] std::string normalized(std::string_view op, const icu::Normalizer2* form,
                                     std::string_view text);

[[nodiscard]] OperationPtr case_fold();
[[nodiscard]] OperationPtr normalize_utf8(NormalForm form);
[[nodiscard]] OperationPtr regex_replace(const std::string& pattern, const std::string& replacement,
                                         bool all);
[[nodiscard]] OperationPtr regex_tokenizer(const std::string& delimiter, const std::string& kept,
                                           bool offsets);
[[nodiscard]] OperationPtr unicode_script_tokenizer(bool keep_whitespace, bool offsets);
[[nodiscard]] OperationPtr basic_tokenizer(const BasicOptions& options, bool offsets);
[[nodiscard]] OperationPtr bert_tokenizer(VocabPtr vocab, const WordpieceOptions& pieces,
                                          const BasicOptions& words, bool offsets);

}  // namespace sorus::data::text::plugin
