#line 21 "/work/h/lead/sorus/docs/quick_start.md"
// example: tensors
#include <fmt/core.h>
#include <sorus/sorus.h>

using namespace sorus;

int main() {
  Tensor x({1.F, 2.F, 3.F, 4.F}, {2, 2});
  Tensor y = matmul(x, x) + 1;
  fmt::print("{}\n", mean(y).item<float>());
}
