#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "engine/stop_filter.h"

using namespace minfer;

namespace {

/// What a client sees when `text` arrives in pieces of `size` bytes.
std::string shown(const std::string& text, const std::vector<std::string>& stops, size_t size) {
  StopFilter filter(stops);
  std::string out;
  for (size_t at = 0; at < text.size() && !filter.stopped(); at += size)
    out += filter.push(text.substr(at, size));
  return out + filter.finish();
}

void check_every_split(const std::string& text, const std::vector<std::string>& stops,
                       const std::string& want) {
  for (size_t size = 1; size <= text.size(); ++size) {
    CAPTURE(size);
    CHECK(shown(text, stops, size) == want);
  }
}

}  // namespace

TEST_CASE("a stop string across pieces is never shown, not even in part") {
  check_every_split("The quick brown fox", {"own fox"}, "The quick br");
}

TEST_CASE("a held-back beginning of a stop string comes out at the end of the text") {
  check_every_split("UNO DUE TRE", {"TRE\nAAAA"}, "UNO DUE TRE");
}

TEST_CASE("of several stop strings the earliest start wins") {
  check_every_split("x >>>>>>> UPDATED\n", {">>>>>>> UPDATED", ">>>>>>> UPDATED\n"}, "x ");
  check_every_split("aXb", {"Xb", "X"}, "a");
  check_every_split("1 abcd", {"bc", "abcd"}, "1 ");
}

TEST_CASE("a longer stop string that began earlier may still fail to complete") {
  check_every_split("abcX", {"abcd", "b"}, "a");
}

TEST_CASE("only what may become a stop string is held back") {
  StopFilter filter({"END"});
  CHECK(filter.push("some E") == "some ");
  CHECK(filter.push("N") == "");
  CHECK(filter.push("x") == "ENx");
  CHECK_FALSE(filter.stopped());
}

TEST_CASE("repeating beginnings") { check_every_split("aaaab", {"aab"}, "aa"); }

TEST_CASE("an empty stop string is refused; none at all passes everything") {
  CHECK_THROWS_AS(StopFilter({""}), Error);
  check_every_split("anything", {}, "anything");
}
