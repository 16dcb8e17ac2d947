#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sorus/data/sampler.h"

/// Choosing rows by their classes.
namespace sorus::data {

/// Labels and the rows that have each.
using ClassRows = std::map<int64_t, std::vector<int64_t>>;

/// What a RandomAccess is besides when its rows have classes.
class SORUS_API HasClasses {
 public:
  virtual ~HasClasses() = default;
  /// The rows of each class; `column` is the field with the labels, where the user chooses one. Throws
  /// ValueError when there are none after all.
  [[nodiscard]] virtual ClassRows classes(const std::string& column) const = 0;
};
/// Asks a source for its classes.
using FindClasses = std::function<ClassRows(const std::string& column)>;

/// What a Sampler is besides when its rule is made for the source that it reads, from its classes.
class SORUS_API ChoosesByClass {
 public:
  virtual ~ChoosesByClass() = default;
  /// The same rule for a source; null when it does not look at classes after all.
  [[nodiscard]] virtual SamplerPtr for_classes(const FindClasses& find) const = 0;
};
/// `sampler`, or what it is for a source with those classes.
[[nodiscard]] SORUS_API SamplerPtr sampler_for(const SamplerPtr& sampler, const FindClasses& find);

/// `per_class` rows of each class, drawn with repetition; classes in order of their labels, or in random
/// order, which is that of all epochs. `column` is the field of MindRecord files that has the labels.
[[nodiscard]] SORUS_API SamplerPtr class_sampler(int64_t per_class, bool shuffle = false,
                                                 std::optional<int64_t> num_samples = {},
                                                 std::string column = "label");

}  // namespace sorus::data
