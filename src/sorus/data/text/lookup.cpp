#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "sorus/data/text/detail/rows.h"

namespace sorus::data::text {
namespace {

class Lookup final : public Operation {
 public:
  Lookup(VocabPtr vocab, const std::optional<std::string>& unknown, DType dtype)
      : vocab_(std::move(vocab)), dtype_(dtype) {
    SORUS_CHECK(vocab_ != nullptr, ValueError, "Lookup: vocab is missing: need a vocabulary");
    if (!unknown) return;
    unknown_ = vocab_->id(*unknown);
    SORUS_CHECK(unknown_ != Vocab::kMissing, ValueError,
                "Lookup: unknown_token is not in the vocabulary: got '{}', need one of its {} tokens",
                *unknown, vocab_->size());
  }
  std::string name() const override { return "Lookup"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                            std::exception_ptr& error) const override {
    Column ids = detail::map_strings<int32_t>(name(), columns, DType::kInt32, error,
                                              [this](const std::string& token) { return id(token); });
    if (dtype_ == DType::kInt32) return {ids};
    return {run_transforms({type_cast(dtype_)}, ids, std::span(&context, 1))};
  }

 private:
  int32_t id(const std::string& token) const {
    const int32_t found = vocab_->id(token);
    if (found != Vocab::kMissing) return found;
    SORUS_CHECK(
        unknown_ != Vocab::kMissing, ValueError,
        "Lookup: a token is not in the vocabulary: got '{}', need one of its {} tokens, or unknown_token",
        token, vocab_->size());
    return unknown_;
  }
  VocabPtr vocab_;
  int32_t unknown_ = Vocab::kMissing;
  DType dtype_;
};

/// Numbers at the beginning of strings, as strtoll and strtof read them whatever the locale.
namespace numbers {

struct Parts {
  std::string_view digits;  ///< behind white space and sign
  bool negative = false;
};

Parts parts_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  Parts parts;
  parts.negative = text.starts_with('-');
  if (parts.negative || text.starts_with('+')) text.remove_prefix(1);
  // from_chars would take another sign.
  parts.digits = text.starts_with('-') ? std::string_view() : text;
  return parts;
}

[[noreturn]] void refuse(const std::string& text, DType dtype, bool out_of_range) {
  if (out_of_range)
    raise<ValueError>("ToNumber: a number is out of range: got '{}', need one of {}", text,
                      dtype_name(dtype));
  raise<ValueError>("ToNumber: a string is no number: got '{}', need one of {}", text, dtype_name(dtype));
}

template <class T>
T integer(const std::string& text, DType dtype) {
  const Parts parts = parts_of(text);
  uint64_t magnitude = 0;
  const char* end = parts.digits.data() + parts.digits.size();
  auto [stop, failure] = std::from_chars(parts.digits.data(), end, magnitude);
  if (failure == std::errc::invalid_argument) refuse(text, dtype, false);
  uint64_t limit = static_cast<uint64_t>(std::numeric_limits<T>::max());
  if (parts.negative) limit = std::is_signed_v<T> ? limit + 1 : 0;
  const bool signed_zero = parts.negative && !std::is_signed_v<T>;
  if (failure == std::errc::result_out_of_range || magnitude > limit || signed_zero)
    refuse(text, dtype, true);
  return static_cast<T>(parts.negative ? ~magnitude + 1 : magnitude);
}

template <class T>
T floating(const std::string& text, DType dtype) {
  Parts parts = parts_of(text);
  auto format = std::chars_format::general;
  const bool hex = parts.digits.size() > 2 && parts.digits[0] == '0' && (parts.digits[1] | 0x20) == 'x' &&
                   std::isxdigit(static_cast<unsigned char>(parts.digits[2])) != 0;
  if (hex) {
    format = std::chars_format::hex;
    parts.digits.remove_prefix(2);
  }
  T value = 0;
  auto [stop, failure] =
      std::from_chars(parts.digits.data(), parts.digits.data() + parts.digits.size(), value, format);
  if (failure == std::errc::invalid_argument) refuse(text, dtype, false);
  if (failure == std::errc::result_out_of_range || std::isinf(value)) refuse(text, dtype, true);
  return parts.negative ? -value : value;
}

template <class T>
T half(const std::string& text, DType dtype) {
  const auto number = static_cast<T>(floating<float>(text, dtype));
  if (std::isinf(static_cast<float>(number))) refuse(text, dtype, true);
  return number;
}

}  // namespace numbers

class ToNumber final : public Operation {
 public:
  explicit ToNumber(DType dtype) : dtype_(dtype) {
    SORUS_CHECK(dtype != DType::kBool && (is_integer(dtype) || is_floating(dtype)), TypeError,
                "ToNumber: data_type is no type of numbers: got {}, need integers or floats",
                dtype_name(dtype));
  }
  std::string name() const override { return "ToNumber"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr& error) const override {
    Column out;
    visit_dtype(dtype_, [&]<class T>(std::type_identity<T>) {
      out = detail::map_strings<T>(name(), columns, dtype_, error, [this](const std::string& text) -> T {
        if constexpr (std::is_integral_v<T>)
          return numbers::integer<T>(text, dtype_);
        else if constexpr (std::is_floating_point_v<T>)
          return numbers::floating<T>(text, dtype_);
        else if constexpr (sizeof(T) == 2)
          return numbers::half<T>(text, dtype_);
        else
          raise<InternalError>("ToNumber: type {} was not refused", dtype_name(dtype_));
      });
    });
    return {out};
  }

 private:
  DType dtype_;
};

class ToVectors final : public Operation {
 public:
  ToVectors(std::shared_ptr<const Vectors> vectors, std::vector<float> unknown, bool lower_case_backup)
      : vectors_(std::move(vectors)), unknown_(std::move(unknown)), lower_case_backup_(lower_case_backup) {
    SORUS_CHECK(vectors_ != nullptr, ValueError, "ToVectors: vectors are missing: need a table of vectors");
    SORUS_CHECK(unknown_.empty() || std::ssize(unknown_) == vectors_->dim(), ValueError,
                "ToVectors: unk_init has the wrong length: got {}, need {} as the vectors have",
                unknown_.size(), vectors_->dim());
    unknown_.resize(static_cast<size_t>(vectors_->dim()));
  }
  std::string name() const override { return "ToVectors"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr& error) const override {
    detail::check_columns(name(), columns, 1);
    detail::StringRows rows(name(), columns.front(), 0, kMaxRank);
    error = rows.error();
    const int64_t dim = vectors_->dim();
    Ref<Storage> store = Storage::allocate(static_cast<size_t>(rows.total() * dim) * sizeof(float));
    auto* values = reinterpret_cast<float*>(store->data());
    const int64_t done = detail::run_rows(rows.rows(), error, [&](int64_t row) {
      float* to = values + rows.begin(row) * dim;
      for (const std::string& token : rows.items(row)) {
        fill(token, {to, static_cast<size_t>(dim)});
        to += dim;
      }
    });
    std::vector<Shape> shapes;
    for (int64_t row = 0; row < done; ++row) {
      const int64_t count = std::ssize(rows.items(row));
      shapes.push_back(count == 1 ? Shape{dim} : Shape{count, dim});
    }
    return {detail::numbers_of_rows(DType::kFloat32, std::move(store), shapes)};
  }

 private:
  void fill(const std::string& token, std::span<float> to) const {
    if (vectors_->find(lower_case_backup_ ? lowered(token) : token, to)) return;
    std::copy(unknown_.begin(), unknown_.end(), to.begin());
  }
  static std::string lowered(std::string token) {
    for (char& c : token)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return token;
  }
  std::shared_ptr<const Vectors> vectors_;
  std::vector<float> unknown_;
  bool lower_case_backup_;
};

}  // namespace

OperationPtr lookup(VocabPtr vocab, const std::optional<std::string>& unknown, DType dtype) {
  return std::make_shared<Lookup>(std::move(vocab), unknown, dtype);
}
OperationPtr to_number(DType dtype) { return std::make_shared<ToNumber>(dtype); }
OperationPtr to_vectors(std::shared_ptr<const Vectors> vectors, std::vector<float> unknown,
                        bool lower_case_backup) {
  return std::make_shared<ToVectors>(std::move(vectors), std::move(unknown), lower_case_backup);
}

}  // namespace sorus::data::text
