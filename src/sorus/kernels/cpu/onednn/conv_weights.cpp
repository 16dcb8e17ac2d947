#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/onednn/detail/conv_plan.h"
#include "sorus/kernels/cpu/onednn/detail/pack.h"

// The gradient of the weights is one long sum over images and positions. It is cut in two ways, by the shape
// alone: by images (and rows, where images are few), each chunk giving a partial gradient, all added in
// order; and by output channels, which needs no adding but a copy of each slice of the output's gradient.
// Partial gradients cost memory and time in proportion to the weights, so large weights are cut by channels.
namespace sorus::kernels::onednn::detail {
namespace {

struct Slice {
  int64_t first_channel, channels;
  std::unique_ptr<WeightsReorder> reorder;
  size_t packed_offset;  // of the slice's partial gradients in the workspace
  size_t packed_bytes;   // of one of them
};

struct Chunk {
  int64_t first_image;
  RowBlock block;  // its problem has the chunk's number of images
};

struct Plan {
  std::vector<Chunk> chunks;
  std::vector<Slice> slices;
  std::vector<std::pair<ConvProblem, std::unique_ptr<Primitive>>> primitives;
  std::vector<const Primitive*> primitive_of;  // by slice, then chunk
  size_t grad_slices_bytes = 0;  // of the copies of slices of the output's gradient, first in the workspace
  size_t workspace = 0;
};

size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Parts of the sum: groups of images, or blocks of rows of each image when there are fewer images than
/// parts.
std::vector<Chunk> choose_chunks(const ConvProblem& p, bool rows) {
  // Positions summed per weight that make one more partial cheap. Slicing costs kernels of one tap more.
  int64_t work_per_partial = p.taps() == 1 ? 400 : 1500;
  constexpr int64_t kMaxChunks = 8;
  int64_t wanted = std::clamp(p.n * p.out_positions() / work_per_partial, int64_t{1},
                              std::min(kMaxChunks, conv_pieces(p)));
  std::vector<Chunk> chunks;
  if (!rows || wanted <= p.n) {
    auto bounds = cut_evenly(p.n, std::min(wanted, p.n), 1);
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
      chunks.push_back({bounds[i], {p, 0, 0}});
      chunks.back().block.problem.n = bounds[i + 1] - bounds[i];
    }
    return chunks;
  }
  ConvProblem image = p;
  image.n = 1;
  auto blocks = cut_output_rows(image, (wanted + p.n - 1) / p.n);
  for (int64_t i = 0; i < p.n; ++i) {
    for (const RowBlock& block : blocks) chunks.push_back({i, block});
  }
  return chunks;
}

/// Bounds of the slices of output channels. A slice costs a copy of its part of the output's gradient, and
/// its kernel reads all of the input, so there are several only where chunks are few.
std::vector<int64_t> choose_slices(const ConvProblem& p, int64_t chunks) {
  constexpr int64_t kEnoughChunks = 4;
  int64_t slices = 1;
  if (chunks < kEnoughChunks && p.groups == 1 && p.in_channels * p.taps() >= 256) {
    slices = std::clamp((std::min(conv_pieces(p), int64_t{16}) + chunks - 1) / chunks, int64_t{1},
                        std::max(p.out_channels / 64, int64_t{1}));
  }
  return cut_evenly(p.out_channels, slices, slices > 1 ? 64 : p.out_channels);
}

/// Fills the plan; false when the primitives of the chunks cannot share a layout or there are none.
bool fill_plan(const ConvProblem& problem, bool rows, Plan& plan) {
  plan = Plan{};
  plan.chunks = choose_chunks(problem, rows);
  size_t chunks = plan.chunks.size();
  std::vector<int64_t> channels = choose_slices(problem, static_cast<int64_t>(chunks));
  size_t slices = channels.size() - 1;
  if (slices > 1) {
    plan.grad_slices_bytes =
        rounded(static_cast<size_t>(problem.n * problem.out_positions() * problem.out_channels) *
                element_size(problem.type));
  }
  plan.workspace = plan.grad_slices_bytes;
  for (size_t s = 0; s < slices; ++s) {
    ConvProblem part = problem;
    const Primitive* first = nullptr;
    for (const Chunk& chunk : plan.chunks) {
      part = chunk.block.problem;
      part.out_channels = channels[s + 1] - channels[s];
      auto known = std::find_if(plan.primitives.begin(), plan.primitives.end(),
                                [&](const auto& entry) { return entry.first == part; });
      if (known == plan.primitives.end()) {
        auto made = make_conv(part, ConvPass::kBackwardWeights, first);
        if (!made) return false;
        plan.primitives.emplace_back(part, std::move(made));
        known = plan.primitives.end() - 1;
      }
      first = first ? first : known->second.get();
      plan.primitive_of.push_back(known->second.get());
    }
    Slice slice{channels[s], part.out_channels, nullptr, plan.workspace, rounded(first->bytes(1))};
    slice.reorder = std::make_unique<WeightsReorder>(part, problem.weights_grad_type, first->desc(1), false);
    plan.workspace += slice.packed_bytes * chunks;
    plan.slices.push_back(std::move(slice));
  }
  return true;
}

std::shared_ptr<const Plan> build_plan(const ConvProblem& problem) {
  auto plan = std::make_shared<Plan>();
  bool made = fill_plan(problem, true, *plan) || fill_plan(problem, false, *plan);
  SORUS_CHECK(made, NotSupportedError, "conv: no kernel on this CPU: got {}, need float32",
              problem.type == ElementType::kBFloat16 ? "bfloat16" : "a form that oneDNN does not take");
  return plan;
}

std::shared_ptr<const Plan> find_plan(ConvProblem problem) {
  static auto* cache =
      new PlanCache<ConvProblem, Plan>(192);  // never destroyed: threads may outlive static objects
  problem.has_bias = false, problem.activation = Activation::kNone;
  return cache->get(problem, build_plan);
}

/// sum += next, both 64-byte aligned and padded to 64 bytes.
void add_floats(float* sum, const float* next, int64_t count) {
  for (int64_t i = 0; i < count; i += 4)
    _mm_store_ps(sum + i, _mm_add_ps(_mm_load_ps(sum + i), _mm_load_ps(next + i)));
}

void copy_grad_slices(const ConvProblem& p, const Plan& plan, const void* out_grad, char* slices) {
  int64_t rows = p.n * p.out_positions();
  auto size = static_cast<int64_t>(element_size(p.type));
  int64_t grain = std::max<int64_t>(1, 32768 / p.out_channels);
  parallel_ranges(rows, grain, [&](int64_t begin, int64_t end) {
    for (const Slice& slice : plan.slices) {
      MatrixView from{
          static_cast<const char*>(out_grad) + (begin * p.out_channels + slice.first_channel) * size,
          p.out_channels, 1};
      char* to = slices + (rows * slice.first_channel + begin * slice.channels) * size;
      copy_matrix(p.type, end - begin, slice.channels, from, to, slice.channels);
    }
  });
}

/// Adds the chunks' partial gradients of a slice into the first, in order.
void add_partials(const Slice& slice, size_t chunks, char* workspace) {
  constexpr int64_t kGrain = 16384;
  auto count = static_cast<int64_t>(slice.packed_bytes / sizeof(float));
  float* sum = reinterpret_cast<float*>(workspace + slice.packed_offset);
  parallel_ranges(count, kGrain, [&](int64_t begin, int64_t end) {
    for (size_t c = 1; c < chunks; ++c) {
      const float* next =
          reinterpret_cast<const float*>(workspace + slice.packed_offset + c * slice.packed_bytes);
      add_floats(sum + begin, next + begin, end - begin);
    }
  });
}

}  // namespace

size_t weights_pass_workspace(const ConvProblem& problem) { return find_plan(problem)->workspace; }

std::string weights_pass_implementation(const ConvProblem& problem) {
  return std::string(find_plan(problem)->primitives[0].second->implementation());
}

void weights_pass(const ConvProblem& p, const void* input, const void* out_grad, void* weights_grad,
                  void* workspace) {
  auto shared_plan = find_plan(p);
  const Plan& plan = *shared_plan;
  char* space = static_cast<char*>(workspace);
  auto size = static_cast<int64_t>(element_size(p.type));
  int64_t in_image = p.in_positions() * p.in_channels, positions = p.out_positions();
  bool sliced = plan.slices.size() > 1;
  if (sliced) copy_grad_slices(p, plan, out_grad, space);
  const char* grad = sliced ? space : static_cast<const char*>(out_grad);

  size_t chunks = plan.chunks.size();
  parallel_for(static_cast<int64_t>(plan.primitive_of.size()), [&](int64_t i) {
    const Slice& slice = plan.slices[static_cast<size_t>(i) / chunks];
    const Chunk& chunk = plan.chunks[static_cast<size_t>(i) % chunks];
    int64_t in_begin = chunk.first_image * in_image + chunk.block.in_begin * (in_image / p.in[0]);
    int64_t out_begin = chunk.first_image * positions + chunk.block.out_begin * (positions / p.out(0));
    const char* from = static_cast<const char*>(input) + in_begin * size;
    const char* grad_part =
        grad + (p.n * positions * slice.first_channel + out_begin * slice.channels) * size;
    char* partial = space + slice.packed_offset + static_cast<size_t>(i) % chunks * slice.packed_bytes;
    void* memory[] = {const_cast<char*>(from), partial, const_cast<char*>(grad_part)};
    plan.primitive_of[static_cast<size_t>(i)]->run(memory);
  });
  int64_t weights_per_channel = p.in_channels / p.groups * p.taps();
  auto grad_size = static_cast<int64_t>(element_size(p.weights_grad_type));
  parallel_for(static_cast<int64_t>(plan.slices.size()), [&](int64_t i) {
    const Slice& slice = plan.slices[static_cast<size_t>(i)];
    if (chunks > 1) add_partials(slice, chunks, space);
    slice.reorder->run(
        space + slice.packed_offset,
        static_cast<char*>(weights_grad) + slice.first_channel * weights_per_channel * grad_size);
  });
}

}  // namespace sorus::kernels::onednn::detail
