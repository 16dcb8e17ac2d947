#include "sorus/data/text/plugin/sentence_piece.h"
#include "sorus/data/text/plugin/unicode.h"

namespace sorus::data::text::plugin {
namespace {

constexpr detail::Plugin kPlugin = {
    .version = SORUS_VERSION,
    .case_fold = &case_fold,
    .normalize_utf8 = &normalize_utf8,
    .regex_replace = &regex_replace,
    .regex_tokenizer = &regex_tokenizer,
    .unicode_script_tokenizer = &unicode_script_tokenizer,
    .basic_tokenizer = &basic_tokenizer,
    .bert_tokenizer = &bert_tokenizer,
    .load_pieces = &load_pieces,
    .train_pieces = &train_pieces,
};

}  // namespace
}  // namespace sorus::data::text::plugin

extern "C" SORUS_API const sorus::data::text::detail::Plugin* sorus_text_plugin() {
  return &sorus::data::text::plugin::kPlugin;
}
