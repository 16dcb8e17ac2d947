#pragma once

#include "sorus/data/text/detail/plugin.h"

/// SentencePiece, inside libsorus_text.so.
namespace sorus::data::text::plugin {

[[nodiscard]] SentencePiecePtr load_pieces(std::string bytes);
[[nodiscard]] std::string train_pieces(const detail::NextSentence& next, const PieceTraining& training);

}  // namespace sorus::data::text::plugin
