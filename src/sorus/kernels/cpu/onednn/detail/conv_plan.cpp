#include "sorus/kernels/cpu/onednn/detail/conv_plan.h"

#include <algorithm>
#include <bit>

#include "sorus/base/error.h"
#include "sorus/base/hash.h"
#include "sorus/base/thread_pool.h"

namespace sorus::kernels::onednn {

uint64_t hash_value(const ConvProblem& p) {
  uint64_t seed = static_cast<uint64_t>(p.type) | static_cast<uint64_t>(p.weights_grad_type) << 8 |
                  static_cast<uint64_t>(p.has_bias) << 16 | static_cast<uint64_t>(p.activation) << 24;
  for (int64_t size : {p.n, p.groups, p.in_channels, p.out_channels}) {
    seed = hash_combine(seed, static_cast<uint64_t>(size));
  }
  for (int i = 0; i < p.rank; ++i) {
    // Small numbers share a word; equality tells apart what collides.
    uint64_t word = static_cast<uint64_t>(p.in[i]) ^ static_cast<uint64_t>(p.kernel[i]) << 24 ^
                    static_cast<uint64_t>(p.stride[i]) << 36 ^ static_cast<uint64_t>(p.dilation[i]) << 44 ^
                    static_cast<uint64_t>(p.pad_low[i]) << 50 ^ static_cast<uint64_t>(p.pad_high[i]) << 57;
    seed = hash_combine(seed, word);
  }
  return seed;
}

namespace detail {
namespace {

/// Dimensions of the weights with the group first when there are several.
struct WeightDims {
  int64_t dims[kMaxSpatialRank + 3];
  int rank = 0;
  int out_axis = 0;

  explicit WeightDims(const ConvProblem& p) {
    if (p.groups > 1) dims[rank++] = p.groups;
    out_axis = rank;
    dims[rank++] = p.out_channels / p.groups;
    dims[rank++] = p.in_channels / p.groups;
    for (int i = 0; i < p.rank; ++i) dims[rank++] = p.kernel[i];
  }
  std::span<const int64_t> span() const { return {dims, static_cast<size_t>(rank)}; }
};

dnnl_memory_desc_t activation_desc(const ConvProblem& p, int64_t channels, bool output) {
  constexpr dnnl_format_tag_t kTags[] = {dnnl_nwc, dnnl_nhwc, dnnl_ndhwc};
  int64_t dims[kMaxSpatialRank + 2] = {p.n, channels};
  for (int i = 0; i < p.rank; ++i) dims[i + 2] = output ? p.out(i) : p.in[i];
  return tagged_desc({dims, static_cast<size_t>(p.rank + 2)}, p.type, kTags[p.rank - 1]);
}

struct AttributesDeleter {
  void operator()(dnnl_primitive_attr_t attributes) const { dnnl_primitive_attr_destroy(attributes); }
};

std::unique_ptr<dnnl_primitive_attr, AttributesDeleter> relu_attributes() {
  dnnl_primitive_attr_t attributes = nullptr;
  check(dnnl_primitive_attr_create(&attributes), "making attributes");
  std::unique_ptr<dnnl_primitive_attr, AttributesDeleter> owned(attributes);
  dnnl_post_ops_t ops = nullptr;
  check(dnnl_post_ops_create(&ops), "making post-operations");
  dnnl_status_t status = dnnl_post_ops_append_eltwise(ops, 1.0F, dnnl_eltwise_relu, 0.0F, 0.0F);
  if (status == dnnl_success) status = dnnl_primitive_attr_set_post_ops(attributes, ops);
  dnnl_post_ops_destroy(ops);
  check(status, "setting post-operations");
  return owned;
}

/// The direct kernels. Matrix-product kernels copy the input per call and the reference ones are a hundred
/// times slower; they serve only where nothing else does.
bool is_direct(std::string_view name) { return !name.starts_with("ref") && name.find("gemm") == name.npos; }
bool is_not_brgconv(std::string_view name) { return !name.starts_with("brgconv"); }
bool is_direct_not_brgconv(std::string_view name) { return is_direct(name) && is_not_brgconv(name); }
bool is_not_brgconv_on_amx(std::string_view name) {
  return is_not_brgconv(name) || name.find("amx") == name.npos;
}
bool is_direct_not_brgconv_on_amx(std::string_view name) {
  return is_direct(name) && is_not_brgconv_on_amx(name);
}

}  // namespace

void check_problem(const ConvProblem& p) {
  SORUS_CHECK(p.rank >= 1 && p.rank <= kMaxSpatialRank, ShapeError,
              "conv: wrong number of spatial dimensions: got {}, need 1 to 3", p.rank);
  SORUS_CHECK(
      p.groups >= 1 && p.in_channels % p.groups == 0 && p.out_channels % p.groups == 0, ShapeError,
      "conv: groups do not divide the channels: got {} groups of {} inputs and {} outputs, need divisors",
      p.groups, p.in_channels, p.out_channels);
  SORUS_CHECK(p.n >= 0 && p.in_channels >= 0 && p.out_channels >= 0, ShapeError,
              "conv: a size is negative: got n {}, channels {} and {}, need 0 or more", p.n, p.in_channels,
              p.out_channels);
  for (int i = 0; i < p.rank; ++i) {
    SORUS_CHECK(p.stride[i] >= 1 && p.dilation[i] >= 1 && p.pad_low[i] >= 0 && p.pad_high[i] >= 0, ValueError,
                "conv: attribute out of range: got stride {}, dilation {}, padding {} and {}, need at least "
                "1, 1, 0, 0",
                p.stride[i], p.dilation[i], p.pad_low[i], p.pad_high[i]);
    SORUS_CHECK(p.in[i] >= 0 && p.kernel[i] >= 1, ShapeError,
                "conv: spatial size out of range: got input {}, kernel {}, need at least 0 and 1", p.in[i],
                p.kernel[i]);
  }
}

std::unique_ptr<Primitive> make_conv(const ConvProblem& p, ConvPass pass, const Primitive* like) {
  auto in = activation_desc(p, p.in_channels, false), out = activation_desc(p, p.out_channels, true);
  WeightDims dims(p);
  auto any = tagged_desc(dims.span(), p.type, dnnl_format_tag_any);
  // The weights' gradient stays float32 until the parts of its sum are added.
  auto any_grad = tagged_desc(dims.span(), ElementType::kFloat32, dnnl_format_tag_any);
  const auto& w = like ? like->desc(1) : pass == ConvPass::kBackwardWeights ? any_grad : any;
  int64_t bias_dims[] = {p.out_channels};
  auto bias = strided_desc(bias_dims, ElementType::kFloat32);
  int64_t dilation[kMaxSpatialRank];
  for (int i = 0; i < p.rank; ++i) dilation[i] = p.dilation[i] - 1;  // oneDNN counts the gaps

  bool forward_pass = pass == ConvPass::kForward;
  const auto& forward_weights = pass == ConvPass::kBackwardWeights ? any : w;
  dnnl_convolution_desc_t forward;
  if (dnnl_dilated_convolution_forward_desc_init(
          &forward, forward_pass ? dnnl_forward_inference : dnnl_forward_training, dnnl_convolution_direct,
          &in, &forward_weights, forward_pass && p.has_bias ? &bias : nullptr, &out, p.stride.data(),
          dilation, p.pad_low.data(), p.pad_high.data()) != dnnl_success) {
    return nullptr;
  }
  bool direct_only = like && is_direct(like->implementation());
  AcceptImplementation direct = is_direct, any_kind = nullptr;
  // What brgconv does beside its kernels takes as long as these where both sides have few channels.
  if (p.type == ElementType::kFloat32 && std::max(p.in_channels, p.out_channels) <= 16)
    direct = is_direct_not_brgconv;
  // brgconv of oneDNN 2.6.3 on AMX reads past a table of rows while it is made, and with a stride and windows
  // in padding calls a kernel that it has not made. The older kernels are as fast, but for a few pixels.
  if (p.type == ElementType::kBFloat16 && p.taps() > 1)
    direct = is_direct_not_brgconv_on_amx, any_kind = is_not_brgconv_on_amx;
  auto create = [&](const auto& operation, const_dnnl_primitive_attr_t attributes,
                    std::span<const int> arguments, const_dnnl_primitive_desc_t hint) {
    auto made = Primitive::create(&operation, attributes, arguments, direct, hint);
    if (!made && !direct_only) made = Primitive::create(&operation, attributes, arguments, any_kind, hint);
    return made;
  };
  constexpr int kForwardArguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS};
  if (forward_pass) {
    auto attributes = p.activation == Activation::kRelu ? relu_attributes() : nullptr;
    return create(forward, attributes.get(), std::span(kForwardArguments, p.has_bias ? 4 : 3), nullptr);
  }
  // Backward primitives ask for a forward one as a hint; any of the same shapes will do.
  if (pass == ConvPass::kBackwardWeights) {
    forward.weights_desc = any;
  } else {
    forward.weights_desc = tagged_desc(dims.span(), p.type, dnnl_format_tag_any);
  }
  Description hint = describe(&forward);
  if (!hint) return nullptr;
  dnnl_convolution_desc_t backward;
  if (pass == ConvPass::kBackwardData) {
    constexpr int kArguments[] = {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC};
    check(dnnl_dilated_convolution_backward_data_desc_init(&backward, dnnl_convolution_direct, &in, &w, &out,
                                                           p.stride.data(), dilation, p.pad_low.data(),
                                                           p.pad_high.data()),
          "describing a convolution");
    return create(backward, nullptr, kArguments, hint.get());
  }
  constexpr int kArguments[] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
  check(dnnl_dilated_convolution_backward_weights_desc_init(&backward, dnnl_convolution_direct, &in, &w,
                                                            nullptr, &out, p.stride.data(), dilation,
                                                            p.pad_low.data(), p.pad_high.data()),
        "describing a convolution");
  return create(backward, nullptr, kArguments, hint.get());
}

/// Channels along an axis that a layout keeps together; its parts must not be cut through. Mostly 16 to 64,
/// and 48 for some kernels of one tap.
static int64_t channel_block(const dnnl_memory_desc_t& desc, int axis) {
  const dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  int64_t block = 1;
  for (int i = 0; i < blocking.inner_nblks; ++i)
    if (blocking.inner_idxs[i] == axis) block *= blocking.inner_blks[i];
  return block;
}

WeightsReorder::WeightsReorder(const ConvProblem& p, ElementType type, const dnnl_memory_desc_t& packed,
                               bool to_packed) {
  constexpr int64_t kSliceElements = 65536;
  constexpr int64_t kChannelStep = 64;
  WeightDims dims(p);
  int64_t block = channel_block(packed, dims.out_axis);
  auto plain = strided_desc(dims.span(), type);
  int64_t out_channels = dims.dims[dims.out_axis];
  int64_t parts = p.groups > 1 ? 1 : std::clamp(p.weights() / kSliceElements, int64_t{1}, int64_t{16});
  std::vector<int64_t> bounds =
      cut_evenly(out_channels, parts, kChannelStep % block == 0 ? kChannelStep : block);
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    int64_t offsets[kMaxSpatialRank + 3] = {};
    offsets[dims.out_axis] = bounds[i];
    dims.dims[dims.out_axis] = bounds[i + 1] - bounds[i];
    dnnl_memory_desc_t from, to;
    check(dnnl_memory_desc_init_submemory(&from, to_packed ? &plain : &packed, dims.dims, offsets),
          "cutting weights");
    check(dnnl_memory_desc_init_submemory(&to, to_packed ? &packed : &plain, dims.dims, offsets),
          "cutting weights");
    slices_.push_back(Primitive::create_reorder(from, to));
  }
}

void WeightsReorder::run(const void* from, void* to) const {
  parallel_for(static_cast<int64_t>(slices_.size()), [&](int64_t i) {
    void* memory[] = {const_cast<void*>(from), to};
    slices_[static_cast<size_t>(i)]->run(memory);
  });
}

std::vector<int64_t> cut_evenly(int64_t count, int64_t parts, int64_t step) {
  int64_t length = (count + parts - 1) / parts;
  length = std::max((length + step - 1) / step * step, step);
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i < count; i += length) bounds.push_back(i);
  bounds.push_back(count);
  return bounds;
}

/// Output rows [begin, end) of one image, with the input rows that they need.
static RowBlock forward_rows(const ConvProblem& p, int64_t begin, int64_t end) {
  int64_t reach = (p.kernel[0] - 1) * p.dilation[0];
  int64_t low = begin * p.stride[0] - p.pad_low[0], high = (end - 1) * p.stride[0] - p.pad_low[0] + reach + 1;
  RowBlock block{p, std::clamp<int64_t>(low, 0, p.in[0]), begin};
  block.problem.in[0] = std::clamp<int64_t>(high, block.in_begin, p.in[0]) - block.in_begin;
  block.problem.pad_low[0] = std::max<int64_t>(0, -low);
  block.problem.pad_high[0] = std::max<int64_t>(0, high - p.in[0]);
  return block;
}

std::vector<RowBlock> cut_output_rows(const ConvProblem& image, int64_t parts) {
  std::vector<RowBlock> blocks;
  auto bounds = cut_evenly(image.out(0), std::min(parts, std::max<int64_t>(1, image.out(0) / 2)), 1);
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    blocks.push_back(forward_rows(image, bounds[i], bounds[i + 1]));
    // Rows that see only padding have no input of their own to give to a kernel.
    if (blocks.back().problem.in[0] == 0) return {RowBlock{image, 0, 0}};
  }
  return blocks;
}

int64_t conv_pieces(const ConvProblem& p) {
  // 16-bit arithmetic is two to eight times as fast, and a call of an AMX kernel costs some 10 microseconds.
  double unit = p.type == ElementType::kFloat32 ? 4e6 : 48e6;
  double work = p.flops();
  // A depthwise layer takes the time of its memory, not of its arithmetic.
  constexpr double kPerElement = 80;
  if (p.groups > 1 && p.groups == p.in_channels)
    work = std::max(work, kPerElement * static_cast<double>(p.n * p.out_positions() * p.out_channels));
  // A power of two, so that equal pieces keep 2, 4 or 8 threads equally busy.
  auto few = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::clamp(work / unit, 1.0, 16.0))));
  return std::clamp(static_cast<int64_t>(work / (16 * unit)), few, int64_t{128});
}

}  // namespace detail
}  // namespace sorus::kernels::onednn
