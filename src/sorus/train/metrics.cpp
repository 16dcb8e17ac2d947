#include "sorus/train/metrics.h"

#include <algorithm>
#include <cmath>

#include "sorus/base/error.h"

namespace sorus::train {
namespace {

std::vector<double> doubles_of(const Tensor& t) {
  return visit_dtype(t.dtype(), [&]<class T>(std::type_identity<T>) {
    std::vector<double> out(static_cast<size_t>(t.numel()));
    // A vector of bool has no elements to copy to.
    auto items = std::make_unique<T[]>(out.size());
    t.copy_to(items.get(), t.dtype());
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<double>(static_cast<ComputeType<T>>(items[i]));
    return out;
  });
}

void check_count(const char* name, std::span<const Tensor> in, size_t need) {
  SORUS_CHECK(in.size() == need, ValueError, "{}: number of inputs differs: got {}, need {}", name, in.size(),
              need);
}

[[noreturn]] void refuse_empty(const char* name) {
  raise<RuntimeError>("{}: nothing to evaluate: got no sample, need at least one update", name);
}

Tensor scalar(double value) { return Tensor(value); }
Tensor vector_of(const std::vector<double>& v) {
  return {std::span<const double>(v), Shape{static_cast<int64_t>(v.size())}};
}

/// A batch of class predictions: scores (rows, classes) and the right class of each row.
struct Batch {
  int64_t rows = 0, classes = 0;
  std::vector<double> scores;
  std::vector<int64_t> labels;

  [[nodiscard]] int64_t best(int64_t row) const {
    auto begin = scores.begin() + row * classes;
    return std::max_element(begin, begin + classes) - begin;
  }
};

int64_t index_of_largest(const std::vector<double>& v, int64_t row, int64_t classes) {
  auto begin = v.begin() + row * classes;
  return std::max_element(begin, begin + classes) - begin;
}

Batch classification_batch(const char* name, std::span<const Tensor> in) {
  check_count(name, in, 2);
  const Tensor &scores = in[0], &labels = in[1];
  SORUS_CHECK(scores.rank() == 2, ShapeError, "{}: predictions have another rank: got shape {}, need (N, C)",
              name, scores.shape());
  bool one_hot = labels.rank() == 2 && labels.shape() == scores.shape();
  SORUS_CHECK(one_hot || labels.numel() == scores.size(0), ShapeError,
              "{}: labels do not fit the predictions: got shapes {} and {}, need (N,) or (N, C) for (N, C)",
              name, labels.shape(), scores.shape());
  Batch b{scores.size(0), scores.size(1), doubles_of(scores), {}};
  std::vector<double> y = doubles_of(labels);
  for (int64_t row = 0; row < b.rows; ++row)
    b.labels.push_back(one_hot ? index_of_largest(y, row, b.classes)
                               : static_cast<int64_t>(y[static_cast<size_t>(row)]));
  for (int64_t label : b.labels)
    SORUS_CHECK(label >= 0 && label < b.classes, IndexError,
                "{}: label is out of range: got {}, need 0 to {}", name, label, b.classes - 1);
  return b;
}

/// Predictions and labels of the same shape whose elements are 0 or 1.
struct LabelSets {
  int64_t rows = 0, width = 0;
  std::vector<double> predicted, actual;
};
LabelSets multilabel_batch(const char* name, std::span<const Tensor> in) {
  check_count(name, in, 2);
  SORUS_CHECK(in[0].shape() == in[1].shape() && in[0].rank() >= 2, ShapeError,
              "{}: labels do not fit the predictions: got shapes {} and {}, need two equal ones (N, ...)",
              name, in[0].shape(), in[1].shape());
  int64_t rows = in[0].size(0);
  return {rows, rows == 0 ? 0 : in[0].numel() / rows, doubles_of(in[0]), doubles_of(in[1])};
}

/// A mean over all batches.
class MeanMetric : public Metric {
 public:
  explicit MeanMetric(const char* name) : name_(name) {}
  void clear() override { total_ = count_ = 0; }
  [[nodiscard]] Tensor eval() const override {
    if (count_ == 0) refuse_empty(name_);
    return scalar(total_ / count_);
  }

 protected:
  void take(double total, double count) {
    total_ += total;
    count_ += count;
  }
  const char* name_;

 private:
  double total_ = 0, count_ = 0;
};

class Accuracy : public MeanMetric {
 public:
  explicit Accuracy(LabelKind kind) : MeanMetric("accuracy"), kind_(kind) {}
  void update(std::span<const Tensor> in) override {
    int64_t right = 0, rows = 0;
    if (kind_ == LabelKind::kClassification) {
      Batch b = classification_batch(name_, in);
      for (rows = 0; rows < b.rows; ++rows)
        right += b.best(rows) == b.labels[static_cast<size_t>(rows)] ? 1 : 0;
    } else {
      LabelSets s = multilabel_batch(name_, in);
      for (rows = 0; rows < s.rows; ++rows) {
        auto at = rows * s.width;
        right +=
            std::equal(s.predicted.begin() + at, s.predicted.begin() + at + s.width, s.actual.begin() + at);
      }
    }
    take(static_cast<double>(right), static_cast<double>(rows));
  }

 private:
  LabelKind kind_;
};

class TopK : public MeanMetric {
 public:
  explicit TopK(int64_t k) : MeanMetric("top_k_accuracy"), k_(k) {
    SORUS_CHECK(k > 0, ValueError, "top_k_accuracy: k is not positive: got {}, need 1 or more", k);
  }
  void update(std::span<const Tensor> in) override {
    Batch b = classification_batch(name_, in);
    int64_t right = 0;
    for (int64_t row = 0; row < b.rows; ++row) {
      const double* s = b.scores.data() + row * b.classes;
      int64_t label = b.labels[static_cast<size_t>(row)], ahead = 0;
      // Of equal scores the later class counts as larger, as a sort that keeps order has it.
      for (int64_t c = 0; c < b.classes; ++c)
        ahead += s[c] > s[label] || (s[c] == s[label] && c > label) ? 1 : 0;
      right += ahead < k_ ? 1 : 0;
    }
    take(static_cast<double>(right), static_cast<double>(b.rows));
  }

 private:
  int64_t k_;
};

class Loss : public MeanMetric {
 public:
  Loss() : MeanMetric("loss") {}
  void update(std::span<const Tensor> in) override {
    check_count(name_, in, 1);
    SORUS_CHECK(in[0].numel() > 0, ValueError, "loss: loss is empty: got shape {}, need an element",
                in[0].shape());
    double sum = 0;
    for (double v : doubles_of(in[0])) sum += v;
    take(sum / static_cast<double>(in[0].numel()), 1);
  }
};

class Difference : public MeanMetric {
 public:
  Difference(const char* name, bool squared) : MeanMetric(name), squared_(squared) {}
  void update(std::span<const Tensor> in) override {
    check_count(name_, in, 2);
    SORUS_CHECK(in[0].shape() == in[1].shape() && in[0].rank() > 0, ShapeError,
                "{}: shapes differ: got {} and {}, need two equal ones (N, ...)", name_, in[0].shape(),
                in[1].shape());
    std::vector<double> a = doubles_of(in[0]), b = doubles_of(in[1]);
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      double d = a[i] - b[i];
      sum += squared_ ? d * d : std::abs(d);
    }
    take(sum, static_cast<double>(in[0].size(0)));
  }

 private:
  bool squared_;
};

/// True positives, predictions and labels of each class.
class ClassCounts : public Metric {
 public:
  ClassCounts(const char* name, LabelKind kind, bool average) : name_(name), kind_(kind), average_(average) {}
  void clear() override { right_.clear(), predicted_.clear(), actual_.clear(), taken_ = false; }
  void update(std::span<const Tensor> in) override {
    taken_ = true;
    if (kind_ == LabelKind::kClassification) {
      Batch b = classification_batch(name_, in);
      grow(b.classes);
      for (int64_t row = 0; row < b.rows; ++row) {
        auto label = static_cast<size_t>(b.labels[static_cast<size_t>(row)]);
        auto guess = static_cast<size_t>(b.best(row));
        ++predicted_[guess], ++actual_[label];
        if (guess == label) ++right_[label];
      }
      return;
    }
    LabelSets s = multilabel_batch(name_, in);
    grow(s.rows);  // of labels, each row is measured on its own
    for (size_t row = 0; row < static_cast<size_t>(s.rows); ++row)
      for (size_t i = row * static_cast<size_t>(s.width); i < (row + 1) * static_cast<size_t>(s.width); ++i) {
        predicted_[row] += s.predicted[i];
        actual_[row] += s.actual[i];
        right_[row] += s.predicted[i] * s.actual[i];
      }
  }
  [[nodiscard]] Tensor eval() const override {
    if (!taken_) refuse_empty(name_);
    std::vector<double> values;
    for (size_t c = 0; c < right_.size(); ++c) values.push_back(value(right_[c], predicted_[c], actual_[c]));
    if (!average_) return vector_of(values);
    double sum = 0;
    for (double v : values) sum += v;
    return scalar(values.empty() ? 0 : sum / static_cast<double>(values.size()));
  }

 protected:
  [[nodiscard]] virtual double value(double right, double predicted, double actual) const = 0;
  static double share(double part, double whole) { return whole == 0 ? 0 : part / whole; }

 private:
  void grow(int64_t n) {
    auto size = static_cast<size_t>(n);
    SORUS_CHECK(right_.empty() || right_.size() == size || kind_ == LabelKind::kMultilabel, ValueError,
                "{}: number of classes changed: got {}, need {}", name_, size, right_.size());
    size = std::max(size, right_.size());
    for (auto* v : {&right_, &predicted_, &actual_}) v->resize(size);
  }
  const char* name_;
  LabelKind kind_;
  bool average_, taken_ = false;
  std::vector<double> right_, predicted_, actual_;
};

class Precision : public ClassCounts {
 public:
  Precision(LabelKind kind, bool average) : ClassCounts("precision", kind, average) {}

 private:
  [[nodiscard]] double value(double right, double predicted, double) const override {
    return share(right, predicted);
  }
};

class Recall : public ClassCounts {
 public:
  Recall(LabelKind kind, bool average) : ClassCounts("recall", kind, average) {}

 private:
  [[nodiscard]] double value(double right, double, double actual) const override {
    return share(right, actual);
  }
};

class FBeta : public ClassCounts {
 public:
  FBeta(double beta, bool average)
      : ClassCounts("f_beta", LabelKind::kClassification, average), square_(beta * beta) {
    SORUS_CHECK(beta > 0, ValueError, "f_beta: beta is not positive: got {}, need more than 0", beta);
  }

 private:
  [[nodiscard]] double value(double right, double predicted, double actual) const override {
    return share((1 + square_) * right, square_ * actual + predicted);
  }
  double square_;
};

class ConfusionMatrix : public Metric {
 public:
  ConfusionMatrix(int64_t classes, std::string normalize, double threshold)
      : classes_(classes), normalize_(std::move(normalize)), threshold_(threshold) {
    SORUS_CHECK(classes > 0, ValueError, "confusion_matrix: no classes: got {}, need 1 or more", classes);
    bool known = normalize_ == "no_norm" || normalize_ == "target" || normalize_ == "prediction" ||
                 normalize_ == "all";
    SORUS_CHECK(
        known, ValueError,
        "confusion_matrix: unknown normalize: got '{}', need 'no_norm', 'target', 'prediction' or 'all'",
        normalize_);
    counts_.assign(static_cast<size_t>(classes * classes), 0);
  }
  void clear() override { std::fill(counts_.begin(), counts_.end(), 0); }
  void update(std::span<const Tensor> in) override {
    check_count("confusion_matrix", in, 2);
    std::vector<double> x = doubles_of(in[0]), y = doubles_of(in[1]);
    std::vector<int64_t> guesses;
    if (in[0].rank() == in[1].rank() + 1) {
      int64_t classes = in[0].size(-1);
      for (int64_t row = 0; row < static_cast<int64_t>(y.size()); ++row)
        guesses.push_back(index_of_largest(x, row, classes));
    } else {
      bool scores = is_floating(in[0].dtype());
      for (double v : x) guesses.push_back(scores ? (v >= threshold_ ? 1 : 0) : static_cast<int64_t>(v));
    }
    SORUS_CHECK(guesses.size() == y.size(), ShapeError,
                "confusion_matrix: labels do not fit the predictions: got shapes {} and {}", in[1].shape(),
                in[0].shape());
    for (size_t i = 0; i < y.size(); ++i) {
      auto label = static_cast<int64_t>(y[i]);
      SORUS_CHECK(label >= 0 && label < classes_ && guesses[i] >= 0 && guesses[i] < classes_, IndexError,
                  "confusion_matrix: class is out of range: got label {} and prediction {}, need 0 to {}",
                  label, guesses[i], classes_ - 1);
      ++counts_[static_cast<size_t>(label * classes_ + guesses[i])];
    }
  }
  [[nodiscard]] Tensor eval() const override {
    auto n = static_cast<size_t>(classes_);
    std::vector<double> rows(n), columns(n), out = counts_;
    double all = 0;
    for (size_t i = 0; i < n * n; ++i)
      rows[i / n] += counts_[i], columns[i % n] += counts_[i], all += counts_[i];
    if (normalize_ != "no_norm")
      for (size_t i = 0; i < n * n; ++i) {
        double by = normalize_ == "all" ? all : normalize_ == "target" ? rows[i / n] : columns[i % n];
        out[i] = by == 0 ? 0 : out[i] / by;
      }
    return {std::span<const double>(out), Shape{classes_, classes_}};
  }

 private:
  int64_t classes_;
  std::string normalize_;
  double threshold_;
  std::vector<double> counts_;
};

class Perplexity : public Metric {
 public:
  explicit Perplexity(int64_t ignore) : ignore_(ignore) {}
  void clear() override { sum_ = count_ = 0; }
  void update(std::span<const Tensor> in) override {
    check_count("perplexity", in, 2);
    std::vector<double> x = doubles_of(in[0]), y = doubles_of(in[1]);
    int64_t classes = in[0].rank() == 0 ? 0 : in[0].size(-1);
    SORUS_CHECK(
        classes > 0 && x.size() == y.size() * static_cast<size_t>(classes), ShapeError,
        "perplexity: labels do not fit the predictions: got shapes {} and {}, need (...) for (..., C)",
        in[1].shape(), in[0].shape());
    for (size_t i = 0; i < y.size(); ++i) {
      auto label = static_cast<int64_t>(y[i]);
      if (label == ignore_) continue;
      SORUS_CHECK(label >= 0 && label < classes, IndexError,
                  "perplexity: label is out of range: got {}, need 0 to {}", label, classes - 1);
      sum_ -= std::log(std::max(1e-10, x[i * static_cast<size_t>(classes) + static_cast<size_t>(label)]));
      ++count_;
    }
  }
  [[nodiscard]] Tensor eval() const override {
    if (count_ == 0) refuse_empty("perplexity");
    return scalar(std::exp(sum_ / count_));
  }

 private:
  int64_t ignore_;
  double sum_ = 0, count_ = 0;
};

class Dice : public MeanMetric {
 public:
  explicit Dice(double smooth) : MeanMetric("dice"), smooth_(smooth) {}
  void update(std::span<const Tensor> in) override {
    check_count(name_, in, 2);
    SORUS_CHECK(in[0].shape() == in[1].shape(), ShapeError,
                "dice: shapes differ: got {} and {}, need equal ones", in[0].shape(), in[1].shape());
    std::vector<double> a = doubles_of(in[0]), b = doubles_of(in[1]);
    double both = 0, sum = 0;
    for (size_t i = 0; i < a.size(); ++i) both += a[i] * b[i], sum += a[i] * a[i] + b[i] * b[i];
    take(2 * both / (sum + smooth_), static_cast<double>(in[0].rank() == 0 ? 1 : in[0].size(0)));
  }

 private:
  double smooth_;
};

}  // namespace

std::unique_ptr<Metric> accuracy(LabelKind kind) { return std::make_unique<Accuracy>(kind); }
std::unique_ptr<Metric> top_k_accuracy(int64_t k) { return std::make_unique<TopK>(k); }
std::unique_ptr<Metric> loss() { return std::make_unique<Loss>(); }
std::unique_ptr<Metric> mean_absolute_error() {
  return std::make_unique<Difference>("mean_absolute_error", false);
}
std::unique_ptr<Metric> mean_squared_error() {
  return std::make_unique<Difference>("mean_squared_error", true);
}
std::unique_ptr<Metric> precision(LabelKind kind, bool average) {
  return std::make_unique<Precision>(kind, average);
}
std::unique_ptr<Metric> recall(LabelKind kind, bool average) {
  return std::make_unique<Recall>(kind, average);
}
std::unique_ptr<Metric> f_beta(double beta, bool average) { return std::make_unique<FBeta>(beta, average); }
std::unique_ptr<Metric> confusion_matrix(int64_t classes, const std::string& normalize, double threshold) {
  return std::make_unique<ConfusionMatrix>(classes, normalize, threshold);
}
std::unique_ptr<Metric> perplexity(int64_t ignore_label) {
  return std::make_unique<Perplexity>(ignore_label);
}
std::unique_ptr<Metric> dice(double smooth) { return std::make_unique<Dice>(smooth); }

}  // namespace sorus::train
