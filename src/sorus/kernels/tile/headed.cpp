#include "sorus/kernels/tile/headed.h"

#include <algorithm>
#include <map>

#include "sorus/dispatch/tuned.h"
#include "sorus/kernels/cpu/scratch.h"
#include "sorus/kernels/tile/build.h"
#include "sorus/kernels/tile/index_of.h"

namespace sorus::tile {
namespace {

/// The head with the program of the rest, bound to the strides of their operands.
class HeadAndRest final : public HeadedProgram {
 public:
  HeadAndRest(const Graph& body, bool stays_near) : head_(body.nodes.front()), stays_near_(stays_near) {}
  /// False when it cannot be done.
  bool build(const Graph& body, std::span<const Array> in);
  void run(const RegionCall& call) const override { run_head(call, nullptr); }
  void prepack(size_t index, std::byte* operand, void* to) const override;
  [[nodiscard]] bool gives_rows() const override;
  void compute_rows(const RegionCall& call, int64_t begin, int64_t end, std::byte* to) const override;
  [[nodiscard]] bool takes_rows(int32_t operand) const override;
  void run_on_rows(const RegionCall& call, const RowSource& rows) const override { run_head(call, &rows); }

 private:
  bool convert_operands(const Graph& body, std::span<const Array> in);
  bool bind_rest(const Graph& body, std::span<const Array> in);
  bool take_orders_of_rest(std::span<const Array> in);
  void place_results(const Graph& body);
  void find_prepacked();
  void run_head(const RegionCall& call, const RowSource* rows) const;
  [[nodiscard]] SmallVector<Array, 4> head_operands(const RegionCall& call) const;
  [[nodiscard]] SmallVector<std::byte*, 16> rest_operands(const RegionCall& call) const;
  [[nodiscard]] KernelCall question() const { return {*head_.op, head_.attrs.ref().data, arrays_, out_}; }

  const Node& head_;
  const bool stays_near_;
  const Kernel* kernel_ = nullptr;
  std::vector<Array> arrays_;      ///< the head's operands
  std::vector<int32_t> operands_;  ///< by operand of the head: that of the region, -1 for an absent one
  Array out_[1];
  int32_t own_result_ = -1;  ///< result of the region that is the head's
  std::unique_ptr<Program> rest_;
  int32_t rest_head_ = -1;         ///< operand of the rest that is the head's result
  std::vector<int32_t> rest_in_;   ///< by operand of the rest: that of the region, -1 for the head's result
  std::vector<int32_t> rest_out_;  ///< by result of the rest: that of the region
  bool gives_floats_ = false;      ///< the head's result and the first of the rest are float32
};

/// Hands pieces on to the rest.
class Follower final : public PieceTaker {
 public:
  Follower(const Program& rest, std::span<std::byte* const> in, std::span<std::byte* const> out,
           std::span<const AttrsBox> slots)
      : rest_(rest), in_(in), out_(out), slots_(slots) {}
  void take(const ResultPiece& piece) const override { rest_.run_on(piece, in_, out_, slots_); }

 private:
  const Program& rest_;
  std::span<std::byte* const> in_;
  std::span<std::byte* const> out_;
  std::span<const AttrsBox> slots_;
};

Array array_of(const Graph& graph, ValueId v) {
  return {nullptr, graph.type(v).dtype, &graph.type(v).shape, {}};
}

/// Chooses the kernel, and how it wants its operands.
bool HeadAndRest::convert_operands(const Graph& body, std::span<const Array> in) {
  for (const Array& a : in) in_strides.push_back(a.strides);
  for (ValueId v : head_.in) {
    operands_.push_back(v == kNoValue ? -1 : index_of(body.inputs, v));
    arrays_.push_back(v == kNoValue ? Array{} : array_of(body, v));
    if (v != kNoValue && operands_.back() < 0) return false;
  }
  out_[0] = array_of(body, head_.out[0]);
  kernel_ = &choose_kernel(question(), body.type(head_.out[0]).device);
  if (!kernel_->run_pieces) return false;
  for (bool is_again : {false, true})
    for (size_t k = 0; k < arrays_.size(); ++k) {
      if (operands_[k] < 0) continue;
      Strides& strides = in_strides[static_cast<size_t>(operands_[k])];
      arrays_[k].strides = strides;
      Strides wanted;
      if (!needs_conversion(*kernel_, arrays_[k], k, &wanted)) continue;
      if (is_again) return false;  // two operands want the same value in different orders
      strides = arrays_[k].strides = wanted;
    }
  out_[0].strides = output_strides(*kernel_, arrays_, *out_[0].shape, 0);
  // Strides that are all 0 mean to has_pieces that nothing is known.
  for (const Array& a : arrays_)
    if (a.present() && a.numel() > 1 &&
        std::all_of(a.strides.data(), a.strides.data() + a.rank(), [](int64_t s) { return s == 0; }))
      return false;
  return kernel_->has_pieces(question());
}

/// The calls after the head, whose result is an operand of theirs.
bool HeadAndRest::bind_rest(const Graph& body, std::span<const Array> in) {
  const Node& call = body.nodes.back();
  const bool is_channels_last = kernel_->out_layout == Layout::kChannelsLast;
  ValueId result = head_.out[0];
  if (body.nodes.size() == 3) {
    if (is_channels_last) return false;
    result = body.nodes[1].out[0];
  }
  Head head;
  head.stays_near = stays_near_;
  head.columns = out_[0].size(is_channels_last ? 1 : out_[0].rank() - 1);
  std::vector<Array> operands;
  for (size_t i = 0; i < call.in.size(); ++i) {
    const ValueId v = call.in[i];
    if (v == result) {
      head.operand = static_cast<int32_t>(i);
      rest_in_.push_back(-1);
      operands.push_back(array_of(body, v));
      operands.back().strides =
          body.nodes.size() == 3 ? Strides::contiguous(body.type(v).shape) : out_[0].strides;
      continue;
    }
    rest_in_.push_back(index_of(body.inputs, v));
    if (rest_in_.back() < 0) return false;
    operands.push_back(in[static_cast<size_t>(rest_in_.back())]);
    operands.back().strides = in_strides[static_cast<size_t>(rest_in_.back())];
  }
  if (head.operand < 0) return false;
  rest_head_ = head.operand;
  rest_ = Builder(*call.body, operands, head).run();
  return rest_ && take_orders_of_rest(in);
}

/// The rest may want operands in another order; what the head reads as well must stay as it is.
bool HeadAndRest::take_orders_of_rest(std::span<const Array> in) {
  for (size_t i = 0; i < rest_in_.size(); ++i) {
    if (rest_in_[i] < 0) continue;
    const auto at = static_cast<size_t>(rest_in_[i]);
    if (same_strides(*in[at].shape, in_strides[at], rest_->in_strides[i])) continue;
    if (std::find(operands_.begin(), operands_.end(), rest_in_[i]) != operands_.end()) return false;
    in_strides[at] = rest_->in_strides[i];
  }
  return true;
}

/// Where results go. None may be written over what the head still reads.
void HeadAndRest::place_results(const Graph& body) {
  const Node& call = body.nodes.back();
  for (ValueId v : call.out) rest_out_.push_back(index_of(body.outputs, v));
  gives_floats_ = out_[0].dtype == DType::kFloat32 && body.type(call.out[0]).dtype == DType::kFloat32;
  out_strides.resize(body.outputs.size());
  in_place.assign(body.outputs.size(), 0);
  own_result_ = index_of(body.outputs, head_.out[0]);
  if (own_result_ >= 0) out_strides[static_cast<size_t>(own_result_)] = out_[0].strides;
  for (size_t k = 0; k < rest_out_.size(); ++k) {
    const auto at = static_cast<size_t>(rest_out_[k]);
    out_strides[at] = rest_->out_strides[k];
    for (size_t i = 0; i < std::min<size_t>(rest_in_.size(), 64); ++i) {
      const int32_t operand = rest_in_[i];
      if ((rest_->in_place[k] >> i & 1U) == 0 || operand < 0 || operand >= 64) continue;
      if (std::find(operands_.begin(), operands_.end(), operand) != operands_.end()) continue;
      in_place[at] |= uint64_t{1} << operand;
    }
  }
}

void HeadAndRest::find_prepacked() {
  if (kernel_->workspace) workspace_bytes = kernel_->workspace(question());
  if (kernel_->prepacked_in < 0) return;
  const int32_t operand = operands_[static_cast<size_t>(kernel_->prepacked_in)];
  // The rest needs the operand itself.
  if (std::find(rest_in_.begin(), rest_in_.end(), operand) != rest_in_.end()) return;
  if (const size_t bytes = kernel_->prepacked_bytes(question())) prepacked.push_back({operand, bytes});
}

bool HeadAndRest::build(const Graph& body, std::span<const Array> in) {
  if (!convert_operands(body, in) || !bind_rest(body, in)) return false;
  for (ValueId v : body.nodes.back().out)
    if (index_of(body.outputs, v) < 0) return false;
  place_results(body);
  find_prepacked();
  return body.outputs.size() == rest_out_.size() + (own_result_ >= 0 ? 1 : 0);
}

SmallVector<Array, 4> HeadAndRest::head_operands(const RegionCall& call) const {
  SmallVector<Array, 4> in;
  for (size_t k = 0; k < arrays_.size(); ++k) {
    in.push_back(arrays_[k]);
    if (operands_[k] >= 0) in.back().data = call.in[static_cast<size_t>(operands_[k])];
  }
  return in;
}

SmallVector<std::byte*, 16> HeadAndRest::rest_operands(const RegionCall& call) const {
  SmallVector<std::byte*, 16> in;
  for (int32_t i : rest_in_) in.push_back(i < 0 ? nullptr : call.in[static_cast<size_t>(i)]);
  return in;
}

const void* packed_of(const RegionCall& call) { return call.prepacked.empty() ? nullptr : call.prepacked[0]; }

/// With its first operand by rows where they are given.
void HeadAndRest::run_head(const RegionCall& call, const RowSource* rows) const {
  const SmallVector<Array, 4> in = head_operands(call);
  Array out[1] = {out_[0]};
  if (own_result_ >= 0) out[0].data = call.out[static_cast<size_t>(own_result_)];
  const SmallVector<std::byte*, 16> rest_in = rest_operands(call);
  SmallVector<std::byte*, 8> rest_out;
  for (int32_t i : rest_out_) rest_out.push_back(call.out[static_cast<size_t>(i)]);
  const Follower follower(*rest_, {rest_in.data(), rest_in.size()}, {rest_out.data(), rest_out.size()},
                          call.slots);
  const KernelCall head{*head_.op, head_.attrs.ref().data, {in.data(), in.size()},
                        out,       call.workspace,         packed_of(call)};
  rows ? row_kernel_of(*kernel_).run_on_rows(head, *rows, follower) : kernel_->run_pieces(head, follower);
}

bool HeadAndRest::gives_rows() const {
  return sorus::gives_rows(*kernel_, question()) && own_result_ < 0 && rest_out_.size() == 1 &&
         gives_floats_ && same_strides(*out_[0].shape, out_[0].strides, out_strides[0]) &&
         (kernel_->prepacked_in < 0 || !prepacked.empty());
}

/// As many rows at a time as the first cache holds, so that the calls that follow find them there.
void HeadAndRest::compute_rows(const RegionCall& call, int64_t begin, int64_t end, std::byte* to) const {
  constexpr int64_t kNearFloats = 12 * 1024;
  constexpr int64_t kUnit = 24;  // rows, a multiple of what kernels take at once
  const int64_t columns = rest_->columns();
  const int64_t at_once = std::max(kUnit, kNearFloats / columns / kUnit * kUnit);
  const bool is_over = (rest_->in_place[0] >> rest_head_ & 1U) != 0;
  thread_local kernels::Scratch scratch;
  const SmallVector<Array, 4> in = head_operands(call);
  const SmallVector<std::byte*, 16> rest_in = rest_operands(call);
  const KernelCall head{*head_.op, head_.attrs.ref().data, {in.data(), in.size()}, out_,
                        nullptr,   packed_of(call)};
  const RowKernel& rows = row_kernel_of(*kernel_);
  const int64_t row_bytes = columns * static_cast<int64_t>(sizeof(float));
  std::byte* const result = to - begin * row_bytes;  // where its first row would be
  for (int64_t row = begin; row < end; row += at_once) {
    const int64_t count = std::min(at_once, end - row);
    void* const made =
        is_over ? static_cast<void*>(result + row * row_bytes) : scratch.reserve(at_once * columns);
    rows.compute_rows(head, row, row + count, made);
    rest_->run_on({made, columns, row, count, 0, columns}, {rest_in.data(), rest_in.size()}, {&result, 1},
                  call.slots);
  }
}

bool HeadAndRest::takes_rows(int32_t operand) const {
  return sorus::takes_rows(*kernel_, question()) && operands_[0] == operand &&
         std::count(operands_.begin(), operands_.end(), operand) == 1 &&
         std::find(rest_in_.begin(), rest_in_.end(), operand) == rest_in_.end();
}

void HeadAndRest::prepack(size_t /*index*/, std::byte* operand, void* to) const {
  std::vector<Array> in = arrays_;
  in[static_cast<size_t>(kernel_->prepacked_in)].data = operand;
  kernel_->prepack({*head_.op, head_.attrs.ref().data, in, out_}, to);
}

/// A program whose head is tuned: it is prepared, and runs, with the values that it was bound with.
class TunedProgram final : public HeadedProgram {
 public:
  TunedProgram(std::unique_ptr<HeadedProgram> program, TunedRef values)
      : program_(std::move(program)), values_(std::move(values)) {
    in_strides = program_->in_strides;
    out_strides = program_->out_strides;
    in_place = program_->in_place;
    workspace_bytes = program_->workspace_bytes;
    prepacked = program_->prepacked;
  }
  void run(const RegionCall& call) const override {
    const TuningScope scope(values_.get());
    program_->run(call);
  }
  void prepack(size_t index, std::byte* operand, void* to) const override {
    const TuningScope scope(values_.get());
    program_->prepack(index, operand, to);
  }
  [[nodiscard]] bool gives_rows() const override { return program_->gives_rows(); }
  void compute_rows(const RegionCall& call, int64_t begin, int64_t end, std::byte* to) const override {
    const TuningScope scope(values_.get());
    program_->compute_rows(call, begin, end, to);
  }
  [[nodiscard]] bool takes_rows(int32_t operand) const override { return program_->takes_rows(operand); }
  void run_on_rows(const RegionCall& call, const RowSource& rows) const override {
    const TuningScope scope(values_.get());
    program_->run_on_rows(call, rows);
  }

 private:
  std::unique_ptr<HeadedProgram> program_;
  TunedRef values_;
};

/// The values of the head's call, those that it has where nothing follows it.
TunedRef tuned_for_head(const Graph& body) {
  const Node& head = body.nodes.front();
  if (!tuning_in_use() || head.slot >= 0) return nullptr;
  std::vector<Array> in;
  for (ValueId v : head.in) in.push_back(v == kNoValue ? Array{} : array_of(body, v));
  return tuned_for_call(*head.op, head.attrs.ref(), in);
}

}  // namespace

bool is_headed(const Graph& body) {
  const size_t count = body.nodes.size();
  return (count == 2 || count == 3) && body.nodes.back().body && !body.nodes.front().body &&
         (count == 2 || body.nodes[1].op->view);
}

std::unique_ptr<HeadedProgram> bind_headed(const Graph& body, std::span<const Array> in, bool stays_near) {
  auto program = std::make_unique<HeadAndRest>(body, stays_near);
  const TunedRef tuned = tuned_for_head(body);
  if (!tuned) return program->build(body, in) ? std::move(program) : nullptr;
  const TuningScope scope(tuned.get(), TuningScope::Nesting::kInside);
  if (!program->build(body, in)) return nullptr;
  return std::make_unique<TunedProgram>(std::move(program), tuned);
}

}  // namespace sorus::tile
