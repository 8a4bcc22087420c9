/// What a forward pass costs the device, counted and not timed: `metal_costs MODEL.gguf [TOKENS]` decodes one
/// token after one, then prefills TOKENS (64), on the software Metal device under its checker. The counts are
/// exact and the same on any machine.
#include <fmt/format.h>
#include <metalsim/metalsim.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/error.h"
#include "engine/session.h"

using namespace minfer;

namespace {

constexpr int64_t default_tokens = 64;

metalsim::Counters counted(Session& session, const std::vector<Token>& tokens) {
  metalsim::clear_counters();
  session.decode(tokens);
  return metalsim::counters();
}

void print(std::string_view what, const metalsim::Counters& counters, size_t weight_bytes) {
  uint64_t dispatches = 0, barriers = 0, read = 0, distinct = 0, written = 0;
  for (const auto& encoder : counters.encoders) {
    dispatches += encoder.dispatches;
    barriers += encoder.barriers;
  }
  for (const auto& kernel : counters.kernels) {
    read += kernel.device_bytes_read;
    distinct += kernel.device_bytes_read_distinct;
    written += kernel.device_bytes_written;
  }
  fmt::print(
      "\n{}: {} dispatches, {} barriers, {:.2f} MiB read ({:.2f} distinct within a dispatch: {:.3f} of the "
      "weights),"
      " {:.2f} MiB written\n\n",
      what, dispatches, barriers, double(read) / (1 << 20), double(distinct) / (1 << 20),
      double(distinct) / double(weight_bytes), double(written) / (1 << 20));
  fmt::print(
      "| kernel | dispatches | MiB read | distinct | threadgroup KiB | barriers | matrix multiplies | bank "
      "conflicts* |"
      " uncoalesced* |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& kernel : counters.kernels) {
    fmt::print("| {} | {} | {:.3f} | {:.3f} | {:.1f} | {} | {} | {} | {} |\n", kernel.kernel,
               kernel.dispatches, double(kernel.device_bytes_read) / (1 << 20),
               double(kernel.device_bytes_read_distinct) / (1 << 20),
               double(kernel.threadgroup_bytes_read + kernel.threadgroup_bytes_written) / 1024,
               kernel.threadgroup_barriers, kernel.matrix_multiplies, kernel.bank_conflicts_estimate,
               kernel.uncoalesced_estimate);
  }
  fmt::print("\\* estimates\n");
}

int run(const std::string& path, int64_t tokens) {
  auto options = metalsim::options();
  options.statistics = true;
  metalsim::set_options(options);
  const auto model = Model::load(path);
  SessionOptions session_options;
  session_options.device = "metal-sim";
  session_options.n_ctx = tokens + 8;
  const auto session = Session::create(model, session_options);
  fmt::print("{}: {:.2f} MiB of weights\n", path, double(model->weight_bytes()) / (1 << 20));
  counted(*session, {1});
  print("one token", counted(*session, {1}), model->weight_bytes());
  std::vector<Token> prompt(static_cast<size_t>(tokens));
  std::iota(prompt.begin(), prompt.end(), Token(1));
  print(fmt::format("a prompt of {}", tokens), counted(*session, prompt), model->weight_bytes());
  options.statistics = false;  // or the device prints a table of its own when the program ends
  metalsim::set_options(options);
  return metalsim::report_count() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fmt::print(stderr, "usage: metal_costs MODEL.gguf [TOKENS]\n");
    return 2;
  }
  try {
    return run(argv[1], argc == 3 ? std::max(1, std::atoi(argv[2])) : default_tokens);
  } catch (const Error& error) {
    fmt::print(stderr, "metal_costs: {}\n", error.what());
    return 1;
  }
}
