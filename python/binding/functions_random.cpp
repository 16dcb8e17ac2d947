#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "binding/functions.h"
#include "sorus/base/told_as.h"
#include "sorus/nn/initializer.h"
#include "sorus/ops/random/random.h"

namespace sorus::python {
namespace {

/// Streams of calls that name a seed of their own: the same seed goes on where its last call ended. Guarded
/// by the interpreter's lock.
std::map<int64_t, Generator>& seeded() {
  static std::map<int64_t, Generator> streams;
  return streams;
}

/// Streams of Python's Generator objects, by numbers that no seed has. Guarded likewise.
std::map<int64_t, Generator>& owned() {
  static std::map<int64_t, Generator> streams;
  return streams;
}

/// Given none, a seed or the number of a Generator.
Generator& stream(std::optional<int64_t> seed) {
  if (!seed) return default_generator();
  if (auto found = owned().find(*seed); found != owned().end()) return found->second;
  return seeded().try_emplace(*seed, static_cast<uint64_t>(*seed)).first->second;
}

int64_t make_generator() {
  static int64_t last = std::numeric_limits<int64_t>::min();
  owned().try_emplace(++last);
  return last;
}
bool drop_generator(int64_t number) { return owned().erase(number) != 0; }

Tensor uniform_of(const Shape& shape, DType dtype, std::optional<int64_t> seed) {
  return rand(shape, dtype, stream(seed));
}
Tensor normal_of(const Shape& shape, DType dtype, std::optional<int64_t> seed) {
  return randn(shape, dtype, stream(seed));
}
/// The key with which a call draws `count` numbers, for functions that take a key as an operand.
Tensor key_of(int64_t count, std::optional<int64_t> seed) { return stream(seed).key(count); }
Tensor dropout_of(const Tensor& x, double p, std::optional<int64_t> seed) {
  return dropout(x, p, stream(seed));
}

Tensor gamma_of(const Shape& shape, const Tensor& alpha, const Tensor& beta, std::optional<int64_t> seed) {
  return gamma_distribution(shape, alpha, beta, stream(seed));
}

Tensor weights_of_multinomial(const Tensor& weights) {
  const ToldAs told("multinomial");
  return cumulative_weights(weights);
}

Tensor initial_uniform(const Shape& shape, double scale) { return nn::initialize(nn::uniform(scale), shape); }
Tensor initial_normal(const Shape& shape, double sigma, double mean) {
  return nn::initialize(nn::normal(sigma, mean), shape);
}
Tensor initial_truncated_normal(const Shape& shape, double sigma, double mean) {
  return nn::initialize(nn::truncated_normal(sigma, mean), shape);
}
bool set_seeds(int64_t seed) {
  set_seed(static_cast<uint64_t>(seed));
  seeded().clear();
  return true;
}

/// A stream's seed and offset as 16 bytes.
Tensor generator_state(std::optional<int64_t> number) {
  const Generator::State state = stream(number).state();
  std::array<uint8_t, sizeof state> bytes;
  std::memcpy(bytes.data(), &state, sizeof state);
  return {std::span<const uint8_t>(bytes), Shape{static_cast<int64_t>(bytes.size())}};
}
bool set_generator_state(const Tensor& given, std::optional<int64_t> number) {
  Generator::State state;
  SORUS_CHECK(given.dtype() == DType::kUInt8, DTypeError,
              "set_rng_state: 'state' has the wrong dtype: got {}, need uint8", given.dtype());
  SORUS_CHECK(given.shape() == Shape{static_cast<int64_t>(sizeof state)}, ShapeError,
              "set_rng_state: 'state' has the wrong shape: got {}, need ({},)", given.shape(), sizeof state);
  const std::vector<uint8_t> bytes = given.to_vector<uint8_t>();
  std::memcpy(&state, bytes.data(), sizeof state);
  stream(number).set_state(state);
  return true;
}

}  // namespace

std::vector<Function> random_functions() {
  return {
      function("random_key", &key_of, "count, seed=None"),
      function("random_uniform", &uniform_of, "shape, dtype=float32, seed=None"),
      function("random_normal", &normal_of, "shape, dtype=float32, seed=None"),
      function("random_gamma", &gamma_of, "shape, alpha, beta, seed=None"),
      function("cumulative_weights", &weights_of_multinomial, "weights"),
      function("dropout", &dropout_of, "x, p, seed=None"),
      function("initial_uniform", &initial_uniform, "shape, scale"),
      function("initial_normal", &initial_normal, "shape, sigma=1, mean=0"),
      function("initial_truncated_normal", &initial_truncated_normal, "shape, sigma=1, mean=0"),
      function("set_seeds", &set_seeds, "seed"),
      function("make_generator", &make_generator, ""),
      function("drop_generator", &drop_generator, "number"),
      function("generator_state", &generator_state, "number=None"),
      function("set_generator_state", &set_generator_state, "state, number=None"),
  };
}

}  // namespace sorus::python
