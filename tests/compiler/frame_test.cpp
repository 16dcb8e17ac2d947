#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "sorus/autograd/grad.h"
#include "sorus/compiler/boundary.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

Tensor noise(const Shape& shape, double frequency, double scale) {
  std::vector<float> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(std::sin((static_cast<double>(i) + 1) * frequency) * scale);
  return Tensor(std::span<const float>(v), shape);
}

using Bits = std::vector<float>;
void put(Bits& bits, const Tensor& t) {
  std::vector<float> v = t.to_vector<float>();
  bits.insert(bits.end(), v.begin(), v.end());
}
bool same(const Bits& a, const Bits& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Runs the program in both modes and compares what it saw.
FollowStats compare(const std::function<void(Bits&)>& program) {
  Bits eager, graph;
  boundaries_enabled() = false;
  program(eager);
  boundaries_enabled() = true;
  follow_stats() = {};
  program(graph);
  EXPECT_TRUE(same(eager, graph));
  EXPECT_FALSE(eager.empty());
  return follow_stats();
}

struct Mlp {
  Parameter w1{noise({16, 32}, .37, .3), "w1"}, w2{noise({32, 32}, .73, .2), "w2"},
      w3{noise({32, 4}, .51, .3), "w3"};
  Tensor x = noise({64, 16}, .21, 1), t = noise({64, 4}, .84, .5);

  Tensor loss() const {
    Tensor h = tanh(matmul(tanh(matmul(x, w1)), w2));
    Tensor d = sub(matmul(h, w3), t);
    return sum(mul(d, d));
  }
  Tensor step(double rate, int fail_at = -1) {
    Parameter all[] = {w1, w2, w3};
    auto [value, gradients] = value_and_grad([&] { return loss(); }, all);
    for (int i = 0; i < 3; ++i) {
      if (i == fail_at) throw std::runtime_error("host");
      all[i].set_value(all[i].value() - gradients[static_cast<size_t>(i)] * rate);
    }
    return value;
  }
  void put_all(Bits& bits) const {
    put(bits, w1);
    put(bits, w2);
    put(bits, w3);
  }
};

template <class F>
auto in_boundary(uint64_t id, F f) {
  run_boundary(id, f);
}

TEST(Frame, TrainingStepHasTheBitsOfEager) {
  uint64_t id = new_boundary_id();
  FollowStats stats = compare([&](Bits& bits) {
    Mlp m;
    for (int i = 0; i < 20; ++i) {
      Tensor loss;
      in_boundary(id, [&] { loss = m.step(.0004); });
      put(bits, loss);
    }
    m.put_all(bits);
  });
  EXPECT_EQ(stats.mismatches, 0);
  EXPECT_EQ(stats.programs, 1);
  EXPECT_EQ(stats.runs, 19);
}

TEST(Frame, ChangingScalarsAreInputs) {
  uint64_t id = new_boundary_id();
  FollowStats stats = compare([&](Bits& bits) {
    Mlp m;
    for (int i = 0; i < 12; ++i) in_boundary(id, [&] { m.step(.0004 / (1 + i)); });
    m.put_all(bits);
  });
  EXPECT_EQ(stats.mismatches, 0);
  EXPECT_EQ(stats.programs, 1);
}

TEST(Frame, BranchesOnValuesMakeATree) {
  uint64_t id = new_boundary_id();
  int calls = 0;
  FollowStats stats = compare([&](Bits& bits) {
    Parameter w{noise({8}, .9, 1), "w"};
    for (int i = 0; i < 40; ++i)
      in_boundary(id, [&] {
        Tensor x = noise({8}, 1. + (i * i % 7) * .3, 1);
        Tensor y = sum(mul(x, w));
        ++calls;
        if (y.item<float>() > 0) {
          w.set_value(sub(w, x * .4));
        } else {
          Tensor z = mul(x, x);
          w.set_value(add(w, mul(z, x)));
          if (i % 3 == 0) w.set_value(tanh(w));
        }
        put(bits, y);
      });
    put(bits, w);
  });
  EXPECT_EQ(calls, 80);
  EXPECT_GT(stats.branches, 0);
  EXPECT_LT(stats.branches, 8);
}

TEST(Frame, AnExceptionOfTheHostLeavesTheWritesBeforeIt) {
  uint64_t id = new_boundary_id();
  compare([&](Bits& bits) {
    Mlp m;
    for (int i = 0; i < 20; ++i) {
      try {
        in_boundary(id, [&] { m.step(.0004, i % 5 == 4 ? i % 3 : -1); });
      } catch (const std::runtime_error&) {
      }
      m.put_all(bits);
    }
  });
}

TEST(Frame, ARefusedCallLeavesNoTrace) {
  uint64_t id = new_boundary_id();
  FollowStats stats = compare([&](Bits& bits) {
    Mlp m;
    for (int i = 0; i < 6; ++i)
      in_boundary(id, [&] {
        Tensor h = matmul(m.x, m.w1);
        EXPECT_THROW(static_cast<void>(add(h, m.w3)), ShapeError);
        m.w1.set_value(add(m.w1, m.w1 * .1));
        put(bits, sum(h));
      });
    put(bits, m.w1);
  });
  EXPECT_EQ(stats.mismatches, 0);
}

TEST(Frame, TheReverseWalkOfACompiledForwardIsABoundary) {
  auto f = jit(std::function<Tensor(const Tensor&)>([](const Tensor& x) { return tanh(mul(x, x)); }));
  FollowStats stats = compare([&](Bits& bits) {
    Tensor x = noise({32}, .3, 1);
    for (int i = 0; i < 6; ++i) {
      Tensor g = grad([&](const Tensor& v) { return sum(f(v)); }, x);
      put(bits, g);
      x = sub(x, g * .1);
    }
  });
  EXPECT_GT(stats.followed, 0);
}

TEST(Frame, UpdatedParametersKeepTheirStorage) {
  uint64_t id = new_boundary_id();
  Parameter w{noise({1024}, .9, 1), "w"};
  std::vector<const float*> places;
  for (int i = 0; i < 5; ++i) {
    in_boundary(id, [&] { w.set_value(w.value() * .5); });
    places.push_back(w.value().data<float>());
  }
  EXPECT_EQ(places[3], places[4]);  // donated: the new value took the old one's bytes
  Tensor kept = w;                  // another holder: the old value must survive
  float before = kept.data<float>()[7];
  in_boundary(id, [&] { w.set_value(w.value() * .5); });
  EXPECT_EQ(kept.data<float>()[7], before);
  EXPECT_EQ(w.value().data<float>()[7], before * .5F);
}

TEST(Frame, OtherShapesAreOtherSignatures) {
  auto f = jit(std::function<Tensor(const Tensor&)>([](const Tensor& x) { return sum(mul(x, x)); }));
  FollowStats stats = compare([&](Bits& bits) {
    for (int i = 0; i < 12; ++i) put(bits, f(noise({3 + i % 3}, .4, 1)));
  });
  EXPECT_EQ(stats.mismatches, 0);
}

/// Random programs: shared prefixes, reads, updates, refused calls, exceptions, changing scalars, aliased
/// operands, values kept across calls, gradients inside.
void random_program(int program, int call, Parameter (&w)[3], Tensor& kept, Bits& bits) {
  std::vector<Tensor> v{w[0], w[1], w[call % 7 == 3 ? 0 : 2], kept};
  for (int k = 0; k < 30; ++k) {
    uint32_t h = static_cast<uint32_t>(program) * 2654435761U + static_cast<uint32_t>(k) * 40503U;
    if ((call * 5 + k * 3) % 29 == 0) h += static_cast<uint32_t>(call % 3) * 977U;
    h ^= h >> 15;
    h *= 2246822519U;
    h ^= h >> 13;
    Tensor a = v[h / 16 % v.size()];
    Tensor b = v[h / 1024 % v.size()];
    switch (h % 16) {
      case 0:
      case 1:
        v.push_back(add(a, b));
        break;
      case 2:
      case 3:
        v.push_back(mul(a, b));
        break;
      case 4:
        v.push_back(tanh(a));
        break;
      case 5:
        v.push_back(a * .5);
        break;
      case 6:
        v.push_back(a * (.1 * (call % 4)));
        break;
      case 7:
        if (a.to_vector<float>()[0] > .1F) v.push_back(tanh(b));
        break;
      case 8:
        w[h / 16 % 3].set_value(tanh(a));
        break;
      case 9:
        v[h / 16 % v.size()] = b;
        break;
      case 10:
        EXPECT_THROW(static_cast<void>(add(a, noise({3}, 1, 1))), ShapeError);
        break;
      case 11:
        kept = a;
        break;
      case 12:
        if (call % 11 == 5) throw std::runtime_error("host");
        break;
      case 13:
        v.push_back(
            grad([&](const Tensor& u) { return sum(mul(tanh(u), add(u, a))); }, noise({4}, .1 + call, 1)));
        break;
      case 14:
        v.push_back(reshape(transpose(reshape(a, {2, 2}), {1, 0}), {4}));
        break;
      default:
        bits.push_back(b.to_vector<float>()[0]);
        break;
    }
  }
}

TEST(Frame, RandomProgramsHaveTheBitsOfEager) {
  std::vector<uint64_t> ids;
  for (int i = 0; i < 60; ++i) ids.push_back(new_boundary_id());
  FollowStats stats = compare([&](Bits& bits) {
    for (int program = 0; program < 60; ++program) {
      Parameter w[3];
      for (int i = 0; i < 3; ++i) w[i] = Parameter(noise({4}, .3 + program + i, 1), "w");
      Tensor kept = w[0];
      for (int call = 0; call < 40; ++call) {
        try {
          in_boundary(ids[static_cast<size_t>(program)],
                      [&] { random_program(program, call, w, kept, bits); });
        } catch (const std::runtime_error&) {
        }
        for (auto& p : w) put(bits, p);
        put(bits, kept);
      }
    }
  });
  EXPECT_GT(stats.followed, 10000);
}

}  // namespace
}  // namespace sorus
