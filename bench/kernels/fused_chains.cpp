// Times chains of ops in one process, taking turns: eager, as a graph without fusion, as a graph with it, and
// as a kernel written by hand with the same scalar functions. Medians are printed in microseconds, and how
// much of the hand-written kernel's speed fusion reaches. Usage: fused_chains [rounds]

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/kernels/fused_chains.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include <cmath>

#include "hwy/cache_control.h"
#include "sorus/kernels/cpu/nn/block.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {

/// Rows [begin, end) of layer_norm(gelu(x * a + b)), n elements each, with room for one row.
[[gnu::flatten]] void norm_rows(const float* x, float a, const float* b, const float* gamma,
                                const float* beta, float* y, float* room, int64_t n, int64_t begin,
                                int64_t end) {
  const Block scale = Block::of(a);
  for (int64_t r = begin; r < end; ++r) {
    const float* in = x + r * n;
    Block sum = Block::of(0);
    for_each_block(n, [&](int64_t i, int64_t count) {
      Block t = load_block(in + i, count, 0) * scale + load_block(b + i, count, 0);
      t = map([](auto v) { return math::gelu(v); }, t);
      store_block(t, room + i, count);
      sum = sum + t;
    });
    const float mean = sum_of(sum) / static_cast<float>(n);
    Block m = Block::of(mean), square = Block::of(0);
    for_each_block(n, [&](int64_t i, int64_t count) {
      const Block d = load_block(room + i, count, mean) - m;
      square = fma(d, d, square);
    });
    const Block inverse = Block::of(1 / std::sqrt(sum_of(square) / static_cast<float>(n) + 1e-5F));
    for_each_block(n, [&](int64_t i, int64_t count) {
      const Block v = (load_block(room + i, count, 0) - m) * inverse;
      store_block(fma(v, load_block(gamma + i, count, 0), load_block(beta + i, count, 0)), y + r * n + i,
                  count);
    });
  }
}

using Lane = SimdLane<float>;

HWY_INLINE void put(Lane v, float* to, [[maybe_unused]] bool past_caches) {
#if HWY_TARGET != HWY_SCALAR
  if (past_caches) return hn::Stream(v.v, hn::ScalableTag<float>(), to);
#endif
  store(v, to);
}

/// relu(sigmoid(x * a + b) * x + x) * a - b; past the caches where they would not hold the result.
void chain(const float* x, float a, float b, float* y, int64_t begin, int64_t end, bool past_caches) {
  const Lane p = Lane::of(a), q = Lane::of(b);
  for (int64_t i = begin; i < end; i += kLanes<Lane>) {
    const Lane v = load<Lane>(x + i);
    Lane t = math::sigmoid(v * p + q) * v + v;
    t = select(t < Lane::of(0), Lane::of(0), t);
    put(t * p - q, y + i, past_caches);
  }
  if (past_caches) hwy::FlushStream();
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/compiler/boundary.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/ops/elementwise/activation.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/norm.h"

namespace sorus {
namespace simd {
HWY_EXPORT(norm_rows);
HWY_EXPORT(chain);
namespace {
constexpr auto run_norm_rows = [](auto... x) { HWY_DYNAMIC_DISPATCH(norm_rows)(x...); };
constexpr auto run_chain = [](auto... x) { HWY_DYNAMIC_DISPATCH(chain)(x...); };
}  // namespace
}  // namespace simd
namespace {

using Clock = std::chrono::steady_clock;

Tensor numbers(const Shape& shape) {
  std::vector<float> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(static_cast<double>(i % 997) / 200 - 2.5);
  return Tensor(std::span<const float>(v), shape);
}

double microseconds(const std::function<void()>& f, int repeats) {
  const auto start = Clock::now();
  for (int i = 0; i < repeats; ++i) f();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / repeats;
}

/// The body as a compiled boundary, with or without fusion.
std::function<void()> graph(std::function<Tensor()> body, bool fuses) {
  const uint64_t key = new_boundary_id();
  auto step = [key, body = std::move(body)] {
    Tensor result;
    run_boundary(key, [&] { result = body(); });
    return result;
  };
  pass_options().skip = fuses ? std::vector<std::string>{} : std::vector<std::string>{"fuse"};
  for (int i = 0; i < 3; ++i) static_cast<void>(step());
  pass_options().skip.clear();
  return [step] { static_cast<void>(step()); };
}

void compare(const char* name, const std::function<Tensor()>& body, const std::function<void()>& by_hand,
             int rounds) {
  const std::function<void()> ways[] = {[&] { static_cast<void>(body()); }, graph(body, false),
                                        graph(body, true), by_hand};
  std::vector<double> times[4];
  const int repeats = std::max(1, static_cast<int>(20000 / microseconds(ways[0], 2)));
  for (int r = 0; r < rounds; ++r)
    for (size_t w = 0; w < 4; ++w) times[w].push_back(microseconds(ways[w], repeats));
  for (auto& t : times) std::sort(t.begin(), t.end());
  const size_t middle = times[0].size() / 2;
  std::printf("%-34s %10.1f %10.1f %10.1f %10.1f %8.0f %%\n", name, times[0][middle], times[1][middle],
              times[2][middle], times[3][middle], 100 * times[3][middle] / times[2][middle]);
}

void norm_case(int64_t rows, int64_t n, int rounds) {
  const Tensor x = numbers({rows, n}), b = numbers({n}), gamma = numbers({n}), beta = numbers({n});
  const Tensor a = Tensor(0.5F);
  auto by_hand = [&] {
    Ref<Value> y = make_dense(x.type());
    parallel_ranges(rows, std::max<int64_t>(1, 32768 / n), [&](int64_t begin, int64_t end) {
      static thread_local std::vector<float> room;
      room.resize(static_cast<size_t>(n));
      simd::run_norm_rows(x.data<float>(), 0.5F, b.data<float>(), gamma.data<float>(), beta.data<float>(),
                          reinterpret_cast<float*>(y->bytes()), room.data(), n, begin, end);
    });
  };
  const std::string name = "x*a+b, gelu, layer_norm " + std::to_string(rows) + "x" + std::to_string(n);
  compare(
      name.c_str(), [&] { return layer_norm(gelu(x * a + b), {n}, gamma, beta, 1e-5); }, by_hand, rounds);
}

void chain_case(int64_t n, int rounds) {
  const Tensor x = numbers({n});
  const Tensor a = Tensor(0.5F), b = Tensor(0.25F);
  auto by_hand = [&] {
    Ref<Value> y = make_dense(x.type());
    parallel_ranges(n, 32768, [&](int64_t begin, int64_t end) {
      simd::run_chain(x.data<float>(), 0.5F, 0.25F, reinterpret_cast<float*>(y->bytes()), begin, end,
                      n > (1 << 23));
    });
  };
  const std::string name = "8 elementwise ops on " + std::to_string(n);
  compare(
      name.c_str(), [&] { return relu(sigmoid(x * a + b) * x + x) * a - b; }, by_hand, rounds);
}

}  // namespace
}  // namespace sorus

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::stoi(argv[1]) : 15;
  std::printf("%-34s %10s %10s %10s %10s %10s\n", "microseconds", "eager", "unfused", "fused", "by hand",
              "of hand");
  sorus::norm_case(1024, 768, rounds);
  sorus::norm_case(8192, 1024, rounds);
  sorus::chain_case(1 << 18, rounds);
  sorus::chain_case(1 << 25, std::max(3, rounds / 3));
  return 0;
}
#endif  // HWY_ONCE
