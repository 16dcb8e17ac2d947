#include <list>
#include <mutex>

#include "sorus/base/fork_mutex.h"
#include "sorus/compiler/compile.h"
#include "sorus/engine/choice.h"
#include "sorus/ir/graph_body.h"

/// Bodies of control flow run compiled, as segments do.
namespace sorus {
namespace {

class CompiledBody final : public BodyProgram {
 public:
  /// The graph outlives the program, which belongs to its body.
  explicit CompiledBody(const Graph& graph)
      : graph_(graph), engines_(engines_key()), executable_(compile(graph)) {}
  void run(std::span<const Ref<Value>> in, std::span<char> donated, std::span<Ref<Value>> out) override {
    const uint64_t engines = engines_key();
    Executable& executable = engines == engines_ ? *executable_ : for_other_engines(engines);
    executable.run(in, donated, {}, out, true);
  }

 private:
  struct Other {
    uint64_t engines;
    std::unique_ptr<Executable> executable;
  };
  /// The choice of engines is another than when the body was compiled first.
  Executable& for_other_engines(uint64_t engines) {
    ForkMutex& mutex = fork_mutex_of(this);
    {
      std::lock_guard lock(mutex);
      if (Executable* known = find(engines)) return *known;
    }
    std::unique_ptr<Executable> made = compile(graph_);
    std::lock_guard lock(mutex);
    if (Executable* known = find(engines)) return *known;
    others_.push_back({engines, std::move(made)});
    return *others_.back().executable;
  }
  Executable* find(uint64_t engines) {
    for (const Other& o : others_)
      if (o.engines == engines) return o.executable.get();
    return nullptr;
  }

  const Graph& graph_;
  uint64_t engines_;
  std::unique_ptr<Executable> executable_;
  std::list<Other> others_;  ///< under fork_mutex_of(this)
};

const bool installed = [] {
  set_body_compiler([](const Graph& graph) -> std::unique_ptr<BodyProgram> {
    return std::make_unique<CompiledBody>(graph);
  });
  return true;
}();

}  // namespace
}  // namespace sorus
