#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sorus/base/tunable.h"
#include "sorus/tuning/judge.h"

/// The search for better values of some parameters.
namespace sorus::tuning {

struct SearchOptions {
  double seconds = 10;
  uint64_t seed = 1;
  int most_restarts = 64;
};

struct SearchResult {
  TunedValues values;  ///< that differ from the defaults; empty where nothing was better
  double before_ns = 0;
  double after_ns = 0;
  int candidates = 0;  ///< that were measured
};

/// Says which of two settings is faster. The last argument says how sure it must be.
enum class Care : uint8_t { kQuick, kSure, kFinal };
using Compare = std::function<Verdict(const TunedValues& first, const TunedValues& second, Care care)>;

/// Goes from the defaults along one parameter at a time, to neighbours, values two steps away and both ends,
/// as long as something gets better by more than the noise; then again from settings drawn at random, until
/// the time is over or nothing new is found. What wins is compared with the defaults once more, with most
/// care, and of its values those are dropped that are not needed.
[[nodiscard]] SORUS_API SearchResult search(const std::vector<const Tunable*>& parameters,
                                            const Compare& compare, const SearchOptions& options);

}  // namespace sorus::tuning
