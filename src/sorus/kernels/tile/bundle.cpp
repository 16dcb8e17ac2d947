#include "sorus/kernels/tile/bundle.h"

#include <algorithm>
#include <cstring>

#include "sorus/base/thread_pool.h"
#include "sorus/base/tunable.h"
#include "sorus/kernels/tile/build.h"
#include "sorus/kernels/tile/index_of.h"

namespace sorus::tile {
namespace {

// To hand over less takes longer than to compute it.
const Tunable piece_elements({.name = "bundle.piece_elements",
                              .initial = 32 << 10,
                              .least = 4 << 10,
                              .most = 512 << 10,
                              .part = TunedPart::kRegion,
                              .doc = "elements of several members that are one piece of work"});
// To bring them together takes less time then than what a program does before its first element.
const Tunable packed_member({.name = "bundle.packed_member",
                             .initial = 256,
                             .least = 16,
                             .most = 2048,
                             .part = TunedPart::kRegion,
                             .doc = "members of up to so many elements are brought together"});
const Tunable pack_elements({.name = "bundle.pack_elements",
                             .initial = 4096,
                             .least = 1024,
                             .most = 32 << 10,
                             .part = TunedPart::kRegion,
                             .doc = "elements that are brought together at most"});

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// The programs of the members. Each is cut into pieces by its own shape, as it would be alone.
class BundleProgram final : public RegionProgram {
 public:
  /// False when it cannot be done.
  bool build(const Graph& body, std::span<const Array> in);
  void run(const RegionCall& call) const override;

 private:
  struct Member {
    const Graph* body = nullptr;
    std::unique_ptr<Program> program;
    std::vector<int32_t> in, out;  ///< operands and results of the bundle
  };
  /// Members that do the same. Their elements are brought together and go through one program, side by side.
  struct Pack {
    std::vector<size_t> members;
    std::unique_ptr<Graph> body;  ///< over all elements
    std::unique_ptr<Program> program;
    std::vector<int64_t> in_at, out_at;  ///< places in scratch memory, -1 for a number that all share
    int64_t bytes = 0;                   ///< of scratch memory
  };
  /// Some whole members, one piece of one, or a pack.
  struct Piece {
    size_t first = 0;    ///< member, or pack
    size_t count = 1;    ///< 0: a pack
    int64_t piece = -1;  ///< of the member; -1: all of each
  };
  bool add_member(const Graph& body, const Node& call, std::span<const Array> in);
  void find_in_place();
  [[nodiscard]] bool can_be_packed(const Member& m) const;
  [[nodiscard]] static bool do_the_same(const Member& a, const Member& b);
  [[nodiscard]] bool make_program(Pack& pack) const;
  [[nodiscard]] std::vector<char> make_packs();
  void cut();
  void run_member(const Member& m, int64_t piece, const RegionCall& call) const;
  void run_pack(const Pack& pack, const RegionCall& call) const;

  std::vector<Member> members_;
  std::vector<Pack> packs_;
  std::vector<Piece> pieces_;
  std::vector<int32_t> readers_;  ///< by operand: how many members have it
};

bool BundleProgram::add_member(const Graph& body, const Node& call, std::span<const Array> in) {
  Member m;
  m.body = call.body.get();
  std::vector<Array> operands;
  for (ValueId v : call.in) {
    m.in.push_back(index_of(body.inputs, v));
    if (m.in.back() < 0) return false;
    operands.push_back(in[static_cast<size_t>(m.in.back())]);
    ++readers_[static_cast<size_t>(m.in.back())];
  }
  m.program = Builder(*call.body, operands).run();
  if (!m.program) return false;
  for (size_t k = 0; k < m.in.size(); ++k) {
    Strides& wanted = in_strides[static_cast<size_t>(m.in[k])];
    const bool is_first = readers_[static_cast<size_t>(m.in[k])] == 1;
    if (!is_first && !same_strides(*operands[k].shape, wanted, m.program->in_strides[k])) return false;
    wanted = m.program->in_strides[k];
  }
  for (size_t k = 0; k < call.out.size(); ++k) {
    m.out.push_back(index_of(body.outputs, call.out[k]));
    if (m.out.back() < 0) return false;
    out_strides[static_cast<size_t>(m.out.back())] = m.program->out_strides[k];
  }
  members_.push_back(std::move(m));
  return true;
}

bool BundleProgram::build(const Graph& body, std::span<const Array> in) {
  for (const Array& a : in) in_strides.push_back(a.strides);
  out_strides.resize(body.outputs.size());
  readers_.assign(in.size(), 0);
  for (const Node& call : body.nodes)
    if (!add_member(body, call, in)) return false;
  find_in_place();
  cut();
  return true;
}

/// Members run in any order: none may write over what another one reads.
void BundleProgram::find_in_place() {
  in_place.assign(out_strides.size(), 0);
  for (const Member& m : members_)
    for (size_t k = 0; k < m.out.size(); ++k)
      for (size_t i = 0; i < std::min<size_t>(m.in.size(), 64); ++i) {
        const int32_t operand = m.in[i];
        if ((m.program->in_place[k] >> i & 1U) == 0 || operand >= 64) continue;
        if (readers_[static_cast<size_t>(operand)] == 1)
          in_place[static_cast<size_t>(m.out[k])] |= uint64_t{1} << operand;
      }
}

/// All elements lie side by side, in one order for all operands and results, but for single numbers.
bool BundleProgram::can_be_packed(const Member& m) const {
  if (m.program->pieces() != 1 || m.program->elements() > packed_member.get()) return false;
  const Shape& shape = m.body->type(m.body->outputs[0]).shape;
  const Strides& order = m.program->out_strides[0];
  for (size_t k = 0; k < m.out.size(); ++k)
    if (!(m.body->type(m.body->outputs[k]).shape == shape)) return false;
  for (size_t k = 0; k < m.in.size(); ++k) {
    const Shape& operand = m.body->type(m.body->inputs[k]).shape;
    const bool is_full = operand == shape && same_strides(shape, m.program->in_strides[k], order);
    if (!is_full && operand.numel() != 1) return false;
  }
  return is_dense(shape, order) && shape.numel() == m.program->elements();
}

/// The same calls on operands of the same dtypes; numbers are the same ones.
bool BundleProgram::do_the_same(const Member& a, const Member& b) {
  const Graph& x = *a.body;
  const Graph& y = *b.body;
  if (x.inputs != y.inputs || x.outputs != y.outputs || x.nodes.size() != y.nodes.size()) return false;
  for (size_t k = 0; k < x.inputs.size(); ++k) {
    const TensorType& s = x.type(x.inputs[k]);
    const TensorType& t = y.type(y.inputs[k]);
    const bool is_shared = s.shape.numel() == 1 && t.shape.numel() == 1 && a.in[k] == b.in[k];
    const bool is_full = s.shape == x.type(x.outputs[0]).shape && t.shape == y.type(y.outputs[0]).shape;
    if (s.dtype != t.dtype || (!is_shared && (!is_full || a.in[k] == b.in[k]))) return false;
  }
  for (size_t i = 0; i < x.nodes.size(); ++i) {
    const Node& m = x.nodes[i];
    const Node& n = y.nodes[i];
    if (m.op != n.op || !(m.attrs == n.attrs) || m.slot != n.slot || !std::ranges::equal(m.in, n.in) ||
        !std::ranges::equal(m.out, n.out))
      return false;
  }
  return true;
}

/// The calls of the members over all their elements in a row.
bool BundleProgram::make_program(Pack& pack) const {
  const Member& first = members_[pack.members[0]];
  const Member& second = members_[pack.members[1]];
  const Graph& one = *first.body;
  int64_t elements = 0;
  for (size_t m : pack.members) elements += members_[m].program->elements();
  const Shape row{elements};
  pack.body = std::make_unique<Graph>();
  std::vector<ValueId> to(one.value_count(), kNoValue);
  std::vector<Array> operands;
  auto place = [&](DType dtype) {
    const int64_t at = pack.bytes;
    pack.bytes += aligned(elements * static_cast<int64_t>(dtype_size(dtype)));
    return at;
  };
  for (size_t k = 0; k < one.inputs.size(); ++k) {
    TensorType type = one.type(one.inputs[k]);
    const bool is_shared = first.in[k] == second.in[k];
    type.shape = is_shared ? Shape{} : row;
    to[static_cast<size_t>(one.inputs[k])] = pack.body->add_input(type);
    pack.in_at.push_back(is_shared ? -1 : place(type.dtype));
  }
  for (const Node& n : one.nodes) {
    SmallVector<ValueId, 4> in;
    for (ValueId v : n.in) in.push_back(v == kNoValue ? kNoValue : to[static_cast<size_t>(v)]);
    Node& copy = pack.body->add_node(*n.op, n.attrs.ref(), std::span<const ValueId>(in.data(), in.size()));
    copy.slot = n.slot;
    for (size_t k = 0; k < n.out.size(); ++k) {
      to[static_cast<size_t>(n.out[k])] = copy.out[k];
      if (!(pack.body->type(copy.out[k]).shape == row)) return false;
    }
  }
  for (ValueId v : one.outputs) {
    pack.body->outputs.push_back(to[static_cast<size_t>(v)]);
    pack.out_at.push_back(place(one.type(v).dtype));
  }
  for (ValueId v : pack.body->inputs) {
    const TensorType& type = pack.body->type(v);
    operands.push_back({nullptr, type.dtype, &type.shape, Strides::contiguous(type.shape)});
  }
  pack.program = Builder(*pack.body, operands).run();
  return pack.program && pack.program->pieces() == 1;
}

/// Packs neighbours that do the same; says of each member whether it is in a pack.
std::vector<char> BundleProgram::make_packs() {
  std::vector<char> is_packed(members_.size(), 0);
  for (size_t m = 0; m < members_.size();) {
    Pack pack;
    int64_t elements = 0;
    for (size_t k = m; k < members_.size() && can_be_packed(members_[k]); ++k) {
      elements += members_[k].program->elements();
      if (elements > pack_elements.get() || (k > m && !do_the_same(members_[m], members_[k]))) break;
      pack.members.push_back(k);
    }
    const size_t count = std::max<size_t>(pack.members.size(), 1);
    if (count > 1 && make_program(pack)) {
      std::fill_n(is_packed.begin() + static_cast<std::ptrdiff_t>(m), count, 1);
      packs_.push_back(std::move(pack));
    }
    m += count;
  }
  return is_packed;
}

void BundleProgram::cut() {
  const std::vector<char> is_packed = make_packs();
  for (size_t p = 0; p < packs_.size(); ++p) pieces_.push_back({p, 0, -1});
  const int64_t most = piece_elements.get();
  int64_t elements = most;
  for (size_t m = 0; m < members_.size(); ++m) {
    const Program& program = *members_[m].program;
    if (is_packed[m] || program.pieces() > 1) {
      for (int64_t p = 0; !is_packed[m] && p < program.pieces(); ++p) pieces_.push_back({m, 1, p});
      elements = most;
      continue;
    }
    elements += program.elements();
    if (elements > most) {
      pieces_.push_back({m, 1, -1});
      elements = program.elements();
    } else {
      ++pieces_.back().count;
    }
  }
}

void BundleProgram::run_member(const Member& m, int64_t piece, const RegionCall& call) const {
  SmallVector<std::byte*, 16> in;
  for (int32_t i : m.in) in.push_back(call.in[static_cast<size_t>(i)]);
  SmallVector<std::byte*, 8> out;
  for (int32_t i : m.out) out.push_back(call.out[static_cast<size_t>(i)]);
  m.program->run_piece(piece, {{in.data(), in.size()}, {out.data(), out.size()}, call.slots, nullptr, {}});
}

/// All operands are read before a result is written, so these may take their places.
void BundleProgram::run_pack(const Pack& pack, const RegionCall& call) const {
  static thread_local std::vector<std::byte> memory;
  const auto bytes = static_cast<size_t>(pack.bytes) + 64;
  if (memory.size() < bytes) memory.resize(bytes);
  std::byte* scratch = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  const Member& first = members_[pack.members[0]];
  SmallVector<std::byte*, 16> in;
  for (size_t k = 0; k < pack.in_at.size(); ++k) {
    if (pack.in_at[k] < 0) {
      in.push_back(call.in[static_cast<size_t>(first.in[k])]);
      continue;
    }
    std::byte* to = scratch + pack.in_at[k];
    in.push_back(to);
    const size_t size = dtype_size(first.body->type(first.body->inputs[k]).dtype);
    for (size_t m : pack.members) {
      const size_t own = static_cast<size_t>(members_[m].program->elements()) * size;
      std::memcpy(to, call.in[static_cast<size_t>(members_[m].in[k])], own);
      to += own;
    }
  }
  SmallVector<std::byte*, 8> out;
  for (int64_t at : pack.out_at) out.push_back(scratch + at);
  pack.program->run_piece(0, {{in.data(), in.size()}, {out.data(), out.size()}, call.slots, nullptr, {}});
  for (size_t k = 0; k < pack.out_at.size(); ++k) {
    const std::byte* from = scratch + pack.out_at[k];
    const size_t size = dtype_size(first.body->type(first.body->outputs[k]).dtype);
    for (size_t m : pack.members) {
      const size_t own = static_cast<size_t>(members_[m].program->elements()) * size;
      std::memcpy(call.out[static_cast<size_t>(members_[m].out[k])], from, own);
      from += own;
    }
  }
}

void BundleProgram::run(const RegionCall& call) const {
  parallel_for(static_cast<int64_t>(pieces_.size()), [&](int64_t at) {
    const Piece& piece = pieces_[static_cast<size_t>(at)];
    if (piece.count == 0) return run_pack(packs_[piece.first], call);
    for (size_t m = piece.first; m < piece.first + piece.count; ++m)
      run_member(members_[m], std::max<int64_t>(piece.piece, 0), call);
  });
}

}  // namespace

bool is_bundle(const Graph& body) {
  return std::all_of(body.nodes.begin(), body.nodes.end(),
                     [](const Node& n) { return n.body && n.body->engine.empty(); });
}

std::unique_ptr<RegionProgram> bind_bundle(const Graph& body, std::span<const Array> in) {
  auto program = std::make_unique<BundleProgram>();
  return program->build(body, in) ? std::move(program) : nullptr;
}

}  // namespace sorus::tile
