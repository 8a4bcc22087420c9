#pragma once
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "environment.h"

namespace minfer::test {

/// Values by "graph1.run1.0003.embedding".
using Captures = std::map<std::string, std::vector<float>>;

/// What everything that `act` runs captures. Pipelines and sessions have to be made inside: they look when
/// they are made.
inline Captures captured(const std::function<void()>& act) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("minfer-captures-" + std::to_string(getpid()));
  fs::remove_all(folder);
  {
    const Environment armed("MINFER_GRAPH_DUMP", folder.string());
    act();
  }
  Captures all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".f32") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    all[entry.path().stem().string()] = values;
  }
  fs::remove_all(folder);
  return all;
}

}  // namespace minfer::test
