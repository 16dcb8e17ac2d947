#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sorus/compiler/boundary.h"
#include "tests/ops/harness/corpus.h"

// Samples state the dtypes that a function is made for and ordinary operands. Here every function is also run
// with each other dtype that it takes, and with special values.
namespace sorus::samples {
namespace {

class WiderCorpus : public Corpus {
 protected:
  /// Bool and the integer dtypes that no sample of the function names. Floating ones that are left out have
  /// their reason there: a composite that rounds more than once in 16 bits, say.
  [[nodiscard]] std::vector<DType> other_dtypes() const {
    std::set<DType> named;
    for (const Sample& sample : samples()) named.insert(sample.dtypes.begin(), sample.dtypes.end());
    std::vector<DType> rest;
    for (DType t : any_type())
      if (!named.contains(t) && !is_floating(t)) rest.push_back(t);
    return rest;
  }
};

bool is_open(const Input& input) { return !input.fixed; }

/// Large samples are for threads and tiles; here they would only take time.
bool is_small(const Sample& sample) {
  constexpr size_t kMost = 3000;
  size_t elements = 0;
  for (const Input& i : sample.inputs) elements += i.data.values.size();
  return elements <= kMost;
}

/// Values of the input that the dtype holds: small integers for integers.
HostArray held_by(const HostArray& a, DType dtype) {
  if (is_floating(dtype)) return a;
  HostArray b = a;
  for (Real& v : b.values) {
    const Real whole = std::isfinite(v) ? std::round(std::clamp(v, -9.0L, 9.0L)) : 0;
    if (dtype == DType::kBool)
      v = whole != 0 ? 1 : 0;
    else
      v = is_unsigned(dtype) ? std::fabs(whole) : whole;
  }
  return b;
}

/// False where a result that wraps around or has no integer is compared with a real number.
bool comparable(const TensorList& got, const std::vector<HostArray>& want) {
  if (got.size() != want.size()) return true;
  for (size_t i = 0; i < got.size(); ++i) {
    const DType t = got[i].dtype();
    if (is_floating(t)) continue;
    const Real size = std::ldexp(1.0L, static_cast<int>(dtype_size(t)) * 8 - 1);
    for (Real v : want[i].values)
      if (!std::isfinite(v) || v != std::floor(v) || std::fabs(v) >= size || v < 0) return false;
  }
  return true;
}

/// Samples whose reference or operands hold for the dtypes that they name alone.
struct Narrow {
  std::string_view function, sample;  ///< the start of the sample's name; empty: all
  std::string_view reason;
};
constexpr Narrow kNarrow[] = {
    {"bitwise_not", "", "the reference is that of uint8"},
    {"cond", "", "sums of bools are or-ed"},
    {"logsumexp", "infinities", "integers have none"},
    {"norm", "order 0", "the reference counts operands that become 0"},
    {"prod", "", "the references are those of the operands as they stand"},
    {"scan", "", "sums of bools are or-ed"},
    {"scatter", "sums", "sums of bools are or-ed"},
    {"scatter_elements", "", "sums of bools are or-ed"},
    {"scatter_nd", "sums", "sums of bools are or-ed"},
    {"tensor_scatter", "", "sums of bools are or-ed"},
    {"unsorted_segment_sum", "", "sums of bools are or-ed"},
    {"unsorted_segment_max", "", "the reference has the least number of the dtypes named in empty segments"},
    {"searchsorted", "", "bools made of the operands are in no order"},
    {"sub", "bools", "the reference is that of bools"},
    {"sub", "int8", "the reference is that of int8"},
    {"while_loop", "", "sums of bools are or-ed"},
    {"xlogy", "large", "the reference has no 0 * log(0)"},
};

bool is_narrow(const std::string& function, const Sample& sample) {
  return std::any_of(std::begin(kNarrow), std::end(kNarrow), [&](const Narrow& n) {
    return n.function == function && sample.name.starts_with(n.sample);
  });
}

TEST_P(WiderCorpus, DTypesThatAreTakenAgreeWithReference) {
  for (DType dtype : other_dtypes()) {
    for (const Sample& sample : samples()) {
      if (!is_small(sample) || is_narrow(GetParam(), sample)) continue;
      if (!sample.reference || std::none_of(sample.inputs.begin(), sample.inputs.end(), is_open)) continue;
      SCOPED_TRACE(GetParam() + ": sample '" + sample.name + "' in " + std::string(dtype_name(dtype)));
      TensorList in;
      std::vector<HostArray> host;
      for (const Input& i : sample.inputs) {
        in.push_back(i.fixed ? to_tensor(i.data, i.dtype) : to_tensor(held_by(i.data, dtype), dtype));
        host.push_back(to_host(in.back()));
      }
      TensorList got;
      try {
        got = sample.call(in);
      } catch (const Error&) {
        continue;  // refused in words, which the error samples look at
      }
      const std::vector<HostArray> want = sample.reference(host);
      if (!comparable(got, want)) continue;
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(compare_with_reference(got[i], want[i], sample), "") << "result " << i;
    }
  }
}

/// The input with every third element replaced by a special value, another one for each operand.
HostArray with_special_values(const HostArray& a, size_t operand) {
  const HostArray special = special_values();
  HostArray b = a;
  for (size_t i = 0; i < b.values.size(); i += 3)
    b.values[i] = special.values[(i / 3 + 7 * operand) % special.values.size()];
  return b;
}

TEST_P(WiderCorpus, SpecialValuesAgreeBetweenModesAndStrides) {
  for (const Sample& sample : samples())
    for (DType dtype : sample.dtypes) {
      if (!is_floating(dtype) || !is_small(sample)) continue;
      SCOPED_TRACE(GetParam() + ": sample '" + sample.name + "' in " + std::string(dtype_name(dtype)));
      TensorList in;
      for (size_t i = 0; i < sample.inputs.size(); ++i) {
        const Input& input = sample.inputs[i];
        const DType t = input.fixed ? input.dtype : dtype;
        in.push_back(to_tensor(is_floating(t) ? with_special_values(input.data, i) : input.data, t));
      }
      TensorList eager;
      try {
        eager = sample.call(in);
      } catch (const Error&) {
        continue;
      }
      if (sample.equal_kernels) {
        reference_kernels_only() = true;
        const TensorList plain = sample.call(in);
        reference_kernels_only() = false;
        expect_equal(eager, plain, "chosen against reference kernels");
      }
      const uint64_t boundary = new_boundary_id();
      for (int turn = 0; turn < 3; ++turn) {
        TensorList out;
        run_boundary(boundary, [&] { out = sample.call(in); });
        expect_equal(out, eager, "in a boundary");
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Op, WiderCorpus, ::testing::ValuesIn(sampled_functions()), test_name);

}  // namespace
}  // namespace sorus::samples
