#include "engine/weight_pages.h"

#include <fmt/format.h>

#include <chrono>

#include "base/error.h"
#include "base/log.h"

namespace minfer {
namespace {

constexpr size_t piece = size_t(16) << 20;  ///< moved at once, some milliseconds
/// Smaller models gain too little to be copied.
constexpr size_t smallest = size_t(32) << 20;

double megabytes(size_t bytes) { return 1e-6 * double(bytes); }

}  // namespace

WeightPages weight_pages_from_name(std::string_view name) {
  if (name == "auto") return WeightPages::automatic;
  if (name == "map") return WeightPages::map;
  if (name == "huge") return WeightPages::huge;
  throw Error(ErrorCode::bad_request, fmt::format("pages of weights `{}`", name), "use auto, map or huge");
}

WeightMove::WeightMove(std::shared_ptr<const Model> model, WeightPages choice) : model_(std::move(model)) {
  HugePageMover& mover = model_->pages();
  const size_t bytes = mover.bytes();
  if (choice == WeightPages::map || bytes < (choice == WeightPages::huge ? 1 : smallest)) return;
  if (choice == WeightPages::huge) {
    const auto start = std::chrono::steady_clock::now();
    while (mover.step(piece)) {
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    log(LogLevel::info, "{:.0f} MB of weights moved to 2 MiB pages in {:.2f} s (--weights huge)",
        megabytes(bytes), taken.count());
    return;
  }
  // As much again must stay free: for the file's pages, which other processes may share, and for others.
  const size_t available = available_memory();
  moving_ = available / 2 >= bytes;
  if (moving_) {
    log(LogLevel::info, "{:.0f} MB of weights move to 2 MiB pages after the first token (--weights auto)",
        megabytes(bytes));
  } else {
    log(LogLevel::info,
        "weights stay in the file's mapping: {:.0f} MB of memory are available, {:.0f} wanted (--weights "
        "auto)",
        megabytes(available), megabytes(2 * bytes));
  }
}

void WeightMove::go_on() {
  if (moving_) moving_ = model_->pages().step(piece);
}

}  // namespace minfer
