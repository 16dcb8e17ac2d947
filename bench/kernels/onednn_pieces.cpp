// Compares the oneDNN provider (pieces on the library's pool) with oneDNN's own two OpenMP threads on the
// same problem. Both run in turn in one process and lower quartiles are printed, so that other load hits both
// alike and least. With GOMP_SPINCOUNT unset OpenMP's threads spin and take the second core from the other
// side. Usage: onednn_pieces [matmul|conv|part of a layer's name] [repetitions] [threads]

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/conv/conv.h"
#include "sorus/kernels/cpu/conv/small_conv.h"
#include "sorus/kernels/cpu/matmul/matmul.h"

namespace {

using namespace sorus::kernels::onednn;  // NOLINT: a short program about this namespace
using sorus::kernels::MatmulProblem;
using Memory = dnnl::memory;
using Clock = std::chrono::steady_clock;

dnnl::engine& engine() {
  static dnnl::engine the_engine(dnnl::engine::kind::cpu, 0);
  return the_engine;
}

struct Ratio {
  double native, pieces;
};

/// Lower quartiles in microseconds of both, measured alternately. A rest between them lets waiting threads go
/// to sleep.
template <class Native, class Pieces>
Ratio compare(int repetitions, Native&& native, Pieces&& pieces) {
  std::vector<double> times[2];
  for (int i = 0; i < repetitions; ++i) {
    for (int side = 0; side < 2; ++side) {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      double total = 0;
      int runs = 0;
      for (; runs < 3 || (total < 300 && runs < 40); ++runs) {
        auto start = Clock::now();
        side == 0 ? native() : pieces();
        double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
        total += us;
        if (runs > 0) times[side].push_back(us);
      }
    }
  }
  for (auto& side : times) std::nth_element(side.begin(), side.begin() + side.size() / 4, side.end());
  return {times[0][times[0].size() / 4], times[1][times[1].size() / 4]};
}

void report(const std::string& name, double flops, const Ratio& r) {
  std::printf("%-56s native %9.1f us %7.1f GF/s   pieces %9.1f us %7.1f GF/s   ratio %.2f\n", name.c_str(),
              r.native, flops / r.native * 1e-3, r.pieces, flops / r.pieces * 1e-3, r.pieces / r.native);
}

void matmul_case(int64_t m, int64_t n, int64_t k, ElementType type, bool a_transposed, bool b_transposed,
                 int repetitions) {
  auto data_type = type == ElementType::kFloat32 ? Memory::data_type::f32 : Memory::data_type::bf16;
  Memory::desc a({m, k}, data_type, a_transposed ? Memory::dims{1, m} : Memory::dims{k, 1});
  Memory::desc b({k, n}, data_type, b_transposed ? Memory::dims{1, k} : Memory::dims{n, 1});
  Memory::desc out({m, n}, data_type, Memory::dims{n, 1});
  dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(a, b, out), engine());
  dnnl::matmul primitive(desc);
  dnnl::stream stream(engine());
  Memory am(a, engine()), bm(b, engine()), om(out, engine());
  for (Memory* x : {&am, &bm, &om}) std::memset(x->get_data_handle(), 0, x->get_desc().get_size());

  MatmulProblem p;
  p.m = m, p.n = n, p.k = k, p.type = type, p.out_type = type;
  p.a.row_stride = a_transposed ? 1 : k, p.a.col_stride = a_transposed ? m : 1;
  p.b.row_stride = b_transposed ? 1 : n, p.b.col_stride = b_transposed ? k : 1;
  p.out.row_stride = n;
  std::vector<float> space(sorus::kernels::matmul::workspace(p) / 4 + 16);
  auto aligned = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(space.data()) + 63) / 64 * 64);
  Ratio r = compare(
      repetitions,
      [&] {
        primitive.execute(stream, {{DNNL_ARG_SRC, am}, {DNNL_ARG_WEIGHTS, bm}, {DNNL_ARG_DST, om}});
      },
      [&] {
        sorus::kernels::matmul::multiply(p, am.get_data_handle(), bm.get_data_handle(), nullptr,
                                         om.get_data_handle(), aligned);
      });
  char name[80];
  std::snprintf(name, sizeof name, "%s %ldx%ldx%ld%s%s", type == ElementType::kFloat32 ? "f32 " : "bf16", m,
                n, k, a_transposed ? " a transposed" : "", b_transposed ? " b transposed" : "");
  report(name, 2.0 * static_cast<double>(m * n * k), r);
}

void matmuls(int repetitions) {
  int64_t sizes[][3] = {{32, 120, 400},     {32, 84, 120},   {32, 10, 84},     {512, 512, 512},
                        {1024, 1024, 1024}, {128, 768, 768}, {128, 3072, 768}, {128, 768, 3072},
                        {1024, 768, 768},   {8, 768, 768}};
  for (auto type : {ElementType::kFloat32, ElementType::kBFloat16}) {
    for (auto& s : sizes) {
      matmul_case(s[0], s[1], s[2], type, false, false, repetitions);
      matmul_case(s[0], s[1], s[2], type, false, true, repetitions);
      matmul_case(s[0], s[1], s[2], type, true, false, repetitions);
    }
  }
}

struct Layer {
  const char* name;
  int64_t n, in_channels, out_channels, size, kernel, stride, pad, groups;
};

/// oneDNN's own convolution on channels-last memory, with the copy between plain and packed weights that
/// every step of training needs on either side.
struct NativeConv {
  dnnl::primitive primitive;
  std::unordered_map<int, Memory> arguments;
  dnnl::reorder reorder;
  Memory plain, packed_weights;
  bool backward_weights;

  NativeConv(const Layer& l, const ConvProblem& p, ConvPass pass, Memory::data_type type) {
    using Tag = Memory::format_tag;
    auto any = dnnl::algorithm::convolution_direct;
    Memory::desc in({l.n, l.in_channels, l.size, l.size}, type, Tag::nhwc);
    Memory::desc out({l.n, l.out_channels, p.out(0), p.out(1)}, type, Tag::nhwc);
    Memory::dims wide{l.out_channels / l.groups, l.in_channels / l.groups, l.kernel, l.kernel};
    if (l.groups > 1) wide.insert(wide.begin(), l.groups);
    Memory::desc w(wide, type, Tag::any);
    Memory::dims stride{l.stride, l.stride}, pad{l.pad, l.pad};
    dnnl::convolution_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, any, in, w, out, stride, pad, pad}, engine());
    Memory::desc packed;
    if (pass == ConvPass::kForward) {
      primitive = dnnl::convolution_forward(forward), packed = forward.weights_desc();
      arguments = {{DNNL_ARG_SRC, Memory(in, engine())},
                   {DNNL_ARG_DST, Memory(out, engine())},
                   {DNNL_ARG_WEIGHTS, Memory(packed, engine())}};
    } else if (pass == ConvPass::kBackwardData) {
      dnnl::convolution_backward_data::primitive_desc d({any, in, w, out, stride, pad, pad}, engine(),
                                                        forward);
      primitive = dnnl::convolution_backward_data(d), packed = d.weights_desc();
      arguments = {{DNNL_ARG_DIFF_SRC, Memory(in, engine())},
                   {DNNL_ARG_DIFF_DST, Memory(out, engine())},
                   {DNNL_ARG_WEIGHTS, Memory(packed, engine())}};
    } else {
      Memory::desc grad(wide, Memory::data_type::f32, Tag::any);
      dnnl::convolution_backward_weights::primitive_desc d({any, in, grad, out, stride, pad, pad}, engine(),
                                                           forward);
      primitive = dnnl::convolution_backward_weights(d), packed = d.diff_weights_desc();
      arguments = {{DNNL_ARG_SRC, Memory(in, engine())},
                   {DNNL_ARG_DIFF_DST, Memory(out, engine())},
                   {DNNL_ARG_DIFF_WEIGHTS, Memory(packed, engine())}};
    }
    backward_weights = pass == ConvPass::kBackwardWeights;
    packed_weights = arguments[backward_weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS];
    auto packed_type = static_cast<Memory::data_type>(packed.data.data_type);
    plain = Memory({wide, packed_type, l.groups > 1 ? Tag::goihw : Tag::oihw}, engine());
    std::memset(plain.get_data_handle(), 0, plain.get_desc().get_size());
    reorder = backward_weights ? dnnl::reorder(packed_weights, plain) : dnnl::reorder(plain, packed_weights);
    for (auto& [id, memory] : arguments)
      std::memset(memory.get_data_handle(), 0, memory.get_desc().get_size());
  }
  void run(dnnl::stream& stream) {
    if (!backward_weights) reorder.execute(stream, plain, packed_weights);
    primitive.execute(stream, arguments);
    if (backward_weights) reorder.execute(stream, packed_weights, plain);
  }
};

void conv_case(const Layer& l, ElementType type, int repetitions) {
  ConvProblem p;
  p.n = l.n, p.groups = l.groups, p.in_channels = l.in_channels, p.out_channels = l.out_channels,
  p.type = type;
  p.in = {l.size, l.size, 1}, p.kernel = {l.kernel, l.kernel, 1}, p.stride = {l.stride, l.stride, 1};
  p.pad_low = p.pad_high = {l.pad, l.pad, 0};
  constexpr const char* kNames[] = {"fwd", "bwdD", "bwdW"};
  for (auto pass : {ConvPass::kForward, ConvPass::kBackwardData, ConvPass::kBackwardWeights}) {
    NativeConv native(l, p, pass,
                      type == ElementType::kFloat32 ? Memory::data_type::f32 : Memory::data_type::bf16);
    dnnl::stream stream(engine());
    std::vector<float> in(static_cast<size_t>(p.n * p.in_positions() * p.in_channels)),
        w(static_cast<size_t>(p.weights()));
    std::vector<float> out(static_cast<size_t>(p.n * p.out_positions() * p.out_channels));
    std::vector<float> space(sorus::kernels::conv::workspace(p, pass) / 4 + 16);
    auto aligned = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(space.data()) + 63) / 64 * 64);
    Ratio r = compare(
        repetitions, [&] { native.run(stream); },
        [&] {
          if (pass == ConvPass::kForward)
            sorus::kernels::conv::forward(p, in.data(), w.data(), nullptr, out.data(), aligned);
          if (pass == ConvPass::kBackwardData)
            sorus::kernels::conv::backward_data(p, out.data(), w.data(), in.data(), aligned);
          if (pass == ConvPass::kBackwardWeights)
            sorus::kernels::conv::backward_weights(p, in.data(), out.data(), w.data(), aligned);
        });
    report(std::string(type == ElementType::kFloat32 ? "f32  " : "bf16 ") + l.name + " " +
               kNames[static_cast<int>(pass)] + " (" + sorus::kernels::conv::implementation(p, pass) + ")",
           p.flops(), r);
  }
}

void convs(const std::string& which, int repetitions) {
  const Layer layers[] = {{"lenet1", 32, 1, 6, 32, 5, 1, 0, 1},
                          {"lenet2", 32, 6, 16, 14, 5, 1, 0, 1},
                          {"3x3 64@56 b8", 8, 64, 64, 56, 3, 1, 1, 1},
                          {"3x3 64@56 b1", 1, 64, 64, 56, 3, 1, 1, 1},
                          {"3x3 512@7 b8", 8, 512, 512, 7, 3, 1, 1, 1},
                          {"3x3 512@7 b1", 1, 512, 512, 7, 3, 1, 1, 1},
                          {"1x1 64-256@56 b8", 8, 64, 256, 56, 1, 1, 0, 1},
                          {"1x1s2 512-1024@28 b8", 8, 512, 1024, 28, 1, 2, 0, 1},
                          {"3x3s2 128@56 b8", 8, 128, 128, 56, 3, 2, 1, 1},
                          {"stem 7x7s2 b8", 8, 3, 64, 224, 7, 2, 3, 1},
                          {"depthwise 144@56 b8", 8, 144, 144, 56, 3, 1, 1, 144}};
  for (auto type : {ElementType::kFloat32, ElementType::kBFloat16}) {
    for (const Layer& l : layers) {
      if (which == "conv" || std::string(l.name).find(which) != std::string::npos)
        conv_case(l, type, repetitions);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string what = argc > 1 ? argv[1] : "matmul";
  int repetitions = argc > 2 ? std::atoi(argv[2]) : 15;
  int threads = argc > 3 ? std::atoi(argv[3]) : 2;
  omp_set_num_threads(threads);
  sorus::set_num_threads(threads);
  what == "matmul" ? matmuls(repetitions) : convs(what, repetitions);
  return 0;
}
