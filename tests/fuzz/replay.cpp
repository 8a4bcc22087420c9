// Runs a fuzz target once over every file of the folders named on the command line: the corpus as a
// regression test, with any compiler. Fails if an exception leaves the target, if an input takes too long, or
// if there is no input.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

/// Processor time one input may take. The largest inputs are tens of KiB and take microseconds, so only a
/// loop that grows out of proportion gets here; sanitizers and a busy machine do not.
constexpr double max_seconds = 2.0;

bool replay(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  const std::clock_t start = std::clock();
  try {
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: unexpected exception: %s\n", path.c_str(), e.what());
    return false;
  }
  const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  if (seconds <= max_seconds) return true;
  std::fprintf(stderr, "%s: took %.2f s, expected at most %.2f s\n", path.c_str(), seconds, max_seconds);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  int inputs = 0, failures = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      std::fprintf(stderr, "%s: no such folder\n", argv[i]);
      return 1;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      ++inputs;
      failures += !replay(entry.path());
    }
  }
  std::printf("%d inputs, %d failures\n", inputs, failures);
  return inputs == 0 || failures != 0;
}
