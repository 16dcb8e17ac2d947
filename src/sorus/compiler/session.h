#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "sorus/compiler/program.h"

namespace sorus {

/// Programs by number: an engine that is handed programs, as bytes from another process say, compiles and
/// runs them, and forgets them again. Every method may be called from several threads at once, also for one
/// program.
class SORUS_API Session {
 public:
  using Id = int64_t;

  /// Takes a program; numbers are never given twice. Throws IOError for bytes that are no program.
  Id add(std::string_view bytes) { return add(Program::from_bytes(bytes)); }
  Id add(Program program);
  /// Compiles now what the first run would.
  void compile(Id id) { find(id).compile(); }
  /// As Program does.
  [[nodiscard]] TensorList run(Id id, const TensorList& in) { return find(id)(in); }
  [[nodiscard]] std::map<std::string, Tensor> run_by_name(Id id, const std::map<std::string, Tensor>& in) {
    return find(id).by_name(in);
  }
  /// Forgets a program. Runs of it that are under way end as usual.
  void remove(Id id);
  [[nodiscard]] std::vector<Id> ids() const;
  /// Throws KeyError for a number that is not in use, as all methods do.
  [[nodiscard]] Program find(Id id) const;

 private:
  std::map<Id, Program> programs_;
  Id next_ = 1;
};

}  // namespace sorus
