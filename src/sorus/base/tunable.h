#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sorus/base/export.h"

/// Parameters of speed: tile sizes, grains of parallel loops, limits of passes. Each is declared where it is
/// used and holds a default that is good without tuning; a search may find better values for an op of certain
/// shapes, or for a program (rooms/tuning). docs/tuning.md says how, and what is guaranteed.
namespace sorus {

/// What a tuned value belongs to, which is also when it is read.
enum class TunedPart : uint8_t {
  kCall,     ///< a call of a kernel: while the kernel is asked about it, and at its start
  kRegion,   ///< a fused region: while its program is built
  kProgram,  ///< a graph: in the passes, and while steps are scheduled
};
[[nodiscard]] SORUS_API std::string_view tuned_part_name(TunedPart part);

/// Whether a parameter may move a bit of any result. What is kNeutral is proven by a test at both ends of its
/// range, and tuned in every mode; what is kMovesBits is tuned where numerics are relaxed.
enum class BitEffect : uint8_t { kNeutral, kMovesBits };

struct TunableSpec {
  std::string_view name;  ///< room or family, a dot, what it is
  int64_t initial = 0;    ///< the default
  int64_t least = 0;      ///< values are least, 2 least, 4 least, ... up to most; the default is one of them
  int64_t most = 0;
  TunedPart part = TunedPart::kCall;
  BitEffect effect = BitEffect::kNeutral;
  std::string_view doc;  ///< one line, with its unit
};

namespace detail {
/// How many things there are for which get() must look further than at the default: 0 as a rule.
SORUS_API extern std::atomic<int32_t> tuning_uses;
}  // namespace detail

/// False as long as nothing but defaults is in use. It begins true: nobody has looked for a database yet.
[[nodiscard]] inline bool tuning_in_use() { return detail::tuning_uses.load(std::memory_order_relaxed) != 0; }

/// One parameter. A constant of a file; it enters the table while the library loads.
class SORUS_API Tunable {
 public:
  /// Throws InternalError when the default is no value, or the name is taken.
  explicit Tunable(const TunableSpec& spec);
  /// Takes it out again: of libraries that are unloaded, and of tests.
  ~Tunable();
  Tunable(const Tunable&) = delete;
  Tunable& operator=(const Tunable&) = delete;

  /// The value for the work that this thread does now: the default, or what the innermost TuningScope has.
  /// Read it once, when work is planned, not for each element.
  [[nodiscard]] int64_t get() const { return tuning_in_use() ? scoped() : initial_; }

  [[nodiscard]] const TunableSpec& spec() const { return spec_; }
  [[nodiscard]] bool is_value(int64_t v) const;
  /// All values, from the least to the most.
  [[nodiscard]] std::vector<int64_t> values() const;

 private:
  [[nodiscard]] int64_t scoped() const;
  int64_t initial_;
  TunableSpec spec_;
};

/// The table, ordered by name.
[[nodiscard]] SORUS_API std::vector<const Tunable*> all_tunables();
[[nodiscard]] SORUS_API const Tunable* find_tunable(std::string_view name);

/// Values of some parameters, ordered by their names; immutable once it is shared.
class SORUS_API TunedValues {
 public:
  /// Throws ValueError when the parameter does not take the value.
  void set(const Tunable& parameter, int64_t value);
  [[nodiscard]] const int64_t* find(const Tunable& parameter) const;
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::span<const std::pair<const Tunable*, int64_t>> items() const { return items_; }
  /// "gemm.depth=512, tile.bytes=49152".
  [[nodiscard]] std::string text() const;
  /// The inverse. Throws ValueError naming what it does not understand.
  [[nodiscard]] static TunedValues parse(std::string_view text);
  bool operator==(const TunedValues&) const = default;

 private:
  std::vector<std::pair<const Tunable*, int64_t>> items_;
};
using TunedRef = std::shared_ptr<const TunedValues>;

/// The values in use on this thread while it lives, and in the parallel loops that start meanwhile. A null
/// pointer stands for the defaults. `values` must outlive it.
class SORUS_API TuningScope {
 public:
  /// kInside: what `values` lacks is looked up in the scopes around; kAlone: it has its default.
  enum class Nesting : uint8_t { kAlone, kInside };
  explicit TuningScope(const TunedValues* values, Nesting nesting = Nesting::kAlone);
  ~TuningScope();
  TuningScope(const TuningScope&) = delete;
  TuningScope& operator=(const TuningScope&) = delete;

  /// That of this thread, null for none.
  [[nodiscard]] static const TuningScope* current();
  /// Makes `scope`, of another thread that waits meanwhile, that of this thread; gives the one before.
  static const TuningScope* exchange(const TuningScope* scope);

 private:
  friend class Tunable;
  const TunedValues* values_;
  const TuningScope* around_;
  const TuningScope* before_;
};

/// Values that go before all others in what this thread plans while it lives: for tests, and for candidates
/// of a search. They reach executed work through scopes alone, so that what was planned before stays as it
/// is. Overrides nest; the innermost value counts.
class SORUS_API TuningOverride {
 public:
  explicit TuningOverride(TunedValues values);
  ~TuningOverride();
  TuningOverride(const TuningOverride&) = delete;
  TuningOverride& operator=(const TuningOverride&) = delete;

  /// `found` with the overrides of this thread that belong to the part. The result is null where there is
  /// nothing.
  [[nodiscard]] static TunedRef over(TunedRef found, TunedPart part);

 private:
  TunedValues values_;
  const TuningOverride* around_;
};

/// Which parameters this thread reads while it lives: so a search knows what a call depends on.
class SORUS_API TunableTrace {
 public:
  TunableTrace();
  ~TunableTrace();
  TunableTrace(const TunableTrace&) = delete;
  TunableTrace& operator=(const TunableTrace&) = delete;
  [[nodiscard]] std::vector<const Tunable*> read() const { return {read_.begin(), read_.end()}; }

 private:
  friend class Tunable;
  struct ByName {
    bool operator()(const Tunable* a, const Tunable* b) const { return a->spec().name < b->spec().name; }
  };
  std::set<const Tunable*, ByName> read_;
  TunableTrace* around_;
};

}  // namespace sorus
