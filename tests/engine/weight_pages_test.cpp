#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/huge_pages.h"
#include "base/mapped_file.h"
#include "doctest/doctest.h"
#include "engine/weight_pages.h"

using namespace minfer;

namespace {

/// A file of random bytes, removed at the end.
struct RandomFile {
  std::filesystem::path path;
  std::string bytes;
  explicit RandomFile(size_t size)
      : path(std::filesystem::temp_directory_path() / ("minfer-pages-" + std::to_string(getpid()))),
        bytes(size, '\0') {
    std::mt19937_64 random(1);
    for (size_t i = 0; i + 8 <= size; i += 8) {
      const uint64_t word = random();
      std::memcpy(bytes.data() + i, &word, sizeof word);
    }
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~RandomFile() { std::filesystem::remove(path); }
};

/// What the system says is mapped at an address: the file's path, or nothing for plain memory.
std::string mapped_path(const std::byte* at) {
  std::ifstream maps("/proc/self/maps");
  const auto address = reinterpret_cast<uintptr_t>(at);
  for (std::string line; std::getline(maps, line);) {
    char* end = nullptr;
    const uintptr_t first = std::strtoull(line.c_str(), &end, 16);
    const uintptr_t last = std::strtoull(end + 1, nullptr, 16);
    if (first <= address && address < last) {
      const size_t slash = line.find('/');
      return slash == line.npos ? "" : line.substr(slash);
    }
  }
  return "not mapped";
}

}  // namespace

TEST_CASE("moving a mapping to large pages keeps its bytes and addresses, also while it is read") {
  constexpr size_t page = HugePageMover::page;
  const RandomFile file(11 * page + 12345);
  const MappedFile mapping(file.path.string());
  HugePageMover mover({mapping.bytes()});
  if (mover.bytes() == 0) {
    MESSAGE("this system has no large pages to give");
    return;
  }
  REQUIRE(mover.bytes() % page == 0);
  REQUIRE(mover.bytes() >= 10 * page);
  const std::byte* inside = mapping.bytes().data() + 5 * page;
  REQUIRE(mapped_path(inside) == file.path.string());

  std::atomic<bool> moved = false;
  std::atomic<int> differences = 0, rounds = 0;
  std::thread reader([&] {
    while (!moved || rounds == 0) {
      differences += std::memcmp(mapping.bytes().data(), file.bytes.data(), file.bytes.size()) != 0;
      ++rounds;
    }
  });
  int steps = 1;
  while (mover.step(3 * page)) ++steps;
  moved = true;
  reader.join();

  CHECK(steps == int((mover.bytes() / page + 2) / 3));
  CHECK(differences == 0);
  CHECK(std::memcmp(mapping.bytes().data(), file.bytes.data(), file.bytes.size()) == 0);
  CHECK(mapped_path(inside) == "");
  CHECK(mapped_path(mapping.bytes().data() + mapping.bytes().size() - 1) == file.path.string());
  CHECK(!mover.step(page));
}

TEST_CASE("pages of weights are named") {
  CHECK(weight_pages_from_name("auto") == WeightPages::automatic);
  CHECK(weight_pages_from_name("map") == WeightPages::map);
  CHECK(weight_pages_from_name("huge") == WeightPages::huge);
  CHECK_THROWS_AS(weight_pages_from_name("large"), Error);
}

#ifdef __linux__
TEST_CASE("the memory that is available is known and less than all") {
  const size_t pages = size_t(sysconf(_SC_PHYS_PAGES)), bytes = size_t(sysconf(_SC_PAGESIZE));
  CHECK(available_memory() > 0);
  CHECK(available_memory() < pages * bytes);
}
#endif
