#include "sorus/data/sources/detail/xml.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sorus/base/error.h"

namespace sorus::data::detail {
namespace {

class XmlParser {
 public:
  XmlParser(const char* source, const std::string& path, std::string_view text)
      : source_(source), path_(path), text_(text) {}

  XmlNode root() {
    skip_between();
    XmlNode node = element(0);
    skip_between();
    if (at_ != text_.size()) fail("one root element");
    return node;
  }

 private:
  [[noreturn]] void fail(const char* need) const {
    raise<IOError>("{}: file '{}' is no XML at byte {}: need {}", source_, path_, at_, need);
  }
  [[nodiscard]] bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  /// Moves behind the next `end`.
  void skip_to(std::string_view end) {
    const size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) fail("markup that ends");
    at_ = found + end.size();
  }
  bool skip_markup() {
    if (starts("<!--"))
      skip_to("-->");
    else if (starts("<?"))
      skip_to("?>");
    else if (starts("<!"))
      skip_to(">");
    else
      return false;
    return true;
  }
  void skip_between() {
    if (starts("\xef\xbb\xbf")) at_ += 3;
    do at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    while (skip_markup());
  }
  std::string name() {
    const size_t end = std::min(text_.find_first_of(" \t\r\n/>", at_), text_.size());
    if (end == at_) fail("a name");
    std::string out(text_.substr(at_, end - at_));
    at_ = end;
    return out;
  }
  char entity() {
    constexpr std::array<std::pair<std::string_view, char>, 5> kKnown{
        {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}};
    for (auto [written, meant] : kKnown)
      if (starts(written)) {
        at_ += written.size();
        return meant;
      }
    fail("an entity that is known");
  }
  XmlNode element(int depth) {
    constexpr int kDeepest = 64;
    if (depth > kDeepest) fail("elements at most 64 deep");
    if (!starts("<")) fail("an element");
    ++at_;
    XmlNode node{name(), {}, {}};
    skip_to(">");
    if (text_[at_ - 2] == '/') return node;
    while (!starts("</")) {
      if (at_ >= text_.size()) fail("elements that end");
      if (text_[at_] == '&')
        node.text += entity();
      else if (text_[at_] != '<')
        node.text += text_[at_++];
      else if (!skip_markup())
        node.children.push_back(element(depth + 1));
    }
    at_ += 2;
    if (name() != node.name) fail("the end of the element that is open");
    skip_to(">");
    return node;
  }

  const char* source_;
  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

XmlNode parse_xml(const char* source, const std::string& path, std::string_view text) {
  return XmlParser(source, path, text).root();
}

}  // namespace sorus::data::detail
