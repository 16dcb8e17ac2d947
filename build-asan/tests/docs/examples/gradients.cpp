#line 44 "/work/h/lead/sorus/docs/quick_start.md"
// example: gradients
#include <sorus/sorus.h>

using namespace sorus;

int main() {
  Tensor slope = grad([](const Tensor& t) { return sum(t * t * t); }, Tensor({1.F, 2.F}));
  return slope.to_vector<float>() == std::vector<float>{3, 12} ? 0 : 1;
}
