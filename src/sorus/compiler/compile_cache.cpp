#include "sorus/compiler/compile_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <mutex>

#include "sorus/base/cpu_features.h"
#include "sorus/base/denormals.h"
#include "sorus/base/digest.h"
#include "sorus/base/flags.h"
#include "sorus/base/fork_mutex.h"
#include "sorus/base/log.h"
#include "sorus/compiler/build_id.h"
#include "sorus/compiler/compile_stats.h"
#include "sorus/compiler/partition.h"
#include "sorus/dispatch/apply.h"
#include "sorus/engine/choice.h"
#include "sorus/formats/file.h"
#include "sorus/formats/sealed.h"
#include "sorus/ir/encoding.h"

namespace sorus {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKind = "SRSGRF1";
constexpr std::string_view kSuffix = ".graph";
constexpr const char* kSubfolder = "sorus_graphs";
/// To look at more would take longer than the passes do.
constexpr int64_t kMostConstantBytes = 8 << 20;
constexpr auto kLongestWrite = std::chrono::hours(1);

/// What was set, and how full the folder is as far as this process knows.
class Cache {
 public:
  static Cache& instance() {
    static auto& cache = *new Cache;
    return cache;
  }
  void set(const std::string& folder, int64_t most_bytes) {
    std::lock_guard lock(mutex_);
    folder_ = folder.empty() ? fs::path() : fs::path(folder) / kSubfolder;
    most_bytes_ = most_bytes > 0 ? most_bytes : default_bytes();
    known_bytes_ = -1;
    writable_ = true;
  }
  fs::path folder() {
    std::lock_guard lock(mutex_);
    return folder_;
  }
  [[nodiscard]] static fs::path file(const fs::path& folder, const std::string& key) {
    return folder / (key + std::string(kSuffix));
  }
  /// `bytes` are sealed.
  void store(const fs::path& folder, const std::string& key, std::string_view bytes);

 private:
  Cache() {
    if (env_string("MS_COMPILER_CACHE_ENABLE") == "1")
      folder_ = fs::path(env_string("MS_COMPILER_CACHE_PATH", ".")) / kSubfolder;
    most_bytes_ = default_bytes();
  }
  static int64_t default_bytes() { return env_int("SORUS_COMPILE_CACHE_MB", 1024) << 20; }
  static int64_t make_room(const fs::path& folder, int64_t most_bytes);

  ForkMutex mutex_;
  fs::path folder_;
  int64_t most_bytes_ = 0;
  int64_t known_bytes_ = -1;  ///< -1: nobody has looked
  bool writable_ = true;
};

/// Removes what was used least recently until there is room, and what writers left behind that were killed.
/// Returns the bytes that stay. Others may be at it: what is gone is gone.
int64_t Cache::make_room(const fs::path& folder, int64_t most_bytes) {
  struct Entry {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    Entry e{at->last_write_time(gone), 0, at->path()};
    if (!gone) e.bytes = static_cast<int64_t>(at->file_size(gone));
    if (gone) continue;
    if (e.path.extension() == kSuffix) {
      total += e.bytes;
      entries.push_back(std::move(e));
    } else if (e.path.filename().string().find(std::string(kSuffix) + ".tmp.") != std::string::npos &&
               fs::file_time_type::clock::now() - e.used > kLongestWrite) {
      fs::remove(e.path, gone);
    }
  }
  if (total <= most_bytes) return total;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= most_bytes / 5 * 4) break;  // not at every entry again
    std::error_code gone;
    fs::remove(e.path, gone);
    total -= e.bytes;
  }
  return total;
}

void Cache::store(const fs::path& folder, const std::string& key, std::string_view bytes) {
  int64_t most = 0, known = 0;
  {
    std::lock_guard lock(mutex_);
    if (!writable_ || folder_ != folder || static_cast<int64_t>(bytes.size()) > most_bytes_) return;
    most = most_bytes_;
    known = known_bytes_;
  }
  std::string trouble;
  try {
    std::error_code error;
    fs::create_directories(folder, error);
    formats::AtomicFile out(file(folder, key).string(), formats::AtomicFile::Safety::kCache);
    out.write(bytes);
    out.commit();
    note_compile_event(CompileEvent::kCacheStored);
  } catch (const IOError& e) {
    trouble = e.what();
  }
  if (trouble.empty()) {
    known += static_cast<int64_t>(bytes.size());
    if (known < static_cast<int64_t>(bytes.size()) || known > most) known = make_room(folder, most);
  } else {
    warn_once("compile cache", "compile cache: nothing more is kept, programs are compiled anew: " + trouble);
  }
  std::lock_guard lock(mutex_);
  if (folder_ != folder) return;
  known_bytes_ = known;
  writable_ = trouble.empty();
}

std::vector<Tensor> constants_of(const Graph& graph) {
  std::vector<Tensor> constants;
  for (size_t v = 0; v < graph.value_count(); ++v)
    if (graph.is_constant(static_cast<ValueId>(v)))
      constants.push_back(graph.constant(static_cast<ValueId>(v)));
  return constants;
}

int64_t bytes_of(std::span<const Tensor> tensors) {
  int64_t bytes = 0;
  for (const Tensor& t : tensors) bytes += t.numel() * static_cast<int64_t>(dtype_size(t.dtype()));
  return bytes;
}

void add_names(Digest& digest, const std::vector<std::string>& names) {
  digest.add(std::to_string(names.size()));
  for (const std::string& n : names) digest.add(n);
}

/// Everything that decides what the passes make of a graph. Throws NotSupportedError for a graph that has no
/// bytes.
std::string key_of(const Graph& graph, std::span<const Tensor> constants, const PassOptions& options,
                   const std::string& tuned) {
  Digest digest;
  digest.add(library_build());
  digest.add(describe_cpu());
  digest.add(fmt::format("{} {} {} {} {}", options.relaxed, reference_kernels_only(), graph.values_checked,
                         flush_denormal(), memory_limit()));
  digest.add(env_string("SORUS_SKIP_PASSES"));
  add_names(digest, options.skip);
  add_names(digest, options.only);
  if (!tuned.empty()) digest.add("tuned " + tuned);
  if (const std::string engines = engines_text(); !engines.empty()) digest.add(engines);
  digest.add(encode_graph(graph, {.known = constants, .sites = false}));
  std::string bytes;
  for (const Tensor& c : constants) {
    bytes.resize(static_cast<size_t>(c.numel()) * dtype_size(c.dtype()));
    c.copy_to(bytes.data(), c.dtype());
    digest.add(c.type().text());
    digest.add(bytes);
  }
  return digest.text();
}

/// What an entry must agree with: a graph may take the place of another only if it looks the same from
/// outside.
struct Outline {
  std::vector<TensorType> inputs, outputs;
  int32_t slots = 0;

  explicit Outline(const Graph& g) {
    for (ValueId v : g.inputs) inputs.push_back(g.type(v));
    for (ValueId v : g.outputs) outputs.push_back(g.type(v));
    for (const Node& n : g.nodes) count_slots(n);
  }
  void count_slots(const Node& n) {
    slots = std::max(slots, n.slot + 1);
    if (!n.body) return;
    for (const Node& inner : n.body->nodes) count_slots(inner);
  }
};

/// The place of the recorded call with that number; calls that a pass made have none.
std::string site_of(std::string_view number, std::span<const std::string> sites) {
  if (number.empty()) return {};
  size_t i = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), i);
  SORUS_CHECK(error == std::errc{} && i < sites.size(), ValueError,
              "graph: a call comes from nowhere: got '{}', need a number below {}", number, sites.size());
  return sites[i];
}

Graph decode_entry(std::string_view bytes, std::span<const Tensor> constants, const Outline& recorded,
                   std::span<const std::string> sites) {
  Graph graph = decode_graph(
      bytes, {.known = constants, .site = [&](std::string_view number) { return site_of(number, sites); }});
  const Outline found(graph);
  SORUS_CHECK(
      found.inputs == recorded.inputs && found.outputs == recorded.outputs && found.slots <= recorded.slots,
      ValueError, "graph: is another one: got other inputs or results, need those that were recorded");
  if (const std::string problem = parts_problem(graph); !problem.empty()) raise<ValueError>("{}", problem);
  return graph;
}

/// The bytes of an entry, empty when there is none.
std::string read_entry(const fs::path& path) {
  std::string bytes;
  try {
    bytes = formats::read_file(path.string());
  } catch (const IOError&) {
    return {};
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // it was used now; where that fails, it just looks older
  return bytes;
}

/// The graph as the passes left it before, or nothing.
bool find_entry(const fs::path& path, std::span<const Tensor> constants, const Outline& recorded,
                std::span<const std::string> sites, Graph* graph) {
  const std::string sealed = read_entry(path);
  if (sealed.empty()) {
    note_compile_event(CompileEvent::kCacheMiss);
    return false;
  }
  try {
    *graph = decode_entry(formats::unseal(kKind, sealed, path.string()), constants, recorded, sites);
    note_compile_event(CompileEvent::kCacheHit);
    return true;
  } catch (const Error& e) {
    note_compile_event(CompileEvent::kCacheDamaged);
    static const bool explaining = verbose("compile");
    if (explaining)
      warn_once("compile cache entry", fmt::format("compile cache: an entry is made anew: {}", e.what()));
  }
  note_compile_event(CompileEvent::kCacheMiss);
  return false;
}

}  // namespace

void set_compile_cache(const std::string& folder, int64_t most_bytes) {
  Cache::instance().set(folder, most_bytes);
}

std::string compile_cache_folder() { return Cache::instance().folder().string(); }

void run_cached_passes(Graph& graph, const PassOptions& options, const std::string& tuned) {
  const fs::path folder = Cache::instance().folder();
  const bool has_calls =
      std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) { return n.body != nullptr; });
  if (folder.empty() || has_calls) return run_passes(graph, options);
  ScopedState<Recorder*> unheard(&ScopeState::recorder,
                                 nullptr);  // constants are read by us, not by the host
  const std::vector<Tensor> constants = constants_of(graph);
  if (bytes_of(constants) > kMostConstantBytes) return run_passes(graph, options);
  std::string key;
  try {
    key = key_of(graph, constants, options, tuned);
  } catch (const NotSupportedError&) {
    return run_passes(graph, options);
  }
  const bool values_checked = graph.values_checked;
  const Outline recorded(graph);
  // In an entry a call refers to the recorded call that it stands for: so lines may move.
  std::vector<std::string> sites;
  for (Node& n : graph.nodes) sites.push_back(std::exchange(n.site, std::to_string(sites.size())));
  if (!find_entry(Cache::file(folder, key), constants, recorded, sites, &graph)) {
    run_passes(graph, options);
    const std::string bytes = encode_graph(graph, {.known = constants});
    Cache::instance().store(folder, key, formats::seal(kKind, bytes));
    graph = decode_entry(bytes, constants, recorded, sites);
  }
  graph.values_checked = values_checked;
}

}  // namespace sorus
