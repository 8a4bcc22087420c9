#include "symbolizer.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace metalsim {

namespace {

struct Segment {
  uintptr_t begin, end;
  bool code;
};

int add_segments(dl_phdr_info* info, size_t, void* out) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    static_cast<std::vector<Segment>*>(out)->push_back(
        {begin, begin + header.p_memsz, (header.p_flags & PF_X) != 0});
  }
  return 0;
}

std::vector<Segment> loaded_segments() {
  std::vector<Segment> segments;
  dl_iterate_phdr(add_segments, &segments);
  return segments;
}

/// The library of debug information, told of the modules of this process.
class DebugInformation {
 public:
  Dwfl_Module* module_of(uintptr_t code) {
    if (!dwfl_) dwfl_ = dwfl_begin(&callbacks_);
    if (!dwfl_) return nullptr;
    Dwfl_Module* module = dwfl_addrmodule(dwfl_, code);
    if (module) return module;
    dwfl_report_begin_add(dwfl_);  // the first time, or a library was loaded since
    if (dwfl_linux_proc_report(dwfl_, getpid()) == 0) dwfl_report_end(dwfl_, nullptr, nullptr);
    return dwfl_addrmodule(dwfl_, code);
  }

 private:
  static inline const Dwfl_Callbacks callbacks_ = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo,
                                                   nullptr, nullptr};
  Dwfl* dwfl_ = nullptr;  // kept until the process ends
};

/// Files of the kernel-side library: a report points at the kernel's line that uses them.
bool is_library_file(const std::string& file) {
  for (const char* folder : {METALSIM_SOURCE_DIR "/include/", METALSIM_SOURCE_DIR "/runtime/"})
    if (file.compare(0, std::strlen(folder), folder) == 0) return true;
  return false;
}

/// "a/./b" and "a/c/../b" as "a/b", so that names can be compared.
std::string plain_path(const std::string& path) {
  std::vector<std::string> parts;
  for (std::string rest = path; !rest.empty();) {
    const size_t slash = rest.find('/');
    const std::string part = rest.substr(0, slash);
    rest = slash == std::string::npos ? "" : rest.substr(slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty())
      parts.pop_back();
    else
      parts.push_back(part);
  }
  std::string plain;
  for (const std::string& part : parts) plain += "/" + part;
  return plain;
}

/// The folder in which the compiler ran.
std::string folder_of(Dwarf_Die* unit) {
  Dwarf_Attribute attribute;
  const char* folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  return folder ? folder : "";
}

std::string absolute_path(const char* name, Dwarf_Die* unit) {
  return plain_path(*name == '/' ? name : folder_of(unit) + "/" + name);
}

/// As the compiler was given it: relative to the folder in which it ran, where it lies there.
std::string path_to_show(const std::string& path, Dwarf_Die* unit) {
  const std::string folder = folder_of(unit) + "/";
  return path.compare(0, folder.size(), folder) == 0 ? path.substr(folder.size()) : path;
}

/// The place of the call that an inlined function replaces.
SourceLine call_place(Dwarf_Die* unit, Dwarf_Die* inlined) {
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0, line = 0;
  Dwarf_Files* files;
  size_t count;
  if (!dwarf_attr(inlined, DW_AT_call_file, &attribute) || dwarf_formudata(&attribute, &file)) return {};
  if (!dwarf_attr(inlined, DW_AT_call_line, &attribute) || dwarf_formudata(&attribute, &line)) return {};
  if (dwarf_getsrcfiles(unit, &files, &count) || file >= count) return {};
  const char* name = dwarf_filesrc(files, file, nullptr, nullptr);
  return name ? SourceLine{absolute_path(name, unit), uint32_t(line)} : SourceLine{};
}

/// The compilation unit of an address. Clang writes no index of addresses, so the units are asked one by one.
Dwarf_Die* unit_of(Dwfl_Module* module, uintptr_t code, Dwarf_Addr& bias) {
  Dwarf_Die* unit = nullptr;
  while ((unit = dwfl_module_nextcu(module, unit, &bias)))
    if (dwarf_haspc(unit, code - bias) > 0) return unit;
  return nullptr;
}

SourceLine look_up(uintptr_t code) {
  static DebugInformation information;
  Dwfl_Module* module = information.module_of(code);
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = module ? unit_of(module, code, bias) : nullptr;
  Dwarf_Line* innermost = unit ? dwarf_getsrc_die(unit, code - bias) : nullptr;
  const char* name = innermost ? dwarf_linesrc(innermost, nullptr, nullptr) : nullptr;
  int line = 0;
  if (!name || dwarf_lineno(innermost, &line)) return {};
  SourceLine place{absolute_path(name, unit), uint32_t(line)};
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes(unit, code - bias, &scopes);
  for (int i = 0; i < count && is_library_file(place.file); ++i) {
    if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
    const SourceLine outer = call_place(unit, &scopes[i]);
    if (outer.line) place = outer;
  }
  std::free(scopes);
  place.file = path_to_show(place.file, unit);
  return place;
}

}  // namespace

/// On a thread of its own: libdw wants more stack than a GPU thread's fiber has, and would run on into the stack of
/// another.
SourceLine line_of_code(uintptr_t code) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  SourceLine place;
  std::thread([&] { place = look_up(code); }).join();
  return place;
}

uintptr_t code_from_low_half(uint32_t low) {
  for (const Segment& segment : loaded_segments()) {
    if (!segment.code) continue;
    uintptr_t code = (segment.begin & ~uintptr_t(0xffffffffu)) | low;
    if (code < segment.begin) code += uintptr_t(1) << 32;
    if (code < segment.end) return code;
  }
  return 0;
}

bool in_loaded_module(uintptr_t address, size_t bytes) {
  for (const Segment& segment : loaded_segments())
    if (address >= segment.begin && address + bytes <= segment.end) return true;
  return false;
}

}  // namespace metalsim
