#include "sorus/kernels/tile/build.h"

#include <algorithm>
#include <numeric>

#include "sorus/base/tunable.h"
#include "sorus/kernels/cpu/elementwise/convert_tiles.h"
#include "sorus/kernels/tile/bundle.h"
#include "sorus/kernels/tile/depth_first.h"
#include "sorus/kernels/tile/headed.h"

namespace sorus::tile {
namespace {

const Tunable piece_elements({.name = "tile.piece_elements",
                              .initial = 32 << 10,
                              .least = 4 << 10,
                              .most = 512 << 10,
                              .part = TunedPart::kRegion,
                              .doc = "elements of a region that one thread takes at a time"});
const Tunable tile_bytes({.name = "tile.bytes",
                          .initial = 24 << 10,
                          .least = 6 << 10,
                          .most = 192 << 10,
                          .part = TunedPart::kRegion,
                          .doc = "what the values of a tile may take together, in the first cache"});
// Fewer are not worth the calls: what does not fit then comes from the second cache.
const Tunable fewest_elements({.name = "tile.fewest_elements",
                               .initial = 1024,
                               .least = 256,
                               .most = 4096,
                               .part = TunedPart::kRegion,
                               .doc = "elements of a tile, whatever its values take"});
const Tunable most_elements({.name = "tile.most_elements",
                             .initial = 4096,
                             .least = 1024,
                             .most = 32 << 10,
                             .part = TunedPart::kRegion,
                             .doc = "elements of a tile at most, unless tile.fewest_elements is more"});
const Tunable streamed_bytes({.name = "tile.stream_bytes",
                              .initial = cpu::usual_streamed_bytes(),
                              .least = 1 << 20,
                              .most = 1 << 30,
                              .part = TunedPart::kRegion,
                              .doc = "results of more bytes go past the caches"});
/// Runs of an operand that are as long as this are read where they are.
constexpr int64_t kLongRun = 256;
/// Scattered elements that the first cache holds until their neighbours are picked.
constexpr int64_t kNearElements = 8 * 1024;
/// A row that is longer does not stay in the caches beside the others.
constexpr int64_t kLongestRow = 16384;

int64_t element_bytes(DType t) { return static_cast<int64_t>(dtype_size(t)); }

Ints logical_order(int rank) {
  Ints order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  return order;
}

int64_t product(const Shape& shape, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= shape.size(i);
  return n;
}

bool same_leading(const Shape& a, const Shape& b, int axes) {
  if (a.rank() < axes || b.rank() < axes) return false;
  for (int i = 0; i < axes; ++i)
    if (a.size(i) != b.size(i)) return false;
  return true;
}

}  // namespace

Builder::Builder(const Graph& body, std::span<const Array> in, const Head& head)
    : body_(body),
      in_(in),
      head_(head),
      program_(std::make_unique<Program>()),
      known_(body.value_count()),
      is_loaded_(in.size(), 0) {
  for (size_t i = 0; i < body.inputs.size(); ++i) operand_of_[body.inputs[i]] = static_cast<int32_t>(i);
  for (size_t i = 0; i < body.outputs.size(); ++i) result_of_[body.outputs[i]] = static_cast<int32_t>(i);
}

std::unique_ptr<Program> Builder::run() {
  if (!find_rows()) return nullptr;
  place_results();
  for (const Call& call : calls_)
    if (!(call.row_axis >= 0 ? add_rows(call) : add_elements(call))) return nullptr;
  join_chains();
  note_lives();
  choose_tile();
  allocate();
  find_in_place();
  if (head_.operand >= 0 && !follows_head()) return nullptr;
  for (size_t i = 0; i < in_.size(); ++i)
    program_->in_strides.push_back((row_major_in_ >> i & 1U) != 0 ? Strides::contiguous(*in_[i].shape)
                                                                  : in_[i].strides);
  return std::move(program_);
}

/// Whether the calls are elementwise ones over all of the head's result, which they read as it comes.
bool Builder::follows_head() {
  if (has_rows_) return false;
  for (const Load& l : program_->loads_) {
    if (l.operand == head_.operand && l.way != Load::Way::kDirect) return false;
  }
  program_->head_ = head_.operand;
  program_->columns_ = head_.columns;
  program_->spreads_ = spreads_over_columns();
  return true;
}

/// By slot, how a chain reads it from the head's matrix; empty unless the program is a chain of float32
/// numbers alone whose operands have one for each element, for each column, or one.
std::vector<ChainSpread> Builder::spreads_over_columns() const {
  const Program& p = *program_;
  if (p.code_.size() != 1 || p.code_[0].kind != Instruction::Kind::kChain || p.code_[0].is_once ||
      head_.columns % kChainColumns != 0)
    return {};
  constexpr int64_t kNumber = sizeof(float);
  std::vector<ChainSpread> spreads(slots_.size(), ChainSpread::kEach);
  std::vector<char> is_placed(slots_.size(), 0);
  for (const Load& l : p.loads_) {
    const auto slot = static_cast<size_t>(l.slot);
    if (l.size != kNumber || l.per_row != 1 || l.way == Load::Way::kTile) return {};
    is_placed[slot] = 1;
    if (l.way == Load::Way::kDirect) continue;
    spreads[slot] = l.walk.is_one_value() ? ChainSpread::kOne : ChainSpread::kColumn;
    if (!l.walk.is_one_value() && l.walk.period() != head_.columns) return {};
  }
  for (const Store& s : p.stores_) {
    if (s.streams || s.row_bytes != kNumber) return {};
    is_placed[static_cast<size_t>(s.slot)] = 1;
  }
  const Chain& chain = p.chains_[static_cast<size_t>(p.code_[0].index)];
  auto is_known = [&](Slot slot) { return slot < 0 || is_placed[static_cast<size_t>(slot)] != 0; };
  bool fits = is_known(chain.first) && is_known(p.code_[0].out) &&
              spreads[static_cast<size_t>(chain.first)] == ChainSpread::kEach;
  for (const Chain::Step& s : chain.steps) fits &= is_known(s.operand) && is_known(s.store);
  return fits ? spreads : std::vector<ChainSpread>{};
}

/// Chooses the kernels of the body and finds what a row is. False when there is a call that is neither
/// elementwise nor one of rows, or when the calls do not agree.
bool Builder::find_rows() {
  bool found = false;
  for (const Node& node : body_.nodes) {
    Call call;
    call.node = &node;
    for (ValueId v : node.in)
      call.in.push_back(v == kNoValue ? Array{}
                                      : Array{nullptr, body_.type(v).dtype, &body_.type(v).shape, {}});
    for (ValueId v : node.out) call.out.push_back({nullptr, body_.type(v).dtype, &body_.type(v).shape, {}});
    if (node.body || call.out.empty() || call.in.empty() || !call.in[0].present()) return false;
    const KernelCall question{*node.op, node.attrs.ref().data, call.in, call.out};
    call.kernel = &choose_kernel(question, body_.type(node.out[0]).device);
    if (call.kernel->row_axis) call.row_axis = call.kernel->row_axis(question);
    if (call.row_axis < 0 && (!call.kernel->tile || node.out.size() != 1)) return false;
    if (call.row_axis >= 0) {
      if (found && (!(shape_ == *call.in[0].shape) || axis_ != call.row_axis)) return false;
      found = true;
      shape_ = *call.in[0].shape;
      axis_ = call.row_axis;
    }
    calls_.push_back(std::move(call));
  }
  if (calls_.empty()) return false;
  has_rows_ = found;
  if (!found) {
    shape_ = *calls_[0].out[0].shape;
    axis_ = shape_.rank();
  }
  program_->rows_ = product(shape_, 0, axis_);
  per_row_ = product(shape_, axis_, shape_.rank());
  column_ = shape_;
  for (int i = axis_; i < column_.rank(); ++i) column_[i] = 1;
  return shape_.numel() > 0 && per_row_ <= kLongestRow;
}

/// Results of elementwise regions keep the order of the first operand, as those of elementwise kernels do.
void Builder::place_results() {
  Strides full = Strides::contiguous(shape_);
  order_ = logical_order(shape_.rank());
  if (!has_rows_) {
    const std::span<const Array> leading =
        head_.operand >= 0 ? in_.subspan(static_cast<size_t>(head_.operand), 1) : in_;
    full = output_strides(Kernel{.name = "region", .out_layout = Layout::kAny}, leading, shape_, 0);
    order_ = memory_order(shape_, full);
  }
  for (ValueId v : body_.outputs) {
    const Shape& shape = body_.type(v).shape;
    program_->out_strides.push_back(shape == shape_ ? full : Strides::contiguous(shape));
  }
  program_->in_place.assign(body_.outputs.size(), 0);
}

Slot Builder::new_slot(int64_t row_bytes, bool is_scratch) {
  slots_.push_back({.row_bytes = row_bytes, .is_scratch = is_scratch});
  return static_cast<Slot>(slots_.size()) - 1;
}

/// The slot in which a result of the region or an intermediate value arises.
Slot Builder::define(ValueId v, Space space, int64_t per_row) {
  const int64_t row_bytes = per_row * element_bytes(body_.type(v).dtype);
  Known& k = known_[static_cast<size_t>(v)];
  k.is_made = true;
  k.per_row = per_row;
  auto result = result_of_.find(v);
  Slot slot = 0;
  if (result == result_of_.end()) {
    slot = new_slot(row_bytes, true);
  } else {
    const bool streams = !head_.stays_near && row_bytes * program_->rows_ > streamed_bytes.get();
    slot = new_slot(row_bytes, streams);
    slots_[static_cast<size_t>(slot)].is_kept = streams;
    program_->stores_.push_back({result->second, slot, row_bytes, streams});
    program_->streams_ |= streams;
  }
  k.slot[static_cast<int>(space)] = slot;
  return slot;
}

/// The value in the given space, -1 when it has no place there.
Slot Builder::get(ValueId v, Space space) {
  Known& k = known_[static_cast<size_t>(v)];
  Slot& slot = k.slot[static_cast<int>(space)];
  if (slot >= 0) return slot;
  const int64_t size = element_bytes(body_.type(v).dtype);
  if (!k.is_made) {
    auto operand = operand_of_.find(v);
    return operand == operand_of_.end() ? -1 : slot = load(operand->second, space);
  }
  if (k.wide[static_cast<int>(space)] >= 0) return narrow(v, space);
  if (space == Space::kRow || k.per_row != 1 || !(body_.type(v).shape == column_)) return -1;
  Instruction i{
      .kind = Instruction::Kind::kSpread, .operands = static_cast<uint8_t>(size), .per_row = per_row_};
  i.in[0] = get(v, Space::kRow);
  i.out = slot = new_slot(size * per_row_, true);
  program_->code_.push_back(i);
  return slot;
}

/// The value as the function wants it: 16-bit floats as float32 numbers where it computes in float32.
Slot Builder::get_as(ValueId v, Space space, DType compute) {
  const DType stored = body_.type(v).dtype;
  if (stored == compute) return get(v, space);
  const auto at = static_cast<size_t>(space);
  if (const Slot known = known_[static_cast<size_t>(v)].wide[at]; known >= 0) return known;
  const Slot slot = get(v, space);
  if (slot < 0) return slot;
  return known_[static_cast<size_t>(v)].wide[at] = widen(slot, stored, space);
}

Slot Builder::widen(Slot from, DType stored, Space space) {
  Instruction i{.operands = 1, .per_row = elements(space), .function = cpu::widen_function(stored)};
  i.is_once = std::any_of(program_->loads_.begin(), program_->loads_.end(),
                          [&](const Load& l) { return l.slot == from && l.way == Load::Way::kOnce; });
  i.in[0] = from;
  i.out = new_slot(elements(space) * element_bytes(DType::kFloat32), true);
  slots_[static_cast<size_t>(i.out)].is_kept = i.is_once;
  program_->code_.push_back(i);
  return i.out;
}

/// Rounds what an instruction gives to the 16-bit float `v`: float32 numbers, of which those are narrowed
/// that somebody wants as they are stored.
void Builder::round(ValueId v, Space space, const Instruction& made) {
  Known& k = known_[static_cast<size_t>(v)];
  const DType stored = body_.type(v).dtype;
  k.is_made = true;
  k.per_row = elements(space);
  Slot& wide = k.wide[static_cast<int>(space)];
  wide = made.out;
  if (!needs_no_rounding(made.code)) {
    k.is_rounded = true;
    Instruction i{.operands = 1, .per_row = elements(space), .function = cpu::round_function(stored)};
    i.code = stored == DType::kFloat16 ? ChainCode::kRoundFloat16 : ChainCode::kRoundBFloat16;
    i.in[0] = made.out;
    i.out = wide = new_slot(elements(space) * element_bytes(DType::kFloat32), true);
    program_->code_.push_back(i);
  }
  if (result_of_.count(v) != 0) narrow(v, space);
}

Slot Builder::narrow(ValueId v, Space space) {
  const Known& k = known_[static_cast<size_t>(v)];
  const DType stored = body_.type(v).dtype;
  Instruction i{.operands = 1, .per_row = elements(space)};
  i.function = k.is_rounded ? cpu::store_function(stored) : cpu::narrow_function(stored);
  i.in[0] = k.wide[static_cast<int>(space)];
  i.out = define(v, space, elements(space));
  program_->code_.push_back(i);
  return i.out;
}

/// Operands that would have to be picked element by element are asked for in row-major order, few of them
/// only where the region goes by rows.
Slot Builder::load(int32_t operand, Space space) {
  Array array = in_[static_cast<size_t>(operand)];
  const Shape& shape = space == Space::kFull ? shape_ : column_;
  const int64_t few = has_rows_ ? kLongRun : kNearElements;
  if (!is_loaded_[static_cast<size_t>(operand)] && array.numel() > few &&
      Walk(array, shape, order_).is_scattered())
    row_major_in_ |= uint64_t{1} << operand;
  if ((row_major_in_ >> operand & 1U) != 0) array.strides = Strides::contiguous(*array.shape);
  is_loaded_[static_cast<size_t>(operand)] = 1;
  Load l{.operand = operand,
         .size = element_bytes(array.dtype),
         .per_row = elements(space),
         .walk = Walk(array, shape, order_)};
  l.way = l.walk.is_direct() ? Load::Way::kDirect : Load::Way::kTile;
  if (l.walk.is_one_value()) l.way = Load::Way::kOnce;
  if (const int64_t period = l.walk.period(); period > 0 && l.way == Load::Way::kTile) {
    // Rows of a tile begin with a row; tiles of single elements begin where the first period does.
    const bool fits = has_rows_ ? period == l.per_row : period_ > 0 && period_ % period == 0;
    const bool first = !has_rows_ && period_ == 0 && period <= most_elements.get() / 2 &&
                       (head_.operand < 0 || head_.columns % period == 0);
    if (first) period_ = period;
    if (first || fits) l.way = Load::Way::kOnce;
  }
  if (l.way == Load::Way::kTile && !has_rows_ && l.walk.run() >= kLongRun)
    run_ = run_ == 0 ? l.walk.run() : std::min(run_, l.walk.run());
  l.slot = new_slot(l.per_row * l.size, l.way != Load::Way::kDirect);
  slots_[static_cast<size_t>(l.slot)].is_kept = l.way != Load::Way::kDirect;
  program_->loads_.push_back(l);
  return l.slot;
}

bool Builder::add_elements(const Call& call) {
  const Node& node = *call.node;
  const ValueId v = node.out[0];
  const TensorType& type = body_.type(v);
  const bool is_full = type.shape == shape_;
  if (!is_full && !(has_rows_ && type.shape == column_)) return false;
  const Space space = is_full ? Space::kFull : Space::kRow;
  const ElementTile tile = call.kernel->tile({*node.op, node.attrs.ref().data, call.in, call.out});
  if (!tile.function || node.in.size() > std::size(tile.compute)) return false;
  Instruction i{.operands = static_cast<uint8_t>(node.in.size()),
                .per_row = elements(space),
                .function = tile.function,
                .node = &node};
  const auto single = [](DType t) { return t == DType::kFloat32; };
  if (single(tile.result) && node.in.size() <= 2 &&
      std::all_of(tile.compute, tile.compute + node.in.size(), single))
    i.code = chain_code(node.op->name);
  for (size_t k = 0; k < node.in.size(); ++k) {
    if (node.in[k] == kNoValue) return false;
    i.in[k] = get_as(node.in[k], space, tile.compute[k]);
    if (i.in[k] < 0) return false;
  }
  if (tile.result == type.dtype) {
    i.out = define(v, space, elements(space));
    program_->code_.push_back(i);
    return true;
  }
  i.out = new_slot(elements(space) * element_bytes(tile.result), true);
  program_->code_.push_back(i);
  round(v, space, i);
  return true;
}

/// The slot of an operand of a row kernel, -1 when it has none.
Slot Builder::row_operand(ValueId v, bool is_whole) {
  const Shape& shape = body_.type(v).shape;
  if (!is_whole) {
    if (shape == shape_) return get(v, Space::kFull);
    return shape == column_ ? get(v, Space::kRow) : -1;
  }
  auto operand = operand_of_.find(v);
  if (operand == operand_of_.end() || is_loaded_[static_cast<size_t>(operand->second)]) return -1;
  is_loaded_[static_cast<size_t>(operand->second)] = 1;
  row_major_in_ |= uint64_t{1} << operand->second;
  Load l{.operand = operand->second, .per_row = 0, .walk = Walk({nullptr, {}, &shape, {}}, shape, {})};
  l.slot = new_slot(0, false);
  program_->loads_.push_back(l);
  return l.slot;
}

bool Builder::add_rows(const Call& call) {
  const Node& node = *call.node;
  RowCall rows;
  rows.kernel = call.kernel;
  rows.node = &node;
  rows.in_count = node.in.size();
  rows.axis = axis_;
  auto add = [&](const Array& array, Slot slot, bool is_whole) {
    rows.arrays.push_back(array);
    rows.shapes.push_back(array.present() ? *array.shape : Shape());
    rows.slots.push_back(slot);
    rows.is_whole.push_back(is_whole ? 1 : 0);
  };
  for (size_t k = 0; k < node.in.size(); ++k) {
    if (node.in[k] == kNoValue) {
      add({}, -1, true);
      continue;
    }
    const bool is_whole = (call.kernel->whole_in >> k & 1U) != 0;
    const Slot slot = row_operand(node.in[k], is_whole);
    if (slot < 0) return false;
    add(call.in[k], slot, is_whole);
  }
  for (size_t k = 0; k < node.out.size(); ++k) {
    const Shape& shape = *call.out[k].shape;
    if (!same_leading(shape, shape_, axis_)) return false;
    const bool is_full = shape == shape_;
    const int64_t per_row = is_full ? per_row_ : shape.numel() / program_->rows_;
    const Slot slot = define(node.out[k], is_full ? Space::kFull : Space::kRow, per_row);
    add(call.out[k], slot, false);
  }
  Instruction i{.kind = Instruction::Kind::kRows};
  i.index = static_cast<int32_t>(program_->row_calls_.size());
  i.out = rows.slots.back();
  program_->row_calls_.push_back(std::move(rows));
  program_->code_.push_back(i);
  return true;
}

/// Joins each float32 call into the chain whose result it is the first to read.
void Builder::join_chains() {
  readers_.assign(slots_.size(), {});
  writer_.assign(slots_.size(), -1);
  std::vector<Instruction>& code = program_->code_;
  for (size_t i = 0; i < code.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    if (code[i].kind == Instruction::Kind::kRows) {
      const RowCall& call = program_->row_calls_[static_cast<size_t>(code[i].index)];
      for (size_t k = 0; k < call.in_count; ++k)
        if (call.slots[k] >= 0) readers_[static_cast<size_t>(call.slots[k])].push_back(index);
      continue;
    }
    const int operands = code[i].kind == Instruction::Kind::kSpread ? 1 : code[i].operands;
    for (int k = 0; k < operands; ++k) readers_[static_cast<size_t>(code[i].in[k])].push_back(index);
    writer_[static_cast<size_t>(code[i].out)] = index;
  }
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].code == ChainCode::kNone || extend_chain(i, code)) continue;
    const bool both = code[i].operands == 2 && code[i].in[0] == code[i].in[1];
    const Slot other = code[i].operands == 2 && !both ? code[i].in[1] : -1;
    program_->chains_.push_back(
        {code[i].in[0],
         {{code[i].code, both ? ChainSide::kBoth : ChainSide::kFirst, other, -1, code[i].function}}});
    code[i].index = static_cast<int32_t>(program_->chains_.size()) - 1;
  }
  // Calls that went into a later one are gone; a chain of one step is a plain call.
  std::erase_if(code,
                [](const Instruction& i) { return i.kind == Instruction::Kind::kChain && i.index < 0; });
  for (Instruction& i : code)
    if (i.code != ChainCode::kNone && program_->chains_[static_cast<size_t>(i.index)].steps.size() > 1)
      i.kind = Instruction::Kind::kChain;
}

/// Appends the call to the chain that gives one of its operands, which then runs in its place. Nobody may
/// read the chain's values before.
bool Builder::extend_chain(size_t index, std::vector<Instruction>& code) {
  constexpr size_t kMostSteps = 16;
  Instruction& call = code[index];
  for (int k = 0; k < call.operands; ++k) {
    const Slot from = call.in[k];
    const int32_t w = writer_[static_cast<size_t>(from)];
    if (w < 0 || code[static_cast<size_t>(w)].code == ChainCode::kNone) continue;
    Instruction& before = code[static_cast<size_t>(w)];
    if (before.index < 0 || before.per_row != call.per_row) continue;
    Chain& chain = program_->chains_[static_cast<size_t>(before.index)];
    auto is_read_before = [&](Slot s) {
      return std::any_of(readers_[static_cast<size_t>(s)].begin(), readers_[static_cast<size_t>(s)].end(),
                         [&](int32_t r) { return r > w && r < static_cast<int32_t>(index); });
    };
    bool can_wait = chain.steps.size() < kMostSteps && !is_read_before(from);
    for (const Chain::Step& s : chain.steps) can_wait &= s.store < 0 || !is_read_before(s.store);
    if (!can_wait) continue;
    const bool both = call.operands == 2 && call.in[0] == call.in[1];
    const SlotInfo& value = slots_[static_cast<size_t>(from)];
    const bool is_result = !value.is_scratch || value.is_kept;
    if (is_result || readers_[static_cast<size_t>(from)].size() > (both ? 2U : 1U))
      chain.steps.back().store = from;
    chain.steps.push_back({call.code,
                           both     ? ChainSide::kBoth
                           : k == 0 ? ChainSide::kFirst
                                    : ChainSide::kSecond,
                           call.operands == 2 && !both ? call.in[1 - k] : -1, -1, call.function});
    call.index = std::exchange(before.index, -1);
    before.kind = Instruction::Kind::kChain;
    return true;
  }
  return false;
}

/// When each slot is written and read, by instruction and by step.
void Builder::note_lives() {
  int32_t now = 0;
  int32_t step = 0;
  auto read = [&](Slot slot, int32_t at) {
    if (slot < 0) return;
    SlotInfo& s = slots_[static_cast<size_t>(slot)];
    s.last = now;
    s.read = std::max(s.read, at);
  };
  auto write = [&](Slot slot, int32_t at) {
    if (slot < 0) return;
    SlotInfo& s = slots_[static_cast<size_t>(slot)];
    if (s.first < 0) s.first = now;
    s.last = std::max(s.last, now);
    s.written = at;
  };
  for (const Instruction& i : program_->code_) {
    if (i.kind == Instruction::Kind::kChain) {
      const Chain& chain = program_->chains_[static_cast<size_t>(i.index)];
      read(chain.first, step);
      for (const Chain::Step& s : chain.steps) {
        read(s.operand, step);
        write(s.store, step++);
      }
      write(i.out, step - 1);
    } else if (i.kind == Instruction::Kind::kRows) {
      const RowCall& call = program_->row_calls_[static_cast<size_t>(i.index)];
      for (size_t k = 0; k < call.in_count; ++k) read(call.slots[k], step + 1);
      for (size_t k = call.in_count; k < call.slots.size(); ++k) write(call.slots[k], step);
      step += 2;
    } else {
      const bool is_spread = i.kind == Instruction::Kind::kSpread;
      for (int k = 0; k < (is_spread ? 1 : i.operands); ++k) read(i.in[k], step);
      write(i.out, step++);
    }
    ++now;
  }
}

/// Rows of a tile, such that what is alive at once stays in the first cache.
void Builder::choose_tile() {
  std::vector<int64_t> alive(program_->code_.size(), 0);
  for (const SlotInfo& s : slots_)
    for (size_t i = 0; i < alive.size(); ++i) {
      const auto at = static_cast<int32_t>(i);
      if (s.is_kept || (s.first <= at && at <= s.last)) alive[i] += s.row_bytes;
    }
  const int64_t most = std::max<int64_t>(1, *std::max_element(alive.begin(), alive.end()));
  const int64_t fewest = fewest_elements.get();
  const int64_t wanted =
      std::clamp(tile_bytes.get() / most * per_row_, fewest, std::max(fewest, most_elements.get()));
  int64_t rows = std::max<int64_t>(1, wanted / per_row_);
  int64_t unit = std::max<int64_t>(1, period_);
  // Whole blocks of chains where that is possible: what remains takes a call for each step.
  if (const int64_t blocks = std::lcm(unit, kChainBlock); per_row_ == 1 && blocks <= rows) unit = blocks;
  rows = std::max<int64_t>(1, rows / unit) * unit;
  program_->tile_rows_ = std::min(rows, program_->rows_);
  if (period_ == 0 || run_ % period_ == 0) program_->run_ = run_;
  const int64_t tiles = std::max<int64_t>(1, piece_elements.get() / (rows * per_row_));
  program_->piece_rows_ = tiles * rows;
  for (RowCall& call : program_->row_calls_) finish_rows(call);
}

/// Shapes for a full tile, workspace for it.
void Builder::finish_rows(RowCall& call) {
  for (size_t i = 0; i < call.arrays.size(); ++i) {
    if (!call.arrays[i].present()) continue;
    if (!call.is_whole[i])
      for (int axis = 0; axis < axis_; ++axis) call.shapes[i][axis] = axis == 0 ? program_->tile_rows_ : 1;
    call.arrays[i].shape = &call.shapes[i];
    call.arrays[i].strides = Strides::contiguous(call.shapes[i]);
  }
  if (!call.kernel->workspace) return;
  const std::span<const Array> all(call.arrays);
  const size_t bytes = call.kernel->workspace(
      {*call.node->op, call.node->attrs.ref().data, all.first(call.in_count), all.subspan(call.in_count)});
  if (bytes == 0) return;
  call.workspace = new_slot(0, true);
  slots_.back().is_kept = true;
  slots_.back().bytes = static_cast<int64_t>(bytes);
}

/// Places of the scratch slots, reused once a value is dead. An elementwise function, or the last step of a
/// chain, may write over an operand of its result's size.
void Builder::allocate() {
  program_->scratch_.assign(slots_.size(), -1);
  std::multimap<int64_t, int64_t> free;  // bytes -> offset
  auto place = [&](size_t slot) {
    SlotInfo& s = slots_[slot];
    s.bytes = (std::max(s.bytes, s.row_bytes * program_->tile_rows_) + 63) / 64 * 64;
    auto at = s.is_kept ? free.end() : free.find(s.bytes);
    if (at != free.end()) {
      program_->scratch_[slot] = at->second;
      free.erase(at);
    } else {
      program_->scratch_[slot] = program_->scratch_bytes_;
      program_->scratch_bytes_ += s.bytes;
    }
  };
  for (size_t s = 0; s < slots_.size(); ++s)
    if (slots_[s].is_scratch && slots_[s].is_kept) place(s);
  for (size_t i = 0; i < program_->code_.size(); ++i) {
    const auto now = static_cast<int32_t>(i);
    const Instruction& code = program_->code_[i];
    const auto out = static_cast<size_t>(code.out);
    auto place_made = [&](bool with_out) {
      for (size_t s = 0; s < slots_.size(); ++s)
        if (slots_[s].is_scratch && !slots_[s].is_kept && slots_[s].first == now && (s == out) == with_out)
          place(s);
    };
    auto release = [&](bool only_same) {
      for (size_t s = 0; s < slots_.size(); ++s) {
        SlotInfo& info = slots_[s];
        if (!info.is_scratch || info.is_kept || info.is_free || info.last != now) continue;
        if (only_same && (info.first == now || info.row_bytes != slots_[out].row_bytes)) continue;
        info.is_free = true;
        free.emplace(info.bytes, program_->scratch_[s]);
      }
    };
    place_made(false);
    if (code.kind == Instruction::Kind::kElements || code.kind == Instruction::Kind::kChain) release(true);
    place_made(true);
    release(false);
  }
}

/// A result may be written over an operand that nobody reads in a tile once the result is there.
void Builder::find_in_place() {
  for (const Store& store : program_->stores_) {
    const auto result = static_cast<size_t>(store.result);
    const TensorType& type = body_.type(body_.outputs[result]);
    if (!(type.shape == shape_)) continue;
    const int32_t written = store.streams ? INT32_MAX : slots_[static_cast<size_t>(store.slot)].written;
    for (size_t k = 0; k < in_.size() && k < 64; ++k) {
      if (in_[k].dtype != type.dtype || !(*in_[k].shape == shape_) ||
          !same_strides(shape_, in_[k].strides, program_->out_strides[result]))
        continue;
      bool is_safe = true;
      for (const Load& l : program_->loads_) {
        if (l.operand != static_cast<int32_t>(k)) continue;
        is_safe &= l.way == Load::Way::kDirect && l.per_row == per_row_ &&
                   slots_[static_cast<size_t>(l.slot)].read <= written;
      }
      if (is_safe) program_->in_place[result] |= uint64_t{1} << k;
    }
  }
}

namespace {

std::unique_ptr<RegionProgram> bind(const Graph& body, std::span<const Array> in) {
  if (is_depth_first(body)) return bind_depth_first(body, in);
  if (is_bundle(body)) return bind_bundle(body, in);
  if (is_headed(body)) return bind_headed(body, in);
  return Builder(body, in).run();
}

[[maybe_unused]] const bool registered = [] {
  set_region_binder(bind);
  return true;
}();

}  // namespace
}  // namespace sorus::tile
