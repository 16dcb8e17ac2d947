#include "sorus/compiler/program.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/bridge.h"
#include "binding/callables.h"
#include "binding/release_gil.h"
#include "sorus/compiler/session.h"

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
