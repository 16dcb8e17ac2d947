#include <algorithm>
#include <map>

#include "binding/dataset.h"
#include "binding/release_gil.h"

/// Python iterables as sources, and what is kept of them to go on later.
namespace sorus::python {

using data::Chunk;

/// States of one iterable since an epoch began, by round (it may be run over several times) and rows given
/// before. Under the GIL.
class IterableMarks final : public data::Object {
 public:
  using Place = std::pair<int64_t, int64_t>;

  std::map<Place, std::shared_ptr<Held>> marks;
  /// Rows of rounds that are over, and the state of the source then, if it knows one.
  std::map<int64_t, std::pair<int64_t, std::shared_ptr<Held>>> ends;
  std::shared_ptr<Held> before;  ///< state of the source when the epoch began

  void add(Place place, nb::object state) {
    marks[place] = std::make_shared<Held>(std::move(state));
    if (marks.size() > kMost) thin_out();
  }
  /// The last mark of a round at or before a row; null when there is none.
  [[nodiscard]] const std::pair<const Place, std::shared_ptr<Held>>* find(Place place) const {
    auto after = marks.upper_bound(place);
    if (after == marks.begin()) return nullptr;
    const auto& last = *std::prev(after);
    return last.first.first == place.first ? &last : nullptr;
  }

 private:
  static constexpr size_t kMost = 64;
  /// Drops every second mark, except the first of each round and the last.
  void thin_out() {
    bool odd = false;
    for (auto it = marks.begin(); it != std::prev(marks.end());) {
      odd = !odd;
      it = odd || it->first.second == 0 ? std::next(it) : marks.erase(it);
    }
  }
};

namespace {

bool has(const nb::object& object, const char* name) {
  return PyObject_HasAttrString(object.ptr(), name) != 0;
}
bool keeps_state(const nb::object& object) {
  return has(object, "state_dict") && has(object, "load_state_dict");
}

void tell_of_reading_again(const nb::object& source) {
  auto name = nb::cast<std::string>(nb::str(nb::type_name(source.type())));
  std::string text = "GeneratorDataset: the source cannot say where it stands: got " + name +
                     " without state_dict and load_state_dict, so it is read from the beginning of the epoch";
  nb::module_::import_("sorus.dataset._arguments").attr("tell_once")("read again", text);
}

/// Runs over an iterable, made anew for each epoch.
class IterableStage final : public data::Stage {
 public:
  IterableStage(std::shared_ptr<const Held> source, size_t columns, const data::Run& run)
      : source_(std::move(source)), columns_(static_cast<int64_t>(columns)), run_(run) {}

  Chunk next(int64_t wanted) override {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    if (over_) return {};
    GilAcquire gil;
    RowBuilder rows("GeneratorDataset", columns_);
    data::Patience patience;
    try {
      if (!iterator_) begin(0);
      while (!over_ && rows.rows() < wanted && (rows.rows() == 0 || !patience.ended()))
        if (nb::object row = pull(); row.is_valid()) rows.add(row, true);
      if (!over_) mark();
    } catch (const data::Cancelled&) {
      throw;
    } catch (...) {
      if (rows.rows() == 0) throw;
      error_ = std::current_exception();
    }
    return {rows.finish(), rows.rows()};
  }
  void rewind() override {
    iterator_ = nullptr;
    over_ = false;
    given_ = 0;
  }
  int64_t skip(int64_t count) override {
    if (over_ || count == 0) return 0;
    GilAcquire gil;
    const int64_t before = given_;
    if (!iterator_ && pass_round(count)) return given_;
    if (!iterator_) begin(count);
    while (!over_ && given_ - before < count) (void)pull();
    return given_ - before;
  }
  void save(data::StageState& state) override {
    GilAcquire gil;
    marks_ = std::make_shared<IterableMarks>();
    round_ = -1;
    loaded_ = false;
    if (keeps_state(source_->get())) marks_->before = std::make_shared<Held>(state_of(source_->get()));
    state.objects.push_back(marks_);
  }
  void load(data::StageState& state) override {
    marks_ = std::dynamic_pointer_cast<IterableMarks>(state.take_object());
    SORUS_CHECK(marks_, ValueError, "dataset iterator: state does not fit: need the state of a generator");
    round_ = -1;
    loaded_ = true;
  }

 private:
  static nb::object state_of(const nb::object& from) {
    return nb::module_::import_("copy").attr("deepcopy")(from.attr("state_dict")());
  }

  /// The next row; none at the end.
  nb::object pull() {
    run_.check();
    nb::object row = nb::steal(PyIter_Next(iterator_->get().ptr()));
    if (!row.is_valid() && PyErr_Occurred()) throw nb::python_error();
    over_ = !row.is_valid();
    if (over_)
      end_round();
    else
      ++given_;
    return row;
  }

  void end_round() {
    if (!marks_) return;
    auto& [rows, after] = marks_->ends[round_];
    rows = given_;
    if (keeps_state(source_->get())) after = std::make_shared<Held>(state_of(source_->get()));
  }
  /// Passes over a whole round whose end is known, when the source need not be read for that.
  bool pass_round(int64_t count) {
    if (!loaded_) return false;
    auto end = marks_->ends.find(round_ + 1);
    if (end == marks_->ends.end() || !end->second.second || end->second.first > count) return false;
    ++round_;
    given_ = end->second.first;
    source_->get().attr("load_state_dict")(end->second.second->get());
    return over_ = true;
  }

  /// A new round, at its beginning or at a place up to `count` rows behind it whose state is known.
  void begin(int64_t count) {
    ++round_;
    const nb::object source = source_->get();
    const auto* known = loaded_ ? marks_->find({round_, count}) : nullptr;
    // Where the source went through epochs before, that shows in how this one begins.
    if (loaded_ && !known && round_ == 0 && marks_->before)
      source.attr("load_state_dict")(marks_->before->get());
    iterator_ = std::make_unique<Held>(iterate(source));
    if (loaded_ && !known && count > 0 && !stateful()) tell_of_reading_again(source);
    if (known) {
      stateful()->attr("load_state_dict")(known->second->get());
      given_ = known->first.second;
    }
    mark();
  }

  static nb::object iterate(nb::object source) {
    if (!has(source, "__iter__") && !has(source, "__getitem__")) source = source();
    nb::object iterator = nb::steal(PyObject_GetIter(source.ptr()));
    if (!iterator.is_valid()) throw nb::python_error();
    return iterator;
  }

  /// The object that knows the state: the iterator, or the source.
  const nb::object* stateful() const {
    if (keeps_state(iterator_->get())) return &iterator_->get();
    return keeps_state(source_->get()) ? &source_->get() : nullptr;
  }
  void mark() {
    if (const nb::object* from = marks_ ? stateful() : nullptr)
      marks_->add({round_, given_}, state_of(*from));
  }

  std::shared_ptr<const Held> source_;
  int64_t columns_;
  const data::Run& run_;
  std::unique_ptr<Held> iterator_;
  bool over_ = false;
  int64_t given_ = 0;   ///< rows of this round
  int64_t round_ = -1;  ///< since the epoch began
  bool loaded_ = false;
  std::shared_ptr<IterableMarks> marks_;
  std::exception_ptr error_;
};

class IterableNode final : public data::Node {
 public:
  IterableNode(nb::object source, std::vector<std::string> names)
      : source_(std::make_shared<const Held>(std::move(source))), names_(std::move(names)) {}
  std::unique_ptr<data::Stage> make(data::Run& run) const override {
    return std::make_unique<IterableStage>(source_, names_.size(), run);
  }
  std::optional<int64_t> size() const override {
    GilAcquire gil;
    Py_ssize_t length = has(source_->get(), "__len__") ? PyObject_Size(source_->get().ptr()) : -1;
    if (length >= 0) return static_cast<int64_t>(length);
    PyErr_Clear();
    return std::nullopt;
  }
  bool hosted() const override { return true; }
  std::vector<std::string> names() const override { return names_; }
  std::vector<data::NodePtr> inputs() const override { return {}; }
  std::string text() const override { return "generator(" + data::joined(names_) + ")"; }
  bool has_exact_size() const override { return false; }  // __len__ is a promise

 private:
  std::shared_ptr<const Held> source_;
  std::vector<std::string> names_;
};

nb::object list_of(const IterableMarks& from) {
  nb::list marks, ends;
  auto boxed = [](const std::shared_ptr<Held>& held) {
    return held ? nb::object(nb::make_tuple(held->get())) : nb::none();
  };
  for (const auto& [place, state] : from.marks)
    marks.append(nb::make_tuple(place.first, place.second, state->get()));
  for (const auto& [round, end] : from.ends) ends.append(nb::make_tuple(round, end.first, boxed(end.second)));
  nb::dict out;
  out["marks"] = marks;
  out["ends"] = ends;
  out["before"] = boxed(from.before);
  return out;
}

std::shared_ptr<data::Object> marks_from(nb::handle given) {
  auto out = std::make_shared<IterableMarks>();
  auto unboxed = [](const nb::object& box) {
    return box.is_none() ? nullptr : std::make_shared<Held>(nb::object(box[0]));
  };
  for (nb::handle mark : nb::object(given["marks"]))
    out->marks[{nb::cast<int64_t>(mark[0]), nb::cast<int64_t>(mark[1])}] =
        std::make_shared<Held>(nb::object(mark[2]));
  for (nb::handle end : nb::object(given["ends"]))
    out->ends[nb::cast<int64_t>(end[0])] = {nb::cast<int64_t>(end[1]), unboxed(end[2])};
  out->before = unboxed(given["before"]);
  return out;
}

}  // namespace

data::Dataset python_iterable(nb::object source, std::vector<std::string> names) {
  return data::Dataset(std::make_shared<IterableNode>(std::move(source), std::move(names)));
}

nb::dict state_to_python(const data::IteratorState& state) {
  nb::list objects;
  for (const auto& object : state.stages.objects) {
    if (const auto* marks = dynamic_cast<const IterableMarks*>(object.get())) {
      objects.append(list_of(*marks));
      continue;
    }
    nb::list orders;
    for (const data::RowIds& ids : dynamic_cast<const data::KeptOrders&>(*object).all()) {
      nb::list order;
      for (int64_t i = 0; i < ids.count; ++i) order.append(ids[i]);
      orders.append(order);
    }
    objects.append(orders);
  }
  nb::dict out;
  out["version"] = 1;
  out["seed"] = state.seed;
  out["epoch"] = state.epoch;
  out["row"] = state.row;
  nb::list steps, numbers;
  for (const std::string& step : state.steps) steps.append(step);
  for (int64_t number : state.stages.numbers) numbers.append(number);
  out["steps"] = steps;
  out["numbers"] = numbers;
  out["objects"] = objects;
  return out;
}

data::IteratorState state_from_python(const nb::dict& given) try {
  data::IteratorState state;
  state.seed = nb::cast<uint32_t>(given["seed"]);
  state.epoch = nb::cast<int64_t>(given["epoch"]);
  state.row = nb::cast<int64_t>(given["row"]);
  for (nb::handle step : nb::object(given["steps"])) state.steps.push_back(nb::cast<std::string>(step));
  for (nb::handle number : nb::object(given["numbers"]))
    state.stages.numbers.push_back(nb::cast<int64_t>(number));
  for (nb::handle object : nb::object(given["objects"])) {
    if (PyDict_Check(object.ptr())) {
      state.stages.objects.push_back(marks_from(object));
      continue;
    }
    auto orders = std::make_shared<data::KeptOrders>();
    for (nb::handle order : object) {
      data::RowIds ids;
      for (nb::handle id : order) ids.list.push_back(nb::cast<int64_t>(id));
      ids.count = std::ssize(ids.list);
      orders->add(ids);
    }
    state.stages.objects.push_back(std::move(orders));
  }
  return state;
} catch (const std::bad_cast&) {
  throw nb::type_error("a value of another type");
}

}  // namespace sorus::python
