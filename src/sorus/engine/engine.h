#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/dispatch/kernel.h"
#include "sorus/ir/graph.h"

/// Who can run parts of a graph. The host itself, its kernels chosen one by one, is the engine "cpu": it runs
/// whatever no other engine is given. docs/writing_an_engine.md writes one.
namespace sorus {

inline constexpr std::string_view kHostEngine = "cpu";
inline constexpr std::string_view kReferenceEngine = "cpu_reference";

/// What is known of an engine before it is asked anything. Times are estimates in nanoseconds, on the scale
/// of host_cost().
struct EngineFacts {
  std::string name = {};      ///< letters, digits, '_', '-' and '.'
  std::string revision = {};  ///< another one when what it takes, or what its passes do, is another
  /// Engines of one class give equal bits for whatever they take. Those of the class "cpu" are given parts
  /// without being asked for.
  std::string numerics = {};
  bool own_memory = false;  ///< values come and go through `to_engine` and `from_engine`
  double start_ns = 0;      ///< of one run of a part, whatever is in it
  double copy_ns = 0;       ///< of one value through a border, where memory is its own
  double copy_ns_per_byte = 0;
};

/// A part that an engine has compiled. Thread-safe.
class SORUS_API EngineProgram {
 public:
  EngineProgram() = default;
  virtual ~EngineProgram() = default;
  EngineProgram(const EngineProgram&) = delete;
  EngineProgram& operator=(const EngineProgram&) = delete;
  /// Computes all results. Operands and results have the types of the part's inputs and outputs, are
  /// row-major and lie in the host's memory; results overlap nothing. What it throws is passed on, and no
  /// update of a parameter that the program makes stands then.
  virtual void run(std::span<const Array> in, std::span<const Array> out) = 0;
};

/// A pass of an engine over its own parts. It keeps number and types of inputs and outputs. A relaxed one
/// runs only where relaxed numerics are asked for.
struct EnginePass {
  std::string name;
  bool relaxed = false;
  std::function<void(Graph& part)> run = {};
};

/// An engine: what it takes, at what cost, its own passes, its compile and run. Thread-safe.
class SORUS_API Engine {
 public:
  explicit Engine(EngineFacts facts) : facts_(std::move(facts)) {}
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] const EngineFacts& facts() const { return facts_; }
  [[nodiscard]] const std::string& name() const { return facts_.name; }
  /// How long the call takes; nothing where the engine does not take it. Decided by op, attributes and types
  /// alone. It is asked about calls of the table's ops only, whose shapes are known.
  [[nodiscard]] virtual std::optional<double> cost(const Graph& graph, const Node& call) const = 0;
  /// Run in order on each part, after the cut.
  [[nodiscard]] virtual std::vector<EnginePass> passes() const { return {}; }
  /// Prepares a part, which the program may keep. It holds calls that cost() takes and, with memory of its
  /// own, its borders. What it throws is passed on.
  [[nodiscard]] virtual std::unique_ptr<EngineProgram> compile(std::shared_ptr<const Graph> part) = 0;

 private:
  EngineFacts facts_;
};

/// Makes an engine known; from now on calls of boundaries are recorded anew. Throws ValueError for a name
/// that is malformed or taken, or a time that is negative.
SORUS_API void register_engine(std::shared_ptr<Engine> engine);
/// Forgets an engine; programs that it runs keep it as long as they live. False when there is none.
SORUS_API bool remove_engine(std::string_view name);
/// Null when there is none of that name, and for the host.
[[nodiscard]] SORUS_API std::shared_ptr<Engine> find_engine(std::string_view name);
/// In the order in which they were registered; the host is not among them.
[[nodiscard]] SORUS_API std::vector<std::shared_ptr<Engine>> engines();
/// All names, the host's first, as they stand in errors: "cpu, cpu_reference".
[[nodiscard]] SORUS_API std::string engine_names();

/// How long the host takes for the call, estimated by OpDef::cost where the op has one.
[[nodiscard]] SORUS_API double host_cost(const Graph& graph, const Node& call);
/// Whether any engine may be asked about the call: it has known shapes, no effects, no attributes that come
/// at each run, and no values to check, as a check must not come later than its call.
[[nodiscard]] SORUS_API bool may_leave_host(const Graph& graph, const Node& call);

/// An engine of the library itself: registered while it loads, and not counted as news.
class SORUS_API EngineRegistrar {
 public:
  explicit EngineRegistrar(std::shared_ptr<Engine> engine);
};

/// Changes with every engine that comes or goes; 0 while there are only those of the library.
[[nodiscard]] SORUS_API uint64_t engine_generation();
/// How many engines may be given parts without being asked for.
[[nodiscard]] SORUS_API int automatic_engines();

}  // namespace sorus
