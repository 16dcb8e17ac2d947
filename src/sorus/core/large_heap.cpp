#include "sorus/core/large_heap.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

namespace sorus {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kGrain = size_t{64} << 10;       // sizes of blocks
constexpr size_t kGrowth = size_t{64} << 20;      // addresses made writable at once
constexpr size_t kLeastSlack = size_t{64} << 20;  // bytes that may be kept beyond the most ever in use

size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

/// Addresses to reserve for a first block of `bytes`. They cost nothing, unless addresses are limited.
size_t wanted_addresses(size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return std::max(bytes, kGrowth);
  auto memory = static_cast<size_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L)) *
                static_cast<size_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
  return std::max(round_up(4 * memory, kHugePage), bytes);
}

}  // namespace

void* LargeHeap::take(size_t bytes) {
  std::lock_guard lock(mutex_);
  size_t size = round_up(bytes, kGrain);
  auto fit = free_sizes_.lower_bound({size, 0});
  if (fit == free_sizes_.end()) {
    if (!add_region(size)) return nullptr;
    fit = free_sizes_.lower_bound({size, 0});
  }
  auto [available, begin] = *fit;
  Region& region = region_of(begin);
  if (!make_writable(region, begin + size)) return nullptr;
  erase_free(free_.find(begin));
  if (available > size) insert_free(begin + size, available - size);
  live_ += size;
  most_live_ = std::max(most_live_, live_);
  size_t fresh = note_use(region, begin, size);
  resident_ += fresh;
  if (fresh != 0) drop_excess(most_live_ + std::max(most_live_ / 8, kLeastSlack));
  return reinterpret_cast<void*>(begin);
}

void LargeHeap::give(void* block, size_t bytes) {
  std::lock_guard lock(mutex_);
  size_t size = round_up(bytes, kGrain);
  live_ -= size;
  auto begin = reinterpret_cast<Address>(block);
  const Region& region = region_of(begin);
  auto after = free_.lower_bound(begin);
  if (after != free_.end() && after->first == begin + size && after->first < region.end()) {
    size += after->second;
    auto next = std::next(after);
    erase_free(after);
    after = next;
  }
  if (after != free_.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == begin && before->first >= region.begin) {
      begin = before->first;
      size += before->second;
      erase_free(before);
    }
  }
  insert_free(begin, size);
}

void LargeHeap::trim() {
  std::lock_guard lock(mutex_);
  drop_excess(0);
  most_live_ = live_;
  for (size_t i = regions_.size(); i-- > 0;) {
    auto whole = free_.find(regions_[i].begin);
    if (whole == free_.end() || whole->second != regions_[i].bytes) continue;
    munmap(reinterpret_cast<void*>(regions_[i].begin), regions_[i].bytes);
    erase_free(whole);
    regions_.erase(regions_.begin() + static_cast<ptrdiff_t>(i));
  }
}

size_t LargeHeap::resident() {
  std::lock_guard lock(mutex_);
  return resident_;
}

LargeHeap::Region& LargeHeap::region_of(Address at) {
  auto after = std::upper_bound(regions_.begin(), regions_.end(), at,
                                [](Address a, const Region& region) { return a < region.begin; });
  return *std::prev(after);
}

bool LargeHeap::add_region(size_t bytes) {
  size_t least = round_up(bytes, kHugePage);
  for (size_t size = round_up(wanted_addresses(least), kHugePage); size >= least;
       size = size > least ? std::max(round_up(size / 2, kHugePage), least) : 0) {
    // One huge page more, so that the region can begin at one.
    void* mapped =
        mmap(nullptr, size + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) continue;
    auto first = reinterpret_cast<Address>(mapped);
    Address begin = round_up(first, kHugePage);
    if (begin != first) munmap(mapped, begin - first);
    if (size_t rest = first + kHugePage - begin; rest != 0)
      munmap(reinterpret_cast<void*>(begin + size), rest);
    madvise(reinterpret_cast<void*>(begin), size, MADV_HUGEPAGE);
    Region region{begin, size, 0, std::vector<bool>(size / kHugePage)};
    auto after = std::upper_bound(regions_.begin(), regions_.end(), begin,
                                  [](Address a, const Region& r) { return a < r.begin; });
    regions_.insert(after, std::move(region));
    insert_free(begin, size);
    return true;
  }
  return false;
}

bool LargeHeap::make_writable(Region& region, Address end) {
  size_t need = end - region.begin;
  if (need <= region.writable) return true;
  size_t grown = std::min(round_up(need, kGrowth), region.bytes);
  auto* from = reinterpret_cast<void*>(region.begin + region.writable);
  if (mprotect(from, grown - region.writable, PROT_READ | PROT_WRITE) != 0) return false;
  region.writable = grown;
  return true;
}

/// Bytes of pages that come into memory with the use of a block.
size_t LargeHeap::note_use(Region& region, Address begin, size_t bytes) {
  size_t fresh = 0;
  for (size_t page = (begin - region.begin) / kHugePage; page * kHugePage < begin + bytes - region.begin;
       ++page) {
    if (region.in_memory[page]) continue;
    region.in_memory[page] = true;
    fresh += kHugePage;
  }
  return fresh;
}

void LargeHeap::insert_free(Address begin, size_t bytes) {
  free_.emplace(begin, bytes);
  free_sizes_.emplace(bytes, begin);
}

void LargeHeap::erase_free(std::map<Address, size_t>::iterator at) {
  free_sizes_.erase({at->second, at->first});
  free_.erase(at);
}

/// Gives pages that lie wholly in a free range back, until `allowed` bytes are resident.
void LargeHeap::drop_pages(Address begin, size_t bytes, size_t allowed) {
  Region& region = region_of(begin);
  size_t last = (begin + bytes - region.begin) / kHugePage;
  // Free blocks end at the last page that was in use, so the search from there finds something soon.
  for (size_t page = round_up(begin - region.begin, kHugePage) / kHugePage;
       page < last && page * kHugePage < region.writable && resident_ > allowed; ++page) {
    if (!region.in_memory[page]) continue;
    madvise(reinterpret_cast<void*>(region.begin + page * kHugePage), kHugePage, MADV_DONTNEED);
    region.in_memory[page] = false;
    resident_ -= kHugePage;
  }
}

void LargeHeap::drop_excess(size_t allowed) {
  for (auto range = free_sizes_.rbegin(); range != free_sizes_.rend() && resident_ > allowed; ++range)
    drop_pages(range->second, range->first, allowed);
}

}  // namespace sorus
