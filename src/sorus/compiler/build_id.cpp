#include "sorus/compiler/build_id.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>

namespace sorus {
namespace {

struct Search {
  uintptr_t address;
  std::string id;
};

constexpr size_t padded(size_t bytes) { return (bytes + 3) & ~size_t{3}; }

/// The build id among the notes of a loaded file, in hexadecimal.
std::string build_id_of(const char* notes, size_t size) {
  std::string id;
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head{};
    std::memcpy(&head, notes, sizeof(head));
    const size_t name_at = sizeof(head), bytes_at = name_at + padded(head.n_namesz);
    const size_t end = bytes_at + padded(head.n_descsz);
    if (end > size) break;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(notes + name_at, "GNU", 4) == 0)
      for (size_t i = 0; i < head.n_descsz; ++i)
        id += fmt::format("{:02x}", static_cast<unsigned char>(notes[bytes_at + i]));
    notes += end;
    size -= end;
  }
  return id;
}

int look_at(dl_phdr_info* info, size_t, void* context) {
  auto& search = *static_cast<Search*>(context);
  bool mine = false;
  std::string id;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD)
      mine |= search.address >= begin && search.address < begin + part.p_memsz;
    else if (part.p_type == PT_NOTE)
      id += build_id_of(reinterpret_cast<const char*>(begin), part.p_memsz);
  }
  if (mine) search.id = std::move(id);
  return mine ? 1 : 0;
}

std::string find_build() {
  Search search{reinterpret_cast<uintptr_t>(&find_build), {}};
  dl_iterate_phdr(look_at, &search);
  Dl_info file{};
  struct stat facts {};
  if (search.id.empty() && dladdr(reinterpret_cast<const void*>(search.address), &file) != 0 &&
      ::stat(file.dli_fname, &facts) == 0)
    search.id = fmt::format("{} bytes of {}.{}", facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
  return std::string(SORUS_VERSION " ") + search.id;
}

}  // namespace

const std::string& library_build() {
  static const std::string build = find_build();
  return build;
}

}  // namespace sorus
