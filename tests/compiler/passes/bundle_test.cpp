#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "sorus/base/thread_pool.h"
#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/core/tensor.h"
#include "tests/compiler/passes/training_step.h"

namespace sorus {
namespace {

Graph passed(const std::string& text, const std::vector<std::string>& passes) {
  Graph graph = Graph::parse(text);
  graph.values_checked = true;
  PassOptions options;
  options.only = passes;
  run_passes(graph, options);
  return graph;
}

Graph bundled(const std::string& text) { return passed(text, {"fuse", "bundle"}); }

/// How many regions are in bundles, and how many steps run.
ExecutableReport report_of(const std::string& text) { return Executable(bundled(text)).report(); }

/// Updates of parameters with these numbers of elements by momentum; the rate is shared. `between` stands
/// after the first update and may read its results, %v and %p.
std::string updates(const std::vector<int64_t>& sizes, const std::string& between = "") {
  std::string head = "graph @step(%0: float32(), %1: float32()", body, results;
  int input = 2;
  int next = 2 + 3 * static_cast<int>(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string type = fmt::format("float32({},)", sizes[i]);
    const int p = input++, v = input++, g = input++;
    head += fmt::format(", %{}: {}, %{}: {}, %{}: {}", p, type, v, type, g, type);
    body += fmt::format("  %{} = mul(%1, %{}) : {}\n", next, v, type);
    body += fmt::format("  %{} = add(%{}, %{}) : {}\n", next + 1, next, g, type);
    body += fmt::format("  %{} = mul(%0, %{}) : {}\n", next + 2, next + 1, type);
    body += fmt::format("  %{} = sub(%{}, %{}) : {}\n", next + 3, p, next + 2, type);
    results += fmt::format("{}%{}, %{}", results.empty() ? "" : ", ", next + 3, next + 1);
    next += 4;
    if (i == 0 && !between.empty()) {
      body += fmt::format("  %{} = {} : {}\n", next, fmt::format(fmt::runtime(between), next - 1), type);
      results += fmt::format(", %{}", next++);
    }
  }
  return head + ") {\n" + body + "  return " + results + "\n}\n";
}

TEST(Bundle, RegionsOfOneKindBecomeOneCall) {
  const std::string text =
      "graph @g(%0: float32(), %1: float32(4,), %2: float32(2, 3), %3: float32(4,), %4: float32(2, 3)) {\n"
      "  %5 = mul(%0, %3) : float32(4,)\n"
      "  %6 = sub(%1, %5) : float32(4,)\n"
      "  %7 = mul(%0, %4) : float32(2, 3)\n"
      "  %8 = sub(%2, %7) : float32(2, 3)\n"
      "  return %6, %8\n"
      "}\n";
  EXPECT_EQ(
      bundled(text).text(),
      "graph @g(%0: float32(), %1: float32(4,), %2: float32(2, 3), %3: float32(4,), %4: float32(2, 3)) {\n"
      "  %5, %6 = call(%0, %3, %1, %4, %2) graph @fused(%0: float32(), %1: float32(4,), "
      "%2: float32(4,), %3: float32(2, 3), %4: float32(2, 3)) {\n"
      "    %5 = call(%0, %1, %2) graph @fused(%0: float32(), %1: float32(4,), %2: float32(4,)) {\n"
      "      %3 = mul(%0, %1) : float32(4,)\n"
      "      %4 = sub(%2, %3) : float32(4,)\n"
      "      return %4\n"
      "    } : float32(4,)\n"
      "    %6 = call(%0, %3, %4) graph @fused(%0: float32(), %1: float32(2, 3), %2: float32(2, 3)) {\n"
      "      %3 = mul(%0, %1) : float32(2, 3)\n"
      "      %4 = sub(%2, %3) : float32(2, 3)\n"
      "      return %4\n"
      "    } : float32(2, 3)\n"
      "    return %5, %6\n"
      "  } : float32(4,), float32(2, 3)\n"
      "  return %5, %6\n"
      "}\n");
  EXPECT_EQ(bundled(bundled(text).text()).text(), bundled(text).text());
}

TEST(Bundle, TenUpdatesAreOneStep) {
  const ExecutableReport r = report_of(updates(std::vector<int64_t>(10, 100)));
  EXPECT_EQ(r.bundled, 10);
  EXPECT_EQ(r.steps, 1);
  EXPECT_EQ(r.fused_nodes, 40);
  EXPECT_EQ(r.donations, 20);
}

TEST(Bundle, LargeOnesAndOtherKindsStayApart) {
  EXPECT_EQ(report_of(updates({100, 1 << 20, 200, 300})).bundled, 3);
  EXPECT_EQ(report_of(updates({1 << 20, 1 << 20})).bundled, 0);
  // Of more than 64 operands a bit would not tell which may be written over: 3 of each and two scalars.
  const ExecutableReport many = report_of(updates(std::vector<int64_t>(50, 10)));
  EXPECT_EQ(many.bundled, 50);
  EXPECT_EQ(many.steps, 3);
  EXPECT_EQ(many.donations, 100);
  EXPECT_EQ(report_of("graph @g(%0: float32(4,), %1: float32(5,)) {\n"
                      "  %2 = exp(%0) : float32(4,)\n"
                      "  %3 = neg(%2) : float32(4,)\n"
                      "  %4 = exp(%1) : float32(5,)\n"
                      "  %5 = abs(%4) : float32(5,)\n"
                      "  return %3, %5\n"
                      "}\n")
                .bundled,
            0);
}

TEST(Bundle, NobodyMayReadAResultBeforeTheLastMember) {
  // A product reads the first update, so that it cannot wait; the other two can.
  EXPECT_EQ(report_of(updates({16, 16, 16}, "cumsum(%{}) {{axis=0}}")).bundled, 2);
  EXPECT_EQ(report_of(updates({16, 16})).bundled, 2);
}

/// The bytes of the results, and the addresses of those that took the storage of an input.
std::vector<std::vector<float>> run(Graph graph, uint32_t seed, size_t* in_place) {
  std::mt19937 random(seed);
  std::vector<Ref<Value>> in, out(graph.outputs.size());
  std::vector<const std::byte*> given;
  for (ValueId v : graph.inputs) {
    in.push_back(make_dense(graph.type(v)));
    given.push_back(in.back()->bytes());
    auto* numbers = reinterpret_cast<float*>(in.back()->bytes());
    for (int64_t i = 0; i < graph.type(v).shape.numel(); ++i)
      numbers[i] = static_cast<float>(random() % 2001) / 1000 - 1;
    if (graph.type(v).shape.rank() == 2 && random() % 2 == 0)
      in.back()->strides = Strides::dense(graph.type(v).shape, Ints{1, 0});
  }
  std::vector<char> donated(in.size(), 1);
  Executable executable(std::move(graph));
  executable.run(in, donated, {}, out, false);
  std::vector<std::vector<float>> results;
  *in_place = 0;
  for (const Ref<Value>& v : out) {
    results.push_back(Tensor(v).to_vector<float>());
    for (const std::byte* g : given) *in_place += g == v->bytes();
  }
  return results;
}

/// Scales of norms, each computed from parameters right before its use: all at once before the first.
std::string scales(int count, int64_t size) {
  std::string head = fmt::format("graph @g(%0: float32(4, {0})", size), body;
  int next = 1 + 2 * count, x = 0;
  for (int i = 0; i < count; ++i) {
    const int variance = 1 + 2 * i, weight = variance + 1;
    head += fmt::format(", %{}: float32({},), %{}: float32({},)", variance, size, weight, size);
    body += fmt::format("  %{} = exp(%{}) : float32({},)\n", next, variance, size);
    body += fmt::format("  %{} = div(%{}, %{}) : float32({},)\n", next + 1, weight, next, size);
    body += fmt::format("  %{} = cumsum(%{}) {{axis=1}} : float32(4, {})\n", next + 2, x, size);
    body += fmt::format("  %{} = mul(%{}, %{}) : float32(4, {})\n", next + 3, next + 2, next + 1, size);
    body += fmt::format("  %{} = relu(%{}) : float32(4, {})\n", next + 4, next + 3, size);
    x = next + 4;
    next += 5;
  }
  return head + ") {\n" + body + fmt::format("  return %{}\n}}\n", x);
}

TEST(Bundle, WhatReadsInputsAloneComesEarly) {
  EXPECT_EQ(report_of(scales(5, 16)).bundled, 5);
  const std::string text = bundled(scales(5, 16)).text();
  EXPECT_LT(text.rfind("exp"), text.find("cumsum"));
  // As long as it keeps little alive: 128 KB of results are 32 of these.
  EXPECT_EQ(report_of(scales(24, 1024)).bundled, 24);
  const std::string large = bundled(scales(24, 5000)).text();
  EXPECT_GT(large.rfind("exp"), large.find("cumsum"));
  size_t none = 0;
  EXPECT_TRUE(run(bundled(scales(5, 37)), 3, &none) == run(passed(scales(5, 37), {"cse"}), 3, &none));
}

TEST(Bundle, NoMoreThanLittleIsKeptAlive) {
  // Each gradient, of 16 KB, is computed just before its update and would wait for the last one.
  const int count = 24;
  std::string head = "graph @g(%0: float32()", body, results;
  int next = 1 + count;
  for (int i = 1; i <= count; ++i) {
    head += fmt::format(", %{}: float32(64, 64)", i);
    body += fmt::format("  %{} = matmul(%{}, %{}) : float32(64, 64)\n", next, i, i);
    body += fmt::format("  %{} = mul(%0, %{}) : float32(64, 64)\n", next + 1, next);
    body += fmt::format("  %{} = sub(%{}, %{}) : float32(64, 64)\n", next + 2, i, next + 1);
    results += fmt::format("{}%{}", i > 1 ? ", " : "", next + 2);
    next += 3;
  }
  const std::string text = head + ") {\n" + body + "  return " + results + "\n}\n";
  Executable apart(passed(text, {"fuse"}));
  Executable together(passed(text, {"fuse", "bundle"}));
  EXPECT_EQ(together.report().bundled, count);
  EXPECT_LE(together.report().planned_bytes, apart.report().planned_bytes + (160 << 10));
  EXPECT_EQ(together.report().donations, count);
  set_memory_limit(1 << 20);
  EXPECT_EQ(Executable(passed(text, {"fuse", "bundle"})).report().bundled, 0);
  set_memory_limit(0);
}

TEST(Bundle, KeepsBitsForAnyNumberOfThreadsAndWritesInPlace) {
  const int before = num_threads();
  for (const auto& sizes : {std::vector<int64_t>(10, 100),
                            std::vector<int64_t>(30, 700),
                            {1, 0, 5000, 3, 1024},
                            {4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000}}) {
    const std::string text = updates(sizes);
    size_t apart = 0;
    const auto expected = run(Graph::parse(text), 3, &apart);
    for (int threads : {1, 2, 3}) {
      set_num_threads(threads);
      size_t together = 0;
      EXPECT_EQ(run(bundled(text), 3, &together), expected);
      EXPECT_EQ(together, apart);
    }
  }
  // Operands in column-major order, one that two members read, and a result that two of them could take.
  const std::string mixed =
      "graph @g(%0: float32(40, 30), %1: float32(40, 30), %2: float32(40, 30), %3: float32(40, 30)) {\n"
      "  %4 = mul(%0, %1) : float32(40, 30)\n"
      "  %5 = sub(%4, %2) : float32(40, 30)\n"
      "  %6 = mul(%1, %3) : float32(40, 30)\n"
      "  %7 = sub(%6, %2) : float32(40, 30)\n"
      "  return %5, %7\n"
      "}\n";
  for (uint32_t seed = 0; seed < 16; ++seed) {
    size_t in_place = 0;
    const auto expected = run(Graph::parse(mixed), seed, &in_place);
    for (int threads : {1, 3}) {
      set_num_threads(threads);
      EXPECT_EQ(run(bundled(mixed), seed, &in_place), expected) << "seed " << seed;
    }
  }
  EXPECT_EQ(report_of(mixed).bundled, 2);
  set_num_threads(before);
}

TEST(Bundle, SixteenBitMembersKeepTheirBits) {
  // Parameters and their momentum are float32, gradients 16 bits wide.
  for (const char* half : {"bfloat16", "float16"}) {
    std::string head = "graph @step(%0: float32()", body, results;
    int next = 1 + 9;
    for (int i = 0; i < 3; ++i) {
      const std::string type = fmt::format("({},)", 30 * i + 5);
      const int p = 3 * i + 1;
      head += fmt::format(", %{}: float32{}, %{}: {}{}, %{}: {}{}", p, type, p + 1, half, type, p + 2, half,
                          type);
      body += fmt::format("  %{} = add(%{}, %{}) : {}{}\n", next, p + 1, p + 2, half, type);
      body += fmt::format("  %{} = cast(%{}) {{dtype=float32}} : float32{}\n", next + 1, next, type);
      body += fmt::format("  %{} = mul(%0, %{}) : float32{}\n", next + 2, next + 1, type);
      body += fmt::format("  %{} = sub(%{}, %{}) : float32{}\n", next + 3, p, next + 2, type);
      results += fmt::format("{}%{}, %{}", i > 0 ? ", " : "", next + 3, next);
      next += 4;
    }
    const std::string text = head + ") {\n" + body + "  return " + results + "\n}\n";
    EXPECT_EQ(report_of(text).bundled, 3);
    auto bytes = [](Graph graph) {
      std::mt19937 random(9);
      std::vector<Ref<Value>> in, out(graph.outputs.size());
      for (ValueId v : graph.inputs) {
        in.push_back(make_dense(graph.type(v)));
        visit_floating(graph.type(v).dtype, [&]<class T>(std::type_identity<T>) {
          for (int64_t i = 0; i < graph.type(v).shape.numel(); ++i)
            reinterpret_cast<T*>(in.back()->bytes())[i] = T(static_cast<float>(random() % 2001) / 1000 - 1);
        });
      }
      std::vector<char> donated(in.size(), 1);
      Executable(std::move(graph)).run(in, donated, {}, out, false);
      std::vector<std::vector<std::byte>> all;
      for (const Ref<Value>& v : out) all.emplace_back(v->bytes(), v->bytes() + v->storage->bytes());
      return all;
    };
    EXPECT_TRUE(bytes(Graph::parse(text)) == bytes(bundled(text))) << half;
  }
}

TEST(Bundle, AWholeStepKeepsItsBits) {
  for (int layers : {2, 6}) {
    const std::string text = training_step(layers);
    ExecutableReport plain, report;
    const auto expected = results_of(Graph::parse(text), &plain);
    const auto found = results_of(passed(text, {"fuse", "order", "bundle"}), &report);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(std::memcmp(expected[i]->bytes(), found[i]->bytes(), expected[i]->storage->bytes()), 0);
    EXPECT_EQ(report.donations, plain.donations);
  }
}

}  // namespace
}  // namespace sorus
