#include "sorus/engine/load.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "sorus/base/fork_mutex.h"
#include "sorus/base/throw_error.h"
#include "sorus/dispatch/apply.h"
#include "sorus/engine/c_engine.h"
#include "sorus/engine/engine.h"

namespace sorus {
namespace {

static_assert(SORUS_MAX_RANK == kMaxRank);
static_assert(SORUS_BOOL == static_cast<int>(DType::kBool) && SORUS_FLOAT64 == kDTypeCount - 1 &&
              SORUS_FLOAT32 == static_cast<int>(DType::kFloat32) &&
              SORUS_UINT8 == static_cast<int>(DType::kUInt8));

using Message = std::array<char, SORUS_MESSAGE_SIZE>;

ErrorKind kind_of(int status) {
  switch (status) {
    case SORUS_VALUE_ERROR:
      return ErrorKind::kValue;
    case SORUS_TYPE_ERROR:
      return ErrorKind::kType;
    case SORUS_MEMORY_ERROR:
      return ErrorKind::kMemory;
    case SORUS_NOT_SUPPORTED:
      return ErrorKind::kNotSupported;
    default:
      return ErrorKind::kRuntime;
  }
}

SorusTensor tensor_of(void* data, DType dtype, const Shape& shape) {
  SorusTensor t{data, static_cast<int32_t>(dtype), shape.rank(), {}};
  for (int i = 0; i < shape.rank(); ++i) t.shape[i] = shape.size(i);
  return t;
}

std::string type_text(const SorusTensor& t) {
  if (t.dtype < 0 || t.dtype >= kDTypeCount || t.rank < 0 || t.rank > kMaxRank)
    return fmt::format("dtype {} and rank {}", t.dtype, t.rank);
  TensorType type{static_cast<DType>(t.dtype), {}, {}};
  for (int i = 0; i < t.rank; ++i) type.shape.push_back(Dim(t.shape[i]));
  return type.text();
}

bool same_type(const SorusTensor& a, const SorusTensor& b) {
  return a.dtype == b.dtype && a.rank == b.rank && a.data == b.data &&
         std::equal(a.shape, a.shape + std::max(a.rank, 0), b.shape);
}

/// A library that is open: the functions, and calls to them that throw.
class Library {
 public:
  explicit Library(const SorusEngine& engine) : c(engine) {}
  const SorusEngine& c;  // NOLINT: the structure is the library's

  /// Calls a function of the engine; what it reports is thrown.
  template <class F>
  void call(std::string_view what, F&& f) const {
    Message message{};
    const int status = f(message.data());
    message.back() = '\0';
    if (status == SORUS_OK) return;
    throw_error(kind_of(status),
                fmt::format("engine {}: {} failed: got '{}', need a part that it can {}", c.name, what,
                            message[0] ? message.data() : fmt::format("status {}", status).c_str(), what));
  }
};

class LibraryProgram final : public EngineProgram {
 public:
  LibraryProgram(std::shared_ptr<const Library> library, const std::string& graph)
      : library_(std::move(library)) {
    library_->call("compile", [&](char* message) {
      return library_->c.compile(library_->c.context, graph.c_str(), graph.size(), &program_, message);
    });
  }
  ~LibraryProgram() override { library_->c.destroy(library_->c.context, program_); }

  void run(std::span<const Array> in, std::span<const Array> out) override {
    SmallVector<SorusTensor, 4> operands, results;
    for (const Array& a : in) operands.push_back(tensor_of(a.data, a.dtype, *a.shape));
    for (const Array& a : out) results.push_back(tensor_of(a.data, a.dtype, *a.shape));
    const SorusEngine& c = library_->c;
    library_->call("run", [&](char* message) {
      return c.run(c.context, program_, operands.data(), operands.size(), results.data(), results.size(),
                   message);
    });
    for (size_t i = 0; i < out.size(); ++i) {
      const SorusTensor wanted = tensor_of(out[i].data, out[i].dtype, *out[i].shape);
      SORUS_CHECK(same_type(results[i], wanted), RuntimeError,
                  "engine {}: result {} of a part is of another type: got {}, need {}", c.name, i,
                  type_text(results[i]), type_text(wanted));
    }
  }

 private:
  std::shared_ptr<const Library> library_;
  void* program_ = nullptr;
};

class LibraryEngine final : public Engine {
 public:
  LibraryEngine(const SorusEngine& c, EngineFacts facts)
      : Engine(std::move(facts)), library_(std::make_shared<const Library>(c)) {}

  [[nodiscard]] std::optional<double> cost(const Graph& graph, const Node& call) const override {
    const std::string op(call.op->name);
    const std::string attributes = call.attrs.text();
    auto type_of = [&](ValueId v) {
      if (v == kNoValue) return SorusTensor{nullptr, 0, -1, {}};
      return tensor_of(nullptr, graph.type(v).dtype, graph.type(v).shape);
    };
    SmallVector<SorusTensor, 4> in, out;
    for (ValueId v : call.in) in.push_back(type_of(v));
    for (ValueId v : call.out) out.push_back(type_of(v));
    const SorusCall question{op.c_str(), attributes.c_str(), in.data(), in.size(), out.data(), out.size()};
    const double ns = library_->c.cost(library_->c.context, &question);
    return ns >= 0 ? std::optional(ns) : std::nullopt;
  }

  [[nodiscard]] std::vector<EnginePass> passes() const override {
    if (!library_->c.optimize) return {};
    return {{"optimize", false, [library = library_](Graph& part) { optimize(*library, part); }}};
  }

  [[nodiscard]] std::unique_ptr<EngineProgram> compile(std::shared_ptr<const Graph> part) override {
    return std::make_unique<LibraryProgram>(library_, part->text());
  }

 private:
  static void optimize(const Library& library, Graph& part) {
    const std::string before = part.text();
    std::string after;
    const SorusGive give = [](void* receiver, const char* text, size_t size) {
      static_cast<std::string*>(receiver)->append(text, size);
    };
    library.call("optimize", [&](char* message) {
      return library.c.optimize(library.c.context, before.c_str(), before.size(), give, &after, message);
    });
    if (after.empty()) return;
    Graph parsed;
    try {
      parsed = Graph::parse(after);
    } catch (const Error& e) {
      raise<RuntimeError>("engine {}: its pass gave no graph: {}", library.c.name, e.what());
    }
    parsed.engine = part.engine;
    part = std::move(parsed);
  }

  std::shared_ptr<const Library> library_;
};

/// A handle that is closed unless it is kept.
class Handle {
 public:
  /// A name without a slash is a file here: the system would look for it elsewhere.
  explicit Handle(const std::string& path)
      : handle_(dlopen((path.find('/') == std::string::npos ? "./" + path : path).c_str(),
                       RTLD_NOW | RTLD_LOCAL)) {
    if (handle_) return;
    const char* why = dlerror();
    raise<IOError>("load_engine: library cannot be loaded: got '{}' ({}), need a shared library", path,
                   why ? why : "no reason given");
  }
  ~Handle() {
    if (handle_) dlclose(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] void* find(const char* symbol) const { return dlsym(handle_, symbol); }
  void keep() { handle_ = nullptr; }

 private:
  void* handle_;
};

const SorusEngine& engine_of(const Handle& handle, const std::string& path) {
  auto get = reinterpret_cast<SorusEngineFunction>(handle.find(SORUS_ENGINE_SYMBOL));
  SORUS_CHECK(get, NotSupportedError,
              "load_engine: library is no engine: got no function '{}' in '{}', need one",
              SORUS_ENGINE_SYMBOL, path);
  const SorusEngine* c = get(SORUS_ENGINE_VERSION);
  SORUS_CHECK(c, NotSupportedError,
              "load_engine: library knows another interface: got none for version {} from '{}', need one",
              SORUS_ENGINE_VERSION, path);
  SORUS_CHECK(c->version == SORUS_ENGINE_VERSION, NotSupportedError,
              "load_engine: library is of another version: got {} from '{}', need {}", c->version, path,
              SORUS_ENGINE_VERSION);
  const std::pair<bool, const char*> needed[] = {
      {c->name, "name"},       {c->revision, "revision"}, {c->numerics, "numerics"}, {c->cost, "cost"},
      {c->compile, "compile"}, {c->run, "run"},           {c->destroy, "destroy"}};
  for (const auto& [present, what] : needed)
    SORUS_CHECK(present, ValueError, "load_engine: engine is not whole: got no '{}' from '{}', need one",
                what, path);
  return *c;
}

/// What tells this library from another one that calls itself the same.
std::string facts_of_file(const SorusEngine& c) {
  Dl_info file{};
  struct stat facts {};
  if (dladdr(&c, &file) == 0 || ::stat(file.dli_fname, &facts) != 0) return "";
  return fmt::format(" ({} bytes of {}.{})", facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

/// Engines by the structure of their library, which is the same when the library is loaded again.
struct Loaded {
  ForkMutex mutex;
  std::map<const SorusEngine*, std::shared_ptr<Engine>> engines;
  static Loaded& instance() {
    static auto& loaded = *new Loaded;
    return loaded;
  }
  std::shared_ptr<Engine> find(const SorusEngine* c) {
    std::lock_guard lock(mutex);
    auto at = engines.find(c);
    return at == engines.end() ? nullptr : at->second;
  }
  void add(const SorusEngine* c, std::shared_ptr<Engine> engine) {
    std::lock_guard lock(mutex);
    engines[c].swap(engine);
  }
};

}  // namespace

std::string load_engine(const std::string& path) {
  Handle handle(path);
  const SorusEngine& c = engine_of(handle, path);
  std::shared_ptr<Engine> engine = Loaded::instance().find(&c);
  if (engine && find_engine(engine->name()) == engine) return engine->name();
  EngineFacts facts{.name = c.name,
                    .revision = c.revision + facts_of_file(c),
                    .numerics = c.numerics,
                    .own_memory = c.own_memory != 0,
                    .start_ns = c.start_ns,
                    .copy_ns = c.copy_ns,
                    .copy_ns_per_byte = c.copy_ns_per_byte};
  engine = std::make_shared<LibraryEngine>(c, std::move(facts));
  register_engine(engine);
  Loaded::instance().add(&c, engine);
  handle.keep();
  return engine->name();
}

}  // namespace sorus
