#include "sorus/nn/layers.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "sorus/autograd/grad.h"
#include "sorus/compiler/boundary.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/reduce/reduce.h"

/// Layers against tests/fixtures/layers.json, to which tests/python/test_layers_agree.py holds the Python
/// layers: names, defaults, parameters, results.
namespace sorus::nn {
namespace {

using nlohmann::json;
using Made = std::unique_ptr<Cell>;

const json& table() {
  static const json cases = json::parse(std::ifstream(SORUS_SOURCE_DIR "/tests/fixtures/layers.json"));
  return cases;
}

std::string text(const json& c) { return c["layer"].get<std::string>() + c["arguments"].dump(); }

Ints ints(const json& j) {
  if (!j.is_array()) return {j.get<int64_t>()};
  Ints out;
  for (const json& item : j) out.push_back(item.get<int64_t>());
  return out;
}

/// The arguments of a case: each is asked for by name, and the ones left show what the test does not know.
class Arguments {
 public:
  explicit Arguments(const json& given) : left_(given) {}
  template <class T>
  void take(const char* name, T& into) {
    auto found = left_.find(name);
    if (found == left_.end()) return;
    if constexpr (std::is_same_v<T, Ints>)
      into = ints(*found);
    else if constexpr (std::is_same_v<T, PadMode>)
      into = *found == "same" ? PadMode::kSame : *found == "valid" ? PadMode::kValid : PadMode::kPad;
    else if constexpr (std::is_same_v<T, Reduction>)
      into = reduction_from_name(found->get<std::string>());
    else if constexpr (std::is_same_v<T, std::optional<bool>>)
      into = found->get<bool>();
    else if constexpr (std::is_same_v<T, std::optional<int64_t>>)
      into = found->get<int64_t>();
    else
      into = found->get<T>();
    left_.erase(found);
  }
  template <class T>
  T need(const char* name) {
    T value{};
    EXPECT_TRUE(left_.contains(name)) << name;
    take(name, value);
    return value;
  }
  [[nodiscard]] bool done() const { return left_.empty(); }
  [[nodiscard]] bool has(const char* name) const { return left_.contains(name); }

 private:
  json left_;
};

template <class C>
Made conv(Arguments& a) {
  auto in = a.need<int64_t>("in_channels"), out = a.need<int64_t>("out_channels");
  Ints kernel = a.need<Ints>("kernel_size");
  ConvCellOptions o;
  a.take("stride", o.stride);
  a.take("pad_mode", o.pad_mode);
  a.take("padding", o.padding);
  a.take("dilation", o.dilation);
  a.take("group", o.group);
  a.take("output_padding", o.output_padding);
  a.take("has_bias", o.has_bias);
  return std::make_unique<C>(Place{}, in, out, kernel, o);
}

template <class C>
Made max_pool(Arguments& a) {
  MaxPoolOptions o;
  a.take("stride", o.stride);
  a.take("pad_mode", o.pad_mode);
  a.take("padding", o.padding);
  a.take("ceil_mode", o.ceil_mode);
  return std::make_unique<C>(Place{}, a.need<Ints>("kernel_size"), o);
}

template <class C>
Made avg_pool(Arguments& a) {
  AvgPoolOptions o;
  a.take("stride", o.stride);
  a.take("pad_mode", o.pad_mode);
  a.take("padding", o.padding);
  a.take("count_include_pad", o.count_include_pad);
  a.take("divisor_override", o.divisor_override);
  return std::make_unique<C>(Place{}, a.need<Ints>("kernel_size"), o);
}

template <class C>
Made adaptive_pool(Arguments& a) {
  return std::make_unique<C>(Place{}, a.need<Ints>("output_size"));
}

template <class C>
Made batch_norm(Arguments& a) {
  BatchNormOptions o;
  a.take("eps", o.eps);
  a.take("momentum", o.momentum);
  a.take("affine", o.affine);
  a.take("use_batch_statistics", o.use_batch_statistics);
  return std::make_unique<C>(Place{}, a.need<int64_t>("num_features"), o);
}

template <class C>
Made instance_norm(Arguments& a) {
  InstanceNormOptions o;
  a.take("momentum", o.momentum);
  a.take("affine", o.affine);
  return std::make_unique<C>(Place{}, a.need<int64_t>("num_features"), o);
}

template <class C>
Made plain(Arguments&) {
  return std::make_unique<C>();
}

/// A layer of one argument with a default.
template <class C, class T>
Made with_one(Arguments& a, const char* name) {
  return a.has(name) ? std::make_unique<C>(Place{}, a.need<T>(name)) : std::make_unique<C>();
}

template <class C>
Made reduced(Arguments& a) {
  return with_one<C, Reduction>(a, "reduction");
}

template <class C, class Options>
Made class_loss(Arguments& a) {
  Options o;
  a.take("ignore_index", o.ignore_index);
  a.take("reduction", o.reduction);
  if constexpr (requires { o.label_smoothing; }) a.take("label_smoothing", o.label_smoothing);
  return std::make_unique<C>(Place{}, o);
}

using Factory = std::function<Made(Arguments&)>;

void add_basic(std::map<std::string, Factory>& f) {
  f["Dense"] = [](Arguments& a) {
    auto in = a.need<int64_t>("in_channels"), out = a.need<int64_t>("out_channels");
    DenseOptions o;
    a.take("has_bias", o.has_bias);
    return std::make_unique<Dense>(Place{}, in, out, o);
  };
  f["Flatten"] = plain<Flatten>;
  f["Dropout"] = [](Arguments& a) { return with_one<Dropout, double>(a, "p"); };
  f["Embedding"] = [](Arguments& a) {
    auto rows = a.need<int64_t>("vocab_size"), width = a.need<int64_t>("embedding_size");
    EmbeddingOptions o;
    a.take("padding_idx", o.padding_idx);
    return std::make_unique<Embedding>(Place{}, rows, width, o);
  };
}

void add_windows(std::map<std::string, Factory>& f) {
  f["Conv1d"] = conv<Conv1d>;
  f["Conv2d"] = conv<Conv2d>;
  f["Conv3d"] = conv<Conv3d>;
  f["Conv1dTranspose"] = conv<Conv1dTranspose>;
  f["Conv2dTranspose"] = conv<Conv2dTranspose>;
  f["Conv3dTranspose"] = conv<Conv3dTranspose>;
  f["MaxPool1d"] = max_pool<MaxPool1d>;
  f["MaxPool2d"] = max_pool<MaxPool2d>;
  f["MaxPool3d"] = max_pool<MaxPool3d>;
  f["AvgPool1d"] = avg_pool<AvgPool1d>;
  f["AvgPool2d"] = avg_pool<AvgPool2d>;
  f["AvgPool3d"] = avg_pool<AvgPool3d>;
  f["AdaptiveAvgPool1d"] = adaptive_pool<AdaptiveAvgPool1d>;
  f["AdaptiveAvgPool2d"] = adaptive_pool<AdaptiveAvgPool2d>;
  f["AdaptiveAvgPool3d"] = adaptive_pool<AdaptiveAvgPool3d>;
  f["AdaptiveMaxPool1d"] = adaptive_pool<AdaptiveMaxPool1d>;
  f["AdaptiveMaxPool2d"] = adaptive_pool<AdaptiveMaxPool2d>;
  f["AdaptiveMaxPool3d"] = adaptive_pool<AdaptiveMaxPool3d>;
}

void add_norms(std::map<std::string, Factory>& f) {
  f["BatchNorm1d"] = batch_norm<BatchNorm1d>;
  f["BatchNorm2d"] = batch_norm<BatchNorm2d>;
  f["BatchNorm3d"] = batch_norm<BatchNorm3d>;
  f["InstanceNorm1d"] = instance_norm<InstanceNorm1d>;
  f["InstanceNorm2d"] = instance_norm<InstanceNorm2d>;
  f["InstanceNorm3d"] = instance_norm<InstanceNorm3d>;
  f["LayerNorm"] = [](Arguments& a) {
    LayerNormOptions o;
    a.take("begin_norm_axis", o.begin_norm_axis);
    a.take("epsilon", o.epsilon);
    return std::make_unique<LayerNorm>(Place{}, a.need<Ints>("normalized_shape"), o);
  };
  f["GroupNorm"] = [](Arguments& a) {
    GroupNormOptions o;
    a.take("eps", o.eps);
    a.take("affine", o.affine);
    auto groups = a.need<int64_t>("num_groups"), channels = a.need<int64_t>("num_channels");
    return std::make_unique<GroupNorm>(Place{}, groups, channels, o);
  };
}

void add_activations(std::map<std::string, Factory>& f) {
  f["ReLU"] = plain<ReLU>;
  f["ReLU6"] = plain<ReLU6>;
  f["Sigmoid"] = plain<Sigmoid>;
  f["Tanh"] = plain<Tanh>;
  f["SiLU"] = plain<SiLU>;
  f["Mish"] = plain<Mish>;
  f["LogSigmoid"] = plain<LogSigmoid>;
  f["Softsign"] = plain<Softsign>;
  f["SeLU"] = plain<SeLU>;
  f["HSwish"] = plain<HSwish>;
  f["HSigmoid"] = plain<HSigmoid>;
  f["GELU"] = [](Arguments& a) { return with_one<GELU, bool>(a, "approximate"); };
  f["ELU"] = [](Arguments& a) { return with_one<ELU, double>(a, "alpha"); };
  f["LeakyReLU"] = [](Arguments& a) { return with_one<LeakyReLU, double>(a, "alpha"); };
  f["Softmax"] = [](Arguments& a) { return with_one<Softmax, int64_t>(a, "axis"); };
  f["LogSoftmax"] = [](Arguments& a) { return with_one<LogSoftmax, int64_t>(a, "axis"); };
  f["PReLU"] = [](Arguments& a) -> Made {
    if (!a.has("channel")) return std::make_unique<PReLU>();
    auto channel = a.need<int64_t>("channel");
    return std::make_unique<PReLU>(Place{}, channel, a.need<double>("w"));
  };
}

void add_losses(std::map<std::string, Factory>& f) {
  f["CrossEntropyLoss"] = class_loss<CrossEntropyLoss, CrossEntropyOptions>;
  f["NLLLoss"] = class_loss<NLLLoss, NLLOptions>;
  f["MSELoss"] = reduced<MSELoss>;
  f["L1Loss"] = reduced<L1Loss>;
  f["KLDivLoss"] = reduced<KLDivLoss>;
  f["BCEWithLogitsLoss"] = reduced<BCEWithLogitsLoss>;
  f["BCELoss"] = [](Arguments& a) -> Made {
    if (!a.has("reduction")) return std::make_unique<BCELoss>();
    return std::make_unique<BCELoss>(Place{}, Tensor(), a.need<Reduction>("reduction"));
  };
  f["SmoothL1Loss"] = [](Arguments& a) -> Made {
    if (!a.has("beta")) return std::make_unique<SmoothL1Loss>();
    auto beta = a.need<double>("beta");
    return std::make_unique<SmoothL1Loss>(Place{}, beta, a.need<Reduction>("reduction"));
  };
  f["HuberLoss"] = [](Arguments& a) -> Made {
    if (a.has("delta"))
      return std::make_unique<HuberLoss>(Place{}, Reduction::kMean, a.need<double>("delta"));
    return reduced<HuberLoss>(a);
  };
  f["SoftmaxCrossEntropyWithLogits"] = [](Arguments& a) {
    EXPECT_TRUE(a.need<bool>("sparse"));
    return reduced<SoftmaxCrossEntropyWithLogits>(a);
  };
}

const std::map<std::string, Factory>& factories() {
  static const std::map<std::string, Factory> made = [] {
    std::map<std::string, Factory> f;
    add_basic(f);
    add_windows(f);
    add_norms(f);
    add_activations(f);
    add_losses(f);
    return f;
  }();
  return made;
}

Made make(const json& c) {
  Arguments arguments(c["arguments"]);
  Made layer = factories().at(c["layer"].get<std::string>())(arguments);
  EXPECT_TRUE(arguments.done()) << "arguments that the test does not pass on";
  return layer;
}

/// Numbers that differ from place to place: float32 in [low, high), or int64 in [0, below).
Tensor pattern(const json& given) {
  Shape shape(ints(given["shape"]));
  std::vector<float> floats;
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < shape.numel(); ++i) {
    int64_t step = i * 37 % 64;
    if (given.contains("below")) {
      numbers.push_back(step % given["below"].get<int64_t>());
    } else {
      double low = given["low"], high = given["high"];
      floats.push_back(static_cast<float>(low + (high - low) * static_cast<double>(step) / 64));
    }
  }
  if (numbers.empty()) return Tensor(std::span<const float>(floats), shape);
  return Tensor(std::span<const int64_t>(numbers), shape);
}

/// Fills the parameters that start at random, sets the case's mode, and gives its inputs.
TensorList prepare(Cell& layer, const json& c) {
  std::vector<Parameter> parameters = layer.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const json& item = c["parameters"][i];
    if (item.contains("bound"))
      parameters[i].set_value(pattern({{"shape", item["shape"]}, {"low", -0.5}, {"high", 0.5}}));
  }
  layer.set_train(c["train"].get<bool>());
  TensorList in;
  for (const json& given : c["inputs"]) in.push_back(pattern(given));
  return in;
}

void expect_near(const std::vector<float>& found, const json& want, const std::string& what) {
  ASSERT_LE(want.size(), found.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    double value = want[i].get<double>();
    EXPECT_NEAR(found[i], value, 1e-6 + 1e-5 * std::abs(value)) << what << " at " << i;
  }
}

TEST(Layers, TheTableHasEveryLayer) {
  std::map<std::string, int> counts;
  for (const json& c : table()) ++counts[c["layer"].get<std::string>()];
  for (const auto& [name, factory] : factories()) EXPECT_GE(counts[name], 1) << name;
  EXPECT_EQ(counts.size(), factories().size());
}

TEST(Layers, ParametersAreThoseOfTheTable) {
  for (const json& c : table()) {
    SCOPED_TRACE(text(c));
    Made layer = make(c);
    std::vector<Parameter> found = layer->parameters();
    ASSERT_EQ(found.size(), c["parameters"].size());
    for (size_t i = 0; i < found.size(); ++i) {
      const json& want = c["parameters"][i];
      EXPECT_EQ(found[i].name(), want["name"].get<std::string>());
      ASSERT_EQ(found[i].value().shape(), Shape(ints(want["shape"])));
      EXPECT_EQ(found[i].requires_grad(), want.value("requires_grad", true));
      std::vector<float> values = found[i].value().to_vector<float>();
      float largest = 0;
      for (float v : values) {
        largest = std::max(largest, std::abs(v));
        EXPECT_EQ(v, want.value("constant", v));
      }
      if (want.contains("bound")) {
        EXPECT_GT(largest, 0);
        EXPECT_LE(largest, want["bound"].get<float>());
      }
      if (want.contains("zero_row")) {
        size_t width = want["shape"][1], row = want["zero_row"];
        for (size_t k = 0; k < width; ++k) EXPECT_EQ(values[row * width + k], 0);
      }
    }
  }
}

TEST(Layers, ResultsAndMovingStatisticsAreThoseOfTheTable) {
  for (const json& c : table()) {
    SCOPED_TRACE(text(c));
    Made layer = make(c);
    TensorList out = (*layer)(prepare(*layer, c));
    ASSERT_EQ(out.size(), 1U);
    const json& want = c["result"];
    ASSERT_EQ(out[0].shape(), Shape(ints(want["shape"])));
    std::vector<float> y = out[0].to_vector<float>();
    expect_near(y, want["first"], "result");
    double total = 0;
    for (float v : y) total += v;
    double mean = want["mean"];
    EXPECT_NEAR(total / static_cast<double>(y.size()), mean, 1e-6 + 1e-5 * std::abs(mean));
    if (!c.contains("moved")) continue;
    std::vector<Parameter> parameters = layer->parameters();
    expect_near(parameters[0].value().to_vector<float>(), c["moved"]["moving_mean"], "moving_mean");
    expect_near(parameters[1].value().to_vector<float>(), c["moved"]["moving_variance"], "moving_variance");
  }
}

/// Three steps: results, gradients and parameters as bits.
std::vector<uint32_t> steps(Cell& layer, const TensorList& in, bool boundary) {
  std::vector<Parameter> trained = layer.trainable_params();
  std::vector<uint32_t> bits;
  auto keep = [&](const Tensor& t) {
    for (float v : t.to_vector<float>()) bits.push_back(std::bit_cast<uint32_t>(v));
  };
  boundaries_enabled() = boundary;
  uint64_t id = new_boundary_id();
  for (int step = 0; step < 3; ++step) {
    TensorList results;
    run_boundary(id, [&] {
      if (trained.empty()) {
        results = layer(in);
        return;
      }
      auto square = [&] {
        Tensor y = layer(in)[0];
        return sum(y * y);
      };
      auto [value, gradients] = value_and_grad(square, trained);
      results = gradients;
      results.push_back(value);
    });
    for (const Tensor& t : results) keep(t);
  }
  for (const Parameter& p : layer.parameters()) keep(p.value());
  boundaries_enabled() = true;
  return bits;
}

TEST(Layers, EagerAndBoundaryHaveEqualBits) {
  for (const json& c : table()) {
    SCOPED_TRACE(text(c));
    Made eager = make(c), graph = make(c);
    TensorList in = prepare(*eager, c);
    prepare(*graph, c);
    follow_stats() = {};
    EXPECT_EQ(steps(*eager, in, false), steps(*graph, in, true));
    EXPECT_EQ(follow_stats().mismatches, 0);
    int64_t segments = 1;
    if (c["layer"] == "Dropout") segments = 0;  // does nothing in inference
    if (c["layer"] == "NLLLoss") segments = 2;  // reads the index that it makes of the labels, for the check
    EXPECT_EQ(follow_stats().runs, 2 * segments);
  }
}

}  // namespace
}  // namespace sorus::nn
