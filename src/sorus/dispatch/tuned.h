#pragma once

#include <span>
#include <vector>

#include "sorus/base/digest.h"
#include "sorus/base/tunable.h"
#include "sorus/dispatch/kernel.h"

/// Tuned values by what they belong to: where a call, a region or a graph is planned, its values are looked
/// up here. Nobody looks as long as tuning_in_use() is false.
namespace sorus {

/// Values for one call, region or graph.
struct TunedRecord {
  TunedPart part = TunedPart::kCall;
  Digest::Words key{};
  TunedRef values;
};

/// Replaces all records of the process. What was planned before stays as it is.
SORUS_API void set_tuned_records(std::span<const TunedRecord> records);

/// Called once, while the library loads, by whoever knows where records are kept: `load` is called when they
/// are first needed, unless set_tuned_records() came before.
SORUS_API void set_tuning_loader(void (*load)());

/// The beginning of a key: what decides beside the thing itself, which are the part, numerics and the number
/// of threads.
[[nodiscard]] SORUS_API Digest tuning_digest(TunedPart part);
/// The key of a call for this thread's numerics: its op, attributes, and types of operands.
[[nodiscard]] SORUS_API Digest::Words tuned_call_key(const OpDef& op, AttrsRef attrs,
                                                     std::span<const Array> in);

/// The values for a call, null where all have their defaults. Of the settings of the environment
/// (SORUS_TUNING="name=value, ..."), and of this thread's overrides, those that belong to the part go first.
[[nodiscard]] SORUS_API TunedRef tuned_for_call(const OpDef& op, AttrsRef attrs, std::span<const Array> in);
/// The values of a call in use on this thread while it lives.
struct TunedCall {
  TunedRef values;
  TuningScope scope;
  explicit TunedCall(TunedRef found, TuningScope::Nesting nesting = TuningScope::Nesting::kAlone)
      : values(std::move(found)), scope(values.get(), nesting) {}
};

/// The same for another thing; `key` is called only where there are records of the part.
template <class Key>
[[nodiscard]] TunedRef tuned_for(TunedPart part, Key&& key);

namespace detail {
[[nodiscard]] SORUS_API bool has_tuned_records(TunedPart part);
[[nodiscard]] SORUS_API TunedRef find_tuned(TunedPart part, const Digest::Words* key);
}  // namespace detail

template <class Key>
TunedRef tuned_for(TunedPart part, Key&& key) {
  if (!detail::has_tuned_records(part)) return detail::find_tuned(part, nullptr);
  const Digest::Words words = key();
  return detail::find_tuned(part, &words);
}

}  // namespace sorus
