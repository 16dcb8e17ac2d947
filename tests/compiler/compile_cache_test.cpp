#include "sorus/compiler/compile_cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sorus/base/tunable.h"
#include "sorus/compiler/boundary.h"
#include "sorus/compiler/compile.h"
#include "sorus/compiler/compile_stats.h"
#include "sorus/dispatch/apply.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/reduce/reduce.h"

namespace sorus {
namespace {

namespace fs = std::filesystem;

const char* const kProgram =
    "graph @g(%0: float32(2,), %1: float32(2,)) {\n"
    "  %2 = exp(%0) : float32(2,) # a.py:1 in f\n"
    "  %3 = exp(%0) : float32(2,) # a.py:2 in f\n"
    "  %4 = add(%2, %3) : float32(2,) # a.py:3 in f\n"
    "  %5 = mul(%4, %1) : float32(2,) # a.py:4 in f\n"
    "  return %5\n"
    "}\n";

/// Events since it was made.
struct Count {
  CompileStats before = compile_stats();
  [[nodiscard]] int64_t hits() const { return compile_stats().cache_hits - before.cache_hits; }
  [[nodiscard]] int64_t misses() const { return compile_stats().cache_misses - before.cache_misses; }
  [[nodiscard]] int64_t stored() const { return compile_stats().cache_stored - before.cache_stored; }
  [[nodiscard]] int64_t damaged() const { return compile_stats().cache_damaged - before.cache_damaged; }
};

class CompileCache : public testing::Test {
 protected:
  CompileCache() {
    fs::remove_all(folder_);
    set_compile_cache(folder_);
  }
  ~CompileCache() override {
    set_compile_cache("");
    fs::remove_all(folder_);
  }
  [[nodiscard]] static std::string compiled(const std::string& text = kProgram) {
    return compile(Graph::parse(text))->graph().text();
  }
  [[nodiscard]] static std::vector<fs::path> entries() {
    std::vector<fs::path> found;
    for (const auto& e : fs::directory_iterator(compile_cache_folder())) found.push_back(e.path());
    return found;
  }
  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path folder_ = fs::temp_directory_path() / ("sorus_cache_test_" + std::to_string(getpid()));
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_F(CompileCache, GivesTheGraphThatThePassesGave) {
  set_compile_cache("");
  const std::string plain = compiled();
  set_compile_cache(folder_);
  Count count;
  EXPECT_EQ(compiled(), plain);
  EXPECT_EQ(count.misses(), 1);
  EXPECT_EQ(count.stored(), 1);
  EXPECT_EQ(compiled(), plain);
  EXPECT_EQ(count.hits(), 1);
  EXPECT_EQ(count.misses(), 1);
  EXPECT_EQ(entries().size(), 1U);
}

TEST_F(CompileCache, LinesMayMove) {
  static_cast<void>(compiled());
  Count count;
  const std::string moved = replaced(kProgram, "a.py:4", "b.py:77");
  const std::string found = compiled(moved);
  EXPECT_EQ(count.hits(), 1);
  set_compile_cache("");
  EXPECT_EQ(found, compiled(moved));
}

TEST_F(CompileCache, TellsGraphsAndSettingsApart) {
  static_cast<void>(compiled());
  Count count;
  static_cast<void>(compiled(replaced(kProgram, "mul", "sub")));
  static_cast<void>(compiled(replaced(kProgram, "return %5", "return %5, %4")));
  pass_options().skip = {"fuse"};
  static_cast<void>(compiled());
  pass_options() = {};
  {
    ScopedState<bool> relaxed(&ScopeState::relaxed_numerics, true);
    static_cast<void>(compiled());
  }
  reference_kernels_only() = true;
  static_cast<void>(compiled());
  reference_kernels_only() = false;
  Graph checked = Graph::parse(kProgram);
  checked.values_checked = true;
  EXPECT_TRUE(compile(checked)->graph().values_checked);
  EXPECT_EQ(count.hits(), 0);
  EXPECT_EQ(count.misses(), 6);
  EXPECT_TRUE(compile(checked)->graph().values_checked);
  EXPECT_EQ(count.hits(), 1);
}

TEST_F(CompileCache, TellsTunedValuesApart) {
  const std::string plain = compiled();
  Count count;
  {
    const TuningOverride tuned(TunedValues::parse("fuse.most_members=2"));
    EXPECT_NE(compiled(), plain);
    EXPECT_EQ(count.hits(), 0);
    EXPECT_NE(compiled(), plain);
    EXPECT_EQ(count.hits(), 1);
  }
  {
    const TuningOverride tuned(TunedValues::parse("tile.bytes=6144"));  // of regions, which are bound later
    EXPECT_EQ(compiled(), plain);
    EXPECT_EQ(count.hits(), 2);
  }
  EXPECT_EQ(compiled(), plain);
  EXPECT_EQ(count.hits(), 3);
  EXPECT_EQ(count.misses(), 1);
}

Tensor filled(float value, int64_t count = 100000) {
  const std::vector<float> items(static_cast<size_t>(count), value);
  return Tensor(std::span<const float>(items), {count});
}

TEST_F(CompileCache, ConstantsCountByTheirBytesAndAreNotCopied) {
  const Tensor large = filled(2.F);
  auto graph_with = [](const Tensor& c) {
    Graph g;
    const ValueId in[] = {g.add_input(c.type()), g.add_constant(c)};
    g.outputs = {g.add_node(*find_op("mul"), AttrsRef(NoAttrs{}), in).out[0]};
    return g;
  };
  Count count;
  static_cast<void>(compile(graph_with(large)));
  EXPECT_LT(fs::file_size(entries().at(0)), 1000U);
  const Tensor same = filled(2.F);
  const auto again = compile(graph_with(same));
  EXPECT_EQ(count.hits(), 1);
  EXPECT_EQ(again->graph().constant(again->graph().nodes[0].in[1]).value().get(), same.value().get());
  std::vector<float> other(100000, 2.F);
  other.back() = 3.F;
  static_cast<void>(compile(graph_with(Tensor(std::span<const float>(other), {100000}))));
  EXPECT_EQ(count.misses(), 2);
  static_cast<void>(compile(graph_with(filled(2.F, 3 << 20))));  // too much to look at
  EXPECT_EQ(count.misses(), 2);
}

TEST_F(CompileCache, DamagedAndForeignEntriesAreMadeAnew) {
  const std::string plain = compiled();
  const fs::path entry = entries().at(0);
  const std::string good = read(entry);
  std::vector<std::string> bad = {"", "no entry at all", good.substr(0, good.size() / 2), good + "x"};
  for (size_t i = 0; i < good.size(); i += 7) {
    bad.push_back(good);
    bad.back()[i] = static_cast<char>(bad.back()[i] ^ 0x20);
  }
  for (const std::string& bytes : bad) {
    write(entry, bytes);
    Count count;
    EXPECT_EQ(compiled(), plain);
    EXPECT_EQ(count.hits(), 0);
    EXPECT_EQ(count.damaged(), bytes.empty() ? 0 : 1);
    EXPECT_EQ(read(entry), good);
  }
  // No file at all.
  fs::remove(entry);
  fs::create_directory(entry);
  EXPECT_EQ(compiled(), plain);
  fs::remove(entry);
  set_compile_cache("");
  set_compile_cache(folder_.string());
  EXPECT_EQ(compiled(), plain);
  // A whole entry, but of another graph.
  static_cast<void>(compiled(replaced(kProgram, "return %5", "return %5, %4")));
  for (const fs::path& other : entries())
    if (other != entry) fs::copy_file(other, entry, fs::copy_options::overwrite_existing);
  Count count;
  EXPECT_EQ(compiled(), plain);
  EXPECT_EQ(count.damaged(), 1);
}

TEST_F(CompileCache, IsOffWhileGraphsAreDumpedOrWatched) {
  Count count;
  int passes = 0;
  pass_options().after = [&](std::string_view, const Graph&, double) { ++passes; };
  static_cast<void>(compiled());
  pass_options() = {};
  EXPECT_GT(passes, 0);
  EXPECT_EQ(count.misses(), 0);
}

TEST_F(CompileCache, WorksOnWithoutAFolderThatCanBeWritten) {
  write(folder_, "a file where the folder should be");
  Count count;
  const std::string plain = compiled();
  EXPECT_EQ(compiled(), plain);
  EXPECT_EQ(count.stored(), 0);
  EXPECT_EQ(count.misses(), 2);
}

/// A limit on the size of files has the effect of a full disk.
TEST_F(CompileCache, WorksOnWhenTheDiskIsFull) {
  fs::create_directories(compile_cache_folder());
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{16, 16};
    setrlimit(RLIMIT_FSIZE, &limit);
    Count count;
    const bool good = compiled() == compiled() && count.misses() == 2 && count.stored() == 0;
    _exit(good && entries().empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(CompileCache, RemovesWhatWasUsedLeastRecently) {
  static_cast<void>(compiled());
  const auto size = static_cast<int64_t>(fs::file_size(entries().at(0)));
  set_compile_cache(folder_, 4 * size);
  for (int i = 3; i < 20; ++i) {
    static_cast<void>(compiled(replaced(kProgram, "@g", "@g" + std::to_string(i))));
    // The first is used again and again.
    Count count;
    static_cast<void>(compiled());
    EXPECT_EQ(count.hits(), 1) << i;
    for (const fs::path& e : entries())
      fs::last_write_time(e, fs::last_write_time(e) - std::chrono::seconds(10));
  }
  int64_t total = 0;
  for (const fs::path& e : entries()) total += static_cast<int64_t>(fs::file_size(e));
  EXPECT_LE(total, 4 * size);
  EXPECT_GT(total, size);
}

/// Processes and threads that compile the same and other graphs into one folder at once.
TEST_F(CompileCache, ManyMayUseOneFolder) {
  auto work = [] {
    bool good = true;
    for (int i = 0; i < 40; ++i) {
      const std::string text = replaced(kProgram, "@g", "@g" + std::to_string(i % 5));
      good &= compile(Graph::parse(text))->graph().nodes.size() == 1;
    }
    return good;
  };
  Count count;
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(work() && count.damaged() == 0 ? 0 : 1);
    children.push_back(child);
  }
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { good += work() ? 1 : 0; });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(good, 3);
  EXPECT_EQ(count.damaged(), 0);
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(entries().size(), 5U);  // and no file that was begun
}

TEST_F(CompileCache, BoundariesGiveTheSameBits) {
  auto f = [](const TensorList& in) { return TensorList{sum(mul(exp(in[0]), add(exp(in[0]), in[1])))}; };
  const TensorList in = {Tensor({0.1F, 0.2F, 0.3F}), Tensor({1.F, 2.F, 3.F})};
  const auto wanted = f(in)[0].item<float>();
  for (int64_t hits : {0, 1}) {
    clear_recordings();
    Count count;
    const TensorFunction compiled_f = jit(f);  // as in another process
    for (int i = 0; i < 3; ++i) EXPECT_EQ(compiled_f(in)[0].item<float>(), wanted);
    EXPECT_EQ(count.hits(), hits);
    EXPECT_EQ(count.misses(), 1 - hits);
  }
}

}  // namespace
}  // namespace sorus
