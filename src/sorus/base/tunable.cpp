#include "sorus/base/tunable.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "sorus/base/error.h"

namespace sorus {

std::atomic<int32_t> detail::tuning_uses{1};

namespace {

/// Filled while libraries load, on one thread.
using Table = std::map<std::string_view, const Tunable*>;
Table& table() {
  static auto& instance = *new Table;
  return instance;
}

thread_local const TuningScope* current_scope = nullptr;
thread_local const TuningOverride* current_override = nullptr;
thread_local TunableTrace* current_trace = nullptr;

void begin_use() { detail::tuning_uses.fetch_add(1, std::memory_order_relaxed); }
void end_use() { detail::tuning_uses.fetch_sub(1, std::memory_order_relaxed); }

bool comes_before(const std::pair<const Tunable*, int64_t>& item, std::string_view name) {
  return item.first->spec().name < name;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view tuned_part_name(TunedPart part) {
  switch (part) {
    case TunedPart::kCall:
      return "call";
    case TunedPart::kRegion:
      return "region";
    case TunedPart::kProgram:
      break;
  }
  return "program";
}

Tunable::Tunable(const TunableSpec& spec) : initial_(spec.initial), spec_(spec) {
  SORUS_INTERNAL(spec.least > 0 && is_value(spec.initial) && is_value(spec.most),
                 "tunable {}: default {} or most {} is no doubling of {}", spec.name, spec.initial, spec.most,
                 spec.least);
  const bool is_new = table().emplace(spec_.name, this).second;
  SORUS_INTERNAL(is_new, "tunable {} is declared twice", spec.name);
}

Tunable::~Tunable() { table().erase(spec_.name); }

bool Tunable::is_value(int64_t v) const {
  for (int64_t known = spec_.least;; known *= 2) {
    if (known == v) return true;
    if (known > spec_.most / 2) return false;
  }
}

std::vector<int64_t> Tunable::values() const {
  std::vector<int64_t> all;
  for (int64_t v = spec_.least;; v *= 2) {
    all.push_back(v);
    if (v > spec_.most / 2) return all;
  }
}

int64_t Tunable::scoped() const {
  for (TunableTrace* trace = current_trace; trace; trace = trace->around_) trace->read_.insert(this);
  for (const TuningScope* scope = current_scope; scope; scope = scope->around_)
    if (const int64_t* value = scope->values_ ? scope->values_->find(*this) : nullptr) return *value;
  return initial_;
}

std::vector<const Tunable*> all_tunables() {
  std::vector<const Tunable*> all;
  for (const auto& [name, parameter] : table()) all.push_back(parameter);
  return all;
}

const Tunable* find_tunable(std::string_view name) {
  const auto at = table().find(name);
  return at == table().end() ? nullptr : at->second;
}

void TunedValues::set(const Tunable& parameter, int64_t value) {
  const TunableSpec& spec = parameter.spec();
  SORUS_CHECK(parameter.is_value(value), ValueError,
              "tuning: {} does not take the value: got {}, need {} doubled up to {}", spec.name, value,
              spec.least, spec.most);
  const auto at = std::lower_bound(items_.begin(), items_.end(), spec.name, comes_before);
  if (at != items_.end() && at->first == &parameter)
    at->second = value;
  else
    items_.insert(at, {&parameter, value});
}

const int64_t* TunedValues::find(const Tunable& parameter) const {
  for (const auto& [known, value] : items_)
    if (known == &parameter) return &value;
  return nullptr;
}

std::string TunedValues::text() const {
  std::string text;
  for (const auto& [parameter, value] : items_)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", parameter->spec().name, value);
  return text;
}

TunedValues TunedValues::parse(std::string_view text) {
  TunedValues values;
  while (!trimmed(text).empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view item = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = std::min(item.find('='), item.size());
    const Tunable* parameter = find_tunable(trimmed(item.substr(0, equals)));
    const std::string_view digits = trimmed(item.substr(std::min(equals + 1, item.size())));
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    SORUS_CHECK(parameter && error == std::errc{} && stop == digits.data() + digits.size(), ValueError,
                "tuning: text is no value of a parameter: got '{}', need its name, = and a number", item);
    values.set(*parameter, value);
  }
  return values;
}

TuningScope::TuningScope(const TunedValues* values, Nesting nesting)
    : values_(values),
      around_(nesting == Nesting::kInside ? current_scope : nullptr),
      before_(current_scope) {
  current_scope = this;
  if (values_) begin_use();  // what was bound may outlive the records it was bound with
}
TuningScope::~TuningScope() {
  current_scope = before_;
  if (values_) end_use();
}
const TuningScope* TuningScope::current() { return current_scope; }
const TuningScope* TuningScope::exchange(const TuningScope* scope) {
  return std::exchange(current_scope, scope);
}

TuningOverride::TuningOverride(TunedValues values) : values_(std::move(values)), around_(current_override) {
  current_override = this;
  begin_use();
}
TuningOverride::~TuningOverride() {
  current_override = around_;
  end_use();
}

TunedRef TuningOverride::over(TunedRef found, TunedPart part) {
  std::vector<const TuningOverride*> outermost_last;
  for (const TuningOverride* o = current_override; o; o = o->around_) outermost_last.push_back(o);
  if (outermost_last.empty()) return found;
  auto values = found ? std::make_shared<TunedValues>(*found) : std::make_shared<TunedValues>();
  for (size_t i = outermost_last.size(); i-- > 0;)
    for (const auto& [parameter, value] : outermost_last[i]->values_.items())
      if (parameter->spec().part == part) values->set(*parameter, value);
  if (values->empty()) return nullptr;
  return values;
}

TunableTrace::TunableTrace() : around_(current_trace) {
  current_trace = this;
  begin_use();
}
TunableTrace::~TunableTrace() {
  current_trace = around_;
  end_use();
}

}  // namespace sorus
