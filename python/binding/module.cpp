#include <nanobind/stl/string.h>

#include "binding/bridge.h"
#include "binding/functions.h"
#include "sorus/base/cpu_features.h"
#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/onednn/version.h"

namespace {

/// Errors thrown inside functions that nanobind itself calls.
void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const sorus::Error&) {
    sorus::python::translate_exception();
  }
}

}  // namespace

NB_MODULE(_core, m) {
  nanobind::set_leak_warnings(false);  // dtype objects and functions live as long as the process
  m.doc() = "The compiled part of sorus. Its names are private; the package gives them their public ones.";
  m.attr("__version__") = SORUS_VERSION;
  nanobind::register_exception_translator(&translate);
  m.def("describe_cpu", &sorus::describe_cpu);
  m.def("num_threads", &sorus::num_threads);
  m.def("set_num_threads", &sorus::set_num_threads, nanobind::arg("n"));
  m.def("onednn_version", &sorus::kernels::onednn::library_version);
  sorus::python::bind_dtypes(m);
  sorus::python::bind_tensor(m);
  sorus::python::bind_arrays(m);
  sorus::python::bind_ops(m);
  sorus::python::bind_autograd(m);
  sorus::python::bind_train(m);
  sorus::python::bind_boundary(m);
  sorus::python::bind_control(m);
  sorus::python::bind_program(m);
  sorus::python::bind_dataset(m);
  sorus::python::bind_summary(m);
  sorus::python::bind_mindrecord(m);
  for (auto* table :
       {&sorus::python::elementwise_functions, &sorus::python::two_operand_functions,
        &sorus::python::activation_functions, &sorus::python::shape_functions,
        &sorus::python::stacking_functions, &sorus::python::index_functions, &sorus::python::reduce_functions,
        &sorus::python::linalg_functions, &sorus::python::nn_functions, &sorus::python::loss_functions,
        &sorus::python::random_functions, &sorus::python::recurrent_functions,
        &sorus::python::optim_functions, &sorus::python::schedule_functions})
    sorus::python::add_functions(table());
}
