#include "cli/interrupt.h"

#include <csignal>

namespace minfer::cli {
namespace {

std::atomic<int> presses = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "signal handlers write them");

void note_first(int) { interrupted = true; }

void note_each(int) {
  interrupted = true;
  if (++presses < 3) return;
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}

void handle(void (*handler)(int), unsigned flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(flags);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

std::atomic<bool> interrupted = false;

void catch_first_interrupt() { handle(note_first, unsigned(SA_RESETHAND) | unsigned(SA_RESTART)); }

void catch_no_interrupt() { handle(SIG_DFL, 0); }

void catch_every_interrupt() { handle(note_each, 0); }

void forget_interrupt() {
  presses = 0;
  interrupted = false;
}

}  // namespace minfer::cli
