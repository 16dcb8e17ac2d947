#include "sorus/compiler/dump.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "sorus/compiler/compile.h"
#include "sorus/ir/graph.h"

namespace sorus {
namespace {

namespace fs = std::filesystem;

const char* const kProgram =
    "graph @g(%0: float32(2,)) {\n"
    "  %1 = exp(%0) : float32(2,)\n"
    "  %2 = exp(%0) : float32(2,)\n"
    "  %3 = add(%1, %2) : float32(2,)\n"
    "  %4 = tanh(%0) : float32(2,)\n"
    "  return %3\n"
    "}\n";

class Dump : public testing::Test {
 protected:
  Dump() { fs::remove_all(folder_); }
  ~Dump() override {
    dump_graphs(GraphDump::kOff);
    fs::remove_all(folder_);
  }
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream in(folder_ / name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  fs::path folder_ = fs::temp_directory_path() / ("sorus_dump_test_" + std::to_string(getpid()));
};

TEST_F(Dump, WritesEachStepThatChangedTheGraph) {
  dump_graphs(GraphDump::kPasses, folder_ / "deep");
  (void)compile(Graph::parse(kProgram));
  folder_ /= "deep";
  std::set<std::string> expected = {"0001_g_00_recorded.txt", "0001_g_00_recorded.svg", "0001_g_report.txt"};
  std::set<std::string> names = files();
  EXPECT_TRUE(std::includes(names.begin(), names.end(), expected.begin(), expected.end()));
  EXPECT_TRUE(names.contains("0001_g_01_cse.txt"));
  EXPECT_TRUE(names.contains("0001_g_02_dce.svg"));
  EXPECT_EQ(content("0001_g_00_recorded.txt"), kProgram);
  EXPECT_EQ(Graph::parse(content("0001_g_02_dce.txt")).nodes.size(), 2U);
  folder_ = folder_.parent_path();
}

TEST_F(Dump, WritesBothEndsOrNothing) {
  dump_graphs(GraphDump::kEnds, folder_);
  (void)compile(Graph::parse(kProgram));
  EXPECT_TRUE(files().contains("0001_g_01_final.txt"));
  EXPECT_EQ(files().size(), 5U);
  EXPECT_NE(content("0001_g_report.txt").find("kernel calls 1"), std::string::npos);
  dump_graphs(GraphDump::kOff);
  (void)compile(Graph::parse(kProgram));
  EXPECT_EQ(files().size(), 5U);
}

TEST_F(Dump, NumbersGoOn) {
  dump_graphs(GraphDump::kEnds, folder_);
  (void)compile(Graph::parse(kProgram));
  dump_graphs(GraphDump::kEnds, folder_);
  (void)compile(Graph::parse(kProgram));
  EXPECT_TRUE(files().contains("0002_g_00_recorded.txt"));
}

TEST_F(Dump, RefusesAFolderThatIsAFile) {
  std::ofstream(folder_) << "x";
  EXPECT_THROW(dump_graphs(GraphDump::kEnds, folder_), IOError);
}

}  // namespace
}  // namespace sorus
