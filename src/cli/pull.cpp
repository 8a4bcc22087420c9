#include "download/pull.h"

#include <csignal>

#include "base/error.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/default_model.h"
#include "cli/output.h"

namespace minfer::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");

/// The first Ctrl-C ends the pull in a state to go on from; the second one ends the process.
void catch_first_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

int pull(const PullOptions& options) {
  if (options.source == "default") {
    write_out(pull_default_model().string() + "\n");
    return exit_ok;
  }
  download::Settings settings = download::settings_from_environment();
  settings.cancel = &interrupted;
  catch_first_interrupt();
  download::Cache cache(cache_folder());
  try {
    write_out(download::pull(options.source, cache, settings).path().string() + "\n");
    return exit_ok;
  } catch (const Error&) {
    if (!interrupted) throw;
    log(LogLevel::info, "interrupted; what has arrived is kept: `minfer pull {}` goes on from there",
        options.source);
    return exit_interrupted;
  }
}

}  // namespace minfer::cli
