#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sorus/base/export.h"
#include "sorus/base/fork_mutex.h"

namespace sorus {

/// Large blocks in one range of addresses: neighbours that are free become one, so that whatever fits the
/// free memory finds it, whatever sizes went before. Pages stay with the process when blocks are given back,
/// up to an eighth above the most that was ever handed out at once; what a fragmented heap would hold beyond
/// that goes back to the system. Thread-safe; never to be destroyed.
class SORUS_API LargeHeap {
 public:
  LargeHeap() = default;
  LargeHeap(const LargeHeap&) = delete;
  LargeHeap& operator=(const LargeHeap&) = delete;

  /// A block aligned to a page of the system, or null when the system has no more.
  [[nodiscard]] void* take(size_t bytes);
  /// Gives back a block of `take(bytes)`.
  void give(void* block, size_t bytes);
  /// Gives all pages of free blocks back to the system, and counts the most that is handed out anew.
  void trim();
  /// Bytes that may be in memory: what is handed out and what is kept.
  [[nodiscard]] size_t resident();

 private:
  using Address = uintptr_t;
  struct Region {
    Address begin;
    size_t bytes;
    size_t writable;              // bytes from the beginning that may be used
    std::vector<bool> in_memory;  // by huge page
    [[nodiscard]] Address end() const { return begin + bytes; }
  };

  Region& region_of(Address at);
  bool add_region(size_t bytes);
  bool make_writable(Region& region, Address end);
  size_t note_use(Region& region, Address begin, size_t bytes);
  void insert_free(Address begin, size_t bytes);
  void erase_free(std::map<Address, size_t>::iterator at);
  void drop_pages(Address begin, size_t bytes, size_t allowed);
  void drop_excess(size_t allowed);

  ForkMutex mutex_;
  std::vector<Region> regions_;                      // by address
  std::map<Address, size_t> free_;                   // no two of a region touch
  std::set<std::pair<size_t, Address>> free_sizes_;  // the same by size
  size_t live_ = 0, most_live_ = 0, resident_ = 0;
};

}  // namespace sorus
