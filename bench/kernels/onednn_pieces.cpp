// Compares the oneDNN provider (pieces on the library's pool) with oneDNN's own two OpenMP threads on the
// same problem. Both run in turn in one process and lower quartiles are printed, so that other load hits both
// alike and least. With GOMP_SPINCOUNT unset OpenMP's threads spin and take the second core from the other
// side. Usage: onednn_pieces [matmul|conv] [repetitions] [threads]

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <string>
#include <thread>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/onednn/matmul.h"

namespace {

using namespace sorus::kernels::onednn;  // NOLINT: a short program about this namespace
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
  std::printf("%-44s native %9.1f us %7.1f GF/s   pieces %9.1f us %7.1f GF/s   ratio %.2f\n", name.c_str(),
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
  std::vector<float> space(matmul_workspace(p) / 4 + 16);
  auto aligned = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(space.data()) + 63) / 64 * 64);
  Ratio r = compare(
      repetitions,
      [&] {
        primitive.execute(stream, {{DNNL_ARG_SRC, am}, {DNNL_ARG_WEIGHTS, bm}, {DNNL_ARG_DST, om}});
      },
      [&] { matmul(p, am.get_data_handle(), bm.get_data_handle(), nullptr, om.get_data_handle(), aligned); });
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

}  // namespace

int main(int argc, char** argv) {
  std::string what = argc > 1 ? argv[1] : "matmul";
  int repetitions = argc > 2 ? std::atoi(argv[2]) : 15;
  int threads = argc > 3 ? std::atoi(argv[3]) : 2;
  omp_set_num_threads(threads);
  sorus::set_num_threads(threads);
  if (what == "matmul") matmuls(repetitions);
  return 0;
}
