// One side of bench/kernels.py: times matrix products and convolutions either by this library's kernels or by
// oneDNN called directly with its own threads. Usage: onednn_turns sorus|direct [threads]; reads names of
// cases from standard input and answers with the median nanoseconds of a call; with one
// thread, of processor time, which other load moves little. `list` answers with all names.
//
// The direct side is oneDNN at its best for a caller who built everything around it: activations and weights
// in the layouts that it chooses itself (format any), primitives made once, no copy into or out of those
// layouts counted. Its convolutions are plain sums (convolution_direct). Only matrix products named by "a"
// and "b" have operands as the caller holds them, on both sides: there the layout is the case. This library's
// side includes all that a call of an op does below dispatch: finding the plan, packing weights and right
// operands, adding partial sums.

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <dnnl.hpp>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/conv/conv.h"
#include "sorus/kernels/cpu/matmul/matmul.h"

namespace {

using namespace sorus::kernels::onednn;  // NOLINT: a short program about this namespace
using sorus::kernels::MatmulProblem;
using Memory = dnnl::memory;
using Case = std::function<void()>;

constexpr double kSeconds = 0.04;  // of one answer

dnnl::engine& engine() {
  static dnnl::engine the_engine(dnnl::engine::kind::cpu, 0);
  return the_engine;
}
dnnl::stream& stream() {
  static dnnl::stream the_stream(engine());
  return the_stream;
}

/// Memory in which every element is a small number, so that no side meets denormal numbers or zeros alone.
Memory filled(const Memory::desc& desc) {
  Memory memory(desc, engine());
  auto* data = static_cast<float*>(memory.get_data_handle());
  for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i) data[i] = static_cast<float>(i % 13) * 0.01F;
  return memory;
}

struct Floats {
  explicit Floats(int64_t count)
      : data(static_cast<float*>(std::aligned_alloc(64, bytes(count))), &std::free) {
    for (int64_t i = 0; i < count; ++i) data.get()[i] = static_cast<float>(i % 13) * 0.01F;
  }
  static size_t bytes(int64_t count) { return (static_cast<size_t>(count) * sizeof(float) / 64 + 1) * 64; }
  std::shared_ptr<float> data;
};

/// Operands as the caller holds them, or, for a layer, a constant right operand.
struct Product {
  const char* name;
  int64_t m, n, k;
  bool a_transposed, b_transposed, layer;
};

constexpr Product kProducts[] = {
    {"matmul 256", 256, 256, 256, false, false, false},
    {"matmul 512", 512, 512, 512, false, false, false},
    {"matmul 1024", 1024, 1024, 1024, false, false, false},
    {"matmul 512 b transposed", 512, 512, 512, false, true, false},
    {"matmul 1024 b transposed", 1024, 1024, 1024, false, true, false},
    {"matmul 512 a transposed", 512, 512, 512, true, false, false},
    {"matmul 1024 a transposed", 1024, 1024, 1024, true, false, false},
    {"linear 32x400x120", 32, 120, 400, false, true, true},
    {"linear 512x768x3072", 512, 3072, 768, false, true, true},
    {"linear 512x3072x768", 512, 768, 3072, false, true, true},
    {"linear 512x768x3072 gradient of input", 512, 768, 3072, false, false, true},
    {"linear 512x768x3072 gradient of weights", 3072, 768, 512, true, false, false},
    {"linear 32x400x120 gradient of weights", 120, 400, 32, true, false, false},
};

Case direct_product(const Product& c) {
  auto type = Memory::data_type::f32;
  Memory::desc a({c.m, c.k}, type, c.a_transposed ? Memory::dims{1, c.m} : Memory::dims{c.k, 1});
  Memory::desc b({c.k, c.n}, type, c.b_transposed ? Memory::dims{1, c.k} : Memory::dims{c.n, 1});
  if (c.layer) b = Memory::desc({c.k, c.n}, type, Memory::format_tag::any);
  Memory::desc out({c.m, c.n}, type, Memory::dims{c.n, 1});
  dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(a, b, out), engine());
  dnnl::matmul primitive(desc);
  std::unordered_map<int, Memory> arguments = {{DNNL_ARG_SRC, filled(desc.src_desc())},
                                               {DNNL_ARG_WEIGHTS, filled(desc.weights_desc())},
                                               {DNNL_ARG_DST, filled(desc.dst_desc())}};
  return [primitive, arguments] { primitive.execute(stream(), arguments); };
}

Case our_product(const Product& c) {
  MatmulProblem p;
  p.m = c.m, p.n = c.n, p.k = c.k;
  p.a.row_stride = c.a_transposed ? 1 : c.k, p.a.col_stride = c.a_transposed ? c.m : 1;
  p.b.row_stride = c.b_transposed ? 1 : c.n, p.b.col_stride = c.b_transposed ? c.k : 1;
  p.out.row_stride = c.n;
  Floats a(c.m * c.k), b(c.k * c.n), out(c.m * c.n),
      space(static_cast<int64_t>(sorus::kernels::matmul::workspace(p) / 4 + 1));
  return [=] {
    sorus::kernels::matmul::multiply(p, a.data.get(), b.data.get(), nullptr, out.data.get(),
                                     space.data.get());
  };
}

struct Layer {
  const char* name;
  int64_t n, in_channels, out_channels, size, kernel, stride, pad;
};

constexpr Layer kLayers[] = {
    {"conv 3x3 64 @56", 16, 64, 64, 56, 3, 1, 1},
    {"conv 3x3 128 @28", 16, 128, 128, 28, 3, 1, 1},
    {"conv 3x3 256 @14", 16, 256, 256, 14, 3, 1, 1},
    {"conv 3x3 512 @7", 16, 512, 512, 7, 3, 1, 1},
    {"conv 3x3 stride 2 64-128 @56", 16, 64, 128, 56, 3, 2, 1},
    {"conv 3x3 stride 2 256-512 @14", 16, 256, 512, 14, 3, 2, 1},
    {"conv 1x1 64-256 @56", 16, 64, 256, 56, 1, 1, 0},
    {"conv 1x1 512-128 @28", 16, 512, 128, 28, 1, 1, 0},
    {"conv 1x1 stride 2 64-128 @56", 16, 64, 128, 56, 1, 2, 0},
    {"conv 7x7 stride 2 3-64 @224", 16, 3, 64, 224, 7, 2, 3},
    {"conv 5x5 1-6 @32", 32, 1, 6, 32, 5, 1, 0},
    {"conv 5x5 6-16 @14", 32, 6, 16, 14, 5, 1, 0},
};
constexpr const char* kPasses[] = {"forward", "gradient of input", "gradient of weights"};

ConvProblem problem_of(const Layer& l) {
  ConvProblem p;
  p.n = l.n, p.in_channels = l.in_channels, p.out_channels = l.out_channels;
  p.in = {l.size, l.size, 1}, p.kernel = {l.kernel, l.kernel, 1}, p.stride = {l.stride, l.stride, 1};
  p.pad_low = p.pad_high = {l.pad, l.pad, 0};
  return p;
}

Case direct_conv(const Layer& l, ConvPass pass) {
  ConvProblem p = problem_of(l);
  auto any = [](Memory::dims dims) {
    return Memory::desc(dims, Memory::data_type::f32, Memory::format_tag::any);
  };
  auto direct = dnnl::algorithm::convolution_direct;
  auto in = any({l.n, l.in_channels, l.size, l.size}), out = any({l.n, l.out_channels, p.out(0), p.out(1)}),
       w = any({l.out_channels, l.in_channels, l.kernel, l.kernel});
  Memory::dims stride{l.stride, l.stride}, pad{l.pad, l.pad};
  dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, direct, in, w, out, stride, pad, pad}, engine());
  dnnl::primitive primitive;
  std::unordered_map<int, Memory> arguments;
  if (pass == ConvPass::kForward) {
    primitive = dnnl::convolution_forward(forward);
    arguments = {{DNNL_ARG_SRC, filled(forward.src_desc())},
                 {DNNL_ARG_DST, filled(forward.dst_desc())},
                 {DNNL_ARG_WEIGHTS, filled(forward.weights_desc())}};
  } else if (pass == ConvPass::kBackwardData) {
    dnnl::convolution_backward_data::primitive_desc d({direct, in, w, out, stride, pad, pad}, engine(),
                                                      forward);
    primitive = dnnl::convolution_backward_data(d);
    arguments = {{DNNL_ARG_DIFF_SRC, filled(d.diff_src_desc())},
                 {DNNL_ARG_DIFF_DST, filled(d.diff_dst_desc())},
                 {DNNL_ARG_WEIGHTS, filled(d.weights_desc())}};
  } else {
    dnnl::convolution_backward_weights::primitive_desc d({direct, in, w, out, stride, pad, pad}, engine(),
                                                         forward);
    primitive = dnnl::convolution_backward_weights(d);
    arguments = {{DNNL_ARG_SRC, filled(d.src_desc())},
                 {DNNL_ARG_DIFF_DST, filled(d.diff_dst_desc())},
                 {DNNL_ARG_DIFF_WEIGHTS, filled(d.diff_weights_desc())}};
  }
  return [primitive, arguments] { primitive.execute(stream(), arguments); };
}

Case our_conv(const Layer& l, ConvPass pass) {
  ConvProblem p = problem_of(l);
  Floats in(p.n * p.in_positions() * p.in_channels), w(p.weights()),
      out(p.n * p.out_positions() * p.out_channels);
  Floats space(static_cast<int64_t>(sorus::kernels::conv::workspace(p, pass) / 4 + 1));
  return [=] {
    namespace conv = sorus::kernels::conv;
    if (pass == ConvPass::kForward)
      conv::forward(p, in.data.get(), w.data.get(), nullptr, out.data.get(), space.data.get());
    else if (pass == ConvPass::kBackwardData)
      conv::backward_data(p, out.data.get(), w.data.get(), in.data.get(), space.data.get());
    else
      conv::backward_weights(p, in.data.get(), out.data.get(), w.data.get(), space.data.get());
  };
}

/// All cases by name, made when they are first asked for.
std::vector<std::pair<std::string, std::function<Case()>>> cases(bool direct) {
  std::vector<std::pair<std::string, std::function<Case()>>> all;
  for (const Product& c : kProducts)
    all.emplace_back(c.name, [&c, direct] { return direct ? direct_product(c) : our_product(c); });
  for (const Layer& l : kLayers) {
    for (auto pass : {ConvPass::kForward, ConvPass::kBackwardData, ConvPass::kBackwardWeights}) {
      all.emplace_back(std::string(l.name) + ", " + kPasses[static_cast<int>(pass)],
                       [&l, pass, direct] { return direct ? direct_conv(l, pass) : our_conv(l, pass); });
    }
  }
  return all;
}

double nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double median_nanoseconds(const Case& run, clockid_t clock) {
  std::vector<double> times;
  for (double total = 0; times.size() < 3 || total < kSeconds * 1e9;) {
    double start = nanoseconds_of(clock);
    run();
    times.push_back(nanoseconds_of(clock) - start);
    total += times.back();
  }
  auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  bool direct = argc > 1 && std::string(argv[1]) == "direct";
  int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  if (direct) omp_set_num_threads(threads);
  sorus::set_num_threads(threads);
  auto all = cases(direct);
  std::map<std::string, Case> prepared;
  for (std::string name; std::getline(std::cin, name);) {
    if (name == "list") {
      for (const auto& [known, make] : all) std::cout << known << '\n';
      std::cout << std::endl;
      continue;
    }
    auto found = std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first == name; });
    if (found == all.end()) {
      std::cerr << "onednn_turns: no such case: got " << name << ", need one of `list`\n";
      return 1;
    }
    if (prepared.count(name) == 0) {
      prepared[name] = found->second();
      for (int i = 0; i < 3; ++i) prepared[name]();
    }
    std::cout << median_nanoseconds(prepared[name], clock) << std::endl;
  }
  return 0;
}
