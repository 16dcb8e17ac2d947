#include "tests/ops/harness/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace sorus::samples {
namespace {

struct FloatFormat {
  int mantissa;  ///< stored bits
  int least_exponent;
  Real greatest;
};
FloatFormat format_of(DType t) {
  switch (t) {
    case DType::kFloat16:
      return {10, -14, 65504.0L};
    case DType::kBFloat16:
      return {7, -126, 0x1.fep127L};
    case DType::kFloat32:
      return {23, -126, 0x1.fffffep127L};
    default:
      return {52, -1022, 0x1.fffffffffffffp1023L};
  }
}

/// Distance between neighbours of the format around v.
Real ulp_of(Real v, const FloatFormat& f) {
  int exponent = f.least_exponent;
  if (v != 0) exponent = std::max(exponent, std::ilogb(v));
  return std::ldexp(1.0L, exponent - f.mantissa);
}

std::string at(int64_t i, Real got, Real want, std::string_view more) {
  return fmt::format("element {}: got {} ({}), want {} ({}) {}", i, static_cast<double>(got),
                     fmt::format("{:a}", static_cast<double>(got)), static_cast<double>(want),
                     fmt::format("{:a}", static_cast<double>(want)), more);
}

bool within(Real got, Real want, DType t, const Sample& sample, std::string* more) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (!is_floating(t)) return got == want;
  const FloatFormat f = format_of(t);
  const Real bound_ulp = is_half(t) ? 1 + sample.ulp * 0.01L : static_cast<Real>(sample.ulp);
  const Real epsilon = std::ldexp(1.0L, is_half(t) ? -23 : -f.mantissa);
  if (std::isinf(want)) return got == want;
  // Beyond the format's greatest number lies infinity; near it either answer is within the bound.
  const Real edge = f.greatest + ulp_of(f.greatest, f) / 2;
  if (std::isinf(got))
    return std::copysign(1.0L, got) == std::copysign(1.0L, want) &&
           std::fabs(want) >= edge - bound_ulp * ulp_of(f.greatest, f);
  if (std::fabs(want) >= edge + bound_ulp * ulp_of(f.greatest, f)) return false;
  const Real error = std::fabs(got - want);
  const Real allowed = bound_ulp * ulp_of(want, f) + static_cast<Real>(sample.absolute) * epsilon;
  *more = fmt::format("off by {} ulp", static_cast<double>(error / ulp_of(want, f)));
  return error <= allowed;
}

}  // namespace

std::string compare_with_reference(const Tensor& got, const HostArray& want, const Sample& sample) {
  if (!(got.shape() == want.shape)) return fmt::format("shape: got {}, want {}", got.shape(), want.shape);
  const HostArray host = to_host(got);
  for (size_t i = 0; i < want.values.size(); ++i) {
    std::string more;
    if (!within(host.values[i], want.values[i], got.dtype(), sample, &more))
      return at(static_cast<int64_t>(i), host.values[i], want.values[i], more);
  }
  return {};
}

std::string compare_bits(const Tensor& got, const Tensor& want) {
  if (!(got.type() == want.type())) return fmt::format("type: got {}, want {}", got.type(), want.type());
  const size_t size = dtype_size(got.dtype());
  std::vector<std::byte> a(static_cast<size_t>(got.numel()) * size);
  std::vector<std::byte> b(a.size());
  got.copy_to(a.data(), got.dtype());
  want.copy_to(b.data(), want.dtype());
  if (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0) return {};
  const HostArray x = to_host(got);
  const HostArray y = to_host(want);
  for (size_t i = 0; i < x.values.size(); ++i) {
    if (std::memcmp(a.data() + i * size, b.data() + i * size, size) == 0) continue;
    if (std::isnan(x.values[i]) && std::isnan(y.values[i])) continue;
    return at(static_cast<int64_t>(i), x.values[i], y.values[i], "bits differ");
  }
  return {};
}

std::string compare_close(const HostArray& got, const HostArray& want, Real relative, Real absolute) {
  if (!(got.shape == want.shape)) return fmt::format("shape: got {}, want {}", got.shape, want.shape);
  for (size_t i = 0; i < want.values.size(); ++i) {
    const Real error = std::fabs(got.values[i] - want.values[i]);
    if (!(error <= absolute + relative * std::fabs(want.values[i])))
      return at(static_cast<int64_t>(i), got.values[i], want.values[i], "too far");
  }
  return {};
}

}  // namespace sorus::samples
