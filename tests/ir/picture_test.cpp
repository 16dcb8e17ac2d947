#include "sorus/ir/picture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

namespace sorus {
namespace {

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

const char* const kDiamond =
    "graph @diamond(%0: float32(2, 3)) {\n"
    "  %1 = exp(%0) : float32(2, 3) # a<b>.py:1\n"
    "  %2 = tanh(%0) : float32(2, 3)\n"
    "  %3 = add(%1, %2) : float32(2, 3)\n"
    "  %4 = sum(%3) {axes=(1,), keepdims=false} : float32(2,)\n"
    "  return %4\n"
    "}\n";

TEST(Picture, HasABoxForEachCallAndALineForEachUse) {
  std::string svg = svg_picture(Graph::parse(kDiamond));
  EXPECT_EQ(count(svg, "<g class=\"call\">"), 4U);
  EXPECT_EQ(count(svg, "<g class=\"end\">"), 2U);  // the input and the result
  EXPECT_EQ(count(svg, "<path "), 6U);
  EXPECT_EQ(count(svg, "axes=(1,), keepdims=false"), 1U);
  EXPECT_EQ(count(svg, "%4: float32(2,)"), 1U);
}

TEST(Picture, EscapesTheTextOfPrograms) {
  std::string svg = svg_picture(Graph::parse(kDiamond));
  EXPECT_EQ(count(svg, "<title>a&lt;b&gt;.py:1</title>"), 1U);
}

TEST(Picture, DrawsBoxesSideBySideWithoutOverlap) {
  std::string svg = svg_picture(Graph::parse(kDiamond));
  std::regex box(R"re(<rect x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)" height="([0-9.]+)" rx)re");
  struct Rect {
    double x, y, w, h;
  };
  std::vector<Rect> boxes;
  for (std::sregex_iterator at(svg.begin(), svg.end(), box), end; at != end; ++at)
    boxes.push_back({std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), std::stod((*at)[4])});
  ASSERT_EQ(boxes.size(), 6U);
  for (size_t i = 0; i < boxes.size(); ++i)
    for (size_t j = i + 1; j < boxes.size(); ++j) {
      const Rect &a = boxes[i], &b = boxes[j];
      EXPECT_TRUE(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y)
          << "boxes " << i << " and " << j;
    }
}

TEST(Picture, ShowsWhatACallComputes) {
  std::string inside = "    %1 = exp(%0) : float32(4,)\n";
  for (int i = 2; i <= 20; ++i) inside += fmt::format("    %{} = tanh(%{}) : float32(4,)\n", i, i - 1);
  std::string svg = svg_picture(
      Graph::parse("graph @g(%0: float32(4,)) {\n  %1 = call(%0) graph @fused(%0: float32(4,)) {\n" + inside +
                   "    return %20\n  } : float32(4,)\n  return %1\n}\n"));
  EXPECT_EQ(count(svg, "<g class=\"call\">"), 1U);
  EXPECT_EQ(count(svg, ">call @fused</text>"), 1U);
  EXPECT_EQ(count(svg, ">%1 = exp(%0)</text>"), 1U);
  EXPECT_EQ(count(svg, " = tanh("), 14U + 19U);  // in the box; in the tip
  EXPECT_EQ(count(svg, ">and 5 more</text>"), 1U);
}

TEST(Picture, OfAnEmptyGraphIsEmpty) {
  std::string svg = svg_picture(Graph());
  EXPECT_EQ(count(svg, "<g "), 0U);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace sorus
