#include "sorus/kernels/tile/depth_first.h"

#include <algorithm>

#include "sorus/kernels/tile/headed.h"
#include "sorus/kernels/tile/index_of.h"

namespace sorus::tile {
namespace {

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// The programs of both parts. The second one cuts its result into pieces, and asks for rows of the first.
class DepthFirstProgram final : public RegionProgram {
 public:
  /// False when it cannot be done.
  bool build(const Graph& body, std::span<const Array> in);
  void run(const RegionCall& call) const override;
  void prepack(size_t index, std::byte* operand, void* to) const override {
    const bool is_first = index < first_.program->prepacked.size();
    is_first ? first_.program->prepack(index, operand, to)
             : second_.program->prepack(index - first_.program->prepacked.size(), operand, to);
  }

 private:
  struct Part {
    std::unique_ptr<HeadedProgram> program;
    std::vector<int32_t> in;  ///< by operand: that of the region, -1 for the value between both
  };
  bool bind(Part& part, const Graph& body, const Node& call, std::span<const Array> in, bool stays_near);
  bool take_orders(const Part& part, std::span<const Array> in);
  [[nodiscard]] static SmallVector<std::byte*, 16> operands(const Part& part, const RegionCall& call);

  Part first_, second_;
  Array between_;
  size_t own_packed_ = 0;  ///< bytes of the workspace for operands of the first part that come unpacked
};

bool DepthFirstProgram::bind(Part& part, const Graph& body, const Node& call, std::span<const Array> in,
                             bool stays_near) {
  std::vector<Array> operands;
  for (ValueId v : call.in) {
    part.in.push_back(index_of(body.inputs, v));
    if (part.in.back() < 0 && v != body.nodes[0].out[0]) return false;
    operands.push_back(part.in.back() < 0 ? between_ : in[static_cast<size_t>(part.in.back())]);
  }
  part.program = bind_headed(*call.body, operands, stays_near);
  return part.program && take_orders(part, operands);
}

/// What both parts read they must want in one order.
bool DepthFirstProgram::take_orders(const Part& part, std::span<const Array> in) {
  for (size_t k = 0; k < part.in.size(); ++k) {
    const Strides& wanted = part.program->in_strides[k];
    if (part.in[k] < 0) {
      if (!same_strides(*in[k].shape, between_.strides, wanted)) return false;
      continue;
    }
    Strides& known = in_strides[static_cast<size_t>(part.in[k])];
    const bool is_read_twice =
        &part == &second_ && std::find(first_.in.begin(), first_.in.end(), part.in[k]) != first_.in.end();
    if (is_read_twice && !same_strides(*in[k].shape, known, wanted)) return false;
    known = wanted;
  }
  return true;
}

bool DepthFirstProgram::build(const Graph& body, std::span<const Array> in) {
  const Node& first = body.nodes[0];
  const Node& second = body.nodes[1];
  for (const Array& a : in) in_strides.push_back(a.strides);
  if (!bind(first_, body, first, in, true) || !first_.program->gives_rows()) return false;
  const TensorType& type = body.type(first.out[0]);
  between_ = {nullptr, type.dtype, &type.shape, first_.program->out_strides[0]};
  if (!bind(second_, body, second, in, false)) return false;
  const int32_t operand = index_of({second.in.data(), second.in.size()}, first.out[0]);
  if (!second_.program->takes_rows(operand)) return false;
  for (size_t k = 0; k < second.out.size(); ++k) {
    if (k >= body.outputs.size() || body.outputs[k] != second.out[k]) return false;
    out_strides.push_back(second_.program->out_strides[k]);
    // Pieces still read operands of the first part when results are written.
    uint64_t over = 0;
    for (size_t i = 0; i < std::min<size_t>(second_.in.size(), 64); ++i) {
      const int32_t at = second_.in[i];
      if ((second_.program->in_place[k] >> i & 1U) == 0 || at < 0 || at >= 64) continue;
      if (std::find(first_.in.begin(), first_.in.end(), at) == first_.in.end()) over |= uint64_t{1} << at;
    }
    in_place.push_back(over);
  }
  for (const Part* part : {&first_, &second_})
    for (const Prepacked& p : part->program->prepacked)
      prepacked.push_back({part->in[static_cast<size_t>(p.operand)], p.bytes});
  for (const Prepacked& p : first_.program->prepacked) own_packed_ += aligned(p.bytes);
  workspace_bytes = own_packed_ + second_.program->workspace_bytes;
  return body.outputs.size() == second.out.size();
}

SmallVector<std::byte*, 16> DepthFirstProgram::operands(const Part& part, const RegionCall& call) {
  SmallVector<std::byte*, 16> in;
  for (int32_t i : part.in) in.push_back(i < 0 ? nullptr : call.in[static_cast<size_t>(i)]);
  return in;
}

/// The first part as the second one asks for it.
class Rows final : public RowSource {
 public:
  Rows(const HeadedProgram& program, const RegionCall& call) : program_(program), call_(call) {}
  void fill(int64_t begin, int64_t end, void* to) const override {
    program_.compute_rows(call_, begin, end, static_cast<std::byte*>(to));
  }

 private:
  const HeadedProgram& program_;
  const RegionCall& call_;
};

void DepthFirstProgram::run(const RegionCall& call) const {
  const size_t own = first_.program->prepacked.size();
  const SmallVector<std::byte*, 16> first_in = operands(first_, call);
  const SmallVector<std::byte*, 16> second_in = operands(second_, call);
  SmallVector<const void*, 2> packed(prepacked.size());
  for (size_t k = 0; k < call.prepacked.size(); ++k) packed[k] = call.prepacked[k];
  std::byte* space = call.workspace;
  for (size_t k = 0; k < own; ++k) {
    if (!packed[k]) {
      prepack(k, call.in[static_cast<size_t>(prepacked[k].operand)], space);
      packed[k] = space;
    }
    space += aligned(prepacked[k].bytes);
  }
  const std::span<const void* const> all(packed.data(), packed.size());
  const RegionCall first{{first_in.data(), first_in.size()}, {}, call.slots, nullptr, all.first(own)};
  second_.program->run_on_rows(
      {{second_in.data(), second_in.size()}, call.out, call.slots, space, all.subspan(own)},
      Rows(*first_.program, first));
}

bool calls_headed(const Node& n) { return n.body && n.body->engine.empty() && is_headed(*n.body); }

}  // namespace

bool is_depth_first(const Graph& body) {
  return body.nodes.size() == 2 && calls_headed(body.nodes[0]) && calls_headed(body.nodes[1]);
}

std::unique_ptr<RegionProgram> bind_depth_first(const Graph& body, std::span<const Array> in) {
  auto program = std::make_unique<DepthFirstProgram>();
  return program->build(body, in) ? std::move(program) : nullptr;
}

}  // namespace sorus::tile
