#include "sorus/compiler/compile.h"
#include "sorus/ir/graph_body.h"

/// Bodies of control flow run compiled, as segments do.
namespace sorus {
namespace {

class CompiledBody final : public BodyProgram {
 public:
  explicit CompiledBody(const Graph& graph) : executable_(compile(graph)) {}
  void run(std::span<const Ref<Value>> in, std::span<char> donated, std::span<Ref<Value>> out) override {
    executable_->run(in, donated, {}, out, true);
  }

 private:
  std::unique_ptr<Executable> executable_;
};

const bool installed = [] {
  set_body_compiler([](const Graph& graph) -> std::unique_ptr<BodyProgram> {
    return std::make_unique<CompiledBody>(graph);
  });
  return true;
}();

}  // namespace
}  // namespace sorus
