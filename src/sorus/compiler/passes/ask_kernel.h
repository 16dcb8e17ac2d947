#pragma once

#include "sorus/dispatch/kernel.h"
#include "sorus/ir/graph.h"

namespace sorus {

/// Asks the kernel of a call something that depends on types and attributes: question(kernel, call). False
/// where extents are not known, results are empty or the call is not the host's.
template <class Question>
bool ask_kernel(const Graph& graph, const Node& n, Question question) {
  SmallVector<Array, 4> in;
  SmallVector<Array, 2> out;
  for (ValueId v : n.in)
    in.push_back(v == kNoValue ? Array{} : Array{nullptr, graph.type(v).dtype, &graph.type(v).shape, {}});
  for (ValueId v : n.out) out.push_back({nullptr, graph.type(v).dtype, &graph.type(v).shape, {}});
  for (const Array& a : in)
    if (a.present() && !a.shape->is_concrete()) return false;
  for (const Array& a : out)
    if (!a.shape->is_concrete() || a.numel() == 0) return false;
  for (ValueId v : n.out)
    if (!(graph.type(v).device == Device{})) return false;
  const KernelCall call{*n.op, n.attrs.ref().data, {in.data(), in.size()}, {out.data(), out.size()}};
  return question(choose_kernel(call, Device{}), call);
}

}  // namespace sorus
