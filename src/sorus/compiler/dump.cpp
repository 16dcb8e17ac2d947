#include "sorus/compiler/dump.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "sorus/base/fork_mutex.h"
#include "sorus/base/log.h"
#include "sorus/compiler/executable.h"
#include "sorus/engine/engine.h"
#include "sorus/ir/picture.h"

namespace sorus {
namespace {

namespace fs = std::filesystem;

/// What dump_graphs() was told, and the number of the next program.
struct Settings {
  ForkMutex mutex;
  std::string folder;
  int next = 1;
  std::atomic<GraphDump> what{GraphDump::kOff};
};

Settings& settings() {
  static auto& s = *new Settings;
  return s;
}

/// One more than the largest number that a file of the folder begins with.
int first_free_number(const fs::path& folder) {
  int next = 1;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    size_t digits = name.find_first_not_of("0123456789");
    if (digits > 0 && digits < 9 && name[digits] == '_') next = std::max(next, std::stoi(name) + 1);
  }
  return next;
}

void write_file(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.flush();
  if (!out) warn_once("graph dump", fmt::format("save_graphs: a file cannot be written: got {}", path));
}

std::string report_text(const ExecutableReport& r, const std::string& times) {
  return fmt::format(
      "nodes {}\nkernel calls {}\nof these, at once with others {}\nfused regions {}\nnodes in regions "
      "{}\nviews {}\nlayout conversions "
      "{}\nwritten in place {}\nkept while inputs stay {}\n"
      "inputs that may be overwritten {}\nplanned bytes {}\nnaive bytes {}\nlower bound bytes {}\n{}",
      r.nodes, r.steps, r.tasks, r.regions, r.fused_nodes, r.views, r.conversions, r.in_place, r.kept,
      r.donations, r.planned_bytes, r.naive_bytes, r.lower_bound_bytes, times);
}

/// Which engine has which calls; empty where the host has all of them.
std::string engines_report(const Graph& graph, const ExecutableReport& r) {
  if (r.parts == 0) return {};
  std::string text = fmt::format("engine parts {}\nborder copies {}\nengine {} nodes {}\n", r.parts,
                                 r.border_copies, kHostEngine, r.nodes - r.part_nodes);
  int number = 0;
  for (const Node& n : graph.nodes) {
    if (!n.body || n.body->engine.empty()) continue;
    std::string calls;
    for (const Node& inner : n.body->nodes)
      calls += fmt::format("{}{}", calls.empty() ? "" : ", ", inner.op->name);
    text += fmt::format("part {} on {}: {}\n", number++, n.body->engine, calls);
  }
  return text;
}

}  // namespace

void dump_graphs(GraphDump what, const std::string& folder) {
  Settings& s = settings();
  std::lock_guard lock(s.mutex);
  if (what != GraphDump::kOff) {
    std::error_code error;
    fs::create_directories(folder, error);
    SORUS_CHECK(!error && fs::is_directory(folder), IOError,
                "save_graphs: folder cannot be made: got '{}' ({}), need a folder that can be written",
                folder, error ? error.message() : "it is a file");
    s.folder = folder;
    s.next = first_free_number(folder);
  }
  s.what.store(what);
}

DumpedCompilation::DumpedCompilation(const Graph& recorded) : what_(settings().what.load()) {
  if (what_ == GraphDump::kOff) return;
  Settings& s = settings();
  {
    std::lock_guard lock(s.mutex);
    prefix_ = fmt::format("{}/{:04}_{}", s.folder, s.next++, recorded.name);
  }
  write_step("recorded", recorded);
}

void DumpedCompilation::write_step(std::string_view pass, const Graph& graph) {
  std::string text = graph.text();
  if (text == text_) return;
  std::string path = fmt::format("{}_{:02}_{}", prefix_, step_++, pass);
  write_file(path + ".txt", text);
  write_file(path + ".svg", svg_picture(graph));
  text_ = std::move(text);
}

void DumpedCompilation::run_passes(Graph& graph, PassOptions options) {
  if (what_ != GraphDump::kOff) {
    options.after = [this, user = std::move(options.after)](std::string_view pass, const Graph& g,
                                                            double seconds) {
      times_ += fmt::format("pass {} {:.1f} us\n", pass, seconds * 1e6);
      if (what_ == GraphDump::kPasses) write_step(pass, g);
      if (user) user(pass, g, seconds);
    };
  }
  sorus::run_passes(graph, options);
  if (what_ == GraphDump::kEnds) write_step("final", graph);
}

void DumpedCompilation::report(Executable& executable) {
  if (what_ == GraphDump::kOff) return;
  const ExecutableReport report = executable.report();
  write_file(prefix_ + "_report.txt",
             report_text(report, times_) + engines_report(executable.graph(), report));
}

}  // namespace sorus
