#pragma once
#include <filesystem>

#include "cli/model_store.h"

namespace minfer::cli {

/// The model's file in the cache, fetched if it is not there whole. Only a complete file with the right
/// SHA-256 ever gets its name, so what is found needs no second check than that of its size. Safe between
/// processes: one fetches, the others wait.
std::filesystem::path ensure_cached(const PublishedModel& model);
/// The same for the default model, but its SHA-256 is checked again, and an altered file is replaced.
std::filesystem::path pull_default_model();

}  // namespace minfer::cli
