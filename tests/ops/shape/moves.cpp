#include "tests/ops/shape/moves.h"

namespace sorus::samples {

int64_t position_of(const Shape& shape, const Index& index) {
  int64_t position = 0;
  for (int i = 0; i < shape.rank(); ++i) position = position * shape.size(i) + index[static_cast<size_t>(i)];
  return position;
}

Index index_at(const Shape& shape, int64_t position) {
  Index index(static_cast<size_t>(shape.rank()));
  for (int i = shape.rank(); i-- > 0;) {
    index[static_cast<size_t>(i)] = position % shape.size(i);
    position /= shape.size(i);
  }
  return index;
}

Sample moves(const std::string& name, const std::vector<Shape>& shapes, Call call,
             std::vector<Result> results) {
  Sample sample{
      .name = name, .inputs = {}, .call = std::move(call), .reference = {}, .dtypes = any_type(), .ulp = 0};
  Real start = 1;
  for (const Shape& shape : shapes) {
    sample.inputs.emplace_back(arange(shape, start));
    start += static_cast<Real>(shape.numel());
  }
  sample.reference = [results = std::move(results)](const std::vector<HostArray>& in) {
    std::vector<Real> all;
    for (const HostArray& a : in) all.insert(all.end(), a.values.begin(), a.values.end());
    std::vector<HostArray> out;
    for (const Result& r : results) {
      HostArray a = full(r.shape, 0);
      for (size_t i = 0; i < a.values.size(); ++i) {
        int64_t from = r.source(index_at(r.shape, static_cast<int64_t>(i)));
        if (from >= 0) a.values[i] = all.at(static_cast<size_t>(from));
      }
      out.push_back(std::move(a));
    }
    return out;
  };
  return sample;
}

Sample move(const std::string& name, const Shape& shape, std::function<Tensor(const Tensor&)> f,
            Result result) {
  return moves(name, {shape}, [f = std::move(f)](const TensorList& in) { return TensorList{f(in[0])}; },
               {std::move(result)});
}

}  // namespace sorus::samples
