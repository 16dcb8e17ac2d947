#include "sorus/data/text/detail/plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>

namespace sorus::data::text {
namespace detail {
namespace {

/// The folder that this library was loaded from.
std::filesystem::path own_folder() {
  Dl_info info{};
  const bool known = dladdr(reinterpret_cast<const void*>(&plugin), &info) != 0 && info.dli_fname != nullptr;
  SORUS_CHECK(known, IOError, "text: libsorus_text.so cannot be found: got no path of libsorus.so");
  return std::filesystem::path(info.dli_fname).parent_path();
}

const Plugin* load_plugin() {
  const std::string path = (own_folder() / "libsorus_text.so").string();
  // Local: SentencePiece has a copy of protobuf's symbols, which other libraries must not find.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    raise<IOError>("text: the library of text operations cannot be loaded: got '{}', need {}",
                   reason ? reason : "no reason", path);
  }
  auto entry = reinterpret_cast<PluginEntry>(dlsym(library, kPluginSymbol));
  SORUS_CHECK(entry != nullptr, IOError, "text: '{}' is another library: need the symbol {}", path,
              kPluginSymbol);
  const Plugin* found = entry();
  SORUS_CHECK(std::string_view(found->version) == SORUS_VERSION, IOError,
              "text: '{}' has another version: got {}, need {}", path, found->version, SORUS_VERSION);
  return found;
}

}  // namespace

const Plugin& plugin() {
  static const Plugin* loaded = load_plugin();
  return *loaded;
}

}  // namespace detail

OperationPtr case_fold() { return detail::plugin().case_fold(); }
OperationPtr normalize_utf8(NormalForm form) { return detail::plugin().normalize_utf8(form); }
OperationPtr regex_replace(const std::string& pattern, const std::string& replacement, bool all) {
  return detail::plugin().regex_replace(pattern, replacement, all);
}
OperationPtr regex_tokenizer(const std::string& delimiter, const std::string& kept, bool offsets) {
  return detail::plugin().regex_tokenizer(delimiter, kept, offsets);
}
OperationPtr unicode_script_tokenizer(bool keep_whitespace, bool offsets) {
  return detail::plugin().unicode_script_tokenizer(keep_whitespace, offsets);
}
OperationPtr basic_tokenizer(const BasicOptions& options, bool offsets) {
  return detail::plugin().basic_tokenizer(options, offsets);
}
OperationPtr bert_tokenizer(VocabPtr vocab, const WordpieceOptions& pieces, const BasicOptions& words,
                            bool offsets) {
  return detail::plugin().bert_tokenizer(std::move(vocab), pieces, words, offsets);
}

}  // namespace sorus::data::text
