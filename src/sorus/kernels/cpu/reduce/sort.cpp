#include <array>
#include <bit>
#include <limits>
#include <type_traits>
#include <vector>

#include "sorus/kernels/cpu/reduce/axis_lines.h"
#include "sorus/ops/reduce/attributes.h"

/// sort and topk. An element and its place in the line are one word, whose unsigned order is the order asked
/// for with the first of equals first, so that any way of sorting words gives the same result as the
/// reference: long lines go by digits, short ones by comparison. Of a line much longer than what topk keeps,
/// only what beats the last of the best so far is looked at twice.
namespace sorus::cpu {
namespace {

__extension__ using Word128 = unsigned __int128;

/// The number by which an element sorts, and the word of that number and a place of 32 bits.
template <class T>
using OrderOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class Order>
using WordOf = std::conditional_t<sizeof(Order) == 8, Word128, uint64_t>;
template <class Order>
constexpr Order kTopBit = Order{1} << (8 * sizeof(Order) - 1);
constexpr int kPlaceBits = 32;

/// Where -0 equals 0 and NaN is the greatest.
template <class T>
OrderOf<T> order_of(T v) {
  using Order = OrderOf<T>;
  if constexpr (std::is_floating_point_v<T>) {
    // + 0 makes 0 of -0; no branch, so that loops of it become vectors.
    const auto b = std::bit_cast<Order>(v + T(0));
    const Order sign = Order{0} - (b >> (8 * sizeof(Order) - 1));
    const Order order = b ^ (sign | kTopBit<Order>);
    return v != v ? ~Order{0} : order;
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return order_of(static_cast<float>(v));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Order>(v) ^ kTopBit<Order>;
  } else {
    return static_cast<Order>(v);
  }
}

constexpr int kDigitBits = 11;
constexpr size_t kDigits = size_t{1} << kDigitBits;
constexpr size_t kLong = 1024;  ///< from here on sorting by digits is faster

/// Sorts by the order, that is all bits above the place, those equal staying in order: by digits of 11 bits
/// from the lowest up.
template <class Word>
void sort_by_digits(std::vector<Word>& words, std::vector<Word>& spare) {
  constexpr size_t kPasses = ((sizeof(Word) == 8 ? 32 : 64) + kDigitBits - 1) / kDigitBits;
  spare.resize(words.size());
  std::array<std::array<uint32_t, kDigits>, kPasses> counts{};
  const auto digit = [](Word w, size_t d) {
    return static_cast<size_t>(w >> (kPlaceBits + static_cast<int>(d) * kDigitBits)) & (kDigits - 1);
  };
  for (Word w : words)
    for (size_t d = 0; d < kPasses; ++d) ++counts[d][digit(w, d)];
  for (size_t d = 0; d < kPasses; ++d) {
    auto& count = counts[d];
    if (count[digit(words[0], d)] == words.size()) continue;  // all have the same
    uint32_t sum = 0;
    for (uint32_t& c : count) sum += std::exchange(c, sum);
    for (Word w : words) spare[count[digit(w, d)]++] = w;
    words.swap(spare);
  }
}

/// A word sorts as its element does, and among equals as the place.
template <class Order>
WordOf<Order> word_of(Order order, int64_t place) {
  return WordOf<Order>{order} << kPlaceBits | static_cast<uint32_t>(place);
}

/// The `keep` words of a line that sort first, 0 < keep < extent, in any order.
template <class T, class Word>
void first_words(const T* from, int64_t extent, bool descending, int64_t keep, std::vector<Word>& words) {
  using Order = OrderOf<T>;
  using Signed = std::make_signed_t<Order>;
  constexpr int64_t kBlock = 64;
  const Order flip = descending ? ~Order{0} : 0;
  const int64_t most = std::min(extent, std::max(2 * keep, keep + 4 * kBlock));
  words.clear();
  for (int64_t k = 0; k < most; ++k) words.push_back(word_of<Order>(order_of(from[k]) ^ flip, k));
  const auto prune = [&] {
    std::nth_element(words.begin(), words.begin() + (keep - 1), words.end());
    words.resize(static_cast<size_t>(keep));
    return static_cast<Order>(words.back() >> kPlaceBits);
  };
  // Later equals of the last one kept sort behind it.
  Order limit = prune();
  for (int64_t k = most; k < extent; k += kBlock) {
    const int64_t count = std::min(kBlock, extent - k);
    Order orders[kBlock];
    const T* block = from + k;
    const auto least_of = [&](auto n) {  // of a whole block in vectors
      Signed least = std::numeric_limits<Signed>::max();
      for (int64_t j = 0; j < n; ++j) {
        orders[j] = order_of(block[j]) ^ flip;
        const auto shifted = static_cast<Signed>(orders[j] ^ kTopBit<Order>);  // orders likewise, signed
        least = least < shifted ? least : shifted;
      }
      return static_cast<Order>(least) ^ kTopBit<Order>;
    };
    const Order least =
        count == kBlock ? least_of(std::integral_constant<int64_t, kBlock>()) : least_of(count);
    if (least >= limit) continue;
    for (int64_t j = 0; j < count; ++j)
      if (orders[j] < limit) words.push_back(word_of<Order>(orders[j], k + j));
    if (static_cast<int64_t>(words.size()) > most) limit = prune();
  }
  if (static_cast<int64_t>(words.size()) > keep) prune();
}

/// The words of the first `keep` elements of a line, in order.
template <class T, class Word>
void sort_line(const T* from, int64_t extent, bool descending, int64_t keep, std::vector<Word>& words,
               std::vector<Word>& spare) {
  if (keep < extent) {
    first_words(from, extent, descending, keep, words);
    std::sort(words.begin(), words.end());
    return;
  }
  words.resize(static_cast<size_t>(extent));
  for (int64_t k = 0; k < extent; ++k) {
    const auto order = order_of(from[k]);
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
    std::vector<WordOf<OrderOf<T>>> words, spare;
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
    case DType::kFloat64:
      return sort_lines<double>(call, axis, descending, keep);
    case DType::kInt64:
      return sort_lines<int64_t>(call, axis, descending, keep);
    case DType::kUInt64:
      return sort_lines<uint64_t>(call, axis, descending, keep);
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
  if (x.dtype == DType::kBool) return "takes numbers";
  return x.numel() == 0 || x.numel() >> 32 != 0 ? "needs 1 to 2^32 - 1 elements" : kAccepted;
}

const KernelRegistrar registered[] = {
    KernelRegistrar("sort", Kernel{.name = "words", .supports = takes_words, .run = run_sort}, kSimdRank),
    KernelRegistrar("topk", Kernel{.name = "words", .supports = takes_words, .run = run_topk}, kSimdRank)};

}  // namespace
}  // namespace sorus::cpu
