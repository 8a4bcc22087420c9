#include "location_table.h"

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "access.h"

namespace metalsim {

namespace {

struct Table {
  std::mutex mutex;
  std::map<std::tuple<const char*, uint32_t, uint32_t>, uint32_t> numbers;
  std::vector<SourceLocation> places;
};
Table& table() {
  static Table& table = *new Table;
  return table;
}

}  // namespace

Site site_of(const SourceLocation& at) {
  struct Cached {
    const char* file = nullptr;
    uint32_t line = 0, column = 0, number = 0;
  };
  // On the heap: a library that a running program loads has a few hundred bytes for its threads' own variables.
  static thread_local std::vector<Cached> cache(256);
  Cached& cached = cache[(at.line * 31 + at.column) % 256];
  if (cached.file == at.file && cached.line == at.line && cached.column == at.column && at.file)
    return {cached.number, true};
  Table& t = table();
  std::lock_guard lock(t.mutex);
  auto [place, made] = t.numbers.try_emplace({at.file, at.line, at.column}, uint32_t(t.places.size()));
  if (made) t.places.push_back(at);
  cached = {at.file, at.line, at.column, place->second};
  return {place->second, true};
}

SourceLocation location_of(uint32_t number) {
  Table& t = table();
  std::lock_guard lock(t.mutex);
  return number < t.places.size() ? t.places[number] : SourceLocation{};
}

}  // namespace metalsim
