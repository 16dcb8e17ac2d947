#include "sorus/dispatch/row_kernel.h"

#include <map>
#include <string>

#include "sorus/base/error.h"

namespace sorus {
namespace {

/// By name of the kernel. Filled while the library loads, on one thread, and read-only from then on.
std::map<std::string, RowKernel, std::less<>>& row_kernels() {
  static auto& instance = *new std::map<std::string, RowKernel, std::less<>>;
  return instance;
}

const RowKernel* find(const Kernel& kernel) {
  const auto at = row_kernels().find(kernel.name);
  return at == row_kernels().end() ? nullptr : &at->second;
}

}  // namespace

RowKernelRegistrar::RowKernelRegistrar(std::string_view kernel, const RowKernel& rows) {
  const bool fresh = row_kernels().emplace(kernel, rows).second;
  SORUS_INTERNAL(fresh, "rows of kernel {} are registered twice", kernel);
}

bool gives_rows(const Kernel& kernel, const KernelCall& call) {
  const RowKernel* rows = find(kernel);
  return rows && rows->gives_rows && rows->gives_rows(call);
}

bool takes_rows(const Kernel& kernel, const KernelCall& call) {
  const RowKernel* rows = find(kernel);
  return rows && rows->takes_rows && rows->takes_rows(call);
}

const RowKernel& row_kernel_of(const Kernel& kernel) {
  const RowKernel* rows = find(kernel);
  SORUS_INTERNAL(rows, "kernel {} does not work by rows", kernel.name);
  return *rows;
}

}  // namespace sorus
