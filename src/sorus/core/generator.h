#pragma once

#include <cstdint>
#include <vector>

#include "sorus/core/tensor.h"

namespace sorus {

/// A stream of random numbers: a seed and how many blocks of the counter have been given out. Ops that draw
/// numbers are pure functions of a key, and this is where keys come from, so that results depend on the order
/// of calls alone and never on threads or modes. Thread-safe: a range is reserved at once.
class SORUS_API Generator {
 public:
  explicit Generator(uint64_t seed = 0) : seed_(seed) {}

  /// A key for `count` numbers: a uint64 tensor of shape (2,), {seed, first block of the counter}.
  [[nodiscard]] Tensor key(int64_t count);
  /// Takes back a key of `count` numbers that nobody used, unless others were drawn since.
  void give_back(const Tensor& key, int64_t count);
  /// Starts the stream again from a seed.
  void set_seed(uint64_t seed);

  struct State {
    uint64_t seed = 0;
    uint64_t offset = 0;
  };
  [[nodiscard]] State state() const;
  void set_state(State state);

 private:
  friend class KeyScope;
  [[nodiscard]] Tensor draw(int64_t count);

  uint64_t seed_;
  uint64_t offset_ = 0;
};

/// Internal: what a KeyScope does.
enum class KeyUse { kNote, kRepeat };

/// Internal: while it lives, the keys that this thread draws from any generator are added to `keys` in order,
/// or those in `keys` are given out again in order and the generators stay where they are: for functions that
/// are called twice and must compute the same. Scopes nest: keys noted within a scope that repeats are its
/// keys. Drawing more keys than there are to repeat throws ValueError.
class SORUS_API KeyScope {
 public:
  KeyScope(std::vector<Tensor>& keys, KeyUse use);
  ~KeyScope();
  KeyScope(const KeyScope&) = delete;
  KeyScope& operator=(const KeyScope&) = delete;

 private:
  friend class Generator;
  [[nodiscard]] Tensor key(Generator& from, int64_t count);

  std::vector<Tensor>& keys_;
  KeyUse use_;
  size_t next_ = 0;
  KeyScope* outer_;
};

/// The generator that functions use when none is given.
[[nodiscard]] SORUS_API Generator& default_generator();
/// Seeds everything random of the process: the default generator, and so initial values and random ops, and
/// the pipelines of data that start from now on, whose orders and random transforms take the seed modulo
/// 2^32.
SORUS_API void set_seed(uint64_t seed);

/// Internal: what set_seed was given last, and how often it was called, by which rooms above notice a new
/// seed.
struct ProcessSeed {
  uint64_t seed = 0;
  uint64_t times = 0;
};
/// Internal: the seed of the process as it is now. Thread-safe.
[[nodiscard]] SORUS_API ProcessSeed process_seed();

}  // namespace sorus
