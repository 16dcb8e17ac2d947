#include <array>
#include <bit>
#include <limits>
#include <type_traits>
#include <vector>

#include "sorus/kernels/cpu/reduce/axis_lines.h"
#include "sorus/ops/reduce/attributes.h"

/// sort and topk of elements up to 32 bits. An element and its place in the line are one 64-bit word, whose
/// unsigned order is the order asked for with the first of equals first, so that any way of sorting words
/// gives the same result as the reference: long lines go by digits, short ones by comparison. Of a line much
/// longer than what topk keeps, only what beats the last of the best so far is looked at twice.
namespace sorus::cpu {
namespace {

/// Where -0 equals 0 and NaN is the greatest.
template <class T>
uint32_t order_of(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    // + 0 makes 0 of -0; no branch, so that loops of it become vectors.
    const auto b = std::bit_cast<uint32_t>(v + T(0));
    const uint32_t sign = uint32_t{0} - (b >> 31);
    const uint32_t order = b ^ (sign | uint32_t{1} << 31);
    return v != v ? ~uint32_t{0} : order;
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return order_of(static_cast<float>(v));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint32_t>(static_cast<int32_t>(v)) ^ uint32_t { 1 } << 31;
  } else {
    return static_cast<uint32_t>(v);
  }
}

constexpr int kDigitBits = 11;
constexpr size_t kDigits = size_t{1} << kDigitBits;
constexpr size_t kLong = 1024;  ///< from here on sorting by digits is faster

/// Sorts by the upper 32 bits, those equal staying in order: by 11, 11 and 10 bits from the lowest up.
void sort_by_digits(std::vector<uint64_t>& words, std::vector<uint64_t>& spare) {
  spare.resize(words.size());
  std::array<std::array<uint32_t, kDigits>, 3> counts{};
  const auto digit = [](uint64_t w, size_t d) {
    return static_cast<size_t>(w >> (32 + static_cast<int>(d) * kDigitBits)) & (kDigits - 1);
  };
  for (uint64_t w : words)
    for (size_t d = 0; d < 3; ++d) ++counts[d][digit(w, d)];
  for (size_t d = 0; d < 3; ++d) {
    auto& count = counts[d];
    if (count[digit(words[0], d)] == words.size()) continue;  // all have the same
    uint32_t sum = 0;
    for (uint32_t& c : count) sum += std::exchange(c, sum);
    for (uint64_t w : words) spare[count[digit(w, d)]++] = w;
    words.swap(spare);
  }
}

/// A word sorts as its element does, and among equals as the place.
uint64_t word_of(uint32_t order, int64_t place) {
  return uint64_t{order} << 32 | static_cast<uint64_t>(place);
}

/// The `keep` words of a line that sort first, 0 < keep < extent, in any order.
template <class T>
void first_words(const T* from, int64_t extent, bool descending, int64_t keep, std::vector<uint64_t>& words) {
  constexpr int64_t kBlock = 64;
  const uint32_t flip = descending ? ~uint32_t{0} : 0;
  const int64_t most = std::min(extent, std::max(2 * keep, keep + 4 * kBlock));
  words.clear();
  for (int64_t k = 0; k < most; ++k) words.push_back(word_of(order_of(from[k]) ^ flip, k));
  const auto prune = [&] {
    std::nth_element(words.begin(), words.begin() + (keep - 1), words.end());
    words.resize(static_cast<size_t>(keep));
    return static_cast<uint32_t>(words.back() >> 32);
  };
  // Later equals of the last one kept sort behind it.
  uint32_t limit = prune();
  for (int64_t k = most; k < extent; k += kBlock) {
    const int64_t count = std::min(kBlock, extent - k);
    uint32_t orders[kBlock];
    const T* block = from + k;
    const auto least_of = [&](auto n) {  // of a whole block in vectors
      int32_t least = std::numeric_limits<int32_t>::max();
      for (int64_t j = 0; j < n; ++j) {
        orders[j] = order_of(block[j]) ^ flip;
        const auto shifted = static_cast<int32_t>(orders[j] ^ uint32_t{1} << 31);  // orders likewise, signed
        least = least < shifted ? least : shifted;
      }
      return static_cast<uint32_t>(least) ^ uint32_t { 1 } << 31;
    };
    const uint32_t least =
        count == kBlock ? least_of(std::integral_constant<int64_t, kBlock>()) : least_of(count);
    if (least >= limit) continue;
    for (int64_t j = 0; j < count; ++j)
      if (orders[j] < limit) words.push_back(word_of(orders[j], k + j));
    if (static_cast<int64_t>(words.size()) > most) limit = prune();
  }
  if (static_cast<int64_t>(words.size()) > keep) prune();
}

/// The words of the first `keep` elements of a line, in order.
template <class T>
void sort_line(const T* from, int64_t extent, bool descending, int64_t keep, std::vector<uint64_t>& words,
               std::vector<uint64_t>& spare) {
  if (keep < extent) {
    first_words(from, extent, descending, keep, words);
    std::sort(words.begin(), words.end());
    return;
  }
  words.resize(static_cast<size_t>(extent));
  for (int64_t k = 0; k < extent; ++k) {
    const uint32_t order = order_of(from[k]);
    words[static_cast<size_t>(k)] = word_of(descending ? ~order : order, k);
  }
  if (words.size() < kLong)
    std::sort(words.begin(), words.end());
  else
    sort_by_digits(words, spare);
}

/// Lines that are neighbours in memory are gathered some at a time, as many as share a cache line, so that
/// memory is read once.
template <class T>
void sort_lines(const KernelCall& call, int64_t axis, bool descending, int64_t keep) {
  if (keep == 0) return;
  const AxisLines lines(call, axis);
  const int64_t extent = lines.extent, inner = lines.inner;
  constexpr int64_t kGathered = int64_t{1} << 18;  ///< elements at once
  const int64_t together =
      std::clamp<int64_t>(kGathered / extent, 1, std::min<int64_t>(inner, 64 / sizeof(T)));
  const int64_t groups = (inner + together - 1) / together;
  // Gathered lines are a cache line more apart than they are long, lest all fall into one set of the cache.
  const int64_t apart = inner == 1 ? extent : extent + static_cast<int64_t>(64 / sizeof(T));
  const T* x = call.in[0].as<const T>();
  T* values = call.out[0].as<T>();
  auto* indices = call.out[1].as<int64_t>();
  const int64_t grain = std::max<int64_t>(1, 8192 / (extent * together));
  parallel_ranges(lines.outer * groups, grain, [&](int64_t begin, int64_t end) {
    std::vector<uint64_t> words, spare;
    std::vector<T> gathered(inner == 1 ? 0 : static_cast<size_t>(together * apart));
    for (int64_t group = begin; group < end; ++group) {
      const int64_t o = group / groups, first = group % groups * together;
      const int64_t count = std::min(together, inner - first);
      const T* from = x + o * extent * inner + first;
      if (inner > 1) {
        for (int64_t k = 0; k < extent; ++k)
          for (int64_t j = 0; j < count; ++j)
            gathered[static_cast<size_t>(j * apart + k)] = from[k * inner + j];
        from = gathered.data();
      }
      for (int64_t j = 0; j < count; ++j) {
        const T* line = from + j * apart;
        sort_line(line, extent, descending, keep, words, spare);
        const int64_t to = o * keep * inner + first + j;
        for (int64_t k = 0; k < keep; ++k) {
          const auto place = static_cast<int64_t>(static_cast<uint32_t>(words[static_cast<size_t>(k)]));
          values[to + k * inner] = line[place];
          indices[to + k * inner] = place;
        }
      }
    }
  });
}

void by_dtype(const KernelCall& call, int64_t axis, bool descending, int64_t keep) {
  switch (call.in[0].dtype) {
    case DType::kFloat32:
      return sort_lines<float>(call, axis, descending, keep);
    case DType::kFloat16:
      return sort_lines<Float16>(call, axis, descending, keep);
    case DType::kBFloat16:
      return sort_lines<BFloat16>(call, axis, descending, keep);
    case DType::kInt32:
      return sort_lines<int32_t>(call, axis, descending, keep);
    case DType::kInt16:
      return sort_lines<int16_t>(call, axis, descending, keep);
    case DType::kInt8:
      return sort_lines<int8_t>(call, axis, descending, keep);
    case DType::kUInt32:
      return sort_lines<uint32_t>(call, axis, descending, keep);
    case DType::kUInt16:
      return sort_lines<uint16_t>(call, axis, descending, keep);
    default:
      return sort_lines<uint8_t>(call, axis, descending, keep);
  }
}

void run_sort(const KernelCall& call) {
  const auto& a = call.attrs<SortAttrs>();
  const int axis = normalize_axis("sort", a.axis, call.in[0].rank());
  by_dtype(call, axis, a.descending, call.in[0].size(axis));
}
void run_topk(const KernelCall& call) {
  const auto& a = call.attrs<TopkAttrs>();
  by_dtype(call, a.axis, a.largest, a.k);
}

Refusal takes_words(const KernelCall& call) {
  const Array& x = call.in[0];
  const DType t = x.dtype;
  const bool takes = t == DType::kFloat32 || is_half(t) || t == DType::kInt32 || t == DType::kInt16 ||
                     t == DType::kInt8 || t == DType::kUInt32 || t == DType::kUInt16 || t == DType::kUInt8;
  if (!takes) return "takes floating types and integers up to 32 bits";
  return x.numel() == 0 || x.numel() >> 32 != 0 ? "needs 1 to 2^32 - 1 elements" : kAccepted;
}

const KernelRegistrar registered[] = {
    KernelRegistrar("sort", Kernel{.name = "words", .supports = takes_words, .run = run_sort}, kSimdRank),
    KernelRegistrar("topk", Kernel{.name = "words", .supports = takes_words, .run = run_topk}, kSimdRank)};

}  // namespace
}  // namespace sorus::cpu
