#include "sorus/dispatch/tuned.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "sorus/base/error.h"
#include "sorus/base/flags.h"
#include "sorus/base/fork_mutex.h"
#include "sorus/base/log.h"
#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/apply.h"

namespace sorus {
namespace {

constexpr size_t kParts = 3;

/// Immutable once it is shared.
struct Records {
  std::map<Digest::Words, TunedRef> by_part[kParts];
};

/// What the environment sets, for exact numerics and for relaxed ones.
struct Settings {
  TunedValues values[2][kParts];
  bool any = false;

  static const Settings& of_environment() {
    static const Settings settings = read();
    return settings;
  }

 private:
  static Settings read() {
    Settings s;
    try {
      const TunedValues wanted = TunedValues::parse(env_string("SORUS_TUNING"));
      for (const auto& [parameter, value] : wanted.items())
        for (int relaxed : {0, 1})
          if (relaxed == 1 || parameter->spec().effect == BitEffect::kNeutral) {
            s.values[relaxed][static_cast<size_t>(parameter->spec().part)].set(*parameter, value);
            s.any = true;
          }
    } catch (const ValueError& e) {
      warn_once("SORUS_TUNING", fmt::format("SORUS_TUNING: nothing is set: {}", e.what()));
      s = {};
    }
    return s;
  }
};

class Store {
 public:
  static Store& instance() {
    static auto& store = *new Store;
    return store;
  }
  void set_loader(void (*load)()) { load_ = load; }
  void set(std::shared_ptr<const Records> records) {
    bool was_asked = false, was_used = false;
    {
      std::lock_guard lock(mutex_);
      was_asked = std::exchange(is_asked_, true);
      was_used = used();
      records_ = std::move(records);
      detail::tuning_uses.fetch_add(static_cast<int32_t>(used()) - static_cast<int32_t>(was_used));
    }
    if (!was_asked) settle();
  }
  std::shared_ptr<const Records> get() {
    bool is_first = false;
    {
      std::lock_guard lock(mutex_);
      is_first = !std::exchange(is_asked_, true);
    }
    if (is_first) {
      if (load_) load_();
      settle();
    }
    std::lock_guard lock(mutex_);
    return records_;
  }

 private:
  [[nodiscard]] bool used() const { return records_ != nullptr; }
  /// From now on nobody needs to ask whether there is something. Settings of the environment stay in use.
  static void settle() {
    if (!Settings::of_environment().any) detail::tuning_uses.fetch_sub(1);
  }

  ForkMutex mutex_;
  std::shared_ptr<const Records> records_;
  bool is_asked_ = false;
  void (*load_)() = nullptr;
};

}  // namespace

void set_tuning_loader(void (*load)()) { Store::instance().set_loader(load); }

void set_tuned_records(std::span<const TunedRecord> records) {
  auto all = std::make_shared<Records>();
  for (const TunedRecord& r : records) all->by_part[static_cast<size_t>(r.part)][r.key] = r.values;
  Store::instance().set(records.empty() ? nullptr : std::move(all));
}

Digest tuning_digest(TunedPart part) {
  Digest digest;
  digest.add(static_cast<uint64_t>(part) << 40 | uint64_t{scope_state().relaxed_numerics} << 32 |
             static_cast<uint64_t>(num_threads()));
  return digest;
}

Digest::Words tuned_call_key(const OpDef& op, AttrsRef attrs, std::span<const Array> in) {
  Digest digest = tuning_digest(TunedPart::kCall);
  digest.add(op.name);
  digest.add(attrs.def->hash(attrs.data));
  for (const Array& a : in) {
    digest.add(a.present() ? static_cast<uint64_t>(a.dtype) + 1 : 0);
    for (int i = 0; a.present() && i < a.rank(); ++i) digest.add(static_cast<uint64_t>(a.size(i)));
  }
  return digest.words();
}

bool detail::has_tuned_records(TunedPart part) {
  const auto records = Store::instance().get();
  return records && !records->by_part[static_cast<size_t>(part)].empty();
}

TunedRef detail::find_tuned(TunedPart part, const Digest::Words* key) {
  TunedRef found;
  const auto at = static_cast<size_t>(part);
  if (const auto records = key ? Store::instance().get() : nullptr)
    if (const auto record = records->by_part[at].find(*key); record != records->by_part[at].end())
      found = record->second;
  if (const Settings& settings = Settings::of_environment(); settings.any) {
    auto values = found ? std::make_shared<TunedValues>(*found) : std::make_shared<TunedValues>();
    for (const auto& [parameter, value] : settings.values[scope_state().relaxed_numerics ? 1 : 0][at].items())
      values->set(*parameter, value);
    if (!values->empty()) found = std::move(values);
  }
  return TuningOverride::over(std::move(found), part);
}

TunedRef tuned_for_call(const OpDef& op, AttrsRef attrs, std::span<const Array> in) {
  return tuned_for(TunedPart::kCall, [&] { return tuned_call_key(op, attrs, in); });
}

}  // namespace sorus
