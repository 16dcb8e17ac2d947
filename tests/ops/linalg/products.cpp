#include <algorithm>
#include <cmath>

#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/harness/sample.h"

namespace sorus::samples {
namespace {

/// Sums of products by brute force over every index that the equation names: letters only, with ->.
HostArray summed(const std::string& equation, const std::vector<HostArray>& in) {
  std::vector<std::string> terms(1);
  size_t arrow = equation.find("->");
  for (char c : equation.substr(0, arrow)) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  std::string out = equation.substr(arrow + 2);
  std::string letters = out;
  std::map<char, int64_t> extent;
  for (size_t t = 0; t < terms.size(); ++t)
    for (size_t i = 0; i < terms[t].size(); ++i) {
      char c = terms[t][i];
      int64_t size = in[t].shape.size(static_cast<int>(i));
      if (size != 1 || extent.count(c) == 0) extent[c] = size;
      if (letters.find(c) == std::string::npos) letters += c;
    }
  Shape shape;
  for (char c : out) shape.push_back(extent[c]);
  HostArray result = full(shape, 0);
  int64_t total = 1;
  for (char c : letters) total *= extent[c];
  for (int64_t n = 0; n < total; ++n) {
    std::map<char, int64_t> at;
    int64_t rest = n;
    for (size_t i = letters.size(); i-- > 0;) {
      at[letters[i]] = rest % extent[letters[i]];
      rest /= extent[letters[i]];
    }
    Real product = 1;
    for (size_t t = 0; t < terms.size(); ++t) {
      int64_t position = 0;
      for (size_t i = 0; i < terms[t].size(); ++i) {
        int64_t size = in[t].shape.size(static_cast<int>(i));
        position = position * size + (size == 1 ? 0 : at[terms[t][i]]);
      }
      product *= in[t].values[static_cast<size_t>(position)];
    }
    int64_t position = 0;
    for (char c : out) position = position * extent[c] + at[c];
    result.values[static_cast<size_t>(position)] += product;
  }
  return result;
}

/// `f` against the equation that says what it computes.
Sample says(const std::string& name, const std::string& equation, const std::vector<Shape>& shapes, Call f) {
  Sample s{
      .name = name,
      .inputs = {},
      .call = std::move(f),
      .reference = [equation](const std::vector<HostArray>& in) { return std::vector{summed(equation, in)}; },
      .absolute = 24,
      .equal_kernels = false};
  uint64_t seed = 1;
  for (const Shape& shape : shapes) s.inputs.emplace_back(randn(shape, seed++));
  return s;
}

Call einsum_call(const std::string& equation) {
  return [equation](const TensorList& in) { return TensorList{einsum(equation, {in.data(), in.size()})}; };
}

Sample einsum_sample(const std::string& equation, const std::vector<Shape>& shapes,
                     const std::string& meaning = "") {
  Sample s = says(equation, meaning.empty() ? equation : meaning, shapes, einsum_call(equation));
  // Sixteen-bit results of several steps are rounded at each.
  s.dtypes = shapes.size() > 2 ? wide_floats() : floats();
  return s;
}

OP_SAMPLES(einsum) {
  return {einsum_sample("ij,jk->ik", {{2, 3}, {3, 4}}),
          einsum_sample("ij,kj->ki", {{2, 3}, {4, 3}}),
          einsum_sample("bij,bjk->bik", {{2, 2, 3}, {2, 3, 4}}),
          einsum_sample("bhqd,bhkd->bhqk", {{2, 2, 3, 4}, {2, 2, 5, 4}}),
          einsum_sample("bqhd,bkhd->bhqk", {{2, 3, 2, 4}, {2, 5, 2, 4}}),
          einsum_sample("i,j->ij", {{2}, {3}}),
          einsum_sample("ij->ji", {{2, 3}}),
          einsum_sample("ij->", {{2, 3}}),
          einsum_sample("ii->i", {{3, 3}}),
          einsum_sample("ii->", {{3, 3}}),
          einsum_sample("iij,jk->ki", {{3, 3, 2}, {2, 2}}),
          einsum_sample("ij,jk,kl->il", {{2, 3}, {3, 2}, {2, 4}}),
          einsum_sample("ij,ij->i", {{2, 3}, {2, 3}}),
          einsum_sample("ijk,jl->kl", {{2, 3, 2}, {3, 2}}),
          einsum_sample("ij,jk->ik", {{2, 1}, {3, 2}}),
          einsum_sample("ij,jk->ik", {{2, 0}, {0, 2}}),
          einsum_sample(" k j , j i ", {{2, 3}, {3, 2}}, "kj,ji->ik"),
          einsum_sample("...ij,...jk->...ik", {{2, 2, 3}, {3, 2}}, "bij,jk->bik"),
          einsum_sample("...i,i...", {{2, 3}, {3, 2}}, "ai,ia->a"),
          einsum_sample("i...->...", {{2, 3, 2}}, "iab->ab")};
}

Tensor ones(const Shape& shape) { return sorus::full({DType::kFloat32, {}, shape}, 1); }
std::function<void()> bad_einsum(const std::string& equation, const std::vector<Shape>& shapes) {
  return [=] {
    TensorList in;
    for (const Shape& s : shapes) in.push_back(ones(s));
    (void)einsum(equation, {in.data(), in.size()});
  };
}
OP_ERRORS(einsum) {
  return {
      {"terms", bad_einsum("ij", {{2, 2}, {2}}), ErrorKind::kValue, "does not fit 2 operands: got \"ij\""},
      {"character", bad_einsum("i1->i", {{2, 2}}), ErrorKind::kValue, "unknown character"},
      {"point", bad_einsum("i.->i", {{2}}), ErrorKind::kValue, "stray point"},
      {"rank", bad_einsum("ij->i", {{2}}), ErrorKind::kShape, "got \"ij\" for shape (2,)"},
      {"result", bad_einsum("i->j", {{2}}), ErrorKind::kValue, "letter only in the result"},
      {"twice", bad_einsum("i->ii", {{2}}), ErrorKind::kValue, "letter twice in the result"},
      {"extents", bad_einsum("ij,jk->ik", {{2, 3}, {2, 2}}), ErrorKind::kShape, "got 3 and 2"},
      {"none", bad_einsum("i", {}), ErrorKind::kValue, "empty list"}};
}

OP_SAMPLES(dot) {
  return {says("dot", "i,i->", {{5}, {5}}, call_of(dot)),
          says("mv", "ij,j->i", {{2, 3}, {3}}, call_of(mv)),
          says("mm", "ij,jk->ik", {{2, 3}, {3, 2}}, call_of(mm)),
          says("bmm", "bij,bjk->bik", {{2, 2, 3}, {2, 3, 2}}, call_of(bmm)),
          says("outer", "i,j->ij", {{2}, {3}}, call_of(outer)),
          says("inner", "ij,klj->ikl", {{2, 3}, {2, 2, 3}}, call_of(inner)),
          says("inner with a scalar", ",i->i", {{}, {3}}, call_of(inner))};
}
OP_ERRORS(dot) {
  return {
      {"rank",
       [] {
         (void)dot(ones({2, 2}), ones({2}));
       },
       ErrorKind::kShape, "need ranks 1 and 1"},
      {"extents", [] { (void)dot(ones({2}), ones({3})); }, ErrorKind::kShape, "got shapes (2,) and (3,)"}};
}
OP_ERRORS(bmm) {
  return {{"batch",
           [] {
             (void)bmm(ones({2, 1, 1}), ones({1, 1, 1}));
           },
           ErrorKind::kShape, "need axis 0 of the first equal to axis 0 of the second"}};
}

/// input + product, or input * 2 + product * 0.5.
Sample adds(const std::string& name, const std::string& equation, const std::vector<Shape>& shapes,
            Tensor (*f)(const Tensor&, const Tensor&, const Tensor&, Scalar, Scalar), bool scaled) {
  Sample s = says(name + (scaled ? ", scaled" : ""), equation, shapes, [=](const TensorList& in) {
    return TensorList{scaled ? f(in[0], in[1], in[2], 2, 0.5) : f(in[0], in[1], in[2], 1, 1)};
  });
  s.reference = [=](const std::vector<HostArray>& in) {
    HostArray r = summed(equation, {in[1], in[2]});
    for (size_t i = 0; i < r.values.size(); ++i) {
      Real input = broadcast_at(in[0], r.shape, static_cast<int64_t>(i));
      r.values[i] = scaled ? 2 * input + r.values[i] / 2 : input + r.values[i];
    }
    return std::vector{r};
  };
  s.dtypes = wide_floats();
  return s;
}

OP_SAMPLES(addmm) {
  SampleList list;
  for (bool scaled : {false, true}) {
    list.push_back(adds("addmm", "ij,jk->ik", {{2}, {3, 4}, {4, 2}}, addmm, scaled));
    list.push_back(adds("addmv", "ij,j->i", {{3}, {3, 4}, {4}}, addmv, scaled));
    list.push_back(adds("addr", "i,j->ij", {{3, 1}, {3}, {4}}, addr, scaled));
    list.push_back(adds("baddbmm", "bij,bjk->bik", {{1, 2, 2}, {3, 2, 4}, {3, 4, 2}}, baddbmm, scaled));
    list.push_back(adds("addbmm", "bij,bjk->ik", {{2, 2}, {3, 2, 4}, {3, 4, 2}}, addbmm, scaled));
  }
  return list;
}

OP_SAMPLES(tensordot) {
  auto over = [](const Ints& a, const Ints& b) {
    return [=](const TensorList& in) { return TensorList{tensordot(in[0], in[1], a, b)}; };
  };
  return {says("axes", "ijk,lki->jl", {{2, 3, 4}, {2, 4, 2}}, over({0, -1}, {2, 1})),
          says("none", "ij,k->ijk", {{2, 3}, {2}}, over({}, {})),
          says("count", "ijk,jkl->il", {{2, 3, 4}, {3, 4, 2}},
               [](const TensorList& in) { return TensorList{tensordot(in[0], in[1], 2)}; })};
}
OP_ERRORS(tensordot) {
  return {{"numbers", [] { (void)tensordot(ones({2}), ones({2}), Ints{0}, Ints{}); }, ErrorKind::kValue,
           "got (0,) and ()"},
          {"extents", [] { (void)tensordot(ones({2}), ones({3}), 1); }, ErrorKind::kShape,
           "got shapes (2,) and (3,)"},
          {"count", [] { (void)tensordot(ones({2}), ones({3}), 2); }, ErrorKind::kValue, "need 0 to 1"}};
}

OP_SAMPLES(kron) {
  Sample matrices = says("matrices", "ij,kl->ikjl", {{2, 3}, {3, 2}}, call_of(kron));
  Sample ranks = says("ranks", "i,kl->kil", {{2}, {3, 2}}, call_of(kron));
  auto flatten_to = [](Sample& s, const Shape& shape) {
    s.reference = [=, plain = s.reference](const std::vector<HostArray>& in) {
      return std::vector{HostArray{shape, plain(in)[0].values}};
    };
  };
  flatten_to(matrices, {6, 6});
  flatten_to(ranks, {3, 4});
  return {matrices, ranks};
}

OP_SAMPLES(trace) {
  return {
      says("square", "ii->", {{3, 3}}, [](const TensorList& in) { return TensorList{trace(in[0])}; }),
      says("stack", "iij->j", {{3, 3, 2}}, [](const TensorList& in) { return TensorList{trace(in[0])}; })};
}

OP_SAMPLES(matrix_power) {
  auto power = [](int64_t n) {
    return [n](const TensorList& in) { return TensorList{matrix_power(in[0], n)}; };
  };
  Sample one = says("first", "ij->ij", {{3, 3}}, power(1));
  Sample fifth = says("fifth", "", {{2, 3, 3}}, power(5));
  fifth.reference = [](const std::vector<HostArray>& in) {
    HostArray r = in[0];
    for (int i = 0; i < 4; ++i) r = summed("bij,bjk->bik", {r, in[0]});
    return std::vector{r};
  };
  fifth.absolute = 2000;
  fifth.dtypes = wide_floats();
  Sample zeroth = says("zeroth", "", {{2, 2}}, power(0));
  zeroth.reference = [](const std::vector<HostArray>&) {
    return std::vector{HostArray{{2, 2}, {1, 0, 0, 1}}};
  };
  return {one, fifth, zeroth};
}
OP_ERRORS(matrix_power) {
  return {{"square",
           [] {
             (void)matrix_power(ones({2, 3}), 1);
           },
           ErrorKind::kShape, "got shape (2, 3)"},
          {"negative",
           [] {
             (void)matrix_power(ones({2, 2}), -1);
           },
           ErrorKind::kValue, "got -1"}};
}

/// Matrices in axes 0 and 2.
OP_SAMPLES(matrix_norm) {
  auto sample = [](const std::string& name, MatrixNorm kind, bool keepdims) {
    Sample s{
        .name = name,
        .inputs = {randn({3, 2, 4})},
        .call = [=](const TensorList& in) { return TensorList{matrix_norm(in[0], kind, 0, -1, keepdims)}; },
        .reference = {},
        .absolute = 8};
    s.reference = [=](const std::vector<HostArray>& in) {
      HostArray r = full(keepdims ? Shape{1, 2, 1} : Shape{2}, 0);
      bool columns = kind == MatrixNorm::kLargestColumn || kind == MatrixNorm::kSmallestColumn;
      for (size_t b = 0; b < 2; ++b) {
        std::vector<Real> sums(columns ? 4 : 3);
        Real squares = 0;
        for (size_t i = 0; i < 3; ++i)
          for (size_t j = 0; j < 4; ++j) {
            Real v = in[0].values[(i * 2 + b) * 4 + j];
            squares += v * v;
            sums[columns ? j : i] += std::fabs(v);
          }
        bool largest = kind == MatrixNorm::kLargestColumn || kind == MatrixNorm::kLargestRow;
        r.values[b] = kind == MatrixNorm::kFrobenius ? std::sqrt(squares)
                      : largest                      ? *std::max_element(sums.begin(), sums.end())
                                                     : *std::min_element(sums.begin(), sums.end());
      }
      return std::vector{r};
    };
    s.dtypes = wide_floats();
    return s;
  };
  return {sample("Frobenius", MatrixNorm::kFrobenius, false), sample("1", MatrixNorm::kLargestColumn, true),
          sample("-1", MatrixNorm::kSmallestColumn, false), sample("inf", MatrixNorm::kLargestRow, false),
          sample("-inf", MatrixNorm::kSmallestRow, true)};
}
OP_ERRORS(matrix_norm) {
  return {{"axes",
           [] {
             (void)matrix_norm(ones({2, 2}), MatrixNorm::kFrobenius, 1, -1);
           },
           ErrorKind::kValue, "the same: got 1 twice"}};
}

OP_SAMPLES(cross) {
  Sample s = says("vectors", "", {{3}, {2, 3}},
                  [](const TensorList& in) { return TensorList{cross(in[0], in[1])}; });
  s.reference = [](const std::vector<HostArray>& in) {
    HostArray r = in[1];
    for (size_t i = 0; i < 6; ++i) {
      size_t row = i / 3 * 3;
      size_t j = (i + 1) % 3;
      size_t k = (i + 2) % 3;
      r.values[i] = in[0].values[j] * in[1].values[row + k] - in[0].values[k] * in[1].values[row + j];
    }
    return std::vector{r};
  };
  s.dtypes = wide_floats();
  return {s};
}
OP_ERRORS(cross) {
  return {{"length", [] { (void)cross(ones({2}), ones({2})); }, ErrorKind::kShape, "got 2 on axis 0"}};
}

}  // namespace
}  // namespace sorus::samples
