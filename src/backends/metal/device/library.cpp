#include "backends/metal/device/library.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "backends/metal/device/device.h"
#include "base/error.h"

namespace minfer::metal {
namespace {

using std::filesystem::path;

std::string read_text(const path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in)
    throw Error(ErrorCode::io, fmt::format("reading the kernel source {}: it cannot be read", file.string()));
  return text.str();
}

/// A source with the headers of its own folder in place of its #include "…" lines, each once: a library made
/// from text has no folder to look in.
std::string with_headers(const path& file, std::set<path>& seen) {
  std::istringstream lines(read_text(file));
  std::string text, line;
  while (std::getline(lines, line)) {
    const size_t open = line.find("#include \""), close = line.rfind('"');
    if (open != 0) {
      text += line + "\n";
      continue;
    }
    const path header = file.parent_path() / line.substr(10, close - 10);
    if (seen.insert(header).second) text += with_headers(header, seen);
  }
  return text;
}

Ref<MTL::Library> compile(MTL::Device* device, const path& file) {
  std::set<path> seen;
  NS::Error* error = nullptr;
  const auto options = adopt(MTL::CompileOptions::alloc()->init());
  auto library = adopt(device->newLibrary(ns_string(with_headers(file, seen)), options.get(), &error));
  if (!library) {
    throw Error(ErrorCode::device, fmt::format("compiling {}: {}", file.string(), reason_of(error)),
                "this is a fault of minfer; --device cpu works without it");
  }
  return library;
}

Ref<MTL::Library> open_file(MTL::Device* device, const std::string& file, const std::string& hint) {
  NS::Error* error = nullptr;
  auto library = adopt(device->newLibrary(ns_string(file), &error));
  if (!library) {
    throw Error(ErrorCode::device, fmt::format("loading the kernel library {}: {}", file, reason_of(error)),
                hint);
  }
  return library;
}

/// A metallib, or a folder of sources.
std::vector<Ref<MTL::Library>> open_place(MTL::Device* device, const path& place, const std::string& hint) {
  if (!std::filesystem::is_directory(place)) return {open_file(device, place.string(), hint)};
  std::vector<Ref<MTL::Library>> libraries;
  for (const auto& entry : std::filesystem::directory_iterator(place)) {
    if (entry.path().extension() == ".metal") libraries.push_back(compile(device, entry.path()));
  }
  return libraries;
}

std::vector<Ref<MTL::Library>> built_in(MTL::Device* device) {
#ifdef MINFER_METAL_LIBRARY
  return open_place(device, MINFER_METAL_LIBRARY, "build minfer again");
#else
  auto library = adopt(device->newDefaultLibrary());
  if (!library) {
    throw Error(ErrorCode::device,
                fmt::format("opening {}: this program was built without its kernels", Device::kind()),
                "use --device cpu");
  }
  return {library};
#endif
}

}  // namespace

std::vector<Ref<MTL::Library>> load_libraries(MTL::Device* device) {
  const char* file = std::getenv("MINFER_METALLIB_FILE");
  if (file != nullptr && *file != '\0') {
    return open_place(device, file,
                      "unset MINFER_METALLIB_FILE to use the kernels that minfer was built with");
  }
  return built_in(device);
}

}  // namespace minfer::metal
