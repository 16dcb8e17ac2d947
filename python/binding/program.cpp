#include "sorus/compiler/program.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/bridge.h"
#include "binding/callables.h"
#include "binding/release_gil.h"
#include "sorus/compiler/session.h"
#include "sorus/dispatch/apply.h"
#include "sorus/tuning/tune.h"

/// Programs that are saved, loaded and handed to sessions.
namespace sorus::python {
namespace {

/// `function(*tensors)`, which returns a sequence of tensors, for tensors of the types of those given.
Program trace_program(nb::object function, nb::handle tensors, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
  std::vector<ProgramValue> values;
  for (const Tensor& t : tensors_of(tensors, "trace_program")) {
    SORUS_CHECK(t.defined(), TypeError, "trace_program: input has the wrong type: got None, need a Tensor");
    values.push_back({inputs.at(values.size()), t.type()});
  }
  const TensorFunction f = function_of(share(std::move(function)), "trace_program");
  return without_gil([&] { return Program::trace(f, values, outputs); });
}

nb::list described(const std::vector<ProgramValue>& values) {
  nb::list all;
  for (const ProgramValue& v : values)
    all.append(nb::make_tuple(v.name, nb::borrow(dtype_object(v.type.dtype)), shape_tuple(v.type.shape)));
  return all;
}

nb::tuple call_program(const Program& program, nb::handle tensors) {
  const TensorList in = tensors_of(tensors, "program");
  return tuple_of(without_gil([&] { return program(in); }));
}

/// Python strings may not hold any bytes, so these are copied by way of `bytes`.
nb::bytes bytes_of(const Program& program) {
  const std::string bytes = without_gil([&] { return program.bytes(); });
  return nb::bytes(bytes.data(), bytes.size());
}

Program program_of(const nb::bytes& bytes) {
  const std::string_view view(bytes.c_str(), bytes.size());
  return without_gil([&] { return Program::from_bytes(view); });
}

nb::dict described(const tuning::Entry& entry) {
  nb::dict values;
  for (const auto& [parameter, value] : entry.values.items())
    values[nb::str(parameter->spec().name.data())] = value;
  nb::dict d;
  d["part"] = std::string(tuned_part_name(entry.part));
  d["what"] = entry.what;
  d["values"] = values;
  d["before"] = entry.before_ns * 1e-9;
  d["after"] = entry.after_ns * 1e-9;
  return d;
}

/// Tunes for this thread's numerics, and keeps what is found in the database that is in use.
nb::dict tune_program(const Program& program, nb::handle tensors, double budget) {
  const TensorList given = tensors_of(tensors, "tune_program");
  const std::string path = tuning_database();
  const tuning::TuneReport r = without_gil([&] {
    const tuning::TuneOptions options{.seconds = budget, .relaxed = scope_state().relaxed_numerics};
    const tuning::Database database(path);
    return tuning::tune(program.graph(), given.empty() ? tuning::example_inputs(program.graph()) : given,
                        options, path.empty() ? nullptr : &database);
  });
  nb::list found, steps;
  for (const tuning::Gain& g : r.gains)
    if (!g.entry.values.empty()) found.append(described(g.entry));
  for (const tuning::StepTime& s : r.steps)
    steps.append(nb::make_tuple(s.what, s.kernel, s.before_ns * 1e-9, s.after_ns * 1e-9));
  nb::dict d;
  d["before"] = r.before_ns * 1e-9;
  d["after"] = r.after_ns * 1e-9;
  d["faster"] = r.is_faster;
  d["candidates"] = r.candidates;
  d["found"] = found;
  d["steps"] = steps;
  return d;
}

nb::list parameters() {
  nb::list all;
  for (const Tunable* p : all_tunables()) {
    const TunableSpec& s = p->spec();
    nb::dict d;
    d["name"] = std::string(s.name);
    d["default"] = s.initial;
    d["least"] = s.least;
    d["most"] = s.most;
    d["part"] = std::string(tuned_part_name(s.part));
    d["bit_neutral"] = s.effect == BitEffect::kNeutral;
    d["doc"] = std::string(s.doc);
    all.append(d);
  }
  return all;
}

void bind_session(nb::module_& m) {
  nb::class_<Session>(m, "Session")
      .def(nb::init<>())
      .def("add", [](Session& s, const Program& program) { return s.add(program); })
      .def("find", [](const Session& s, Session::Id id) { return s.find(id); })
      .def("remove", [](Session& s, Session::Id id) { s.remove(id); })
      .def("ids", [](const Session& s) { return s.ids(); });
}

}  // namespace

void bind_program(nb::module_& m) {
  bind_session(m);
  m.def("tune_program", &tune_program);
  m.def("tuning_parameters", &parameters);
  m.def("set_tuning_database", [](const std::string& path) { set_tuning_database(path); });
  m.def("tuning_database", &tuning_database);
  m.def("default_tuning_database", &default_tuning_database);
  nb::class_<Program>(m, "Program")
      .def_static("trace", &trace_program)
      .def_static("from_bytes", &program_of)
      .def("to_bytes", &bytes_of)
      .def_static("load",
                  [](const std::string& path) { return without_gil([&] { return load_program(path); }); })
      .def("save",
           [](const Program& program, const std::string& path) {
             without_gil([&] {
               save_program(path, program);
               return 0;
             });
           })
      .def_prop_ro("inputs", [](const Program& p) { return described(p.inputs()); })
      .def_prop_ro("outputs", [](const Program& p) { return described(p.outputs()); })
      .def("compile",
           [](const Program& program) {
             without_gil([&] {
               program.compile();
               return 0;
             });
           })
      .def("__call__", &call_program);
}

}  // namespace sorus::python
