// NSBundle and NSProcessInfo.
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "objc/class_builder.h"
#include "objc/foundation.h"

extern "C" char** environ;

namespace metalsim::objc {
namespace {

std::string executable() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

}  // namespace

Bundle* Bundle::main_bundle() {
  static Bundle* const instance = [] {
    auto* const bundle = make<Bundle>();
    bundle->folder = std::filesystem::path(executable()).parent_path().string();
    make_immortal(bundle);
    return bundle;
  }();
  return instance;
}

Bundle* Bundle::with_path(String* path) {
  if (!std::filesystem::is_directory(to_std(path))) return nullptr;
  auto* const bundle = make_autoreleased<Bundle>();
  bundle->folder = to_std(path);
  return bundle;
}

Object* Bundle::init_with_path(String* path) {
  if (!std::filesystem::is_directory(to_std(path))) {
    release(this);
    return nullptr;
  }
  folder = to_std(path);
  return this;
}

Object* Bundle::bundle_path() const { return string_from(folder); }
Object* Bundle::bundle_url() const { return make_autoreleased<Url>(folder); }
Object* Bundle::executable_path() const {
  return this == main_bundle() ? string_from(executable()) : nullptr;
}
Object* Bundle::executable_url() const {
  return this == main_bundle() ? make_autoreleased<Url>(executable()) : nullptr;
}

ProcessInfo* ProcessInfo::shared() {
  static ProcessInfo* const instance = [] {
    auto* const info = make<ProcessInfo>();
    make_immortal(info);
    return info;
  }();
  return instance;
}

Object* ProcessInfo::arguments() const {
  auto* const list = make_autoreleased<Array>();
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  for (std::string argument; std::getline(file, argument, '\0');)
    list->items.emplace_back(make_string(argument).get());
  return list;
}

Object* ProcessInfo::environment() const {
  auto* const variables = make_autoreleased<Dictionary>();
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    const size_t split = text.find('=');
    if (split == std::string::npos) continue;
    variables->set(make_string(text.substr(split + 1)).get(), make_string(text.substr(0, split)).get());
  }
  return variables;
}

Object* ProcessInfo::host_name() const {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, HOST_NAME_MAX);
  return string_from(name);
}

Object* ProcessInfo::process_name() const {
  return string_from(std::filesystem::path(executable()).filename().string());
}

int ProcessInfo::process_identifier() const { return getpid(); }
UInteger ProcessInfo::processor_count() const { return std::thread::hardware_concurrency(); }

unsigned long long ProcessInfo::physical_memory() const {
  return static_cast<unsigned long long>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<unsigned long long>(sysconf(_SC_PAGESIZE));
}

double ProcessInfo::system_uptime() const {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Host code asks for the version to decide whether a newer part of Metal is there. Residency sets came with
// macOS 15.
OperatingSystemVersion ProcessInfo::operating_system_version() const { return {15, 0, 0}; }

Object* ProcessInfo::operating_system_version_string() const {
  return string_from("Version 15.0 (metalsim)");
}

bool ProcessInfo::is_at_least(OperatingSystemVersion wanted) const {
  const auto have = operating_system_version();
  if (have.major != wanted.major) return have.major > wanted.major;
  if (have.minor != wanted.minor) return have.minor > wanted.minor;
  return have.patch >= wanted.patch;
}

}  // namespace metalsim::objc
