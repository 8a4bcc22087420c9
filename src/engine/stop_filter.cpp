#include "engine/stop_filter.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace minfer {
namespace {

/// First position at which `text` ends inside a beginning of `stop`; text.size() if nowhere.
size_t partial_match(std::string_view text, std::string_view stop) {
  const size_t longest = std::min(text.size(), stop.size() - 1);
  for (size_t at = text.size() - longest; at < text.size(); ++at)
    if (stop.starts_with(text.substr(at))) return at;
  return text.size();
}

}  // namespace

StopFilter::StopFilter(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const std::string& stop : stops_)
    if (stop.empty())
      throw Error(ErrorCode::bad_request, "a stop string is empty", "leave it out, or give some text");
}

std::string StopFilter::push(std::string_view piece) {
  if (stopped_) return {};
  held_ += piece;
  size_t whole = std::string::npos, certain = held_.size();
  for (const std::string& stop : stops_) {
    whole = std::min(whole, held_.find(stop));
    certain = std::min(certain, partial_match(held_, stop));
  }
  // A whole match ends the text unless a longer one that began earlier may still complete.
  if (whole != std::string::npos && whole <= certain) {
    stopped_ = true;
    std::string out = held_.substr(0, whole);
    held_.clear();
    return out;
  }
  std::string out = held_.substr(0, certain);
  held_.erase(0, certain);
  return out;
}

std::string StopFilter::finish() {
  if (stopped_) return {};
  // The text ended: a match that waited for a longer, earlier one is now the earliest.
  size_t whole = std::string::npos;
  for (const std::string& stop : stops_) whole = std::min(whole, held_.find(stop));
  if (whole == std::string::npos) return std::exchange(held_, {});
  stopped_ = true;
  return held_.substr(0, whole);
}

}  // namespace minfer
