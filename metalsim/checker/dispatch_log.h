/// Names of recent dispatches, so that a report can say whose access came first.
#pragma once
#include <cstdint>

namespace metalsim {

struct LoggedDispatch {
  uint32_t number = 0;
  const char* kernel = nullptr;
  uint32_t groups[3] = {1, 1, 1};
};

/// Keeps the newest 4,096. `number` as Who holds it.
void log_dispatch(const LoggedDispatch& dispatch);

/// Null if it is not known any more.
const LoggedDispatch* logged_dispatch(uint32_t number);

}  // namespace metalsim
