#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "sorus/base/error.h"
#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/engine/choice.h"
#include "sorus/engine/load.h"
#include "sorus/ir/picture.h"

namespace {

std::string read_all(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream in(path, std::ios::binary);
  SORUS_CHECK(in.good() && !std::filesystem::is_directory(path), sorus::IOError,
              "opt: file cannot be read: got '{}', need a graph as text", path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_picture(const std::string& path, const sorus::Graph& graph) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << svg_picture(graph);
  out.flush();
  SORUS_CHECK(out.good(), sorus::IOError, "opt: picture cannot be written: got '{}', need a writable file",
              path);
}

void print_report(const sorus::ExecutableReport& r) {
  fmt::print(stderr, "nodes {}, of which {} in {} fused regions, kernel calls {}, views {}, ", r.nodes,
             r.fused_nodes, r.regions, r.steps, r.views);
  fmt::print(stderr, "epilogues {}, depth first {}, bundled {}, at once with others {}, ", r.epilogues,
             r.depth_first, r.bundled, r.tasks);
  fmt::print(stderr, "layout conversions {}, in place {}, kept {}\n", r.conversions, r.in_place, r.kept);
  if (r.parts > 0)
    fmt::print(stderr, "parts of other engines {}, nodes in them {}, border copies {}\n", r.parts,
               r.part_nodes, r.border_copies);
  fmt::print(stderr, "memory: planned {} bytes, naive {}, lower bound {}\n", r.planned_bytes, r.naive_bytes,
             r.lower_bound_bytes);
}

}  // namespace

std::string pass_names() {
  std::string names;
  for (const sorus::Pass& pass : sorus::all_passes())
    names += (names.empty() ? "" : ", ") + std::string(pass.name);
  return names;
}

void run_opt(const OptArguments& arguments) {
  for (const std::string& library : arguments.libraries) sorus::load_engine(library);
  const sorus::ScopedEngines wish({.use = arguments.engine});
  sorus::Graph graph = sorus::Graph::parse(read_all(arguments.file));
  graph.verify();
  sorus::PassOptions options;
  options.only = arguments.passes;
  options.relaxed = arguments.relaxed;
  options.after = [&](std::string_view pass, const sorus::Graph& g, double seconds) {
    if (arguments.report)
      fmt::print(stderr, "pass {}: {:.1f} us, {} calls left\n", pass, seconds * 1e6, g.nodes.size());
    if (arguments.each) fmt::print("# after {}\n{}\n", pass, g.text());
  };
  if (!arguments.none) sorus::run_passes(graph, options);
  if (!arguments.each) fmt::print("{}", graph.text());
  if (!arguments.picture.empty()) write_picture(arguments.picture, graph);
  if (arguments.report) print_report(sorus::Executable(std::move(graph)).report());
}
