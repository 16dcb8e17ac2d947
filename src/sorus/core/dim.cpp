#include "sorus/core/dim.h"

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "sorus/base/fork_mutex.h"

namespace sorus {
namespace {

/// Interned expressions. An id is its index; ids are dense from INT64_MIN upwards.
struct Expressions {
  ForkMutex mutex;
  std::vector<std::string> texts;
  std::map<std::string, int64_t> by_name;
  std::map<std::tuple<char, int64_t, int64_t>, int64_t> by_operands;

  int64_t add(std::string text) {
    texts.push_back(std::move(text));
    return INT64_MIN + static_cast<int64_t>(texts.size()) - 1;
  }
};

Expressions& expressions() {
  static auto& table = *new Expressions;
  return table;
}

int64_t floor_div(int64_t a, int64_t b) {
  SORUS_CHECK(b != 0, ValueError, "dimension: division by zero: got {} / 0, need a divisor other than 0", a);
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

}  // namespace

Dim Dim::symbol(const std::string& name) {
  SORUS_CHECK(!name.empty(), ValueError, "dimension: symbol has no name: got '', need a name");
  Expressions& table = expressions();
  std::lock_guard lock(table.mutex);
  auto [at, fresh] = table.by_name.try_emplace(name, 0);
  if (fresh) at->second = table.add(name);
  return Dim(at->second);
}

Dim Dim::combine(char op, Dim a, Dim b) {
  if (both_counts(a, b)) return Dim(floor_div(a.raw_, b.raw_));
  if (op == '*' && (a == Dim(0) || b == Dim(0))) return Dim(0);
  if ((op == '+' || op == '-' || op == '/') && b == Dim(op == '/' ? 1 : 0)) return a;
  if (op == '+' && a == Dim(0)) return b;
  if (op == '*' && a == Dim(1)) return b;
  if (op == '*' && b == Dim(1)) return a;
  if (op == '-' && a == b) return Dim(0);
  if ((op == '+' || op == '*') && b.raw_ < a.raw_) std::swap(a, b);
  std::string text = "(" + a.text() + " " + op + " " + b.text() + ")";
  Expressions& table = expressions();
  std::lock_guard lock(table.mutex);
  auto [at, fresh] = table.by_operands.try_emplace({op, a.raw_, b.raw_}, 0);
  if (fresh) at->second = table.add(std::move(text));
  return Dim(at->second);
}

Dim Dim::checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  SORUS_CHECK(!__builtin_add_overflow(a, b, &sum), ValueError,
              "dimension: sum is too large: got {} + {}, need 64 bits", a, b);
  return Dim(sum);
}

Dim Dim::checked_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  SORUS_CHECK(!__builtin_mul_overflow(a, b, &product), ValueError,
              "dimension: product is too large: got {} * {}, need 64 bits", a, b);
  return Dim(product);
}

std::string Dim::text() const {
  if (!is_symbol()) return std::to_string(raw_);
  Expressions& table = expressions();
  std::lock_guard lock(table.mutex);
  auto id = static_cast<size_t>(raw_ - INT64_MIN);
  return id < table.texts.size() ? table.texts[id] : std::to_string(raw_);  // a number that is no count
}

void Dim::refuse_symbol() const {
  raise<ValueError>("dimension: a count is needed here: got the symbol {}, need a number", text());
}

}  // namespace sorus
