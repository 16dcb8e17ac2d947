#include <random>

#include "sorus/base/error.h"
#include "sorus/data/classes.h"
#include "sorus/data/detail/order.h"

namespace sorus::data {
namespace {

using Count = std::optional<int64_t>;
constexpr const char* kSampler = "PKSampler";

struct Rule {
  int64_t per_class;
  bool shuffle;
  Count num_samples;
  std::string column;
};

/// The classes of a source, in the order in which they come.
struct Classes {
  ClassRows rows;
  std::vector<int64_t> labels;
};

/// The rule for one source. Each epoch draws with a generator of its own seed; the first one's has shuffled
/// the classes before.
class ForSource final : public Sampler {
 public:
  ForSource(Rule rule, FindClasses find) : rule_(std::move(rule)), find_(std::move(find)) {}

  SamplerRun start(int64_t rows, uint32_t seed) const override {
    Classes classes{find_(rule_.column), {}};
    for (const auto& [label, members] : classes.rows) {
      if (!members.empty()) classes.labels.push_back(label);
      for (int64_t row : members)
        SORUS_CHECK(row < rows, IndexError,
                    "{}: a sampler before it leaves rows out: got {} rows, need all of the source's",
                    kSampler, rows);
    }
    std::mt19937 random(seed);
    if (rule_.shuffle) detail::shuffle(classes.labels, random);
    const int64_t n = limited(std::ssize(classes.labels));
    return [classes = std::move(classes), random, n, seed, each = rule_.per_class]() mutable {
      RowIds ids{0, n, {}};
      ids.list.reserve(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        const auto& members = classes.rows.at(classes.labels[static_cast<size_t>(i / each)]);
        ids.list.push_back(members[static_cast<size_t>(detail::draw_below(random, std::ssize(members)))]);
      }
      random.seed(++seed);
      return ids;
    };
  }
  Count count(int64_t) const override {
    int64_t classes = 0;
    for (const auto& [label, members] : find_(rule_.column)) classes += members.empty() ? 0 : 1;
    return limited(classes);
  }

 private:
  [[nodiscard]] int64_t limited(int64_t classes) const {
    SORUS_CHECK(classes == 0 || rule_.per_class <= INT64_MAX / classes, ValueError,
                "{}: num_val is out of range: got {} of {} classes, need fewer", kSampler, rule_.per_class,
                classes);
    const int64_t all = classes * rule_.per_class;
    return std::min(rule_.num_samples.value_or(all), all);
  }
  Rule rule_;
  FindClasses find_;
};

class ByClass final : public Sampler, public ChoosesByClass {
 public:
  explicit ByClass(Rule rule) : rule_(std::move(rule)) {}
  SamplerPtr for_classes(const FindClasses& find) const override {
    return std::make_shared<ForSource>(rule_, find);
  }
  SamplerRun start(int64_t, uint32_t) const override {
    raise<ValueError>("{}: there are no classes: need a source that has them", kSampler);
  }
  Count count(int64_t) const override { return std::nullopt; }

 private:
  Rule rule_;
};

}  // namespace

SamplerPtr sampler_for(const SamplerPtr& sampler, const FindClasses& find) {
  const auto* chooses = dynamic_cast<const ChoosesByClass*>(sampler.get());
  SamplerPtr own = chooses ? chooses->for_classes(find) : nullptr;
  return own ? own : sampler;
}

SamplerPtr class_sampler(int64_t per_class, bool shuffle, Count num_samples, std::string column) {
  SORUS_CHECK(per_class > 0, ValueError, "{}: num_val is out of range: got {}, need 1 or more", kSampler,
              per_class);
  SORUS_CHECK(!num_samples || *num_samples > 0, ValueError,
              "{}: num_samples is out of range: got {}, need 1 or more", kSampler, num_samples.value_or(0));
  SORUS_CHECK(!column.empty(), ValueError, "{}: class_column is empty: need the name of a field", kSampler);
  return std::make_shared<ByClass>(Rule{per_class, shuffle, num_samples, std::move(column)});
}

}  // namespace sorus::data
