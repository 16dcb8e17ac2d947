// LeNet-5 on MNIST: trains, tests, and shows a few predictions. The Python twin is lenet.py; for the same
// options both give the same weights, bit for bit.
#include <fmt/core.h>
#include <sorus/sorus.h>

#include <algorithm>
#include <filesystem>

#include "examples/command_line.h"

namespace {

using namespace sorus;

/// Two convolutions and three dense layers. Source: LeCun et al. 1998.
struct LeNet5 : nn::Cell {
  nn::Conv2d conv1{{this, "conv1"}, 1, 6, {5}, {.pad_mode = nn::PadMode::kValid}};
  nn::Conv2d conv2{{this, "conv2"}, 6, 16, {5}, {.pad_mode = nn::PadMode::kValid}};
  nn::MaxPool2d pool{{this, "pool"}, {2}, {.stride = {2}}};
  nn::Flatten flatten{{this, "flatten"}};
  nn::Dense fc1{{this, "fc1"}, 400, 120};
  nn::Dense fc2{{this, "fc2"}, 120, 84};
  nn::Dense fc3{{this, "fc3"}, 84, 10};

  using nn::Cell::construct;
  /// Logits (N, 10) of images (N, 1, 32, 32).
  Tensor construct(const Tensor& image) override {
    Tensor x = pool(relu(conv1(image)));
    x = pool(relu(conv2(x)));
    x = relu(fc1(flatten(x)));
    return fc3(relu(fc2(x)));
  }
};

struct Options {
  std::string data = LENET_DATA;
  int64_t epochs = 10, batch = 32;
  double lr = 0.02;
  uint64_t seed = 1;
  std::string mode = "graph";
};

/// Normalized images of 32 x 32 pixels and their labels.
data::Dataset batches(const std::string& folder, const std::string& usage, int64_t batch, bool shuffle) {
  auto in_parts = std::filesystem::path(folder) / usage;
  std::string at = std::filesystem::is_directory(in_parts) ? in_parts.string() : folder;
  return data::mnist(at, usage, {.shuffle = shuffle})
      .map({data::resize_shorter(32), data::rescale(1.0 / 255, 0), data::normalize({0.1307F}, {0.3081F}),
            data::hwc_to_chw()},
           {"image"})
      .map({data::type_cast(DType::kInt32)}, {"label"})
      .batch(batch, usage == "train");
}

/// A few images in the terminal, with what the network says they are.
void show(train::Model& model, train::Batches& data, int64_t count = 8) {
  TensorList batch = data.next();
  count = std::min(count, batch[0].size(0));
  Tensor images = narrow(batch[0], 0, 0, count);
  std::vector<float> scores = model.predict(images).to_vector<float>(), pixels = images.to_vector<float>();
  std::vector<int32_t> labels = batch[1].to_vector<int32_t>();
  auto [low, high] = std::minmax_element(pixels.begin(), pixels.end());
  for (int64_t y = 4; y < 28; y += 2) {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t x = 4; x < 28; x += 2) {
        float shade = (pixels[static_cast<size_t>((i * 32 + y) * 32 + x)] - *low) / (*high - *low) * 9.99F;
        fmt::print("{}", " .:-=+*#%@"[static_cast<size_t>(shade)]);
      }
      fmt::print("{}", i + 1 < count ? "  " : "\n");
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    auto row = scores.begin() + i * 10;
    auto guess = std::max_element(row, row + 10) - row;
    int32_t label = labels[static_cast<size_t>(i)];
    fmt::print("{:14}",
               guess == label ? fmt::format("{} right", guess) : fmt::format("{} not {}", guess, label));
  }
  fmt::print("\n");
}

void run(const Options& o) {
  set_mode(o.mode == "graph" ? Mode::kGraph : Mode::kPyNative);
  set_seed(o.seed);
  auto train_data = train::pipeline_batches(batches(o.data, "train", o.batch, true));
  auto test_data = train::pipeline_batches(batches(o.data, "test", o.batch, false));

  LeNet5 net;
  nn::SoftmaxCrossEntropyWithLogits loss;
  int64_t steps = o.epochs * train_data->size();
  optim::Momentum optimizer(net.trainable_params(), optim::polynomial_decay(o.lr, o.lr / 100, steps, 1), 0.9);
  train::Model model(net, loss, &optimizer, {{"accuracy", train::accuracy()}});
  train::ProgressBar bar;
  model.train(o.epochs, *train_data, {&bar});
  fmt::print("test accuracy {:.4f}\n", model.eval(*test_data)["accuracy"]);
  show(model, *test_data);
  fmt::print("weights {:016x}\n", train::checksum(net.parameters()));
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  examples::CommandLine arguments("LeNet-5 on MNIST: trains, tests, and shows a few predictions.");
  arguments.add("--data", o.data, "folder of MNIST's files, or with folders train and test of them");
  arguments.add("--epochs", o.epochs, "times through the training images");
  arguments.add("--batch", o.batch, "images in a training step");
  arguments.add("--lr", o.lr, "learning rate of the first step; it falls to a hundredth of that");
  arguments.add("--seed", o.seed, "of the weights and of the order of the images");
  arguments.add("--mode", o.mode, "how it runs; the weights are the same", {"graph", "pynative"});
  arguments.read(argc, argv);
  try {
    run(o);
  } catch (const Error& e) {
    fmt::print(stderr, "lenet: {}\n", e.what());
    return 1;
  }
}
