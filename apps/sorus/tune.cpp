#include "sorus/tuning/tune.h"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "sorus/base/error.h"
#include "sorus/compiler/program.h"
#include "sorus/formats/checkpoint.h"

namespace {

using sorus::tuning::Entry;
using sorus::tuning::TuneReport;

void print_parameters() {
  fmt::print("{:<32} {:>12} {:>12} {:>12}  {:<8} {:<6} {}\n", "parameter", "default", "least", "most", "of a",
             "bits", "what");
  for (const sorus::Tunable* p : sorus::all_tunables()) {
    const sorus::TunableSpec& s = p->spec();
    fmt::print("{:<32} {:>12} {:>12} {:>12}  {:<8} {:<6} {}\n", s.name, s.initial, s.least, s.most,
               sorus::tuned_part_name(s.part), s.effect == sorus::BitEffect::kNeutral ? "equal" : "move",
               s.doc);
  }
}

std::string duration(double ns) {
  if (ns >= 1e6) return fmt::format("{:.3f} ms", ns * 1e-6);
  return fmt::format("{:.2f} us", ns * 1e-3);
}

std::string gain(double before, double after) {
  return after > 0 ? fmt::format("{:.2f}x", before / after) : "";
}

void print_entry(const Entry& e) {
  fmt::print("{:<8} {:>12} {:>12} {:>7}  {}\n", tuned_part_name(e.part), duration(e.before_ns),
             duration(e.after_ns), gain(e.before_ns, e.after_ns), e.what);
  fmt::print("{:<8} {}\n", "", e.values.text());
}

void print_entries(const std::string& path) {
  if (path.empty()) return fmt::print("no database\n");
  fmt::print("{}\n", path);
  for (const Entry& e : sorus::tuning::Database(path).read()) {
    fmt::print("{} threads, {}: ", e.threads, e.relaxed ? "relaxed" : "exact");
    print_entry(e);
  }
}

void print_report(const TuneReport& r, const std::string& kept_in) {
  fmt::print("{:<12} {:>12} {:>7}  {}\n", "default", "tuned", "gain", "step");
  for (const sorus::tuning::StepTime& s : r.steps)
    fmt::print("{:<12} {:>12} {:>7}  {} [{}]\n", s.before_ns > 0 ? duration(s.before_ns) : "-",
               s.after_ns > 0 ? duration(s.after_ns) : "-",
               s.before_ns > 0 ? gain(s.before_ns, s.after_ns) : "", s.what, s.kernel);
  bool any = false;
  for (const auto& g : r.gains) {
    if (g.entry.values.empty()) continue;
    if (!any) fmt::print("\nfound, each measured alone:\n");
    any = true;
    print_entry(g.entry);
  }
  fmt::print("\n{} candidates; a run took {} with the defaults, {} tuned ({})\n", r.candidates,
             duration(r.before_ns), duration(r.after_ns), gain(r.before_ns, r.after_ns));
  if (!r.is_faster || !any)
    fmt::print("nothing is better than the defaults by more than the noise\n");
  else if (!kept_in.empty())
    fmt::print("kept in {}\n", kept_in);
}

/// "64x128": extents; "scalar": none.
sorus::Shape shape_of(const std::string& text) {
  sorus::Shape shape;
  if (text == "scalar") return shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int64_t extent = 0;
    const auto [stop, error] = std::from_chars(at, end, extent);
    SORUS_CHECK(error == std::errc{} && extent >= 0 && (stop == end || *stop == 'x') &&
                    shape.rank() < sorus::kMaxRank,
                sorus::ValueError, "tune: text is no shape: got '{}', need extents as in 64x128, or scalar",
                text);
    shape.push_back(extent);
    if (stop == end) return shape;
    at = stop + 1;
  }
}

sorus::Graph call_of(const TuneArguments& a) {
  SORUS_CHECK(a.dtypes.size() == 1 || a.dtypes.size() == a.shapes.size(), sorus::ValueError,
              "tune: number of dtypes differs: got {}, need one, or {} as there are shapes", a.dtypes.size(),
              a.shapes.size());
  std::vector<sorus::TensorType> types;
  for (size_t i = 0; i < a.shapes.size(); ++i) {
    const std::string& name = a.dtypes[a.dtypes.size() == 1 ? 0 : i];
    types.push_back({sorus::dtype_from_name(name), {}, shape_of(a.shapes[i])});
  }
  return sorus::tuning::graph_of_call(a.op, a.attributes, types);
}

/// A saved program, or a graph as text.
struct Loaded {
  sorus::Graph graph;
  std::vector<std::string> names;  ///< of its inputs; numbers where it is text
};

Loaded load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  SORUS_CHECK(in.good() && !std::filesystem::is_directory(path), sorus::IOError,
              "tune: file cannot be read: got '{}', need a program or graph", path);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  Loaded loaded;
  if (bytes.starts_with("graph")) {
    loaded.graph = sorus::Graph::parse(bytes);
    loaded.graph.verify();
    for (size_t i = 0; i < loaded.graph.inputs.size(); ++i) loaded.names.push_back(std::to_string(i));
    return loaded;
  }
  const sorus::Program program = sorus::Program::from_bytes(bytes, path);
  loaded.graph = program.graph();
  for (const sorus::ProgramValue& v : program.inputs()) loaded.names.push_back(v.name);
  return loaded;
}

sorus::TensorList inputs_of(const Loaded& loaded, const std::string& path) {
  if (path.empty()) return sorus::tuning::example_inputs(loaded.graph);
  std::map<std::string, sorus::Tensor> given;
  for (sorus::formats::CheckpointEntry& e : sorus::formats::read_checkpoint(path))
    if (auto* tensor = std::get_if<sorus::Tensor>(&e.value)) given.emplace(e.name, std::move(*tensor));
  sorus::TensorList inputs;
  for (size_t i = 0; i < loaded.names.size(); ++i) {
    const sorus::TensorType& type = loaded.graph.type(loaded.graph.inputs[i]);
    const auto at = given.find(loaded.names[i]);
    SORUS_CHECK(at != given.end() && at->second.type() == type, sorus::ValueError,
                "tune: an input is missing or of another type: got {} for '{}', need {}",
                at == given.end() ? "none" : at->second.type().text(), loaded.names[i], type);
    inputs.push_back(at->second);
  }
  return inputs;
}

}  // namespace

void run_tune(const TuneArguments& a) {
  if (a.list) return print_parameters();
  if (a.database) sorus::set_tuning_database(*a.database);
  const std::string path = sorus::tuning_database();
  if (a.show) return print_entries(path);
  SORUS_CHECK(a.file.empty() != a.op.empty(), sorus::ValueError,
              "tune: nothing to tune, or two things: got file '{}' and op '{}', need one of both", a.file,
              a.op);
  Loaded loaded;
  if (a.op.empty())
    loaded = load(a.file);
  else
    loaded.graph = call_of(a);
  sorus::tuning::TuneOptions options;
  options.seconds = a.budget;
  options.relaxed = a.relaxed;
  if (!a.quiet) options.say = [](std::string_view line) { fmt::print(stderr, "{}\n", line); };
  const sorus::tuning::Database database(path);
  const bool keeps = !a.dry_run && !path.empty();
  print_report(
      sorus::tuning::tune(loaded.graph, inputs_of(loaded, a.inputs), options, keeps ? &database : nullptr),
      keeps ? path : "");
}
