#include "sorus/ir/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sorus {
namespace {

constexpr double kCharWidth = 6.7;
constexpr double kLineHeight = 15;
constexpr double kGap = 24;       // between boxes of a layer
constexpr double kLayerGap = 38;  // between layers
constexpr double kMargin = 16;
constexpr int kSweeps = 4;
constexpr size_t kMaxChars = 44;   // of a line in a box
constexpr size_t kMaxInside = 16;  // calls of a body that are told

enum class Kind { kCall, kInput, kConstant, kResult };

struct Box {
  Kind kind = Kind::kCall;
  std::vector<std::string> lines;
  std::string tip;
  std::vector<size_t> from;  ///< boxes above that it reads
  std::vector<size_t> to;    ///< boxes below that read it
  int layer = 0;
  double x = 0;  ///< centre
  double y = 0;  ///< top
  [[nodiscard]] double width() const {
    size_t longest = 4;
    for (const std::string& line : lines) longest = std::max(longest, line.size());
    return static_cast<double>(longest) * kCharWidth + 16;
  }
  [[nodiscard]] double height() const { return static_cast<double>(lines.size()) * kLineHeight + 8; }
};

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n')
      out += c;
  }
  return out;
}

std::string shortened(std::string text) {
  if (text.size() > kMaxChars) {
    text.resize(kMaxChars - 3);
    text += "...";
  }
  return text;
}

/// Boxes of a graph, their layers and places.
class Drawing {
 public:
  explicit Drawing(const Graph& graph)
      : graph_(graph), numbers_(graph.numbering()), maker_(graph.value_count(), kNone) {
    add_boxes();
    assign_layers();
    order_layers();
    place();
  }

  [[nodiscard]] std::string svg() const {
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
        "font-family=\"monospace\" font-size=\"11\">\n"
        "<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width_, height_, escaped(graph_.name));
    for (const Box& b : boxes_)
      for (size_t f : b.from) out += edge(boxes_[f], b);
    for (const Box& b : boxes_) out += box(b);
    return out + "</svg>\n";
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  void add_boxes() {
    for (ValueId v : graph_.inputs)
      add_leaf(v, {Kind::kInput, {named(v), graph_.type(v).text()}, "input", {}, {}});
    for (size_t v = 0; v < graph_.value_count(); ++v) {
      auto id = static_cast<ValueId>(v);
      if (graph_.is_constant(id))
        add_leaf(id, {Kind::kConstant, {named(id), graph_.type(id).text()}, "constant", {}, {}});
    }
    for (const Node& n : graph_.nodes) add_call(n);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      boxes_.push_back({Kind::kResult, {fmt::format("result {}", i)}, "result", {}, {}});
      connect(graph_.outputs[i]);
    }
  }
  [[nodiscard]] std::string named(ValueId v) const {
    return fmt::format("%{}", numbers_[static_cast<size_t>(v)]);
  }
  void add_leaf(ValueId v, Box box) {
    maker_[static_cast<size_t>(v)] = boxes_.size();
    boxes_.push_back(std::move(box));
  }
  void add_call(const Node& n) {
    Box b{Kind::kCall, {std::string(n.op->name)}, n.site.empty() ? std::string(n.op->name) : n.site, {}, {}};
    if (std::string attrs = n.attrs.text(); !attrs.empty()) b.lines.push_back(shortened(attrs));
    if (n.body) tell_body(*n.body, b);
    for (ValueId v : n.out) b.lines.push_back(named(v) + ": " + graph_.type(v).text());
    boxes_.push_back(std::move(b));
    for (ValueId v : n.in)
      if (v != kNoValue) connect(v);
    for (ValueId v : n.out) maker_[static_cast<size_t>(v)] = boxes_.size() - 1;
  }
  /// What a call computes: the calls of its body in the box, all of its text in the tip.
  static void tell_body(const Graph& body, Box& b) {
    const std::vector<ValueId> numbers = body.numbering();
    auto list = [&](const auto& values) {
      std::string all;
      for (ValueId v : values)
        all += fmt::format("{}{}", all.empty() ? "" : ", ",
                           v == kNoValue ? "none" : fmt::format("%{}", numbers[static_cast<size_t>(v)]));
      return all;
    };
    b.lines[0] += (body.engine.empty() ? " @" : " on " + body.engine + " @") + body.name;
    const size_t told = body.nodes.size() > kMaxInside ? kMaxInside - 1 : body.nodes.size();
    for (const Node& n : std::span(body.nodes).first(told))
      b.lines.push_back(shortened(fmt::format("{} = {}({})", list(n.out), n.op->name, list(n.in))));
    if (told < body.nodes.size()) b.lines.push_back(fmt::format("and {} more", body.nodes.size() - told));
    b.tip = body.text();
  }
  /// The newest box reads `v`.
  void connect(ValueId v) {
    size_t from = maker_[static_cast<size_t>(v)];
    Box& b = boxes_.back();
    if (from == kNone || std::find(b.from.begin(), b.from.end(), from) != b.from.end()) return;
    b.from.push_back(from);
    boxes_[from].to.push_back(boxes_.size() - 1);
  }

  /// Boxes come in topological order, so one pass finds the longest way to each.
  void assign_layers() {
    int last = 0;
    for (Box& b : boxes_) {
      for (size_t f : b.from) b.layer = std::max(b.layer, boxes_[f].layer + 1);
      last = std::max(last, b.layer);
    }
    for (Box& b : boxes_) {
      if (b.kind != Kind::kInput && b.kind != Kind::kConstant) continue;
      int first_use = last;
      for (size_t t : b.to) first_use = std::min(first_use, boxes_[t].layer);
      b.layer = std::max(0, first_use - 1);
    }
    layers_.resize(static_cast<size_t>(last) + 1);
    for (size_t i = 0; i < boxes_.size(); ++i) layers_[static_cast<size_t>(boxes_[i].layer)].push_back(i);
  }

  /// Fewer crossings: boxes go where the mean of their neighbours is, downwards and upwards in turn.
  void order_layers() {
    spread();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      bool down = sweep % 2 == 0;
      for (size_t k = 0; k < layers_.size(); ++k) {
        std::vector<size_t>& layer = layers_[down ? k : layers_.size() - 1 - k];
        std::vector<double> want(boxes_.size());
        for (size_t i : layer) want[i] = mean(down ? boxes_[i].from : boxes_[i].to, boxes_[i].x);
        std::stable_sort(layer.begin(), layer.end(), [&](size_t a, size_t b) { return want[a] < want[b]; });
        spread(layer);
      }
    }
  }
  [[nodiscard]] double mean(const std::vector<size_t>& of, double otherwise) const {
    if (of.empty()) return otherwise;
    double sum =
        std::accumulate(of.begin(), of.end(), 0.0, [&](double s, size_t i) { return s + boxes_[i].x; });
    return sum / static_cast<double>(of.size());
  }
  void spread() {
    for (std::vector<size_t>& layer : layers_) spread(layer);
  }
  /// Side by side, centred on zero.
  void spread(const std::vector<size_t>& layer) {
    double total = -kGap;
    for (size_t i : layer) total += boxes_[i].width() + kGap;
    double at = -total / 2;
    for (size_t i : layer) {
      boxes_[i].x = at + boxes_[i].width() / 2;
      at += boxes_[i].width() + kGap;
    }
  }

  void place() {
    double left = 0;
    double right = 0;
    double y = kMargin;
    for (const std::vector<size_t>& layer : layers_) {
      double tallest = 0;
      for (size_t i : layer) {
        Box& b = boxes_[i];
        b.y = y;
        tallest = std::max(tallest, b.height());
        left = std::min(left, b.x - b.width() / 2);
        right = std::max(right, b.x + b.width() / 2);
      }
      y += tallest + kLayerGap;
    }
    for (Box& b : boxes_) b.x += kMargin - left;
    width_ = right - left + 2 * kMargin;
    height_ = y - kLayerGap + kMargin;
  }

  static std::string edge(const Box& from, const Box& to) {
    double y0 = from.y + from.height();
    double bend = (to.y - y0) / 2;
    return fmt::format(
        "<path d=\"M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" fill=\"none\" "
        "stroke=\"#8a94a6\"/>\n",
        from.x, y0, from.x, y0 + bend, to.x, to.y - bend, to.x, to.y);
  }
  static std::string box(const Box& b) {
    static constexpr const char* kFill[] = {"#e8f0fe", "#e6f4ea", "#fef7e0", "#fce8e6"};
    std::string out = fmt::format(
        "<g class=\"{}\"><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"4\" fill=\"{}\" stroke=\"#5f6b7a\"/>",
        b.kind == Kind::kCall ? "call" : "end", escaped(b.tip), b.x - b.width() / 2, b.y, b.width(),
        b.height(), kFill[static_cast<size_t>(b.kind)]);
    for (size_t i = 0; i < b.lines.size(); ++i)
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\"{}>{}</text>", b.x,
                         b.y + 15 + kLineHeight * static_cast<double>(i),
                         i == 0 && b.kind == Kind::kCall ? " font-weight=\"bold\"" : "", escaped(b.lines[i]));
    return out + "</g>\n";
  }

  const Graph& graph_;
  std::vector<ValueId> numbers_;
  std::vector<size_t> maker_;  ///< by value: the box that makes it
  std::vector<Box> boxes_;     ///< in topological order
  std::vector<std::vector<size_t>> layers_;
  double width_ = 0;
  double height_ = 0;
};

}  // namespace

std::string svg_picture(const Graph& graph) { return Drawing(graph).svg(); }

}  // namespace sorus
