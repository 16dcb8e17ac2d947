#include "sorus/kernels/cpu/nn/row_pieces.h"

namespace sorus {

/// Sums over rows are added piece by piece.
const Tunable norm_piece_elements({.name = "norm.piece_elements",
                                   .initial = 32 << 10,
                                   .least = 8 << 10,
                                   .most = 256 << 10,
                                   .effect = BitEffect::kMovesBits,
                                   .doc = "elements of whole rows of which a piece of a norm has one sum"});

}  // namespace sorus
