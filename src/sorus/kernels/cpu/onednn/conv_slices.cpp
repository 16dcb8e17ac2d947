#include <algorithm>
#include <memory>
#include <vector>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/onednn/detail/conv_plan.h"
#include "sorus/kernels/cpu/onednn/detail/pack.h"

// Layers of many channels and few positions: cut by images, every piece would read all weights from the
// third-level cache again, which takes longer than the arithmetic. Cut by the channels of the result, each
// piece reads its own part; its result is dense, and is then copied between the other channels.
namespace sorus::kernels::onednn::detail {
namespace {

struct Slice {
  int64_t first_channel, channels;
  std::unique_ptr<Primitive> reorder;  // from the plain weights of all channels
  std::vector<std::unique_ptr<Primitive>>
      convolutions;      // of a whole group of images, and of the last if shorter
  size_t packed_offset;  // where all slices are packed
};

struct Plan {
  std::vector<Slice> slices;
  std::vector<int64_t> images;  // bounds of the groups of images
  size_t packed_bytes = 0;

  int64_t groups() const { return static_cast<int64_t>(images.size()) - 1; }
};

struct Key {
  ConvProblem problem;
  ConvPass pass;
  bool turned;
  bool operator==(const Key&) const = default;
};
uint64_t hash_value(const Key& key) {
  return onednn::hash_value(key.problem) ^ static_cast<uint64_t>(key.pass) ^
         static_cast<uint64_t>(key.turned) << 8;
}

/// Positions and channels of what the pass writes.
int64_t result_positions(const ConvProblem& p, ConvPass pass) {
  return pass == ConvPass::kForward ? p.out_positions() : p.in_positions();
}
int64_t result_channels(const ConvProblem& p, ConvPass pass) {
  return pass == ConvPass::kForward ? p.out_channels : p.in_channels;
}

std::unique_ptr<Primitive> make_reorder(const Key& key, const Slice& slice,
                                        const dnnl_memory_desc_t& packed) {
  const ConvProblem& p = key.problem;
  int64_t dims[kMaxSpatialRank + 2] = {p.out_channels, p.in_channels}, offsets[kMaxSpatialRank + 2] = {};
  for (int i = 0; i < p.rank; ++i) dims[i + 2] = p.kernel[i];
  auto plain = strided_desc({dims, static_cast<size_t>(p.rank + 2)}, p.type);
  int axis = key.pass == ConvPass::kForward ? 0 : 1;
  dims[axis] = slice.channels;
  if (key.turned) {  // a slice alone
    return Primitive::create_reorder(strided_desc({dims, static_cast<size_t>(p.rank + 2)}, p.type), packed);
  }
  offsets[axis] = slice.first_channel;
  dnnl_memory_desc_t part;
  check(dnnl_memory_desc_init_submemory(&part, &plain, dims, offsets), "cutting weights");
  return Primitive::create_reorder(part, packed);
}

std::shared_ptr<const Plan> build_plan(const Key& key) {
  const ConvProblem& p = key.problem;
  auto plan = std::make_shared<Plan>();
  std::vector<int64_t> channels = cut_evenly(result_channels(p, key.pass), 16, 64);
  auto slices = static_cast<int64_t>(channels.size()) - 1;
  // With pieces enough, the weights of a slice are packed where they are used once, and read from the cache.
  constexpr int64_t kEnoughSlices = 8;
  constexpr int64_t kFewRows = 8192;  // of results that a thread holds back
  bool one_group = slices >= kEnoughSlices && p.n * result_positions(p, key.pass) <= kFewRows;
  int64_t groups = one_group ? 1 : std::clamp(conv_pieces(p) / slices, int64_t{1}, p.n);
  plan->images = cut_evenly(p.n, groups, 1);
  for (int64_t s = 0; s < slices; ++s) {
    auto at = static_cast<size_t>(s);
    Slice slice{channels[at], channels[at + 1] - channels[at], nullptr, {}, plan->packed_bytes};
    ConvProblem part = p;
    (key.pass == ConvPass::kForward ? part.out_channels : part.in_channels) = slice.channels;
    int64_t last = plan->images.back() - plan->images[plan->images.size() - 2];
    for (int64_t n : {plan->images[1], last}) {
      if (!slice.convolutions.empty() && n == part.n) break;
      part.n = n;
      auto made =
          make_conv(part, key.pass, slice.convolutions.empty() ? nullptr : slice.convolutions[0].get());
      SORUS_CHECK(made, NotSupportedError, "conv: no kernel on this CPU: got {}, need float32",
                  p.type == ElementType::kBFloat16 ? "bfloat16" : "a form that oneDNN does not take");
      slice.convolutions.push_back(std::move(made));
    }
    slice.reorder = make_reorder(key, slice, slice.convolutions[0]->desc(1));
    plan->packed_bytes += (slice.convolutions[0]->bytes(1) + 63) / 64 * 64;
    plan->slices.push_back(std::move(slice));
  }
  return plan;
}

std::shared_ptr<const Plan> find_plan(ConvProblem problem, ConvPass pass, bool turned) {
  static auto* cache = new PlanCache<Key, Plan>(128);  // never destroyed: threads may outlive static objects
  problem.weights_grad_type = ElementType::kFloat32;
  if (pass == ConvPass::kBackwardData) problem.has_bias = false, problem.activation = Activation::kNone;
  return cache->get({problem, pass, turned}, build_plan);
}

}  // namespace

bool prefers_slices(const ConvProblem& p, ConvPass pass) {
  constexpr int64_t kFewPositions = 400;
  constexpr int64_t kManyWeights = 200'000;
  return p.groups == 1 && p.weights() >= kManyWeights && p.out_positions() < kFewPositions &&
         result_channels(p, pass) >= 128;
}

size_t sliced_workspace(const ConvProblem& problem, ConvPass pass, bool turned) {
  auto plan = find_plan(problem, pass, turned);
  return plan->groups() > 1 ? plan->packed_bytes : 0;
}

std::string sliced_implementation(const ConvProblem& problem, ConvPass pass) {
  return std::string(find_plan(problem, pass, false)->slices[0].convolutions[0]->implementation());
}

size_t sliced_packed_bytes(const ConvProblem& problem) {
  return find_plan(problem, ConvPass::kForward, false)->packed_bytes;
}

void pack_slices(const ConvProblem& problem, const void* weights, void* to) {
  auto plan = find_plan(problem, ConvPass::kForward, false);
  parallel_for(static_cast<int64_t>(plan->slices.size()), [&](int64_t s) {
    const Slice& slice = plan->slices[static_cast<size_t>(s)];
    void* memory[] = {const_cast<void*>(weights), static_cast<char*>(to) + slice.packed_offset};
    slice.reorder->run(memory);
  });
}

void sliced_pass(const ConvProblem& p, ConvPass pass, const void* source, const void* weights,
                 const float* bias, void* result, void* workspace, bool weights_packed, bool turned) {
  auto shared_plan = find_plan(p, pass, turned);
  const Plan& plan = *shared_plan;
  char* space = static_cast<char*>(workspace);
  auto size = static_cast<int64_t>(element_size(p.type));
  int64_t positions = result_positions(p, pass), channels = result_channels(p, pass);
  int64_t source_image =
      pass == ConvPass::kForward ? p.in_positions() * p.in_channels : p.out_positions() * p.out_channels;
  auto slices = static_cast<int64_t>(plan.slices.size());
  auto pack = [&](const Slice& slice, void* packed) {
    void* memory[] = {const_cast<void*>(weights), packed};
    if (turned) {
      int64_t elements = slice.channels * p.in_channels * p.taps();
      memory[0] = thread_scratch(Scratch::kA, static_cast<size_t>(elements * size));
      turn_weights(p, static_cast<const float*>(weights), slice.first_channel, slice.channels,
                   static_cast<float*>(memory[0]));
    }
    slice.reorder->run(memory);
  };
  bool pack_first = plan.groups() > 1 && !weights_packed;
  if (weights_packed) space = static_cast<char*>(const_cast<void*>(weights));
  if (pack_first) {
    parallel_for(slices, [&](int64_t s) {
      const Slice& slice = plan.slices[static_cast<size_t>(s)];
      pack(slice, space + slice.packed_offset);
    });
  }
  parallel_for(slices * plan.groups(), [&](int64_t i) {
    const Slice& slice = plan.slices[static_cast<size_t>(i / plan.groups())];
    auto group = static_cast<size_t>(i % plan.groups());
    int64_t first = plan.images[group], rows = (plan.images[group + 1] - first) * positions;
    bool shorter = plan.images[group + 1] - first != plan.images[1];
    const Primitive& convolution = *slice.convolutions[shorter ? slice.convolutions.size() - 1 : 0];
    void* tile = thread_scratch(Scratch::kOut, static_cast<size_t>(rows * slice.channels * size));
    const char* from = static_cast<const char*>(source) + first * source_image * size;
    void* packed = space + slice.packed_offset;
    if (!pack_first && !weights_packed) {
      packed = thread_scratch(Scratch::kB, slice.convolutions[0]->bytes(1));
      pack(slice, packed);
    }
    void* memory[] = {const_cast<char*>(from), packed, tile,
                      const_cast<float*>(bias ? bias + slice.first_channel : nullptr)};
    convolution.run(std::span(memory, bias ? 4 : 3));
    char* to = static_cast<char*>(result) + (first * positions * channels + slice.first_channel) * size;
    copy_matrix(p.type, rows, slice.channels, {tile, slice.channels, 1}, to, channels);
  });
}

}  // namespace sorus::kernels::onednn::detail
