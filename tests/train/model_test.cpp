#include "sorus/train/model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "sorus/base/thread_pool.h"
#include "sorus/core/generator.h"
#include "sorus/nn/layers.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/random/random.h"
#include "sorus/optim/optimizers.h"
#include "sorus/train/checkpoint.h"

namespace sorus::train {
namespace {

namespace fs = std::filesystem;

struct Net : nn::Cell {
  nn::Conv2d conv{{this, "conv"}, 1, 4, {3}, {.pad_mode = nn::PadMode::kValid}};
  nn::MaxPool2d pool{{this, "pool"}, {2}, {.stride = {2}}};
  nn::Flatten flatten{{this, "flatten"}};
  nn::Dense fc{{this, "fc"}, 36, 3};
  using nn::Cell::construct;
  Tensor construct(const Tensor& x) override { return fc(flatten(pool(relu(conv(x))))); }
};

/// Images whose brightest rows tell the class.
std::unique_ptr<Batches> stripes(int64_t rows = 96, int64_t batch = 8) {
  std::vector<float> pixels;
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < rows; ++i) {
    labels.push_back(static_cast<int32_t>(i % 3));
    for (int64_t k = 0; k < 64; ++k)
      pixels.push_back((k / 8 / 3 == i % 3 ? 1.F : 0.F) +
                       0.1F * static_cast<float>(std::sin(double(i * 64 + k))));
  }
  TensorList columns{Tensor(std::span<const float>(pixels), Shape{rows, 1, 8, 8}),
                     Tensor(std::span<const int32_t>(labels), Shape{rows})};
  return tensor_batches(columns, {.batch = batch, .shuffle = true, .seed = 5});
}

struct Trained {
  uint64_t weights = 0;
  std::map<std::string, double> measures;
  std::vector<double> losses;
};

/// Writes down the losses.
struct Losses : Callback {
  std::vector<double> all;
  void step_end(TrainState& state) override { all.push_back(state.loss.item<double>()); }
};

Trained run(Mode mode, int threads, const std::vector<Callback*>& more = {}, int64_t epochs = 3) {
  set_num_threads(threads);
  set_mode(mode);
  set_seed(11);
  Net net;
  nn::SoftmaxCrossEntropyWithLogits loss_cell;
  optim::Momentum optimizer(net.trainable_params(), optim::exponential_decay(0.05, 0.9, 10), 0.9);
  Model model(net, loss_cell, &optimizer, {{"accuracy", accuracy()}, {"loss", loss()}});
  Losses losses;
  std::vector<Callback*> callbacks{&losses};
  callbacks.insert(callbacks.end(), more.begin(), more.end());
  auto data = stripes();
  model.train(epochs, *data, callbacks);
  Trained r{checksum(net.parameters()), model.eval(*data), losses.all};
  set_mode(Mode::kPyNative);
  set_num_threads(2);
  return r;
}

TEST(Model, LearnsAndMeasures) {
  Trained r = run(Mode::kPyNative, 2);
  EXPECT_EQ(r.losses.size(), 36U);
  EXPECT_GT(r.measures["accuracy"], 0.95);
  EXPECT_LT(r.measures["loss"], r.losses.front());
}

TEST(Model, ModesAndThreadsHaveEqualBits) {
  Trained eager = run(Mode::kPyNative, 2), graph = run(Mode::kGraph, 2), single = run(Mode::kGraph, 1);
  EXPECT_EQ(eager.weights, graph.weights);
  EXPECT_EQ(eager.losses, graph.losses);
  EXPECT_EQ(eager.measures, graph.measures);
  EXPECT_EQ(graph.weights, single.weights);
}

TEST(Model, RefusesWhatCannotBe) {
  Net net;
  Model model(net, [](const Tensor& a, const Tensor&) { return a; });
  auto data = stripes();
  EXPECT_THROW(model.train(1, *data), ValueError);
  EXPECT_THROW((void)model.eval(*data), ValueError);
  EXPECT_FALSE(net.training());
}

TEST(Callbacks, LossMonitorAndTimeMonitorPrintAsRecorded) {
  LossMonitor losses(12);
  TimeMonitor times;
  testing::internal::CaptureStdout();
  run(Mode::kPyNative, 2, {&losses, &times}, 1);
  std::string out = testing::internal::GetCapturedStdout();
  EXPECT_EQ(out.rfind("epoch: 1 step: 12, loss is ", 0), 0U) << out;
  EXPECT_NE(out.find("\nTrain epoch time: "), std::string::npos) << out;
  EXPECT_NE(out.find(" ms, per step time: "), std::string::npos) << out;
}

TEST(Callbacks, ProgressBarPrintsALineAnEpochWhereNobodyWaits) {
  testing::internal::CaptureStdout();
  ProgressBar bar;
  run(Mode::kPyNative, 2, {&bar}, 2);
  std::string out = testing::internal::GetCapturedStdout();
  EXPECT_EQ(out.rfind("epoch 1/2: loss ", 0), 0U) << out;
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2) << out;
}

TEST(Callbacks, ProgressLineShowsWhereTrainingStands) {
  EXPECT_EQ(progress_line(1, 3, 60, 120, 0.5, 2),
            "epoch 1/3 [============>           ] 60/120  loss 0.5000  2.0 s");
}

TEST(Callbacks, EarlyStoppingWaitsForItsPatience) {
  EarlyStopping stopping({.min_delta = 100, .patience = 2});  // nothing is ever so much better
  Trained r = run(Mode::kPyNative, 2, {&stopping}, 9);
  EXPECT_EQ(r.losses.size(), 3U * 12);
}

TEST(Callbacks, TerminateOnNanEndsTraining) {
  struct Spoil : Callback {
    void step_end(TrainState& state) override {
      if (state.step == 4) state.loss = Tensor(std::numeric_limits<float>::quiet_NaN());
    }
  } spoil;
  TerminateOnNan guard;
  EXPECT_EQ(run(Mode::kPyNative, 2, {&spoil, &guard}).losses.size(), 4U);
  LossMonitor monitor(0);
  EXPECT_THROW(run(Mode::kPyNative, 2, {&spoil, &monitor}), ValueError);
}

class Files : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::temp_directory_path() / ("sorus_train_" + std::to_string(::getpid()));
};

TEST_F(Files, ModelCheckpointKeepsTheNewest) {
  ModelCheckpoint saver("net", folder_.string(), {.every_steps = 5, .keep = 2});
  run(Mode::kGraph, 2, {&saver}, 1);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"net-1_10.ckpt", "net-1_12.ckpt"}));
}

TEST_F(Files, TrainingGoesOnFromACheckpointWithTheSameBits) {
  std::string path = (folder_ / "half.ckpt").string();
  auto step = [](Model& model, int64_t t) {
    Tensor x = Tensor(0.01F) * cast(Tensor(t + 1), DType::kFloat32);
    std::vector<float> pixels(2 * 64, x.item<float>());
    return model.step(Tensor(std::span<const float>(pixels), Shape{2, 1, 8, 8}),
                      Tensor({int32_t{0}, int32_t{2}}, {2}));
  };
  uint64_t whole = 0, resumed = 0;
  for (bool resume : {false, true}) {
    set_seed(resume ? 99 : 3);
    Net net;
    nn::SoftmaxCrossEntropyWithLogits loss_cell;
    optim::Adam optimizer(net.trainable_params(), optim::exponential_decay(0.05, 0.5, 1));
    Model model(net, loss_cell, &optimizer);
    if (resume) {
      EXPECT_TRUE(load_checkpoint(path, net, &optimizer).clean());
    } else {
      step(model, 0), step(model, 1);
      save_checkpoint(path, net, &optimizer);
    }
    step(model, 2);
    (resume ? resumed : whole) = checksum(net.parameters());
  }
  EXPECT_EQ(whole, resumed);
}

TEST_F(Files, LoadingNamesEverythingThatDoesNotFit) {
  std::string path = (folder_ / "other.ckpt").string();
  std::vector<Parameter> file = {Parameter(Tensor(1.F), "conv.wieght"),
                                 Parameter(Tensor({1.F, 2.F}, {2}), "fc.bias"),
                                 Parameter(Tensor(1.F), "zzz")};
  save_checkpoint(path, file);
  Net net;
  uint64_t before = checksum(net.parameters());
  try {
    load_checkpoint(path, net);
    FAIL() << "loaded";
  } catch (const ValueError& e) {
    std::string text = e.what();
    for (const char* part : {"missing     conv.weight (near: conv.wieght)", "missing     fc.weight",
                             "unexpected  zzz", "misshaped   fc.bias: got float32 (2,), need float32 (3,)"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(checksum(net.parameters()), before);
}

TEST_F(Files, NamesThatOneSideLacksAreToldAndTheRestIsLoaded) {
  std::string path = (folder_ / "some.ckpt").string();
  std::vector<Parameter> file = {Parameter(Tensor(1.F), "conv.wieght"),
                                 Parameter(Tensor({1.F, 2.F, 3.F}, {3}), "fc.bias")};
  save_checkpoint(path, file);
  Net net;
  uint64_t before = checksum(net.parameters());
  EXPECT_THROW(load_checkpoint(path, net, nullptr, true), ValueError);
  EXPECT_EQ(checksum(net.parameters()), before);
  testing::internal::CaptureStderr();
  LoadReport report = load_checkpoint(path, net);
  std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(report.missing, (std::vector<std::string>{"conv.weight", "fc.weight"}));
  EXPECT_EQ(report.unexpected, (std::vector<std::string>{"conv.wieght"}));
  EXPECT_NE(told.find("missing     conv.weight (near: conv.wieght)"), std::string::npos) << told;
  for (const Parameter& p : net.parameters())
    if (p.name() == "fc.bias") {
      EXPECT_EQ(p.value().to_vector<float>(), (std::vector<float>{1, 2, 3}));
    }
}

TEST_F(Files, ANetworkTakesItsWeightsFromACheckpointOfTraining) {
  std::string path = (folder_ / "training.ckpt").string();
  Net net, other;
  optim::Adam optimizer(net.trainable_params(), optim::constant_rate(0.05));
  save_checkpoint(path, net, &optimizer);
  testing::internal::CaptureStderr();
  LoadReport report = load_checkpoint(path, other);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("unexpected  moment1."), std::string::npos);
  EXPECT_TRUE(report.missing.empty());
  EXPECT_EQ(report.unexpected.size(), optimizer.state().size());
  EXPECT_EQ(checksum(other.parameters()), checksum(net.parameters()));
}

TEST(TensorBatches, GiveEveryRowOnceAnEpochInAnOrderOfTheSeed) {
  Tensor rows({0.F, 1.F, 2.F, 3.F, 4.F, 5.F, 6.F}, {7});
  auto order = [&](bool shuffle, uint64_t seed, bool drop) {
    auto data =
        tensor_batches({rows}, {.batch = 2, .shuffle = shuffle, .seed = seed, .drop_remainder = drop});
    std::vector<float> seen;
    for (TensorList b = data->next(); !b.empty(); b = data->next())
      for (float v : b[0].to_vector<float>()) seen.push_back(v);
    return seen;
  };
  EXPECT_EQ(order(false, 0, true), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  std::vector<float> mixed = order(true, 1, false), again = order(true, 1, false);
  EXPECT_EQ(mixed, again);
  EXPECT_NE(mixed, order(true, 2, false));
  std::sort(mixed.begin(), mixed.end());
  EXPECT_EQ(mixed, (std::vector<float>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_THROW((void)tensor_batches({}), ValueError);
  EXPECT_THROW((void)tensor_batches({rows, Tensor({1.F}, {1})}), ShapeError);
}

}  // namespace
}  // namespace sorus::train
