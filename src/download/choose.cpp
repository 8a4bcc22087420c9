#include "download/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "gguf/printable.h"
#include "gguf/split_name.h"

namespace minfer::download {
namespace {

constexpr std::string_view extension = ".gguf";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return result;
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The file name without folder, split numbers and extension, in lower case.
std::string stem_of(const std::string& path) {
  const auto split = gguf::parse_split_name(path);
  const std::string whole = split ? split->prefix : path.substr(0, path.size() - extension.size());
  return lower(base_name(whole));
}

/// Files that accompany a model and are none.
bool is_companion(const Candidate& candidate) {
  const std::string stem = stem_of(candidate.name);
  return stem.find("mmproj") != stem.npos || stem.find("imatrix") != stem.npos;
}

/// Whether `quant` (lower case) stands in the stem as a word of its own; `at_end`: as the last one.
bool has_quant(const std::string& stem, const std::string& quant, bool at_end) {
  const auto is_separator = [](char c) { return c == '-' || c == '.' || c == '_'; };
  for (size_t at = stem.find(quant); at != stem.npos; at = stem.find(quant, at + 1)) {
    const size_t end = at + quant.size();
    const bool begins = at == 0 || is_separator(stem[at - 1]);
    // Not '_' behind it: Q4_K is no name for Q4_K_M.
    const bool ends = end == stem.size() || (!at_end && (stem[end] == '-' || stem[end] == '.'));
    if (begins && ends) return true;
  }
  return false;
}

using Found = std::vector<const Candidate*>;

template <class Test>
Found where(const std::vector<Candidate>& candidates, Test test) {
  Found found;
  for (const Candidate& candidate : candidates)
    if (test(candidate)) found.push_back(&candidate);
  return found;
}

Found with_quant(const std::vector<Candidate>& candidates, std::string_view quant) {
  for (const bool at_end : {true, false}) {
    Found found = where(candidates, [&](const Candidate& c) {
      return !is_companion(c) && has_quant(stem_of(c.name), lower(quant), at_end);
    });
    if (!found.empty()) return found;
  }
  return {};
}

/// By name: the whole path first, then the file name alone, then a quantisation.
Found named(const std::vector<Candidate>& candidates, std::string_view wanted) {
  const auto is = [&](std::string_view file) {
    return file == wanted ||
           (file.ends_with(extension) && file.substr(0, file.size() - extension.size()) == wanted);
  };
  const auto any_file = [&](const Candidate& c, auto part) {
    return std::any_of(c.files.begin(), c.files.end(),
                       [&](const std::string& file) { return is(part(file)); });
  };
  Found found = where(candidates, [&](const Candidate& c) {
    return any_file(c, [](const std::string& file) { return std::string_view(file); });
  });
  if (found.empty())
    found = where(candidates, [&](const Candidate& c) {
      return any_file(c, [](const std::string& file) { return base_name(file); });
    });
  return found.empty() ? with_quant(candidates, wanted) : found;
}

Found preferred(const std::vector<Candidate>& candidates) {
  Found models = where(candidates, [](const Candidate& c) { return !is_companion(c); });
  if (models.size() <= 1) return models;
  for (const std::string_view quant : preferred_quants)
    if (Found found = with_quant(candidates, quant); !found.empty()) return found;
  return models;
}

std::string names_of(const Found& found) {
  constexpr size_t most = 30;
  std::string text;
  for (size_t i = 0; i < found.size() && i < most; ++i)
    text += (i ? ", " : "") + gguf::printable(found[i]->name);
  if (found.size() > most) text += fmt::format(" and {} more", found.size() - most);
  return text;
}

}  // namespace

std::vector<Candidate> gguf_candidates(const std::vector<std::string>& paths) {
  std::map<std::string, Candidate> by_name;
  for (const std::string& path : paths) {
    if (!path.ends_with(extension)) continue;
    const auto split = gguf::parse_split_name(path);
    Candidate& candidate = by_name[split ? split->path_of(1) : path];
    candidate.files.push_back(path);
  }
  std::vector<Candidate> candidates;
  for (auto& [name, candidate] : by_name) {
    candidate.name = name;
    std::sort(candidate.files.begin(), candidate.files.end());
    if (const auto split = gguf::parse_split_name(name))
      candidate.complete = int(candidate.files.size()) == split->count;
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

const Candidate& choose(const std::vector<Candidate>& candidates, std::string_view wanted,
                        std::string_view repository) {
  const Found all = where(candidates, [](const Candidate&) { return true; });
  if (all.empty())
    throw Error(ErrorCode::bad_request, fmt::format("{} holds no .gguf file", repository),
                "minfer runs GGUF files; look for a repository whose name ends in -GGUF");
  const Found found = wanted.empty() ? preferred(candidates) : named(candidates, wanted);
  if (found.empty())
    throw Error(ErrorCode::bad_request,
                wanted.empty() ? fmt::format("{} holds no model, only files that accompany one", repository)
                               : fmt::format("{} holds no file `{}`", repository, gguf::printable(wanted)),
                fmt::format("it holds {}", names_of(all)));
  if (found.size() > 1)
    throw Error(ErrorCode::bad_request,
                wanted.empty()
                    ? fmt::format("{} holds {} models and none was named", repository, found.size())
                    : fmt::format("{} holds {} files that `{}` fits", repository, found.size(),
                                  gguf::printable(wanted)),
                fmt::format("name one, as in {}:NAME: {}", repository, names_of(found)));
  if (!found[0]->complete)
    throw Error(ErrorCode::bad_request,
                fmt::format("{}: {} is split, and {} parts are listed", repository,
                            gguf::printable(found[0]->name), found[0]->files.size()),
                "the model was not uploaded whole; choose another one");
  return *found[0];
}

}  // namespace minfer::download
