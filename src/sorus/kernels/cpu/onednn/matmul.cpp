#include "sorus/kernels/cpu/onednn/matmul.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "sorus/base/error.h"
#include "sorus/base/hash.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/matmul/tiles.h"
#include "sorus/kernels/cpu/onednn/detail/pack.h"
#include "sorus/kernels/cpu/onednn/detail/plan_cache.h"
#include "sorus/kernels/cpu/onednn/detail/primitive.h"

// How bits stay the same: oneDNN's order of summation depends on layouts, so it only ever sees one: dense
// row-major tiles of a, b in its packed layout, dense tiles of out. Tiles are cut from sizes alone, and run
// one thread each.
namespace sorus::kernels::onednn {
namespace {

using detail::MatrixView;
using detail::Primitive;
using detail::Scratch;

constexpr int64_t kPanel = 64;            // columns in which oneDNN packs
constexpr double kPieceWork = 2e6;        // floating-point operations worth handing to another thread
constexpr double kLargePieceWork = 32e6;  // and those worth a tile of its own in a large product
constexpr int64_t kFewPieces = 8;
constexpr int64_t kMaxPieces = 64;  // enough for load balance; more only costs hand-outs
constexpr int64_t kRowTile = 64;    // rows that make reading a packed b worth it
constexpr int64_t kFewRows = 512;
constexpr int64_t kRowsOfOneTile = 1024;  // up to here a packed tile of b is used once, from the cache
constexpr int64_t kMaxColumnTiles = 32;   // of which each reads all of a
constexpr int64_t kLongSum = 2048;
constexpr int64_t kCacheBytes = 1024 * 1024;  // part of the second-level cache that a packed tile may take
constexpr int64_t kPartialBytes = 64 << 20;
// Longest sums for which the forms of b give equal bits; bfloat16 ones were seen to differ from 944 on.
constexpr int64_t kLongestDirectFloat = 4096;
constexpr int64_t kLongestDirectHalf = 512;

/// How a kernel gets a tile of b. Up to some depth all three give the same bits (see
/// docs/decisions/0005-onednn-in-pieces.md), so that the choice may follow the strides: dense matrices of few
/// rows go to the library as they are and spare a copy.
enum class FormOfB : uint8_t { kPacked, kRowMajor, kTransposed };

/// What a plan depends on: sizes and types, and which copy of b may be spared.
struct Key {
  int64_t m, n, k, batch;
  FormOfB form;
  ElementType type, out_type;
  bool has_bias;
  Activation activation;
  bool operator==(const Key&) const = default;
};

uint64_t hash_value(const Key& key) {
  uint64_t seed = 0;
  for (int64_t size : {key.m, key.n, key.k, key.batch})
    seed = hash_combine(seed, static_cast<uint64_t>(size));
  return hash_combine(seed, static_cast<uint64_t>(key.type) | static_cast<uint64_t>(key.out_type) << 8 |
                                static_cast<uint64_t>(key.has_bias) << 16 |
                                static_cast<uint64_t>(key.activation) << 24 |
                                static_cast<uint64_t>(key.form) << 32);
}

struct Plan {
  Cut m, n, k;
  int64_t units_per_piece = 1;
  int64_t packed_tile_bytes = 0;
  FormOfB form = FormOfB::kPacked;
  bool half = false;  // 16-bit elements
  // Indexed by "is the last tile" of m, n and k.
  std::unique_ptr<Primitive> primitives[2][2][2];
  // Panel width of a tile of b, indexed by "is the last tile" of n and k; 0 when b is not packed but dense.
  int64_t panels[2][2] = {};

  /// Length of the sum that the kernel of a tile sees. oneDNN 2.6.3 raises an illegal instruction for some
  /// odd sums of bfloat16 on AMX (65 x 27 x 63, say), so they get one zero more, which changes no bit.
  int64_t padded_k(int64_t ki) const { return half ? round_up(k.length(ki), 2) : k.length(ki); }
  const Primitive& primitive(int64_t mi, int64_t ni, int64_t ki) const {
    return *primitives[m.length(mi) != m.size][n.length(ni) != n.size][k.length(ki) != k.size];
  }
  int64_t panel(int64_t ni, int64_t ki) const {
    return panels[n.length(ni) != n.size][k.length(ki) != k.size];
  }
};

/// Pieces worth cutting: few while work is small, then more slowly up to kMaxPieces, since large tiles run
/// faster.
int64_t count_pieces(const Key& key) {
  double work = 2.0 * static_cast<double>(key.m) * static_cast<double>(key.n) * static_cast<double>(key.k) *
                static_cast<double>(key.batch);
  // A power of two, so that equal pieces keep 2, 4 or 8 threads equally busy.
  auto worth = static_cast<uint64_t>(std::clamp(work / kPieceWork, 1.0, static_cast<double>(kFewPieces)));
  auto few = static_cast<int64_t>(std::bit_ceil(worth));
  double large = key.type == ElementType::kFloat32 ? kLargePieceWork : 4 * kLargePieceWork;
  return std::clamp(static_cast<int64_t>(work / large), few, kMaxPieces);
}

void cut_tiles(const Key& key, Plan& plan) {
  int64_t pieces = count_pieces(key);
  int64_t per_matrix = ceil_div(pieces, key.batch);
  int64_t panels = ceil_div(key.n, kPanel);
  int64_t deep = std::min(key.k, 2 * kLongSum);
  int64_t fits = kCacheBytes / (deep * static_cast<int64_t>(element_size(key.type)));
  int64_t cache_tiles = ceil_div(panels, std::max(fits / kPanel, int64_t{1}));
  int64_t m_tiles = 1, n_tiles = 1;
  if (key.m <= kRowsOfOneTile && (panels >= std::min(per_matrix, kFewPieces) || key.m < 2 * kRowTile)) {
    // Columns alone: each tile of b is packed where it is used and read while it is in the cache.
    n_tiles = std::max(std::min({per_matrix, panels, kMaxColumnTiles}), cache_tiles);
  } else {
    // Tiles of b that stay in the cache while tiles of rows pass by.
    n_tiles = key.k < kFewRows ? 1 : cache_tiles;
    m_tiles = std::max(std::min(ceil_div(per_matrix, n_tiles), key.m / kRowTile), ceil_div(key.m, kFewRows));
    n_tiles = std::max(n_tiles, std::min(per_matrix / m_tiles, panels));
  }
  plan.m = Cut(key.m, m_tiles == 1 ? key.m : round_up(ceil_div(key.m, m_tiles), 16));
  plan.n = Cut(key.n, n_tiles == 1 ? key.n : ceil_div(panels, n_tiles) * kPanel);
  // Long sums are cut too, so that the tiles of a and b stay in the cache and small results still give enough
  // pieces; the parts are added in order.
  int64_t k_tile = key.type == ElementType::kFloat32 ? kLongSum : 2 * kLongSum;
  int64_t k_tiles = key.k >= 2 * k_tile ? ceil_div(key.k, k_tile) : 1;
  int64_t partial_bytes = key.batch * key.m * key.n * static_cast<int64_t>(sizeof(float));
  k_tiles = std::max(std::min(k_tiles, kPartialBytes / partial_bytes), int64_t{1});
  plan.k = Cut(key.k, k_tiles == 1 ? key.k : round_up(ceil_div(key.k, k_tiles), 64));
  plan.units_per_piece = ceil_div(key.batch * plan.m.count * plan.n.count * plan.k.count, pieces);
}

/// Width of the panels when the layout is the one that pack_panels writes, 0 otherwise.
int64_t panel_width(const dnnl_memory_desc_t& desc, const Key& key, int64_t k) {
  const dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  bool half = key.type == ElementType::kBFloat16;
  bool blocks = blocking.inner_nblks == (half ? 3 : 2) && blocking.inner_idxs[0] == 0 &&
                blocking.inner_blks[0] == 16 && blocking.inner_idxs[1] == 1 &&
                blocking.inner_blks[1] % 16 == 0;
  if (half) blocks = blocks && blocking.inner_idxs[2] == 0 && blocking.inner_blks[2] == 2;
  if (!blocks) return 0;
  int64_t panel = blocking.inner_blks[1];
  int64_t rows = half ? 32 : 16;
  bool order = blocking.strides[0] == rows * panel && blocking.strides[1] == round_up(k, rows) * panel;
  return order || (k <= rows && blocking.strides[1] == rows * panel) ? panel : 0;
}

struct AttributesDeleter {
  void operator()(dnnl_primitive_attr_t attributes) const { dnnl_primitive_attr_destroy(attributes); }
};

std::unique_ptr<dnnl_primitive_attr, AttributesDeleter> make_attributes(Activation activation) {
  dnnl_primitive_attr_t attributes = nullptr;
  detail::check(dnnl_primitive_attr_create(&attributes), "making attributes");
  std::unique_ptr<dnnl_primitive_attr, AttributesDeleter> owned(attributes);
  if (activation == Activation::kNone) return owned;
  dnnl_post_ops_t ops = nullptr;
  detail::check(dnnl_post_ops_create(&ops), "making post-operations");
  dnnl_status_t status = dnnl_post_ops_append_eltwise(ops, 1.0F, dnnl_eltwise_relu, 0.0F, 0.0F);
  if (status == dnnl_success) status = dnnl_primitive_attr_set_post_ops(attributes, ops);
  dnnl_post_ops_destroy(ops);
  detail::check(status, "setting post-operations");
  return owned;
}

/// The tile's matmul; null when b's form, other than packed, is refused. `b_layout`, when given, is the
/// packed layout that another height of tile already uses.
std::unique_ptr<Primitive> make_primitive(const Key& key, bool partial, FormOfB form, int64_t m, int64_t n,
                                          int64_t k, const dnnl_memory_desc_t* b_layout) {
  int64_t a_dims[] = {m, k}, b_dims[] = {k, n}, out_dims[] = {m, n}, bias_dims[] = {1, n};
  auto a = detail::strided_desc(a_dims, key.type);
  auto out = detail::strided_desc(out_dims, partial ? ElementType::kFloat32 : key.out_type);
  auto bias = detail::strided_desc(bias_dims, ElementType::kFloat32);
  bool fused_bias = key.has_bias && !partial;
  auto attributes = make_attributes(partial ? Activation::kNone : key.activation);
  constexpr int kArguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS};
  auto attempt = [&](const dnnl_memory_desc_t& b, detail::AcceptImplementation accept) {
    dnnl_matmul_desc_t operation;
    detail::check(dnnl_matmul_desc_init(&operation, &a, &b, fused_bias ? &bias : nullptr, &out),
                  "describing a matmul");
    return Primitive::create(&operation, attributes.get(), std::span(kArguments, fused_bias ? 4 : 3), accept);
  };
  if (form != FormOfB::kPacked) {
    // The three forms were found equal for this family of kernels, and only for it.
    return attempt(detail::tagged_desc(b_dims, key.type, form == FormOfB::kTransposed ? dnnl_ba : dnnl_ab),
                   [](std::string_view name) { return name.starts_with("brg:"); });
  }
  if (b_layout) {
    if (auto made = attempt(*b_layout, nullptr)) return made;
  }
  for (auto tag : {dnnl_format_tag_any, dnnl_ab}) {
    auto made = attempt(detail::tagged_desc(b_dims, key.type, tag), nullptr);
    // A layout that we cannot write is not used; the dense one always is one that we can.
    if (made && (tag == dnnl_ab || panel_width(made->desc(1), key, k) != 0)) return made;
  }
  raise<NotSupportedError>("matmul: no kernel on this CPU: got {} operands, need float32",
                           key.type == ElementType::kBFloat16 ? "bfloat16" : "float32");
}

/// Makes the primitives of all tile sizes; false when b's form is refused.
bool make_primitives(const Key& key, Plan& plan) {
  auto lengths = [](const Cut& cut, int last) { return last == 0 ? cut.size : cut.length(cut.count - 1); };
  auto exists = [](const Cut& cut, int last) {
    bool uneven = cut.total % cut.size != 0;
    return last == 0 ? cut.count > 1 || !uneven : uneven;
  };
  for (int index = 0; index < 8; ++index) {
    int mi = index / 4, ni = index / 2 % 2, ki = index % 2;
    if (!exists(plan.m, mi) || !exists(plan.n, ni) || !exists(plan.k, ki)) continue;
    int64_t n = lengths(plan.n, ni), k = plan.padded_k(ki == 0 ? 0 : plan.k.count - 1);
    const auto& taller = plan.primitives[0][ni][ki];
    const dnnl_memory_desc_t* b_layout = mi == 1 && taller ? &taller->desc(1) : nullptr;
    auto made = make_primitive(key, plan.k.count > 1, plan.form, lengths(plan.m, mi), n, k, b_layout);
    if (!made) return false;
    plan.panels[ni][ki] = panel_width(made->desc(1), key, k);
    plan.packed_tile_bytes =
        std::max(plan.packed_tile_bytes, round_up(static_cast<int64_t>(made->bytes(1)), 64));
    plan.primitives[mi][ni][ki] = std::move(made);
  }
  return true;
}

std::shared_ptr<const Plan> build_plan(const Key& key) {
  auto plan = std::make_shared<Plan>();
  cut_tiles(key, *plan);
  plan->half = key.type == ElementType::kBFloat16;
  bool whole = plan->m.count == 1 && plan->k.count == 1;  // else b would be copied once per tile of rows
  bool row_major = key.form == FormOfB::kRowMajor && plan->n.count == 1;
  if (whole && (row_major || key.form == FormOfB::kTransposed)) {
    plan->form = key.form;
    if (make_primitives(key, *plan)) return plan;
    plan->form = FormOfB::kPacked;
  }
  make_primitives(key, *plan);
  return plan;
}

detail::PlanCache<Key, Plan>& plans() {
  static auto* cache =
      new detail::PlanCache<Key, Plan>(128);  // never destroyed: threads may outlive static objects
  return *cache;
}

/// A problem with its plan and everything that follows from both.
struct Call {
  const MatmulProblem& problem;
  const PieceTaker* taker;
  int64_t batch;
  std::shared_ptr<const Plan> plan;
  bool a_direct, b_shared, pack_a_first, pack_b_first;
  size_t a_offset = 0, b_offset = 0, partial_offset = 0, workspace = 0;
  size_t size, out_size;

  explicit Call(const MatmulProblem& p, const PieceTaker* result_taker = nullptr);
  int64_t b_matrices() const { return b_shared ? 1 : batch; }
  size_t packed_b_bytes() const {
    return static_cast<size_t>(b_matrices() * plan->k.count * plan->n.count * plan->packed_tile_bytes);
  }
  int64_t b_tile(int64_t b, int64_t ni, int64_t ki) const {
    return (((b_shared ? 0 : b) * plan->k.count + ki) * plan->n.count + ni) * plan->packed_tile_bytes;
  }
  int64_t batch_offset(const MatrixLayout& layout, int64_t b) const {
    return problem.batch_offset(layout, b);
  }
};

Call::Call(const MatmulProblem& p, const PieceTaker* result_taker)
    : problem(p),
      taker(result_taker),
      batch(p.batch_count()),
      size(element_size(p.type)),
      out_size(element_size(p.out_type)) {
  if (p.m == 0 || p.n == 0 || p.k == 0 || batch == 0) return;
  b_shared = p.shares_b();
  FormOfB form = FormOfB::kPacked;
  bool padded = p.type == ElementType::kBFloat16 && p.k % 2 != 0;
  int64_t longest = p.type == ElementType::kFloat32 ? kLongestDirectFloat : kLongestDirectHalf;
  if (!p.b_is_packed && !padded && (batch == 1 || !b_shared) && p.k <= longest) {
    if (p.b.col_stride == 1 && p.b.row_stride == p.n) form = FormOfB::kRowMajor;
    if (p.b.row_stride == 1 && p.b.col_stride == p.k) form = FormOfB::kTransposed;
  }
  plan = plans().get({p.m, p.n, p.k, batch, form, p.type, p.out_type, p.has_bias, p.activation}, build_plan);

  bool a_dense = (p.a.col_stride == 1 || p.k == 1) && (p.a.row_stride == p.k || p.m == 1);
  a_direct = a_dense && !padded && plan->k.count == 1;
  pack_a_first = !a_direct && plan->n.count > 1;
  pack_b_first =
      plan->form == FormOfB::kPacked && !p.b_is_packed && (plan->m.count > 1 || (b_shared && batch > 1));

  auto take = [this](size_t bytes) {
    size_t at = workspace;
    workspace += (bytes + 63) / 64 * 64;
    return at;
  };
  if (pack_a_first) a_offset = take(static_cast<size_t>(batch * p.m * (p.k + 1)) * size);
  if (pack_b_first) b_offset = take(packed_b_bytes());
  if (plan->k.count > 1)
    partial_offset = take(static_cast<size_t>(batch * plan->k.count * p.m * p.n) * sizeof(float));
}

MatrixView view(const Call& call, const MatrixLayout& layout, const void* data, int64_t b, int64_t i,
                int64_t j) {
  int64_t offset = call.batch_offset(layout, b) + i * layout.row_stride + j * layout.col_stride;
  return {static_cast<const char*>(data) + offset * static_cast<int64_t>(call.size), layout.row_stride,
          layout.col_stride};
}

void pack_b_tile(const Call& call, const void* b_data, int64_t b, int64_t ni, int64_t ki, void* to) {
  const Plan& plan = *call.plan;
  MatrixView from = view(call, call.problem.b, b_data, b, plan.k.begin(ki), plan.n.begin(ni));
  int64_t k = plan.k.length(ki), n = plan.n.length(ni), panel = plan.panel(ni, ki);
  if (panel == 0) {
    detail::copy_matrix(call.problem.type, k, n, from, to, n);
    int64_t zeros = (plan.padded_k(ki) - k) * n * static_cast<int64_t>(call.size);
    std::memset(static_cast<char*>(to) + k * n * static_cast<int64_t>(call.size), 0,
                static_cast<size_t>(zeros));
  } else {
    detail::pack_panels(call.problem.type, k, n, from, panel, to);
  }
}

void pack_all_b(const Call& call, const void* b_data, void* packed) {
  const Plan& plan = *call.plan;
  int64_t tiles = call.b_matrices() * plan.k.count * plan.n.count;
  int64_t elements = plan.k.size * plan.n.size;
  int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(elements, 1));
  if (elements > 4 * 32768 && plan.panels[0][0] == kPanel) {
    // A few large tiles: packed panel by panel, so that all threads take part.
    int64_t panels = ceil_div(plan.n.size, kPanel);
    parallel_for(tiles * panels, [&](int64_t i) {
      int64_t tile = i / panels, j = i % panels * kPanel;
      int64_t ni = tile % plan.n.count, ki = tile / plan.n.count % plan.k.count,
              b = tile / plan.n.count / plan.k.count;
      int64_t n = std::min(kPanel, plan.n.length(ni) - j), k = plan.k.length(ki);
      if (n <= 0) return;
      MatrixView from = view(call, call.problem.b, b_data, b, plan.k.begin(ki), plan.n.begin(ni) + j);
      int64_t offset =
          detail::packed_elements(call.problem.type, k, j, kPanel) * static_cast<int64_t>(call.size);
      char* to = static_cast<char*>(packed) + call.b_tile(b, ni, ki) + offset;
      // A last tile of another panel width is packed whole, once.
      if (plan.panel(ni, ki) == kPanel) {
        detail::pack_panels(call.problem.type, k, n, from, kPanel, to);
      } else if (j == 0) {
        pack_b_tile(call, b_data, b, ni, ki, to);
      }
    });
    return;
  }
  parallel_ranges(tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t ni = i % plan.n.count, ki = i / plan.n.count % plan.k.count,
              b = i / plan.n.count / plan.k.count;
      pack_b_tile(call, b_data, b, ni, ki, static_cast<char*>(packed) + call.b_tile(b, ni, ki));
    }
  });
}

/// Dense tiles of a, one after the other in the order batch, k, m.
char* a_tile(const Call& call, char* packed, int64_t b, int64_t mi, int64_t ki) {
  const Plan& plan = *call.plan;
  int64_t row = plan.k.begin(plan.k.count - 1) + plan.padded_k(plan.k.count - 1);  // of all tiles of k
  int64_t elements = (b * row + plan.k.begin(ki)) * plan.m.total + plan.m.begin(mi) * plan.padded_k(ki);
  return packed + elements * static_cast<int64_t>(call.size);
}

void copy_a_tile(const Call& call, const void* a, int64_t b, int64_t mi, int64_t ki, char* to) {
  const Plan& plan = *call.plan;
  int64_t m = plan.m.length(mi), k = plan.k.length(ki), stride = plan.padded_k(ki);
  MatrixView from = view(call, call.problem.a, a, b, plan.m.begin(mi), plan.k.begin(ki));
  detail::copy_matrix(call.problem.type, m, k, from, to, stride);
  if (stride == k) return;
  for (int64_t i = 0; i < m; ++i)
    std::memset(to + (i * stride + k) * static_cast<int64_t>(call.size), 0, call.size);
}

void pack_all_a(const Call& call, const void* a, char* packed) {
  const Plan& plan = *call.plan;
  int64_t grain = std::max<int64_t>(1, 32768 / (plan.m.size * plan.k.size));
  parallel_ranges(call.batch * plan.k.count * plan.m.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t mi = i % plan.m.count, ki = i / plan.m.count % plan.k.count,
              b = i / plan.m.count / plan.k.count;
      copy_a_tile(call, a, b, mi, ki, a_tile(call, packed, b, mi, ki));
    }
  });
}

struct Operands {
  const void* a;
  const void* b;
  const float* bias;
  char* out;
  char* packed_a;
  const char* packed_b;  // null when each tile of b is packed where it is used, or used as it is
  float* partial;
};

void run_unit(const Call& call, const Operands& data, int64_t b, int64_t ki, int64_t mi, int64_t ni) {
  const Plan& plan = *call.plan;
  const MatmulProblem& problem = call.problem;
  int64_t m = plan.m.length(mi), n = plan.n.length(ni);

  const void* a = nullptr;
  if (call.pack_a_first) {
    a = a_tile(call, data.packed_a, b, mi, ki);
  } else {
    a = view(call, problem.a, data.a, b, plan.m.begin(mi), 0).data;
    if (!call.a_direct) {
      void* tile =
          detail::thread_scratch(Scratch::kA, static_cast<size_t>(m * plan.padded_k(ki)) * call.size);
      copy_a_tile(call, data.a, b, mi, ki, static_cast<char*>(tile));
      a = tile;
    }
  }
  const void* packed_b = data.packed_b;
  if (packed_b) {
    packed_b = data.packed_b + call.b_tile(b, ni, ki);
  } else if (plan.form != FormOfB::kPacked) {
    packed_b = view(call, problem.b, data.b, b, 0, plan.n.begin(ni)).data;
  } else {
    void* tile = detail::thread_scratch(Scratch::kB, static_cast<size_t>(plan.packed_tile_bytes));
    pack_b_tile(call, data.b, b, ni, ki, tile);
    packed_b = tile;
  }

  bool partial = plan.k.count > 1;
  size_t size = partial ? sizeof(float) : call.out_size;
  int64_t out_stride = partial ? plan.n.total : problem.out.row_stride;
  int64_t corner = plan.m.begin(mi) * out_stride + plan.n.begin(ni);
  char* out = nullptr;
  if (partial) {
    out = reinterpret_cast<char*>(data.partial + (b * plan.k.count + ki) * plan.m.total * plan.n.total +
                                  corner);
  } else {
    out = data.out + (call.batch_offset(problem.out, b) + corner) * static_cast<int64_t>(size);
  }
  bool is_wanted = partial || data.out;
  bool out_direct = is_wanted && (out_stride == n || m == 1);
  void* target = out_direct ? out : detail::thread_scratch(Scratch::kOut, static_cast<size_t>(m * n) * size);
  const float* bias = data.bias ? data.bias + plan.n.begin(ni) : nullptr;
  void* memory[] = {const_cast<void*>(a), const_cast<void*>(packed_b), target, const_cast<float*>(bias)};
  plan.primitive(mi, ni, ki).run(std::span(memory, problem.has_bias && !partial ? 4 : 3));
  if (call.taker && !partial)
    call.taker->take({target, n, b * plan.m.total + plan.m.begin(mi), m, plan.n.begin(ni), n});
  if (out_direct || !is_wanted) return;
  for (int64_t i = 0; i < m; ++i) {
    std::memcpy(out + i * out_stride * static_cast<int64_t>(size),
                static_cast<char*>(target) + i * n * static_cast<int64_t>(size),
                static_cast<size_t>(n) * size);
  }
}

uint16_t to_bfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

void store_row(const MatmulProblem& problem, const float* bias, float* row, char* out) {
  for (int64_t j = 0; j < problem.n; ++j) {
    float value = row[j];
    if (bias) value += bias[j];
    if (problem.activation == Activation::kRelu && value < 0) value = 0;
    row[j] = value;
  }
  if (problem.out_type == ElementType::kFloat32) {
    std::memcpy(out, row, static_cast<size_t>(problem.n) * sizeof(float));
    return;
  }
  for (int64_t j = 0; j < problem.n; ++j) {
    uint16_t half = to_bfloat16(row[j]);
    std::memcpy(out + j * 2, &half, 2);
  }
}

/// Adds the parts of the sums in order, then bias and activation, and rounds.
void add_partials(const Call& call, const Operands& data) {
  const MatmulProblem& problem = call.problem;
  int64_t parts = call.plan->k.count, matrix = problem.m * problem.n;
  parallel_ranges(call.batch * problem.m, std::max<int64_t>(1, 16384 / (parts * problem.n)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t r = begin; r < end; ++r) {
                      int64_t b = r / problem.m, i = r % problem.m;
                      float* sum = data.partial + b * parts * matrix + i * problem.n;
                      for (int64_t part = 1; part < parts; ++part) {
                        const float* next = sum + part * matrix;
                        for (int64_t j = 0; j < problem.n; ++j) sum[j] += next[j];
                      }
                      int64_t offset = call.batch_offset(problem.out, b) + i * problem.out.row_stride;
                      char* to = data.out + offset * static_cast<int64_t>(call.out_size);
                      if (!data.out)
                        to = static_cast<char*>(detail::thread_scratch(
                            Scratch::kOut, static_cast<size_t>(problem.n) * call.out_size));
                      store_row(problem, data.bias, sum, to);
                      if (call.taker) call.taker->take({to, problem.n, r, 1, 0, problem.n});
                    }
                  });
}

/// Sums of nothing: bias and activation alone.
void fill_empty_sums(const Call& call, const float* bias, char* out) {
  const MatmulProblem& problem = call.problem;
  std::vector<float> row(static_cast<size_t>(problem.n));
  for (int64_t r = 0; r < call.batch * problem.m; ++r) {
    std::fill(row.begin(), row.end(), 0.0F);
    int64_t offset = call.batch_offset(problem.out, r / problem.m) + r % problem.m * problem.out.row_stride;
    store_row(problem, bias, row.data(), out + offset * static_cast<int64_t>(call.out_size));
  }
}

}  // namespace

size_t matmul_workspace(const MatmulProblem& problem) { return Call(problem).workspace; }

bool matmul_has_pieces(const MatmulProblem& problem) {
  const Call call(problem);
  return call.plan && (call.plan->n.count == 1 || call.plan->k.count > 1);
}

size_t packed_matmul_b_bytes(const MatmulProblem& problem) {
  MatmulProblem packed = problem;
  packed.b_is_packed = true;
  Call call(packed);
  return call.plan ? call.packed_b_bytes() : 0;
}

void pack_matmul_b(const MatmulProblem& problem, const void* b, void* to) {
  MatmulProblem packed = problem;
  packed.b_is_packed = true;
  Call call(packed);
  if (call.plan) pack_all_b(call, b, to);
}

void matmul(const MatmulProblem& problem, const void* a, const void* b, const float* bias, void* out,
            void* workspace, const PieceTaker* taker) {
  Call call(problem, taker);
  if (problem.m == 0 || problem.n == 0 || call.batch == 0) return;
  char* space = static_cast<char*>(workspace);
  if (!call.plan) return fill_empty_sums(call, bias, static_cast<char*>(out));

  const Plan& plan = *call.plan;
  Operands data{a, b, bias, static_cast<char*>(out), nullptr, nullptr, nullptr};
  if (call.pack_a_first) {
    data.packed_a = space + call.a_offset;
    pack_all_a(call, a, data.packed_a);
  }
  if (problem.b_is_packed) data.packed_b = static_cast<const char*>(b);
  if (call.pack_b_first) {
    data.packed_b = space + call.b_offset;
    pack_all_b(call, b, space + call.b_offset);
  }
  if (plan.k.count > 1) data.partial = reinterpret_cast<float*>(space + call.partial_offset);

  int64_t units = call.batch * plan.k.count * plan.m.count * plan.n.count;
  parallel_ranges(units, plan.units_per_piece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t mi = i % plan.m.count, rest = i / plan.m.count;
      int64_t ni = rest % plan.n.count;
      rest /= plan.n.count;
      run_unit(call, data, rest / plan.k.count, rest % plan.k.count, mi, ni);
    }
  });
  if (plan.k.count > 1) add_partials(call, data);
}

}  // namespace sorus::kernels::onednn
