#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sorus::data::detail {

/// An element of XML with the text right in it; attributes are left out.
struct XmlNode {
  std::string name;
  std::string text;
  std::vector<XmlNode> children;

  /// The first child of that name, or null.
  [[nodiscard]] const XmlNode* child(std::string_view wanted) const {
    for (const XmlNode& one : children)
      if (one.name == wanted) return &one;
    return nullptr;
  }
};

/// The root element. Throws IOError naming `source`, the file and the byte of what is wrong.
[[nodiscard]] XmlNode parse_xml(const char* source, const std::string& path, std::string_view text);

}  // namespace sorus::data::detail
