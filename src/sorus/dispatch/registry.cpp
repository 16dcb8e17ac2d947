#include <algorithm>
#include <map>
#include <string>

#include "sorus/base/flags.h"
#include "sorus/base/log.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/dispatch/op_def.h"

namespace sorus {
namespace {

struct RankedKernel {
  int rank;
  Kernel kernel;
};

/// Filled while the library loads, on one thread, and read-only from then on: lookups take no lock. Kernels
/// may register before their op does, so they are kept by name.
struct Registry {
  std::map<std::string, const OpDef*, std::less<>> ops;
  std::map<std::pair<std::string, int16_t>, std::vector<RankedKernel>> kernels;
  std::map<std::pair<const OpDef*, int16_t>, std::vector<const Kernel*>> resolved;
};

Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

/// The kernels of (op, device kind), resolved once per thread.
const std::vector<const Kernel*>& resolve(const OpDef& op, Device device) {
  struct Last {
    const OpDef* op = nullptr;
    int16_t kind = 0;
    std::vector<const Kernel*> list;
  };
  // A small direct-mapped table in front of the map: the ops of a network's step repeat.
  thread_local std::array<Last, 256> cache;
  Last& slot = cache[(reinterpret_cast<uintptr_t>(&op) / 64) % cache.size()];
  if (slot.op != &op || slot.kind != device.kind) {
    slot.list.clear();
    auto at = registry().kernels.find({std::string(op.name), device.kind});
    if (at != registry().kernels.end())
      for (const RankedKernel& k : at->second) slot.list.push_back(&k.kernel);
    slot.op = &op;
    slot.kind = device.kind;
  }
  return slot.list;
}

void say_refusal(const KernelCall& call, const Kernel& kernel, Refusal why) {
  if (verbose("dispatch"))
    log_message(LogLevel::kWarning,
                fmt::format("dispatch: {}: {} refuses: {}", call.op.name, kernel.name, why));
}

}  // namespace

OpRegistrar::OpRegistrar(const OpDef& op) {
  bool fresh = registry().ops.emplace(op.name, &op).second;
  SORUS_INTERNAL(fresh, "op {} is registered twice", op.name);
}

const OpDef* find_op(std::string_view name) {
  auto at = registry().ops.find(name);
  return at == registry().ops.end() ? nullptr : at->second;
}

std::vector<const OpDef*> all_ops() {
  std::vector<const OpDef*> list;
  for (const auto& [name, op] : registry().ops) list.push_back(op);
  return list;
}

KernelRegistrar::KernelRegistrar(std::string_view op, Kernel kernel, int rank, std::string_view device) {
  auto& list = registry().kernels[{std::string(op), register_device_kind(device)}];
  auto at = std::find_if(list.begin(), list.end(), [&](const RankedKernel& k) { return k.rank < rank; });
  list.insert(at, RankedKernel{rank, kernel});
}

std::vector<const Kernel*> kernels_of(const OpDef& op, Device device) { return resolve(op, device); }

bool& reference_kernels_only() {
  static thread_local bool only = false;
  return only;
}

const Kernel& choose_kernel(const KernelCall& call, Device device) {
  const auto& list = resolve(call.op, device);
  if (reference_kernels_only() && !list.empty()) return *list.back();
  for (const Kernel* kernel : list) {
    Refusal why = kernel->supports ? kernel->supports(call) : kAccepted;
    if (why == kAccepted) [[likely]]
      return *kernel;
    say_refusal(call, *kernel, why);
  }
  std::string types;
  for (const Array& a : call.in)
    types += (types.empty() ? "" : ", ") +
             (a.present() ? std::string(dtype_name(a.dtype)) + a.shape->text() : "none");
  std::string refusals;
  for (const Kernel* kernel : list) refusals += fmt::format("; {}: {}", kernel->name, kernel->supports(call));
  raise<NotSupportedError>(
      "{}: no kernel takes this call on {}: got ({}), need types one of its kernels takes{}", call.op.name,
      device_text(device), types, refusals);
}

Strides output_strides(const Kernel& kernel, std::span<const Array> in, const Shape& shape, size_t index) {
  bool row_major = (kernel.row_major_out >> index & 1U) != 0;
  switch (row_major ? Layout::kContiguous : kernel.out_layout) {
    case Layout::kContiguous:
      return Strides::contiguous(shape);
    case Layout::kChannelsLast:
      return Strides::channels_last(shape);
    case Layout::kAny:
      break;
  }
  for (const Array& a : in) {
    if (!a.present() || !(*a.shape == shape)) continue;
    if (is_contiguous(shape, a.strides)) return Strides::contiguous(shape);
    return Strides::dense(shape, memory_order(shape, a.strides));
  }
  return Strides::contiguous(shape);
}

bool needs_conversion(const Kernel& kernel, const Array& operand, size_t index, Strides* wanted) {
  if (!operand.present()) return false;
  bool row_major = (kernel.row_major_in >> index & 1U) != 0;
  Layout layout = row_major ? Layout::kContiguous : kernel.in_layout;
  if (layout == Layout::kAny) return false;
  *wanted = layout == Layout::kContiguous ? Strides::contiguous(*operand.shape)
                                          : Strides::channels_last(*operand.shape);
  return !same_strides(*operand.shape, operand.strides, *wanted);
}

}  // namespace sorus
