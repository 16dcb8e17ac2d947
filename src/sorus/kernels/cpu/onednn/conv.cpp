#include "sorus/kernels/cpu/onednn/conv.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/onednn/detail/conv_plan.h"

namespace sorus::kernels::onednn {
namespace {

using detail::Primitive;
using detail::RowBlock;

/// One piece: images [first, first + problem.n) and a block of rows.
struct Piece {
  int64_t first_image;
  RowBlock block;
  const Primitive* primitive;
};

struct Plan {
  std::vector<Piece> pieces;
  std::vector<std::pair<ConvProblem, std::unique_ptr<Primitive>>> primitives;
  std::unique_ptr<detail::WeightsReorder> reorder;
  size_t packed_bytes = 0;
};

/// Input rows [begin, end) of one image, with the output rows that reach them. `begin` is such that an output
/// row starts there, which keeps the padding from becoming negative.
RowBlock backward_rows(const ConvProblem& p, int64_t begin, int64_t end) {
  int64_t reach = (p.kernel[0] - 1) * p.dilation[0], s = p.stride[0], low = p.pad_low[0];
  int64_t first = std::max<int64_t>(0, (begin + low - reach + s - 1) / s);
  if (begin + low - reach < 0) first = 0;
  int64_t last = std::min(p.out(0) - 1, (end - 1 + low) / s);
  RowBlock block{p, begin, first};
  block.problem.in[0] = end - begin;
  block.problem.pad_low[0] = begin + low - first * s;
  block.problem.pad_high[0] =
      std::max<int64_t>(0, (last - first) * s + reach + 1 - (end - begin) - block.problem.pad_low[0]);
  // Rows that no output reaches, at the end of the input, belong to the block all the same.
  SORUS_INTERNAL(block.problem.out(0) == last - first + 1, "conv: rows do not fit: got {}, need {}",
                 block.problem.out(0), last - first + 1);
  return block;
}

/// Row blocks of an image; one when it should not be cut.
std::vector<RowBlock> cut_rows(const ConvProblem& image, ConvPass pass, int64_t parts) {
  if (pass == ConvPass::kForward) return detail::cut_output_rows(image, parts);
  std::vector<RowBlock> blocks;
  // Cut where an output row starts: at multiples of the stride, shifted by the padding.
  int64_t s = image.stride[0], shift = image.pad_low[0] % s;
  int64_t reached = (image.out(0) - 1) * s - image.pad_low[0] + (image.kernel[0] - 1) * image.dilation[0] + 1;
  parts = std::min(parts, std::max<int64_t>(1, std::min(image.in[0], reached) / (2 * s)));
  if (parts == 1) return {RowBlock{image, 0, 0}};
  auto bounds = detail::cut_evenly(image.in[0] + shift, parts, s);
  if (bounds.size() > 2 && bounds.back() - bounds[bounds.size() - 2] < s) bounds.erase(bounds.end() - 2);
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    blocks.push_back(backward_rows(image, std::max<int64_t>(0, bounds[i] - shift), bounds[i + 1] - shift));
  }
  return blocks;
}

const Primitive* find_or_make(Plan& plan, const ConvProblem& problem, ConvPass pass) {
  for (auto& [known, primitive] : plan.primitives) {
    if (known == problem) return primitive.get();
  }
  // All pieces read the same packed weights: the first primitive chooses their layout.
  auto made =
      detail::make_conv(problem, pass, plan.primitives.empty() ? nullptr : plan.primitives[0].second.get());
  if (!made) return nullptr;
  plan.primitives.emplace_back(problem, std::move(made));
  return plan.primitives.back().second.get();
}

/// Fills the plan's pieces; false when the primitives for row blocks cannot share their weights.
bool cut_pieces(const ConvProblem& p, ConvPass pass, bool rows, Plan& plan) {
  int64_t wanted = detail::conv_pieces(p);
  plan = Plan{};
  if (!rows || wanted <= p.n) {
    auto bounds = detail::cut_evenly(p.n, wanted, 1);
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
      RowBlock block{p, 0, 0};
      block.problem.n = bounds[i + 1] - bounds[i];
      plan.pieces.push_back({bounds[i], block, find_or_make(plan, block.problem, pass)});
    }
  } else {
    ConvProblem image = p;
    image.n = 1;
    auto blocks = cut_rows(image, pass, (wanted + p.n - 1) / p.n);
    // The largest kind of block comes first, in the middle of the image, and chooses the layout.
    (void)find_or_make(plan, blocks[blocks.size() / 2].problem, pass);
    for (int64_t i = 0; i < p.n; ++i) {
      for (const RowBlock& block : blocks)
        plan.pieces.push_back({i, block, find_or_make(plan, block.problem, pass)});
    }
  }
  return std::all_of(plan.pieces.begin(), plan.pieces.end(),
                     [](const Piece& piece) { return piece.primitive; });
}

struct Key {
  ConvProblem problem;
  ConvPass pass;
  bool operator==(const Key&) const = default;
};
uint64_t hash_value(const Key& key) { return hash_value(key.problem) ^ static_cast<uint64_t>(key.pass); }

std::shared_ptr<const Plan> build_plan(const Key& key) {
  auto plan = std::make_shared<Plan>();
  bool made =
      cut_pieces(key.problem, key.pass, true, *plan) || cut_pieces(key.problem, key.pass, false, *plan);
  SORUS_CHECK(made, NotSupportedError, "conv: no kernel on this CPU: got {}, need float32",
              key.problem.type == ElementType::kBFloat16 ? "bfloat16" : "a form that oneDNN does not take");
  const auto& packed = plan->primitives[0].second->desc(1);
  plan->packed_bytes = dnnl_memory_desc_get_size(&packed);
  plan->reorder = std::make_unique<detail::WeightsReorder>(key.problem, key.problem.type, packed, true);
  return plan;
}

std::shared_ptr<const Plan> find_plan(ConvProblem problem, ConvPass pass) {
  static auto* cache =
      new detail::PlanCache<Key, Plan>(192);  // never destroyed: threads may outlive static objects
  // What the pass does not look at must not make plans differ.
  problem.weights_grad_type = ElementType::kFloat32;
  if (pass == ConvPass::kBackwardData) problem.has_bias = false, problem.activation = Activation::kNone;
  return cache->get({problem, pass}, build_plan);
}

bool is_empty(const ConvProblem& p) {
  return p.n == 0 || p.in_channels == 0 || p.out_channels == 0 || p.in_positions() == 0 ||
         p.out_positions() == 0;
}

/// The result when there is nothing to sum: the activated bias, or zeros.
void fill_empty_forward(const ConvProblem& p, const float* bias, void* out) {
  int64_t rows = p.n * p.out_positions();
  for (int64_t i = 0; i < rows * p.out_channels; ++i) {
    float value = p.has_bias ? bias[i % p.out_channels] : 0.0F;
    if (p.activation == Activation::kRelu) value = std::max(value, 0.0F);
    if (p.type == ElementType::kFloat32) {
      static_cast<float*>(out)[i] = value;
    } else {
      uint32_t bits = 0;
      std::memcpy(&bits, &value, 4);
      static_cast<uint16_t*>(out)[i] = static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    }
  }
}

/// Packs the weights into the workspace and runs all pieces.
void run_pieces(const ConvProblem& p, const Plan& plan, const void* source, int64_t source_image,
                int64_t source_row, bool source_is_input, const void* weights, const float* bias,
                void* target, int64_t target_image, int64_t target_row, void* workspace,
                const ConvOptions& options) {
  if (!options.weights_packed) plan.reorder->run(weights, workspace);
  void* packed = options.weights_packed ? const_cast<void*>(weights) : workspace;
  auto size = static_cast<int64_t>(element_size(p.type));
  int64_t channels = source_is_input ? p.out_channels : p.in_channels;
  parallel_for(static_cast<int64_t>(plan.pieces.size()), [&](int64_t i) {
    const Piece& piece = plan.pieces[static_cast<size_t>(i)];
    int64_t source_begin = source_is_input ? piece.block.in_begin : piece.block.out_begin;
    int64_t target_begin = source_is_input ? piece.block.out_begin : piece.block.in_begin;
    const char* from = static_cast<const char*>(source) +
                       (piece.first_image * source_image + source_begin * source_row) * size;
    const ConvProblem& part = piece.block.problem;
    int64_t first = piece.first_image * target_image + target_begin * target_row;
    int64_t elements = part.n * (source_is_input ? part.out(0) : part.in[0]) * target_row;
    void* to = target ? static_cast<char*>(target) + first * size
                      : detail::thread_scratch(detail::Scratch::kOut, static_cast<size_t>(elements * size));
    void* memory[] = {const_cast<char*>(from), packed, to, const_cast<float*>(bias)};
    piece.primitive->run(std::span(memory, bias ? 4 : 3));
    if (options.taker)
      options.taker->take({to, channels, first / channels, elements / channels, 0, channels});
  });
}

}  // namespace

size_t conv_workspace(const ConvProblem& problem, ConvPass pass) {
  detail::check_problem(problem);
  if (is_empty(problem)) return 0;
  if (pass == ConvPass::kBackwardWeights) return detail::weights_pass_workspace(problem);
  if (pass == ConvPass::kBackwardData && detail::prefers_flipping(problem))
    return detail::flipped_workspace(problem);
  if (detail::prefers_slices(problem, pass)) return detail::sliced_workspace(problem, pass);
  return find_plan(problem, pass)->packed_bytes;
}

void conv_forward(const ConvProblem& problem, const void* input, const void* weights, const float* bias,
                  void* out, void* workspace, const ConvOptions& options) {
  detail::check_problem(problem);
  if (!problem.has_bias) bias = nullptr;
  if (is_empty(problem)) return fill_empty_forward(problem, bias, out);
  if (detail::prefers_slices(problem, ConvPass::kForward)) {
    return detail::sliced_pass(problem, ConvPass::kForward, input, weights, bias, out, workspace,
                               options.weights_packed);
  }
  int64_t in_image = problem.in_positions() * problem.in_channels;
  int64_t out_image = problem.out_positions() * problem.out_channels;
  run_pieces(problem, *find_plan(problem, ConvPass::kForward), input, in_image, in_image / problem.in[0],
             true, weights, bias, out, out_image, out_image / problem.out(0), workspace, options);
}

bool conv_has_pieces(const ConvProblem& problem, ConvPass pass) {
  if (is_empty(problem)) return false;
  if (pass == ConvPass::kBackwardData && detail::prefers_flipping(problem))
    return !detail::flipped_is_sliced(problem);
  return !detail::prefers_slices(problem, pass);
}

size_t conv_packed_bytes(const ConvProblem& problem) {
  detail::check_problem(problem);
  if (is_empty(problem)) return 0;
  if (detail::prefers_slices(problem, ConvPass::kForward)) return detail::sliced_packed_bytes(problem);
  return find_plan(problem, ConvPass::kForward)->packed_bytes;
}

void conv_pack_weights(const ConvProblem& problem, const void* weights, void* to) {
  if (detail::prefers_slices(problem, ConvPass::kForward)) return detail::pack_slices(problem, weights, to);
  find_plan(problem, ConvPass::kForward)->reorder->run(weights, to);
}

void conv_backward_data(const ConvProblem& problem, const void* out_grad, const void* weights,
                        void* input_grad, void* workspace, const ConvOptions& options) {
  detail::check_problem(problem);
  int64_t in_image = problem.in_positions() * problem.in_channels;
  int64_t out_image = problem.out_positions() * problem.out_channels;
  if (is_empty(problem)) {
    std::memset(input_grad, 0, static_cast<size_t>(problem.n * in_image) * element_size(problem.type));
    return;
  }
  if (detail::prefers_flipping(problem)) {
    return detail::flipped_backward_data(problem, out_grad, weights, input_grad, workspace, options);
  }
  if (detail::prefers_slices(problem, ConvPass::kBackwardData)) {
    return detail::sliced_pass(problem, ConvPass::kBackwardData, out_grad, weights, nullptr, input_grad,
                               workspace, false);
  }
  run_pieces(problem, *find_plan(problem, ConvPass::kBackwardData), out_grad, out_image,
             out_image / problem.out(0), false, weights, nullptr, input_grad, in_image,
             in_image / problem.in[0], workspace, options);
}

void conv_backward_weights(const ConvProblem& problem, const void* input, const void* out_grad,
                           void* weights_grad, void* workspace) {
  detail::check_problem(problem);
  if (is_empty(problem)) {
    std::memset(weights_grad, 0,
                static_cast<size_t>(problem.weights()) * element_size(problem.weights_grad_type));
    return;
  }
  detail::weights_pass(problem, input, out_grad, weights_grad, workspace);
}

std::string conv_implementation(const ConvProblem& problem, ConvPass pass) {
  detail::check_problem(problem);
  if (is_empty(problem)) return "none";
  if (pass == ConvPass::kBackwardData && detail::prefers_flipping(problem))
    return detail::flipped_implementation(problem);
  if (pass == ConvPass::kBackwardWeights) return detail::weights_pass_implementation(problem);
  if (detail::prefers_slices(problem, pass)) return detail::sliced_implementation(problem, pass);
  return std::string(find_plan(problem, pass)->primitives[0].second->implementation());
}

}  // namespace sorus::kernels::onednn
