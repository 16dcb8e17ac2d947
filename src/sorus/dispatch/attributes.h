#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "sorus/base/hash.h"
#include "sorus/core/dtype.h"
#include "sorus/core/shape.h"

/// Reflection over attribute structs. An op's attributes are one plain struct with a static `fields()`;
/// equality, hash, text, serialization and keyword arguments all walk it. Nothing else knows how a struct
/// looks.
namespace sorus {

class FunctionBody;
/// A function of tensors as an attribute: dispatch/body.h. Never null in a call.
using BodyRef = std::shared_ptr<const FunctionBody>;

/// The value of one attribute when its type is not known at compile time. Enums travel as their int64.
using AttrValue = std::variant<std::monostate, bool, int64_t, double, std::string, Ints, DType, BodyRef>;

enum class AttrKind : uint8_t { kBool, kInt, kFloat, kString, kInts, kDType, kBody };

namespace detail {

template <class M>
constexpr AttrKind attr_kind() {
  if constexpr (std::is_same_v<M, bool>)
    return AttrKind::kBool;
  else if constexpr (std::is_same_v<M, DType>)
    return AttrKind::kDType;
  else if constexpr (std::is_same_v<M, Ints>)
    return AttrKind::kInts;
  else if constexpr (std::is_same_v<M, std::string>)
    return AttrKind::kString;
  else if constexpr (std::is_same_v<M, double>)
    return AttrKind::kFloat;
  else if constexpr (std::is_same_v<M, BodyRef>)
    return AttrKind::kBody;
  else {
    static_assert(std::is_same_v<M, int64_t> || std::is_same_v<M, int> || std::is_enum_v<M>,
                  "attribute of an unknown type");
    return AttrKind::kInt;
  }
}

template <class M>
AttrValue attr_get(const M& m) {
  if constexpr (attr_kind<M>() == AttrKind::kInt)
    return static_cast<int64_t>(m);
  else
    return m;
}
SORUS_API void refuse_attr(std::string_view name, const AttrValue& got, std::string_view need);
template <class M>
void attr_set(std::string_view name, M& m, const AttrValue& value) {
  if constexpr (attr_kind<M>() == AttrKind::kInt) {
    if (auto* i = std::get_if<int64_t>(&value))
      m = static_cast<M>(*i);
    else
      refuse_attr(name, value, "an integer");
  } else if constexpr (std::is_same_v<M, double>) {
    if (auto* d = std::get_if<double>(&value))
      m = *d;
    else if (auto* i = std::get_if<int64_t>(&value))
      m = static_cast<double>(*i);
    else
      refuse_attr(name, value, "a number");
  } else {
    if (auto* v = std::get_if<M>(&value))
      m = *v;
    else
      refuse_attr(name, value, "another type");
  }
}
[[nodiscard]] SORUS_API bool equal_bodies(const BodyRef& a, const BodyRef& b);
template <class M>
bool attr_equal(const M& a, const M& b) {
  if constexpr (std::is_same_v<M, double>)
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  else if constexpr (std::is_same_v<M, BodyRef>)
    return equal_bodies(a, b);
  else
    return a == b;
}
SORUS_API uint64_t attr_hash(const AttrValue& value);

}  // namespace detail

/// A named member of an attribute struct.
template <class A, class M>
struct Field {
  std::string_view name;
  M A::*member;
};
template <class A, class M>
constexpr Field<A, M> field(std::string_view name, M A::*member) {
  return {name, member};
}

/// One field as generic code sees it.
struct FieldInfo {
  std::string_view name;
  AttrKind kind;
  AttrValue (*get)(const void*);
  void (*set)(void*, const AttrValue&);
};

/// What generic code knows of an attribute struct. One object per struct type, found by attrs_def<A>().
struct AttrsDef {
  size_t size;
  std::vector<FieldInfo> fields;
  void (*construct)(void*);  ///< default values
  void (*copy)(void* to, const void* from);
  void (*destroy)(void*);
  bool (*equal)(const void*, const void*);  ///< floats by their bits

  [[nodiscard]] SORUS_API uint64_t hash(const void* attrs) const;
  /// "axis=-1, keepdims=true"; floats in hexadecimal, so that parsing gives back their bits.
  [[nodiscard]] SORUS_API std::string text(const void* attrs) const;
  /// The inverse of text(), over default values. Throws ValueError at the first thing it does not understand.
  SORUS_API void parse(std::string_view text, void* attrs) const;
  [[nodiscard]] SORUS_API const FieldInfo* find(std::string_view name) const;
};

/// For ops without attributes.
struct NoAttrs {
  static constexpr auto fields() { return std::tuple<>{}; }
};

template <class A>
const AttrsDef& attrs_def() {
  static const AttrsDef def = [] {
    AttrsDef d{.size = sizeof(A),
               .fields = {},
               .construct = [](void* p) { new (p) A(); },
               .copy = [](void* to, const void* from) { new (to) A(*static_cast<const A*>(from)); },
               .destroy = [](void* p) { static_cast<A*>(p)->~A(); },
               .equal =
                   [](const void* a, const void* b) {
                     return std::apply(
                         [&](auto... f) {
                           return (detail::attr_equal(static_cast<const A*>(a)->*(f.member),
                                                      static_cast<const A*>(b)->*(f.member)) &&
                                   ...);
                         },
                         A::fields());
                   }};
    [&]<size_t... kI>(std::index_sequence<kI...>) {
      (d.fields.push_back(FieldInfo{
           std::get<kI>(A::fields()).name,
           detail::attr_kind<
               std::remove_cvref_t<decltype(std::declval<A>().*(std::get<kI>(A::fields()).member))>>(),
           [](const void* p) {
             return detail::attr_get(static_cast<const A*>(p)->*(std::get<kI>(A::fields()).member));
           },
           [](void* p, const AttrValue& v) {
             constexpr auto f = std::get<kI>(A::fields());
             detail::attr_set(f.name, static_cast<A*>(p)->*(f.member), v);
           }}),
       ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(A::fields())>>{});
    return d;
  }();
  return def;
}

/// Attributes on their way through apply(): the caller's struct, not copied unless somebody keeps them.
struct AttrsRef {
  const AttrsDef* def;
  const void* data;
  template <class A>
  AttrsRef(const A& attrs) : def(&attrs_def<A>()), data(&attrs) {}  // NOLINT: any attribute struct is taken
  AttrsRef(const AttrsDef& d, const void* p) : def(&d), data(p) {}
  [[nodiscard]] bool equals(const AttrsRef& other) const {
    return def == other.def && def->equal(data, other.data);
  }
};

/// Attributes that somebody keeps: a copy, immutable, shared between copies of the box.
class AttrsBox {
 public:
  AttrsBox() : AttrsBox(AttrsRef(NoAttrs{})) {}
  SORUS_API explicit AttrsBox(AttrsRef attrs);
  [[nodiscard]] AttrsRef ref() const { return {*def_, data_.get()}; }
  template <class A>
  [[nodiscard]] const A& as() const {
    return *static_cast<const A*>(data_.get());
  }
  [[nodiscard]] std::string text() const { return def_->text(data_.get()); }
  [[nodiscard]] uint64_t hash() const { return def_->hash(data_.get()); }
  friend bool operator==(const AttrsBox& a, const AttrsBox& b) { return a.ref().equals(b.ref()); }

 private:
  const AttrsDef* def_;
  std::shared_ptr<const void> data_;
};

}  // namespace sorus
