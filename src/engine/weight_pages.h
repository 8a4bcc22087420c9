#pragma once
#include <string_view>

#include "models/model.h"

namespace minfer {

/// Where the CPU's weights lie: in the mapped file, or on pages of 2 MiB, from which they are read faster.
enum class WeightPages {
  automatic,  ///< large pages if memory allows; moved between tokens after the first one, which waits for
              ///< nothing
  map,        ///< the mapping: shared with other processes, the least memory
  huge,       ///< large pages before the first token
};
/// "auto", "map" or "huge". Throws Error{bad_request} listing them.
WeightPages weight_pages_from_name(std::string_view name);

/// Carries out one session's choice for a model that runs on the CPU.
class WeightMove {
 public:
  /// Says in one line what will happen; moves at once if the choice is `huge`.
  WeightMove(std::shared_ptr<const Model> model, WeightPages choice);
  /// Between two tokens: moves a piece, of some milliseconds.
  void go_on();

 private:
  std::shared_ptr<const Model> model_;
  bool moving_ = false;
};

}  // namespace minfer
