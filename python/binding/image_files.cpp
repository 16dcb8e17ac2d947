#include <nanobind/stl/string.h>

#include "binding/dataset.h"
#include "binding/release_gil.h"
#include "sorus/formats/file.h"
#include "sorus/formats/image.h"

/// Files of images and their bytes: part of `_core.data`.
namespace sorus::python {
namespace {

using namespace formats;

/// A writable array of rank 1.
nb::object byte_array(const std::string& bytes) {
  PyObject* made = PyByteArray_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
  if (!made) throw nb::python_error();
  return nb::module_::import_("numpy").attr("frombuffer")(nb::steal(made), "uint8");
}

void write_bytes(const std::string& path, nb::handle data) {
  const Tensor bytes = tensor_from_object(data.ptr(), nullptr);
  SORUS_CHECK(bytes.dtype() == DType::kUInt8, DTypeError,
              "write_file: data has the wrong type: got {}, need uint8", bytes.dtype());
  SORUS_CHECK(bytes.rank() == 1, ShapeError, "write_file: data has the wrong shape: got {}, need rank 1",
              bytes.shape());
  without_gil([&] {
    const std::vector<uint8_t> copy = bytes.to_vector<uint8_t>();
    write_file(path, {reinterpret_cast<const char*>(copy.data()), copy.size()});
  });
}

/// `name` and `write_name` for a kind of file; both take the encoder's only setting.
void bind_encoder(nb::module_& m, const char* name, const char* write_name,
                  std::string (*encode)(const Tensor&, int64_t)) {
  m.def(name, [encode](nb::handle image, int64_t setting) {
    const Tensor pixels = tensor_from_object(image.ptr(), nullptr);
    return byte_array(without_gil([&] { return encode(pixels, setting); }));
  });
  m.def(write_name, [encode](const std::string& path, nb::handle image, int64_t setting) {
    const Tensor pixels = tensor_from_object(image.ptr(), nullptr);
    without_gil([&] { write_file(path, encode(pixels, setting)); });
  });
}

}  // namespace

void bind_image_files(nb::module_& m) {
  bind_encoder(m, "encode_png", "write_png", &encode_png);
  bind_encoder(m, "encode_jpeg", "write_jpeg", &encode_jpeg);
  m.def("read_file",
        [](const std::string& path) { return byte_array(without_gil([&] { return read_file(path); })); });
  m.def("write_file", &write_bytes);
}

}  // namespace sorus::python
