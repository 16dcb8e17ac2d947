#include "sorus/core/promotion.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace sorus {
namespace {

constexpr const char* kArithmetic[] = {"add", "sub", "mul", "floor_div", "mod", "pow"};
constexpr const char* kComparisons[] = {"less",          "less_equal", "greater",
                                        "greater_equal", "equal",      "not_equal"};
constexpr const char* kNoCommonType = "TypeError:promotion";
constexpr const char* kNoKernel = "TypeError:kernel";  // says nothing about promotion

/// The answers of the genuine MindSpore wheel, as bench/peers/record_promotion.py recorded them.
class Promotion : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(SORUS_SOURCE_DIR "/tests/fixtures/mindspore/promotion.json");
    ASSERT_TRUE(file);
    record_ = nlohmann::json::parse(file);
    ASSERT_EQ(record_["dtypes"].size(), static_cast<size_t>(kDTypeCount));
  }

  /// Calls check(row's dtype, column, recorded word) for all that the wheel could answer.
  template <class Check>
  void for_each_word(const std::string& table, const std::string& operation, const Check& check) {
    int seen = 0;
    for (const auto& [dtype, row] : record_.at(table).at(operation).items()) {
      std::istringstream text(row.template get<std::string>());
      const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
      for (size_t column = 0; column < words.size(); ++column) {
        if (words[column] == kNoKernel) continue;
        SCOPED_TRACE(table + " " + operation + " " + dtype + ", column " + std::to_string(column));
        check(dtype_from_name(dtype), column, words[column]);
        ++seen;
      }
    }
    EXPECT_GT(seen, kDTypeCount);
  }

  nlohmann::json record_;
};

/// The word that the record would have for a rule's answer. `result` maps the common dtype to the operator's.
template <class Rule, class Result>
std::string word(const Rule& common, const Result& result) {
  try {
    return std::string(dtype_name(result(common())));
  } catch (const DTypeError&) {
    return kNoCommonType;
  }
}

DType same(DType common) { return common; }
DType quotient(DType common) { return is_floating(common) ? common : DType::kFloat32; }
DType comparison(DType) { return DType::kBool; }

TEST_F(Promotion, TensorsOfAnyRankFollowTheRecord) {
  for (const char* table : {"tensor_tensor", "tensor_0d", "0d_tensor", "0d_0d"}) {
    const auto check = [&](auto result) {
      return [&, result](DType row, size_t column, const std::string& recorded) {
        const DType other = dtype_from_name(record_["dtypes"][column].get<std::string>());
        if (recorded == kNoCommonType) return;  // where the wheel refuses, the rule is our own
        EXPECT_EQ(word([&] { return promote(row, other); }, result), recorded);
      };
    };
    for (const char* operation : kArithmetic) for_each_word(table, operation, check(same));
    for (const char* operation : kComparisons) for_each_word(table, operation, check(comparison));
    for_each_word(table, "div", check(quotient));
  }
}

TEST_F(Promotion, NumbersFollowTheRecord) {
  constexpr ScalarKind kKinds[] = {ScalarKind::kBool, ScalarKind::kInt, ScalarKind::kInt, ScalarKind::kFloat};
  ASSERT_EQ(record_["scalars"], (std::vector<std::string>{"bool", "int", "int_beyond_int32", "float"}));
  for (const char* table : {"tensor_scalar", "scalar_tensor"}) {
    const auto check = [&](auto result) {
      return [&, result](DType tensor, size_t column, const std::string& recorded) {
        if (recorded == kNoCommonType) return;
        EXPECT_EQ(word([&] { return promote_scalar(tensor, kKinds[column]); }, result), recorded);
      };
    };
    for (const char* operation : kArithmetic) for_each_word(table, operation, check(same));
    for (const char* operation : kComparisons) for_each_word(table, operation, check(comparison));
    for_each_word(table, "div", check(quotient));
  }
}

TEST(PromotionRule, IsSymmetricAndIdempotent) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto a = static_cast<DType>(i);
    EXPECT_EQ(promote(a, a), a);
    EXPECT_EQ(promote(DType::kBool, a), a);
    for (int j = 0; j < kDTypeCount; ++j) {
      const auto b = static_cast<DType>(j);
      EXPECT_EQ(word([&] { return promote(a, b); }, same), word([&] { return promote(b, a); }, same));
    }
  }
}

// Where the wheel has no common dtype, an unsigned integer meets another in the one that holds both.
TEST_F(Promotion, UnsignedIntegersFollowNumpyWhereTheWheelRefuses) {
  constexpr DType kUnsigned[] = {DType::kUInt16, DType::kUInt32, DType::kUInt64};
  constexpr DType kFloats[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64};
  EXPECT_EQ(promote(DType::kUInt16, DType::kInt8), DType::kInt32);
  EXPECT_EQ(promote(DType::kUInt16, DType::kInt64), DType::kInt64);
  EXPECT_EQ(promote(DType::kUInt32, DType::kInt32), DType::kInt64);
  EXPECT_EQ(promote(DType::kUInt8, DType::kUInt32), DType::kUInt32);
  EXPECT_EQ(promote(DType::kUInt64, DType::kUInt16), DType::kUInt64);
  for (DType u : kUnsigned) {
    for (DType f : kFloats) EXPECT_EQ(promote(u, f), f);
    EXPECT_EQ(promote_scalar(u, ScalarKind::kInt), u);
    EXPECT_EQ(promote_scalar(u, ScalarKind::kFloat), DType::kFloat32);
  }
}

TEST(PromotionRule, ErrorsNameBothSides) {
  const auto text_of = [](const auto& rule) {
    try {
      rule();
    } catch (const DTypeError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(text_of([] { (void)promote(DType::kInt8, DType::kUInt64); }),
            "promote: no common dtype: got int8 and uint64, need a cast of one of them");
}

}  // namespace
}  // namespace sorus
