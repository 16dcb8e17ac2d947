#include "sorus/base/interrupt.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "sorus/autograd/grad.h"
#include "sorus/ops/control/control.h"
#include "sorus/ops/elementwise/elementwise.h"

namespace sorus {
namespace {

int64_t asked = 0;
int64_t most = 0;

class Interrupt : public testing::Test {
 protected:
  void SetUp() override {
    asked = 0;
    set_interrupt_hook([] {
      if (++asked > most) throw std::runtime_error("stopped");
    });
  }
  void TearDown() override { set_interrupt_hook(nullptr); }
};

Tensor grown(const Tensor& x) {
  return fori_loop(0, 100, [](const TensorList& in) { return TensorList{in[1] * in[1]}; }, {x})[0];
}

TEST_F(Interrupt, StopsALoopWhoseStepsAreRecorded) {
  most = 10;
  EXPECT_THROW((void)grad(grown, Tensor(1.F)), std::runtime_error);
  EXPECT_EQ(asked, 11);
}

TEST_F(Interrupt, StopsTheWayBack) {
  most = 150;
  EXPECT_THROW((void)grad(grown, Tensor(1.F)), std::runtime_error);
  EXPECT_EQ(asked, 151);
}

}  // namespace
}  // namespace sorus
