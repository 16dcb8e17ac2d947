#pragma once

#include <cstdint>

namespace sorus {

/// A part of a kernel's first result that is done, in the caches of the thread that computed it. The result
/// is seen as a matrix: its columns are the innermost axis in memory, its rows all others.
struct ResultPiece {
  const void* data = nullptr;  ///< of its first element; rows are `pitch` elements apart
  int64_t pitch = 0;
  int64_t row = 0;  ///< of the first element, and how many
  int64_t rows = 0;
  int64_t column = 0;
  int64_t columns = 0;
};

/// Whoever wants a result piece by piece. Called once for each piece, on the threads that compute them,
/// several at once; the pieces cover the result. What a piece points to is valid during the call.
class PieceTaker {
 public:
  virtual void take(const ResultPiece& piece) const = 0;

 protected:
  ~PieceTaker() = default;
};

}  // namespace sorus
