// Trains ResNet-18 on a folder that has a subfolder of JPEG or PNG images for each class. The Python twin is
// resnet18.py; for the same folders and options both give the same weights, bit for bit. Source: He et al.,
// "Deep Residual Learning for Image Recognition", 2016.
#include <fmt/core.h>
#include <sorus/sorus.h>

#include <optional>

#include "examples/command_line.h"

namespace {

using namespace sorus;

/// A convolution that keeps the size but for its stride, and batch norm.
struct ConvNorm : nn::SequentialCell {
  ConvNorm(nn::Place place, int64_t in, int64_t out, int64_t kernel, int64_t stride)
      : nn::SequentialCell(place) {
    append<nn::Conv2d>(in, out, Ints{kernel},
                       nn::ConvCellOptions{.stride = {stride},
                                           .pad_mode = nn::PadMode::kPad,
                                           .padding = {kernel / 2},
                                           .weight_init = nn::he_normal()});
    append<nn::BatchNorm2d>(out);
  }
};

/// Two 3x3 convolutions, the input added.
struct Block : nn::Cell {
  ConvNorm first, second;
  std::optional<ConvNorm> shortcut;

  Block(nn::Place place, int64_t in, int64_t out, int64_t stride)
      : nn::Cell(place),
        first({this, "first"}, in, out, 3, stride),
        second({this, "second"}, out, out, 3, 1) {
    if (stride > 1 || in != out) shortcut.emplace(nn::Place{this, "shortcut"}, in, out, 1, stride);
  }
  using nn::Cell::construct;
  Tensor construct(const Tensor& x) override {
    return relu(second(relu(first(x))) + (shortcut ? (*shortcut)(x) : x));
  }
};

/// Logits (N, classes) of images (N, 3, H, W).
struct ResNet18 : nn::Cell {
  ConvNorm stem{{this, "stem"}, 3, 64, 7, 2};
  nn::MaxPool2d pool{{this, "pool"}, {3}, {.stride = {2}, .pad_mode = nn::PadMode::kPad, .padding = {1}}};
  nn::SequentialCell blocks{{this, "blocks"}};
  nn::Dense head;

  explicit ResNet18(int64_t classes) : head(with_blocks(), 512, classes) {}
  using nn::Cell::construct;
  Tensor construct(const Tensor& image) override {
    Tensor x = blocks(pool(relu(stem(image))));
    return head(mean(x, Ints{2, 3}));
  }

 private:
  /// Weights are drawn in the order in which cells are made: the blocks come before the head.
  nn::Place with_blocks() {
    int64_t in = 64;
    for (int64_t out : {64, 128, 256, 512}) {
      blocks.append<Block>(in, out, out == 64 ? 1 : 2);
      blocks.append<Block>(out, out, 1);
      in = out;
    }
    return {this, "head"};
  }
};

struct Options {
  std::string train, test;
  int64_t epochs = 2, batch = 32, image_size = 64;
  double lr = 0.02;
  uint64_t seed = 1;
  std::string mode = "graph";
};

/// Images (N, 3, size, size) about -1 to 1, in float32, and labels; in training, random parts of the images.
data::Dataset batches(const std::string& folder, int64_t size, int64_t batch, bool training) {
  std::vector<data::OperationPtr> image;
  if (training) {
    image = {data::random_crop_decode_resize(size, size, {.scale = {0.7, 1.0}, .ratio = {0.9, 1.1}})};
  } else {
    image = {data::decode(), data::resize(size, size)};
  }
  image.push_back(data::normalize({127.5F, 127.5F, 127.5F}, {127.5F, 127.5F, 127.5F}));
  image.push_back(data::hwc_to_chw());
  return data::image_folder(folder, {}, {.shuffle = training})
      .map(image, {"image"})
      .map({data::type_cast(DType::kInt32)}, {"label"})
      .batch(batch, training);
}

void run(const Options& o) {
  set_mode(o.mode == "graph" ? Mode::kGraph : Mode::kPyNative);
  set_seed(o.seed);
  auto train_data = train::pipeline_batches(batches(o.train, o.image_size, o.batch, true));
  auto test_data = train::pipeline_batches(batches(o.test, o.image_size, o.batch, false));
  ResNet18 net(static_cast<int64_t>(data::image_folder_classes(o.train).size()));
  nn::SoftmaxCrossEntropyWithLogits loss;
  int64_t steps = o.epochs * train_data->size();
  optim::Momentum optimizer(net.trainable_params(), optim::cosine_decay(1e-5, o.lr, steps), 0.9, 1e-4);
  train::Model model(net, loss, &optimizer, {{"accuracy", train::accuracy()}});
  train::ProgressBar bar;
  model.train(o.epochs, *train_data, {&bar});
  fmt::print("test accuracy {:.4f}\n", model.eval(*test_data)["accuracy"]);
  fmt::print("weights {:016x}\n", train::checksum(net.parameters()));
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  examples::CommandLine arguments(
      "Trains ResNet-18 on a folder that has a subfolder of images for each class.");
  arguments.add("train", o.train, "folder of the images to train on");
  arguments.add("test", o.test, "folder of the images to test on");
  arguments.add("--epochs", o.epochs, "times through the images");
  arguments.add("--batch", o.batch, "images in a step");
  arguments.add("--image-size", o.image_size, "height and width in pixels");
  arguments.add("--lr", o.lr, "learning rate of the first step; it falls along a cosine");
  arguments.add("--seed", o.seed, "of weights and order");
  arguments.add("--mode", o.mode, "how it runs; the weights are the same", {"graph", "pynative"});
  arguments.read(argc, argv);
  try {
    run(o);
  } catch (const Error& e) {
    fmt::print(stderr, "resnet18: {}\n", e.what());
    return 1;
  }
}
