#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/dataset.h"
#include "binding/release_gil.h"
#include "sorus/data/text/jieba.h"
#include "sorus/data/text/sentence_piece.h"
#include "sorus/data/text/text.h"

/// Operations on strings as Python sees them: in `_core.data`. The classes of sorus.dataset.text are thin
/// over these.
namespace sorus::python {

namespace text = data::text;
using data::Dataset;
using Words = std::vector<std::string>;

namespace {

/// Tables inside Python.
struct PyVocab {
  text::VocabPtr vocab;
};
struct PyVectors {
  std::shared_ptr<const text::Vectors> vectors;
};
struct PyPieces {
  text::SentencePiecePtr pieces;
};

PyOperation made(data::OperationPtr operation) { return {std::move(operation)}; }

DType dtype_of(const char* op, nb::handle dtype) {
  DType t{};
  SORUS_CHECK(to_dtype(dtype.ptr(), &t), TypeError, "{}: data_type is no dtype: got {}, need one", op,
              type_text(dtype.ptr()));
  return t;
}

PyVocab vocab_from_dict(const nb::dict& words) {
  std::vector<text::Vocab::Entry> entries;
  for (auto [word, id] : words) entries.emplace_back(nb::cast<std::string>(word), nb::cast<int32_t>(id));
  return {text::Vocab::from_entries(std::move(entries))};
}

void bind_vocab(nb::module_& m) {
  nb::class_<PyVocab>(m, "Vocab")
      .def("id", [](const PyVocab& v, const std::string& token) { return v.vocab->id(token); })
      .def("token",
           [](const PyVocab& v, int32_t id) {
             const std::string& token = v.vocab->token(id);
             // A file's tokens may be anything; those that are no text cannot be strings of Python otherwise.
             return nb::steal(PyUnicode_DecodeUTF8(token.data(), std::ssize(token), "surrogateescape"));
           })
      .def("entries", [](const PyVocab& v) {
        nb::dict entries;
        for (const auto& [token, id] : v.vocab->entries())
          entries[nb::steal(PyUnicode_DecodeUTF8(token.data(), std::ssize(token), "surrogateescape"))] = id;
        return entries;
      });
  m.def("vocab_from_dict", &vocab_from_dict);
  m.def("vocab_from_list", [](const Words& words, Words special, bool first) {
    return PyVocab{text::Vocab::from_list(words, {std::move(special), first})};
  });
  m.def(
      "vocab_from_file",
      [](const std::string& path, const std::string& delimiter, std::optional<int64_t> size, Words special,
         bool first) {
        return without_gil([&] {
          return PyVocab{text::Vocab::from_file(path, delimiter, size, {std::move(special), first})};
        });
      },
      nb::arg("path"), nb::arg("delimiter"), nb::arg("size").none(), nb::arg("special"), nb::arg("first"));
  m.def("vocab_from_dataset", [](const Dataset& dataset, Words columns, int64_t least, int64_t most,
                                 int64_t top, Words special, bool first) {
    return without_gil([&] {
      return PyVocab{text::Vocab::from_dataset(
          dataset, {std::move(columns), least, most, top, {std::move(special), first}})};
    });
  });
}

void bind_tables(nb::module_& m) {
  nb::class_<PyVectors>(m, "Vectors");
  m.def("vectors_from_file", [](int kind, const std::string& path, int64_t most) {
    return without_gil([&] {
      return PyVectors{text::Vectors::from_file(static_cast<text::VectorsFile>(kind), path, most)};
    });
  });
  nb::class_<PyPieces>(m, "Pieces")
      .def("save", [](const PyPieces& p, const std::string& path) { p.pieces->save(path); })
      .def("bytes",
           [](const PyPieces& p) { return nb::bytes(p.pieces->bytes().data(), p.pieces->bytes().size()); });
  using More = std::map<std::string, std::string>;
  m.def("pieces_from_files", [](const Words& paths, int64_t size, double coverage, int algorithm, More more) {
    return without_gil([&] {
      return PyPieces{text::SentencePieceVocab::from_files(
          paths, {size, coverage, static_cast<text::PieceAlgorithm>(algorithm), std::move(more)})};
    });
  });
  m.def("pieces_from_dataset", [](const Dataset& dataset, const Words& columns, int64_t size, double coverage,
                                  int algorithm, More more) {
    return without_gil([&] {
      return PyPieces{text::SentencePieceVocab::from_dataset(
          dataset, columns, {size, coverage, static_cast<text::PieceAlgorithm>(algorithm), std::move(more)})};
    });
  });
  m.def("pieces_from_model",
        [](const std::string& path) { return PyPieces{text::SentencePieceVocab::load(path)}; });
  m.def("pieces_from_bytes", [](const nb::bytes& bytes) {
    return PyPieces{text::SentencePieceVocab::from_bytes(std::string(bytes.c_str(), bytes.size()))};
  });
}

void bind_strings(nb::module_& m) {
  m.def(
      "lookup",
      [](const PyVocab& vocab, const std::optional<std::string>& unknown, nb::handle dtype) {
        return made(text::lookup(vocab.vocab, unknown, dtype_of("Lookup", dtype)));
      },
      nb::arg("vocab"), nb::arg("unknown").none(), nb::arg("dtype"));
  m.def("to_number", [](nb::handle dtype) { return made(text::to_number(dtype_of("ToNumber", dtype))); });
  m.def("to_vectors", [](const PyVectors& vectors, std::vector<float> unknown, bool lower_case_backup) {
    return made(text::to_vectors(vectors.vectors, std::move(unknown), lower_case_backup));
  });
  m.def("add_token",
        [](std::string token, bool begin) { return made(text::add_token(std::move(token), begin)); });
  m.def("truncate", [](int64_t most) { return made(text::truncate(most)); });
  m.def("truncate_pair", [](int64_t most) { return made(text::truncate_pair(most)); });
  using Pad = std::pair<std::string, int64_t>;
  m.def("ngram", [](std::vector<int64_t> sizes, const Pad& left, const Pad& right, std::string separator) {
    return made(text::ngram(std::move(sizes), {left.first, left.second}, {right.first, right.second},
                            std::move(separator)));
  });
  m.def("sliding_window",
        [](int64_t width, int64_t axis) { return made(text::sliding_window(width, axis)); });
  m.def("case_fold", [] { return made(text::case_fold()); });
  m.def("normalize_utf8",
        [](int form) { return made(text::normalize_utf8(static_cast<text::NormalForm>(form))); });
  m.def("regex_replace", [](const std::string& pattern, const std::string& replacement, bool all) {
    return made(text::regex_replace(pattern, replacement, all));
  });
  m.def("filter_wikipedia_xml", [] { return made(text::filter_wikipedia_xml()); });
}

void bind_tokenizers(nb::module_& m) {
  nb::class_<text::WordpieceOptions>(m, "WordpieceOptions")
      .def("__init__", [](text::WordpieceOptions* o, std::string suffix_indicator, int64_t max_bytes,
                          std::string unknown) {
        new (o) text::WordpieceOptions{std::move(suffix_indicator), max_bytes, std::move(unknown)};
      });
  nb::class_<text::BasicOptions>(m, "BasicOptions")
      .def("__init__",
           [](text::BasicOptions* o, bool lower_case, bool keep_whitespace, int form, bool preserve_unused) {
             new (o) text::BasicOptions{lower_case, keep_whitespace, static_cast<text::NormalForm>(form),
                                        preserve_unused};
           });
  m.def("unicode_char_tokenizer", [](bool offsets) { return made(text::unicode_char_tokenizer(offsets)); });
  m.def("whitespace_tokenizer", [](bool offsets) { return made(text::whitespace_tokenizer(offsets)); });
  m.def("unicode_script_tokenizer", [](bool keep_whitespace, bool offsets) {
    return made(text::unicode_script_tokenizer(keep_whitespace, offsets));
  });
  m.def("regex_tokenizer", [](const std::string& delimiter, const std::string& kept, bool offsets) {
    return made(text::regex_tokenizer(delimiter, kept, offsets));
  });
  m.def("wordpiece_tokenizer", [](const PyVocab& vocab, const text::WordpieceOptions& options, bool offsets) {
    return made(text::wordpiece_tokenizer(vocab.vocab, options, offsets));
  });
  m.def("basic_tokenizer", [](const text::BasicOptions& options, bool offsets) {
    return made(text::basic_tokenizer(options, offsets));
  });
  m.def("bert_tokenizer",
        [](const PyVocab& vocab, const text::WordpieceOptions& pieces, const text::BasicOptions& words,
           bool offsets) { return made(text::bert_tokenizer(vocab.vocab, pieces, words, offsets)); });
  m.def("sentence_piece_tokenizer", [](const PyPieces& pieces, bool ids) {
    return made(text::sentence_piece_tokenizer(pieces.pieces, ids));
  });
  using Pair = std::pair<std::string, int64_t>;
  m.def("jieba_tokenizer", [](const std::string& hmm_path, const std::string& mp_path, int mode,
                              const std::vector<Pair>& words, bool offsets) {
    text::JiebaOptions options{hmm_path, mp_path, static_cast<text::JiebaMode>(mode), {}};
    for (const auto& [word, frequency] : words) options.words.push_back({word, frequency});
    return without_gil([&] { return made(text::jieba_tokenizer(options, offsets)); });
  });
}

}  // namespace

void bind_text_operations(nb::module_& m) {
  bind_vocab(m);
  bind_tables(m);
  bind_strings(m);
  bind_tokenizers(m);
}

}  // namespace sorus::python
