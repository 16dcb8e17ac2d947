#include "sorus/dispatch/attributes.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "sorus/dispatch/body.h"

namespace sorus {
namespace {

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\' || c == '\n') out += '\\';
    out += c == '\n' ? 'n' : c;
  }
  return out + "\"";
}

std::string value_text(const AttrValue& value) {
  struct {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return fmt::format("{:a}", d); }
    std::string operator()(const std::string& s) const { return quoted(s); }
    std::string operator()(const Ints& i) const { return i.text(); }
    std::string operator()(DType t) const { return std::string(dtype_name(t)); }
    std::string operator()(const BodyRef& b) const { return b ? quoted(b->text()) : "none"; }
  } text;
  return std::visit(text, value);
}

/// Reads attribute text from the front of a view.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), whole_(text) {}
  [[nodiscard]] bool done() {
    skip_blanks();
    return text_.empty();
  }
  bool take(char c) {
    skip_blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}'", c));
  }
  std::string_view word() {
    skip_blanks();
    size_t n = 0;
    while (n < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[n])) ||
                                std::string_view("_.+-").find(text_[n]) != std::string_view::npos))
      ++n;
    if (n == 0) fail("a word");
    std::string_view w = text_.substr(0, n);
    text_.remove_prefix(n);
    return w;
  }
  int64_t integer() {
    std::string_view w = word();
    int64_t v = 0;
    auto [end, error] = std::from_chars(w.data(), w.data() + w.size(), v);
    if (error != std::errc{} || end != w.data() + w.size()) fail("an integer");
    return v;
  }
  double number() {
    std::string w(word());
    char* end = nullptr;
    double v = std::strtod(w.c_str(), &end);
    if (end != w.c_str() + w.size()) fail("a number");
    return v;
  }
  std::string string() {
    expect('"');
    std::string out;
    while (!text_.empty() && text_.front() != '"') {
      const bool escaped = text_.front() == '\\';
      if (escaped) text_.remove_prefix(1);
      if (text_.empty()) break;
      out += escaped && text_.front() == 'n' ? '\n' : text_.front();
      text_.remove_prefix(1);
    }
    expect('"');
    return out;
  }
  Ints ints() {
    Ints out;
    expect('(');
    while (!take(')')) {
      out.push_back(integer());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }
  [[noreturn]] void fail(std::string_view need) {
    raise<ValueError>("attributes: text is malformed at byte {}: got '{}', need {}",
                      whole_.size() - text_.size(), whole_, need);
  }

 private:
  void skip_blanks() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  std::string_view text_;
  std::string_view whole_;
};

AttrValue read_value(Reader& in, AttrKind kind) {
  switch (kind) {
    case AttrKind::kBool: {
      std::string_view w = in.word();
      if (w != "true" && w != "false") in.fail("true or false");
      return w == "true";
    }
    case AttrKind::kInt:
      return in.integer();
    case AttrKind::kFloat:
      return in.number();
    case AttrKind::kString:
      return in.string();
    case AttrKind::kInts:
      return in.ints();
    case AttrKind::kBody:
      return parse_body(in.string());
    case AttrKind::kDType:
      break;
  }
  return dtype_from_name(in.word());
}

}  // namespace

namespace detail {

void refuse_attr(std::string_view name, const AttrValue& got, std::string_view need) {
  raise<TypeError>("attribute {}: wrong type: got {}, need {}", name, value_text(got), need);
}

bool equal_bodies(const BodyRef& a, const BodyRef& b) {
  return a == b || (a && b && a->hash() == b->hash() && a->text() == b->text());
}

uint64_t attr_hash(const AttrValue& value) {
  struct {
    uint64_t operator()(std::monostate) const { return 1; }
    uint64_t operator()(bool b) const { return b ? 3 : 2; }
    uint64_t operator()(int64_t i) const { return static_cast<uint64_t>(i); }
    uint64_t operator()(double d) const { return std::bit_cast<uint64_t>(d); }
    uint64_t operator()(const std::string& s) const { return hash_bytes(s); }
    uint64_t operator()(const Ints& v) const {
      uint64_t h = static_cast<uint64_t>(v.size());
      for (int64_t i : v) h = hash_combine(h, static_cast<uint64_t>(i));
      return h;
    }
    uint64_t operator()(DType t) const { return static_cast<uint64_t>(t); }
    uint64_t operator()(const BodyRef& b) const { return b ? b->hash() : 0; }
  } hash;
  return std::visit(hash, value);
}

}  // namespace detail

uint64_t AttrsDef::hash(const void* attrs) const {
  uint64_t h = fields.size();
  for (const FieldInfo& f : fields) h = hash_combine(h, detail::attr_hash(f.get(attrs)));
  return h;
}

std::string AttrsDef::text(const void* attrs) const {
  std::string out;
  for (const FieldInfo& f : fields) {
    if (!out.empty()) out += ", ";
    out += std::string(f.name) + "=" + value_text(f.get(attrs));
  }
  return out;
}

void AttrsDef::parse(std::string_view text, void* attrs) const {
  Reader in(text);
  while (!in.done()) {
    std::string_view name = in.word();
    const FieldInfo* f = find(name);
    if (!f) in.fail(fmt::format("the name of an attribute, not '{}'", name));
    in.expect('=');
    f->set(attrs, read_value(in, f->kind));
    if (!in.done()) in.expect(',');
  }
}

const FieldInfo* AttrsDef::find(std::string_view name) const {
  for (const FieldInfo& f : fields)
    if (f.name == name) return &f;
  return nullptr;
}

AttrsBox::AttrsBox(AttrsRef attrs) : def_(attrs.def) {
  void* copy = ::operator new(std::max<size_t>(def_->size, 1));
  def_->copy(copy, attrs.data);
  data_ = std::shared_ptr<const void>(copy, [def = def_](const void* p) {
    def->destroy(const_cast<void*>(p));
    ::operator delete(const_cast<void*>(p));
  });
}

}  // namespace sorus
