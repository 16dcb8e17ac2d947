#include "sorus/compiler/general.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>

#include "sorus/base/fork_mutex.h"

namespace sorus {
namespace {

constexpr int64_t kNoNumber = INT64_MIN / 2 - 1;
constexpr size_t kMostSamples = 3;  // of one program

std::vector<Segment*> main_way(const Plan& plan) {
  std::vector<Segment*> way;
  for (Segment* s = plan.head; s; s = s->next) way.push_back(s);
  return way;
}

bool same_value(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* d = std::get_if<double>(&a))
    return std::bit_cast<uint64_t>(*d) == std::bit_cast<uint64_t>(std::get<double>(b));
  if (const auto* body = std::get_if<BodyRef>(&a)) return detail::equal_bodies(*body, std::get<BodyRef>(b));
  return a == b;
}

/// Walks over the integers of two attribute structs of one type, `each(open, given)` for two of them; false
/// as soon as that is, or where anything else differs.
template <class Each>
bool walk_integers(const AttrsDef& def, const void* open, const void* given, Each&& each) {
  for (const FieldInfo& f : def.fields) {
    const AttrValue a = f.get(open);
    const AttrValue b = f.get(given);
    if (f.kind == AttrKind::kInt) {
      if (!each(std::get<int64_t>(a), std::get<int64_t>(b))) return false;
    } else if (f.kind == AttrKind::kInts) {
      const Ints& x = std::get<Ints>(a);
      const Ints& y = std::get<Ints>(b);
      if (x.size() != y.size()) return false;
      for (int i = 0; i < x.size(); ++i)
        if (!each(x[i], y[i])) return false;
    } else if (!same_value(a, b)) {
      return false;
    }
  }
  return true;
}

/// The attributes with each integer replaced, in the order of the walk.
template <class To>
AttrsBox with_integers(const AttrsBox& attrs, To&& to) {
  const AttrsRef from = attrs.ref();
  std::vector<std::byte> copy(std::max<size_t>(from.def->size, 1));
  from.def->copy(copy.data(), from.data);
  for (const FieldInfo& f : from.def->fields) {
    if (f.kind == AttrKind::kInt) {
      f.set(copy.data(), to(std::get<int64_t>(f.get(from.data))));
    } else if (f.kind == AttrKind::kInts) {
      Ints list = std::get<Ints>(f.get(from.data));
      for (int64_t& i : list) i = to(i);
      f.set(copy.data(), list);
    }
  }
  AttrsBox box(AttrsRef(*from.def, copy.data()));
  from.def->destroy(copy.data());
  return box;
}

}  // namespace

/// Makes a plan of calls that are general already, or of one recording, and one more recording.
class GeneralPlan::Generalizer {
 public:
  explicit Generalizer(std::vector<GeneralSegment> before) : before_(std::move(before)) {}

  /// Null when the recordings differ in more than extents.
  std::shared_ptr<GeneralPlan> run(const std::vector<Segment*>& now) {
    if (before_.size() != now.size()) return nullptr;
    for (size_t k = 0; k < now.size(); ++k) {
      if (before_[k].size() != now[k]->calls.size()) return nullptr;
      for (size_t i = 0; i < before_[k].size(); ++i)
        if (!merge(before_[k][i], now[k]->calls[i])) return nullptr;
    }
    auto plan = std::make_shared<GeneralPlan>();
    plan->segments_ = std::move(before_);
    for (const auto& [pair, symbol] : symbols_) plan->numbers_of_.emplace(symbol.raw(), place_of(symbol));
    return plan;
  }
  /// What the symbols stand for in the recordings before, where those held numbers alone, and in the one now.
  [[nodiscard]] const Extents& first() const { return first_; }
  [[nodiscard]] const Extents& second() const { return second_; }

 private:
  [[nodiscard]] size_t place_of(Dim symbol) const { return places_.at(symbol.raw()); }

  /// The number that both have, or the symbol for the two.
  int64_t merge(int64_t before, int64_t now) {
    if (before == now) return now;
    auto [at, is_new] = symbols_.try_emplace({before, now}, Dim());
    if (is_new) {
      at->second = Dim::symbol(fmt::format("s{}", first_.size()));
      places_.emplace(at->second.raw(), first_.size());
      first_.push_back(before);
      second_.push_back(now);
    }
    return at->second.raw();
  }
  bool merge(TensorType& before, const TensorType& now) {
    if (before.dtype != now.dtype || !(before.device == now.device) ||
        before.shape.rank() != now.shape.rank())
      return false;
    for (int i = 0; i < now.shape.rank(); ++i) {
      const int64_t raw = merge(before.shape[i].raw(), now.shape[i].raw());
      if (Dim(raw).is_symbol() && now.shape[i] == Dim(0)) return false;  // nothing is like other extents
      before.shape[i] = Dim(raw);
    }
    return true;
  }
  bool merge(GeneralCall& before, const RecordedCall& now) {
    RecordedCall& call = before.call;
    if (call.op != now.op || call.in.size() != now.in.size() || call.out.size() != now.out.size())
      return false;
    for (size_t i = 0; i < now.in.size(); ++i) {
      RecordedOperand& a = call.in[i];
      const RecordedOperand& b = now.in[i];
      if (a.place != b.place || a.source != b.source || a.first_use != b.first_use) return false;
      if (a.place != kAbsent && !merge(a.type, b.type)) return false;
    }
    for (size_t i = 0; i < now.out.size(); ++i)
      if (!merge(call.out[i], now.out[i])) return false;
    return merge_attributes(before, now);
  }
  bool merge_attributes(GeneralCall& before, const RecordedCall& now) {
    RecordedCall& call = before.call;
    call.dynamic |= now.dynamic;
    if (call.dynamic || call.attrs == now.attrs) return true;
    if (call.op->traits.dynamic_attrs) {
      call.dynamic = true;
      return true;
    }
    std::vector<int64_t> merged;
    const bool fits = walk_integers(*call.attrs.ref().def, call.attrs.ref().data, now.attrs.ref().data,
                                    [&](int64_t a, int64_t b) {
                                      merged.push_back(merge(a, b));
                                      return true;
                                    });
    if (!fits) return false;
    size_t next = 0;
    bool is_held = true;  // a symbol does not fit into every integer type
    call.attrs = with_integers(call.attrs, [&](int64_t) { return merged[next++]; });
    next = 0;
    static_cast<void>(with_integers(call.attrs, [&](int64_t i) {
      is_held &= i == merged[next++];
      return i;
    }));
    before.open_attrs = true;
    return is_held;
  }

  std::vector<GeneralSegment> before_;
  std::map<std::pair<int64_t, int64_t>, Dim> symbols_;
  std::unordered_map<int64_t, size_t> places_;
  Extents first_, second_;
};

namespace {

/// The plan's calls follow the general ones from now on.
void belong(Plan& plan, const std::vector<Segment*>& way, const std::shared_ptr<GeneralPlan>& general,
            const Extents& extents) {
  plan.general = general;
  plan.extents = extents;
  for (size_t k = 0; k < way.size(); ++k) {
    way[k]->general_index = static_cast<int32_t>(k);
    way[k]->programs.clear();  // those may have folded what varies
    for (size_t i = 0; i < way[k]->calls.size(); ++i)
      way[k]->calls[i].varies = general->segments()[k][i].open_attrs;
  }
}

}  // namespace

std::shared_ptr<GeneralPlan> GeneralPlan::of(Plan& a, Plan& b) {
  std::vector<GeneralSegment> calls;
  const std::vector<Segment*> first = main_way(a);
  const std::vector<Segment*> second = main_way(b);
  if (first.size() != second.size()) return nullptr;
  for (size_t k = 0; k < first.size(); ++k) {
    if (first[k]->calls.size() != second[k]->calls.size()) return nullptr;
    for (const RecordedCall& c : first[k]->calls) {
      if (calls.size() == k) calls.emplace_back();
      calls.back().push_back({c});
    }
    if (calls.size() == k) calls.emplace_back();
  }
  Generalizer generalizer(std::move(calls));
  std::shared_ptr<GeneralPlan> general = generalizer.run(second);
  if (!general) return nullptr;
  belong(a, first, general, generalizer.first());
  belong(b, second, general, generalizer.second());
  return general;
}

std::shared_ptr<GeneralPlan> GeneralPlan::of(const GeneralPlan& general, Plan& b) {
  const std::vector<Segment*> way = main_way(b);
  Generalizer generalizer(general.segments_);
  std::shared_ptr<GeneralPlan> wider = generalizer.run(way);
  if (wider) belong(b, way, wider, generalizer.second());
  return wider;
}

bool GeneralPlan::match(const TensorType& open, const TensorType& given, Extents* extents) const {
  if (open.dtype != given.dtype || !(open.device == given.device) || open.shape.rank() != given.shape.rank())
    return false;
  for (int i = 0; i < open.shape.rank(); ++i) {
    const bool is_nothing = open.shape[i].is_symbol() && given.shape[i] == Dim(0);
    if (is_nothing || !match(open.shape[i].raw(), given.shape[i].raw(), extents)) return false;
  }
  return true;
}

bool GeneralPlan::match(int64_t open, int64_t given, Extents* extents) const {
  if (!Dim(open).is_symbol()) return open == given;
  auto at = numbers_of_.find(open);
  if (at == numbers_of_.end()) return open == given;
  int64_t& number = (*extents)[at->second];
  if (number == kNoNumber) number = given;
  return number == given;
}

bool GeneralPlan::match(const GeneralCall& open, AttrsRef given, Extents* extents) const {
  const AttrsRef attrs = open.call.attrs.ref();
  if (attrs.def != given.def) return false;
  return walk_integers(*attrs.def, attrs.data, given.data,
                       [&](int64_t a, int64_t b) { return match(a, b, extents); });
}

Extents GeneralPlan::no_extents() const { return Extents(numbers_of_.size(), kNoNumber); }

AttrsBox GeneralPlan::close(const AttrsBox& open, const Extents& extents) const {
  return with_integers(open, [&](int64_t i) {
    auto at = numbers_of_.find(i);
    return at == numbers_of_.end() ? i : extents[at->second];
  });
}

/// Makes a graph for extents `now` of the graphs of two samples.
class GeneralPlan::Instance {
 public:
  Instance(const GeneralPlan& plan, const Sample& a, const Sample& b, const Extents& now)
      : plan_(plan), a_(a), b_(b), now_(now) {}

  std::optional<Graph> run() {
    if (!pair_numbers()) return std::nullopt;
    pair_attributes();
    Graph graph = *a_.graph;
    if (!merge(graph, *b_.graph)) return std::nullopt;
    try {
      graph.verify();
    } catch (const Error&) {
      return std::nullopt;  // the passes went by more than which extents are equal
    }
    return graph;
  }

 private:
  /// False when two numbers were the same in both samples and are not now.
  bool pair_numbers() {
    for (size_t i = 0; i < now_.size(); ++i) {
      const int64_t a = a_.extents[i];
      const int64_t b = b_.extents[i];
      if (a == kNoNumber || b == kNoNumber || now_[i] == kNoNumber) continue;  // of a later segment
      if (a == b && now_[i] != a) return false;
      auto [at, is_new] = numbers_.try_emplace({a, b}, now_[i]);
      if (!is_new && at->second != now_[i]) return false;
    }
    return true;
  }
  void pair_attributes() {
    for (const GeneralCall& c : plan_.segments_[a_.segment]) {
      if (!c.open_attrs) continue;
      Attributes found{c.call.op, plan_.close(c.call.attrs, a_.extents),
                       plan_.close(c.call.attrs, b_.extents), plan_.close(c.call.attrs, now_)};
      attributes_.emplace(found.hash(), std::move(found));
    }
  }

  /// Values go together by their numbers in the text: graphs that were read from a file have others.
  bool merge(Graph& to, const Graph& other) const {
    if (to.inputs.size() != other.inputs.size() || to.nodes.size() != other.nodes.size()) return false;
    const std::vector<ValueId> numbers = to.numbering();
    const std::vector<ValueId> other_numbers = other.numbering();
    std::vector<ValueId> by_number(other.value_count(), kNoValue);
    for (size_t w = 0; w < other_numbers.size(); ++w)
      if (other_numbers[w] != kNoValue)
        by_number[static_cast<size_t>(other_numbers[w])] = static_cast<ValueId>(w);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == kNoValue) continue;
      const auto n = static_cast<size_t>(numbers[i]);
      if (n >= by_number.size() || by_number[n] == kNoValue) return false;
      const auto v = static_cast<ValueId>(i);
      TensorType type = to.type(v);
      if (!same_constant(to.constant(v), other.constant(by_number[n])) ||
          !merge(type, other.type(by_number[n])))
        return false;
      to.set_type(v, type);
    }
    auto same = [&](const auto& values, const auto& others) {
      if (values.size() != others.size()) return false;
      for (size_t i = 0; i < values.size(); ++i) {
        const ValueId v = values[i];
        const ValueId w = others[i];
        if ((v == kNoValue) != (w == kNoValue)) return false;
        if (v != kNoValue && numbers[static_cast<size_t>(v)] != other_numbers[static_cast<size_t>(w)])
          return false;
      }
      return true;
    };
    if (!same(to.outputs, other.outputs)) return false;
    for (size_t i = 0; i < to.nodes.size(); ++i) {
      Node& n = to.nodes[i];
      const Node& o = other.nodes[i];
      if (!same(n.in, o.in) || !same(n.out, o.out) || !merge(n, o)) return false;
    }
    return true;
  }
  bool merge(TensorType& to, const TensorType& other) const {
    if (to.dtype != other.dtype || !(to.device == other.device) || to.shape.rank() != other.shape.rank())
      return false;
    for (int i = 0; i < to.shape.rank(); ++i) {
      const int64_t a = to.shape[i].raw();
      const int64_t b = other.shape[i].raw();
      auto at = numbers_.find({a, b});
      if (at == numbers_.end() && a != b) return false;
      if (at != numbers_.end()) to.shape[i] = Dim(at->second);
    }
    return true;
  }
  bool merge(Node& to, const Node& other) const {
    if (to.op != other.op || to.slot != other.slot || to.varies != other.varies || !to.body != !other.body)
      return false;
    if (to.body && to.body->engine != other.body->engine) return false;
    if (!(to.attrs == other.attrs)) {
      const Attributes* found = find(to.op, to.attrs, other.attrs);
      if (!found) return false;  // a pass made them
      to.attrs = found->now;
    }
    if (!to.body) return true;
    auto body = std::make_shared<Graph>(*to.body);
    if (!merge(*body, *other.body)) return false;
    to.body = std::move(body);
    return true;
  }
  static bool same_constant(const Tensor& a, const Tensor& b) {
    if (!a.defined() || !b.defined()) return a.defined() == b.defined();
    if (!(a.type() == b.type())) return false;
    auto bytes = [](const Tensor& t) {
      std::vector<std::byte> copy(static_cast<size_t>(t.numel()) * dtype_size(t.dtype()));
      t.copy_to(copy.data(), t.dtype());
      return copy;
    };
    return a.value() == b.value() || bytes(a) == bytes(b);
  }

  /// What a recorded call says in the samples, and now.
  struct Attributes {
    const OpDef* op;
    AttrsBox a, b, now;
    [[nodiscard]] uint64_t hash() const { return hash_of(op, a, b); }
    static uint64_t hash_of(const OpDef* op, const AttrsBox& a, const AttrsBox& b) {
      return hash_combine(hash_combine(reinterpret_cast<uintptr_t>(op), a.hash()), b.hash());
    }
  };
  [[nodiscard]] const Attributes* find(const OpDef* op, const AttrsBox& a, const AttrsBox& b) const {
    auto [first, end] = attributes_.equal_range(Attributes::hash_of(op, a, b));
    for (; first != end; ++first)
      if (first->second.op == op && first->second.a == a && first->second.b == b) return &first->second;
    return nullptr;
  }

  const GeneralPlan& plan_;
  const Sample& a_;
  const Sample& b_;
  const Extents& now_;
  std::map<std::pair<int64_t, int64_t>, int64_t> numbers_;
  std::unordered_multimap<uint64_t, Attributes> attributes_;
};

std::optional<Graph> GeneralPlan::instance(size_t segment, const std::vector<char>& live,
                                           const std::vector<int32_t>& slots, const Extents& extents) const {
  std::vector<Sample> known;
  {
    std::lock_guard lock(fork_mutex_of(this));
    for (const Sample& s : samples_)
      if (s.segment == segment && s.live == live && s.slots == slots) known.push_back(s);
  }
  for (size_t i = 0; i < known.size(); ++i)
    for (size_t j = i + 1; j < known.size(); ++j)
      if (std::optional<Graph> made = Instance(*this, known[i], known[j], extents).run()) return made;
  return std::nullopt;
}

void GeneralPlan::learn(size_t segment, const std::vector<char>& live, const std::vector<int32_t>& slots,
                        std::shared_ptr<const Graph> graph, const Extents& extents) {
  Sample sample{segment, live, slots, std::move(graph), extents};
  auto same = [&](const Sample& s) {
    return s.segment == sample.segment && s.live == sample.live && s.slots == sample.slots;
  };
  std::optional<Sample> dropped;  // destroyed without the lock
  std::lock_guard lock(fork_mutex_of(this));
  auto drop = samples_.end();
  if (static_cast<size_t>(std::count_if(samples_.begin(), samples_.end(), same)) >= kMostSamples)
    drop = std::find_if(samples_.begin(), samples_.end(), same);
  else if (samples_.size() >= 4 * kMostSamples * segments_.size())
    drop = samples_.begin();
  if (drop != samples_.end()) {
    dropped = std::move(*drop);
    samples_.erase(drop);
  }
  samples_.push_back(std::move(sample));
}

}  // namespace sorus
