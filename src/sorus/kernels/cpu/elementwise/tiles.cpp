#include "sorus/kernels/cpu/elementwise/tiles.h"

#include <array>
#include <map>
#include <utility>

namespace sorus::cpu {
namespace {

/// Kernels are plain functions without state, so each op gets one of a fixed number of them, which knows its
/// row by its number.
constexpr size_t kSlots = 192;
std::array<const TileRow*, kSlots>& slots() {
  static std::array<const TileRow*, kSlots> table{};
  return table;
}

std::map<std::string_view, TileRow>& table() {
  static std::map<std::string_view, TileRow> rows;
  return rows;
}

template <size_t kSlot>
Refusal supports_slot(const KernelCall& call) {
  return slots()[kSlot]->function(call.in[0].dtype) ? kAccepted : "has no tile function for this dtype";
}

template <size_t kSlot>
ElementTile tile_slot(const KernelCall& call) {
  const TileRow& row = *slots()[kSlot];
  const DType operand = call.in[0].dtype;
  const DType compute = is_half(operand) ? DType::kFloat32 : operand;
  return {.function = row.function(operand),
          .compute = {compute, compute, compute, compute},
          .result = row.gives_truth ? DType::kBool : compute};
}

template <size_t kSlot>
void run_slot(const KernelCall& call) {
  run_tiles(tile_slot<kSlot>(call), call);
}

struct SlotFunctions {
  Refusal (*supports)(const KernelCall&);
  void (*run)(const KernelCall&);
  ElementTile (*tile)(const KernelCall&);
};
template <size_t... kI>
constexpr std::array<SlotFunctions, kSlots> slot_functions(std::index_sequence<kI...>) {
  return {SlotFunctions{supports_slot<kI>, run_slot<kI>, tile_slot<kI>}...};
}
constexpr auto kSlotFunctions = slot_functions(std::make_index_sequence<kSlots>{});

/// The result may be written over any operand: a tile reads each element before it writes there.
uint32_t any_operand(const TileRow& row) { return row.gives_truth ? 0 : (1U << row.operands) - 1; }

}  // namespace

void register_tiles(std::span<const TileRow> rows) {
  static size_t used = 0;
  for (const TileRow& row : rows) {
    auto [at, fresh] = table().emplace(row.op, row);
    for (size_t t = 0; t < kDTypeCount; ++t)
      if (row.by_type[t]) at->second.by_type[t] = row.by_type[t];
    if (!fresh) continue;
    SORUS_INTERNAL(used < kSlots, "more elementwise ops than slots");
    slots()[used] = &at->second;
    KernelRegistrar(row.op,
                    Kernel{.name = "simd",
                           .in_layout = Layout::kAny,
                           .out_layout = Layout::kAny,
                           .supports = kSlotFunctions[used].supports,
                           .run = kSlotFunctions[used].run,
                           .in_place = any_operand(row),
                           .tile = kSlotFunctions[used].tile},
                    kSimdRank);
    ++used;
  }
}

const TileRow* find_tiles(std::string_view op) {
  auto at = table().find(op);
  return at == table().end() ? nullptr : &at->second;
}

}  // namespace sorus::cpu
