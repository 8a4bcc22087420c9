#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace minfer::cli {

std::string harmless(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c0 = byte < 0x20 && byte != '\n' && byte != '\t';
    // U+0080 to U+009F do what ESC and a letter do.
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c0) {
      out += {'^', char(byte + 0x40)};
    } else if (byte == 0x7F) {
      out += "^?";
    } else if (c1) {
      out += fmt::format("<U+{:04X}>", static_cast<unsigned char>(text[++i]));
    } else {
      out += text[i];
    }
  }
  return out;
}

bool use_colour(const std::string& choice, int descriptor) {
  if (choice != "auto") return choice == "on";
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool able = terminal && *terminal && std::string_view(terminal) != "dumb";
  return ::isatty(descriptor) && able && !(refused && *refused);
}

std::string styled(bool on, std::string_view codes, std::string_view text) {
  return on ? fmt::format("\x1b[{}m{}\x1b[0m", codes, text) : std::string(text);
}

}  // namespace minfer::cli
