#include "sorus/tuning/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "sorus/base/error.h"
#include "sorus/base/log.h"
#include "sorus/base/thread_pool.h"
#include "sorus/compiler/tuned_graph.h"
#include "sorus/dispatch/apply.h"
#include "sorus/tuning/search.h"
#include "sorus/tuning/subject.h"

namespace sorus::tuning {
namespace {

/// Of a whole program, below which a subject is not worth a search.
constexpr double kLeastShare = 0.01;
/// A call that is as short as this is mostly what lies around its kernel.
constexpr double kShortestNs = 3e3;
/// Of the time, for what belongs to the whole program.
constexpr double kShareOfProgram = 0.3;
constexpr int kStepRounds = 7;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

JudgeOptions care_of(Care care, double ns) {
  JudgeOptions options;
  // Long work is measured less often.
  options.rounds = care == Care::kQuick ? 5 : care == Care::kSure ? 15 : 31;
  constexpr double kLong = 20e6;
  if (ns > kLong) options.rounds = care == Care::kQuick ? 3 : care == Care::kSure ? 7 : 11;
  if (care == Care::kQuick) options.least_gain = 0.01;
  return options;
}

/// Programs that are bound for settings, so that none is bound at every comparison.
class BoundSettings {
 public:
  explicit BoundSettings(const Subject& subject) : subject_(subject) {}
  Runner& at(const TunedValues& values) {
    constexpr size_t kMost = 8;
    std::string name = values.text();
    for (auto& [known, runner] : kept_)
      if (known == name) return *runner;
    const TuningOverride candidate(values);
    if (kept_.size() >= kMost) kept_.erase(kept_.begin());
    kept_.emplace_back(std::move(name), subject_.bind());
    return *kept_.back().second;
  }

 private:
  const Subject& subject_;
  std::vector<std::pair<std::string, std::unique_ptr<Runner>>> kept_;
};

TunedValues defaults_of(const std::vector<const Tunable*>& parameters) {
  TunedValues values;
  for (const Tunable* p : parameters) values.set(*p, p->spec().initial);
  return values;
}

/// Values that claim to move no bit are not believed.
bool keeps_bits(const Subject& subject, const std::vector<const Tunable*>& parameters,
                const TunedValues& values) {
  const auto bits_with = [&](const TunedValues& v) {
    const TuningOverride candidate(v);
    return subject.bind()->result_bits();
  };
  if (bits_with(defaults_of(parameters)) == bits_with(values)) return true;
  log_warning("tuning: {} moves bits of {}, though it should not: please report this", values.text(),
              subject.what);
  return false;
}

Gain tune_subject(const Subject& subject, double seconds, const TuneOptions& options) {
  Gain gain;
  Entry& e = gain.entry;
  e.part = subject.part;
  e.key = subject.key;
  e.relaxed = options.relaxed;
  e.threads = num_threads();
  e.what = subject.what;
  e.time = now();
  const std::vector<const Tunable*> parameters = subject.parameters(options.relaxed);
  if (parameters.empty()) return gain;
  if (options.say)
    options.say(fmt::format("{} {}: {} parameters, {:.1f} s", tuned_part_name(subject.part), subject.what,
                            parameters.size(), seconds));
  BoundSettings bound(subject);
  double longest = subject.ns;
  const Compare compare_settings = [&](const TunedValues& first, const TunedValues& second, Care care) {
    Runner* a = &bound.at(first);
    Runner& b = bound.at(second);
    a = &bound.at(first);  // it may have given way
    const Verdict v = compare([a] { a->run(); }, [&b] { b.run(); }, care_of(care, longest));
    longest = v.first_ns;
    return v;
  };
  const SearchResult found = search(parameters, compare_settings, {.seconds = seconds, .seed = options.seed});
  gain.candidates = found.candidates;
  if (found.values.empty() || (!options.relaxed && !keeps_bits(subject, parameters, found.values)))
    return gain;
  e.values = found.values;
  e.before_ns = found.before_ns;
  e.after_ns = found.after_ns;
  return gain;
}

/// `known` with these in the places of those of the same key; entries without values take them away.
std::vector<Entry> merged(std::vector<Entry> known, const std::vector<Gain>& gains) {
  for (const Gain& g : gains) {
    std::erase_if(known, [&](const Entry& e) { return e.part == g.entry.part && e.key == g.entry.key; });
    if (!g.entry.values.empty()) known.push_back(g.entry);
  }
  return known;
}

/// Puts the entries in use back unless they should stay.
class TriedEntries {
 public:
  TriedEntries() : before_(entries_in_use()) {}
  ~TriedEntries() {
    if (!keeps_) use_entries(before_);
  }
  TriedEntries(const TriedEntries&) = delete;
  TriedEntries& operator=(const TriedEntries&) = delete;
  void use(const std::vector<Gain>& gains) const { use_entries(merged(before_, gains)); }
  void keep() { keeps_ = true; }

 private:
  std::vector<Entry> before_;
  bool keeps_ = false;
};

std::vector<double> step_times(Runner& runner, const std::vector<Ref<Value>>& inputs) {
  std::vector<std::vector<double>> by_step;
  for (int i = 0; i < kStepRounds; ++i) {
    const std::vector<double> ns = runner.executable().time_steps(inputs);
    by_step.resize(ns.size());
    for (size_t s = 0; s < ns.size(); ++s) by_step[s].push_back(ns[s]);
  }
  std::vector<double> medians;
  for (const std::vector<double>& ns : by_step) medians.push_back(median_of(ns));
  return medians;
}

/// Both programs' steps by what they compute, in the order of the first.
std::vector<StepTime> side_by_side(Runner& before, std::span<const double> before_ns, Runner& after,
                                   std::span<const double> after_ns) {
  std::vector<StepTime> all;
  std::map<std::pair<std::string, std::string>, size_t> known;
  auto add = [&](Runner& runner, std::span<const double> ns, double StepTime::*to) {
    const std::vector<BoundStep> steps = runner.executable().bound_steps();
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto [at, is_new] = known.try_emplace({describe(steps[i]), steps[i].kernel}, all.size());
      if (is_new) all.push_back({at->first.first, steps[i].kernel, 0, 0});
      all[at->second].*to += ns[i];
    }
  };
  add(before, before_ns, &StepTime::before_ns);
  add(after, after_ns, &StepTime::after_ns);
  return all;
}

/// As the steps that a program lists of itself take it.
Ref<Value> row_major(const Tensor& t) {
  if (is_contiguous(t.shape(), t.strides())) return t.value();
  Ref<Value> copy = make_dense(t.type());
  t.copy_to(copy->storage->data(), t.dtype());
  return copy;
}

/// The whole of tuning one graph.
class Tuning {
 public:
  Tuning(const Graph& graph, const TensorList& inputs, const TuneOptions& options) : options_(options) {
    program_.part = TunedPart::kProgram;
    program_.key = tuned_graph_key(TunedPart::kProgram, graph);
    program_.what = graph.name;
    program_.graph = graph;
    for (const Tensor& t : inputs) program_.inputs.push_back(row_major(t));
  }

  TuneReport run(const Database* database) {
    use_entries(without_own());
    const std::unique_ptr<Runner> before = program_.bind();
    const std::vector<double> before_steps = step_times(*before, program_.inputs);
    double total = 0;
    for (double ns : before_steps) total += ns;
    // Of a single step there is nothing to pass over or to schedule.
    const double whole = before_steps.size() > 1 ? options_.seconds * kShareOfProgram : 0;
    tune_steps(subjects_of(before->executable(), before_steps), options_.seconds - whole, total);
    if (whole > 0) add(tune_subject(program_, whole, options_));
    const std::unique_ptr<Runner> after = program_.bind();
    const Verdict v = compare([&] { before->run(); }, [&] { after->run(); }, care_of(Care::kFinal, total));
    report_.before_ns = v.first_ns;
    report_.after_ns = v.second_ns;
    report_.is_faster = v.second_wins;
    report_.steps = side_by_side(*before, before_steps, *after, step_times(*after, program_.inputs));
    if (!v.second_wins) forget();
    if (database) store(*database);
    tried_.keep();
    return std::move(report_);
  }

 private:
  /// What is in use for other things than this program.
  std::vector<Entry> without_own() const {
    std::vector<Entry> entries = entries_in_use();
    std::erase_if(entries, [&](const Entry& e) { return e.part == program_.part && e.key == program_.key; });
    return entries;
  }

  void tune_steps(const std::vector<Subject>& subjects, double seconds, double total) {
    double tunable = 0;
    const auto is_worth = [&](const Subject& s) {
      return s.ns >= kShortestNs && s.ns >= kLeastShare * total;
    };
    for (const Subject& s : subjects)
      if (is_worth(s)) tunable += s.ns;
    for (const Subject& s : subjects)
      if (is_worth(s)) add(tune_subject(s, seconds * s.ns / tunable, options_));
  }

  void add(Gain gain) {
    report_.candidates += gain.candidates;
    report_.gains.push_back(std::move(gain));
    tried_.use(report_.gains);
  }

  /// What wins alone and not in the whole is left.
  void forget() {
    for (Gain& g : report_.gains) g.entry.values = {};
    tried_.use(report_.gains);
  }

  void store(const Database& database) const {
    std::vector<Entry> entries;
    for (const Gain& g : report_.gains) entries.push_back(g.entry);
    database.store(entries);
  }

  const TuneOptions& options_;
  Subject program_;
  TriedEntries tried_;
  TuneReport report_;
};

}  // namespace

TuneReport tune(const Graph& graph, const TensorList& inputs, const TuneOptions& options,
                const Database* database) {
  SORUS_CHECK(options.seconds > 0, ValueError, "tune: time is not positive: got {} seconds, need more than 0",
              options.seconds);
  SORUS_CHECK(inputs.size() == graph.inputs.size(), ValueError,
              "tune: number of inputs differs: got {}, need {}", inputs.size(), graph.inputs.size());
  if (database) database->check_access();
  const ScopedState<Recorder*> unheard(&ScopeState::recorder, nullptr);
  const ScopedState<bool> numerics(&ScopeState::relaxed_numerics, options.relaxed);
  return Tuning(graph, inputs, options).run(database);
}

TensorList example_inputs(const Graph& graph) {
  TensorList inputs;
  for (ValueId v : graph.inputs) {
    const TensorType& type = graph.type(v);
    inputs.push_back(Tensor(example_value(type, Strides::contiguous(type.shape))));
  }
  return inputs;
}

Graph graph_of_call(std::string_view op, std::string_view attributes, std::span<const TensorType> operands) {
  const OpDef* found = find_op(op);
  SORUS_CHECK(found, ValueError, "tune: op is unknown: got '{}', need a name that `sorus ops` lists", op);
  std::vector<std::byte> memory(found->attrs.size + 1);
  found->attrs.construct(memory.data());
  AttrsBox box;
  try {
    found->attrs.parse(attributes, memory.data());
    box = AttrsBox(AttrsRef(found->attrs, memory.data()));
  } catch (...) {
    found->attrs.destroy(memory.data());
    throw;
  }
  found->attrs.destroy(memory.data());
  Graph graph;
  graph.name = std::string(op);
  SmallVector<ValueId, 4> in;
  for (const TensorType& t : operands) in.push_back(graph.add_input(t));
  const Node& call = graph.add_node(*found, box.ref(), in);
  graph.outputs.assign(call.out.begin(), call.out.end());
  graph.verify();
  return graph;
}

}  // namespace sorus::tuning
