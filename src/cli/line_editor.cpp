#include "cli/line_editor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"

/// The one file that knows libedit.
namespace minfer::cli {
namespace {

constexpr int history_lines = 1000;
constexpr char prompt_escape = '\1';  // encloses what takes no place on the line

/// libedit reads characters as the locale says. Where that is not UTF-8 (a bare container), one that is.
void use_utf8() {
  std::setlocale(LC_CTYPE, "");
  for (const char* name : {"C.UTF-8", "en_US.UTF-8", "UTF-8"}) {
    if (std::string_view(nl_langinfo(CODESET)) == "UTF-8") return;
    std::setlocale(LC_CTYPE, name);
  }
}

class LineEditor final : public LineSource {
 public:
  explicit LineEditor(const EditorOptions& options) : options_(options) {
    use_utf8();
    FILE* screen = ::isatty(STDOUT_FILENO) ? stdout : stderr;
    editor_.reset(::el_init("minfer", stdin, screen, stderr));
    history_.reset(::history_init());
    if (!editor_ || !history_) throw Error(ErrorCode::io, "the terminal cannot be set up for line editing");
    HistEvent event;
    ::history(history_.get(), &event, H_SETSIZE, history_lines);
    ::history(history_.get(), &event, H_SETUNIQUE, 1);
    if (!options_.history_file.empty())
      ::history(history_.get(), &event, H_LOAD, options_.history_file.c_str());  // none yet: nothing to load
    EditLine* e = editor_.get();
    ::el_set(e, EL_CLIENTDATA, this);
    ::el_set(e, EL_HIST, ::history, history_.get());
    ::el_set(e, EL_EDITOR, "emacs");
    ::el_set(e, EL_SIGNAL, 1);  // a resized window, and a stop by Ctrl-Z
    ::el_set(e, EL_PROMPT_ESC, &LineEditor::prompt_of, prompt_escape);
    ::el_wset(e, EL_GETCFN, &LineEditor::next_key);
    bind_keys(e);
    ::el_source(e, nullptr);  // the user's own ~/.editrc
  }

  Line read(const std::string& prompt) override {
    prompt_ = options_.colour ? coloured(prompt) : prompt;
    // Before the prompt invites to type: what comes while the terminal still cooks lines would not be a key
    // press.
    ::el_set(editor_.get(), EL_PREP_TERM, 1);
    int count = 0;
    errno = 0;
    const char* text = ::el_gets(editor_.get(), &count);
    if (text && count > 0) return {Line::Kind::text, accept(std::string(text, size_t(count)))};
    if (interrupted) {
      end_line();
      ::el_reset(editor_.get());
      return {Line::Kind::interrupted, {}};
    }
    if (count < 0 && errno != 0 && errno != EINTR)
      throw Error(ErrorCode::io, fmt::format("reading from the terminal: {}", std::strerror(errno)));
    end_line();
    return {Line::Kind::end, {}};
  }

 private:
  static char* prompt_of(EditLine* editor) {
    LineEditor* self = nullptr;
    ::el_get(editor, EL_CLIENTDATA, &self);
    return self->prompt_.data();
  }

  /// One character from the terminal: 1, 0 at the end, -1 for Ctrl-C and errors. It looks at `interrupted`
  /// from time to time, since a signal just before a read that waits would go unseen.
  static int next_key(EditLine*, wchar_t* key) {
    constexpr int patience_ms = 100;
    std::mbstate_t state{};
    for (;;) {
      if (interrupted) return -1;
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (::poll(&input, 1, patience_ms) <= 0) continue;
      char byte = 0;
      const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return int(count);
      const size_t length = std::mbrtowc(key, &byte, 1, &state);
      if (length == size_t(-1)) state = {};  // not of this encoding: as if it had not been typed
      if (length <= 1) return 1;
    }
  }

  /// Bold green up to the blank at its end: libedit wants a character after each escape.
  static std::string coloured(const std::string& prompt) {
    return fmt::format("{0}\x1b[1;32m{0}{1}{0}\x1b[0m{0} ", prompt_escape,
                       prompt.substr(0, prompt.find_last_not_of(' ') + 1));
  }

  /// Keys that terminals send and libedit leaves unbound.
  static void bind_keys(EditLine* e) {
    static constexpr const char* keys[][2] = {
        {"^R", "em-inc-search-prev"}, {"\\e[3~", "ed-delete-next-char"}, {"\\e[H", "ed-move-to-beg"},
        {"\\e[F", "ed-move-to-end"},  {"\\e[1~", "ed-move-to-beg"},      {"\\e[4~", "ed-move-to-end"},
        {"\\e[1;5C", "em-next-word"}, {"\\e[1;5D", "ed-prev-word"},
    };
    for (const auto& [key, command] : keys) ::el_set(e, EL_BIND, key, command, nullptr);
  }

  void end_line() const {
    std::fputs("\n", ::isatty(STDOUT_FILENO) ? stdout : stderr);
    std::fflush(nullptr);
  }

  std::string accept(std::string line) {
    const bool blank = line.find_first_not_of(" \t\r\n") == std::string::npos;
    HistEvent event;
    if (!blank) {
      ::history(history_.get(), &event, H_ENTER, line.c_str());
      save_history();
    }
    while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
    return line;
  }

  /// After each line, so that it outlives a closed window. Beside the file and renamed, so that it is always
  /// whole.
  void save_history() {
    if (options_.history_file.empty()) return;
    const std::string partial = fmt::format("{}.{}", options_.history_file, ::getpid());
    const int file = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool saved = file >= 0 && ::close(file) == 0;
    HistEvent event;
    saved = saved && ::history(history_.get(), &event, H_SAVE, partial.c_str()) >= 0;
    saved = saved && std::rename(partial.c_str(), options_.history_file.c_str()) == 0;
    if (saved) return;
    log(LogLevel::warning, "{}: the history of lines cannot be kept: {}", options_.history_file,
        std::strerror(errno));
    ::unlink(partial.c_str());
    options_.history_file.clear();  // said once
  }

  struct EndEditor {
    void operator()(EditLine* editor) const { ::el_end(editor); }
  };
  struct EndHistory {
    void operator()(History* history) const { ::history_end(history); }
  };
  EditorOptions options_;
  std::string prompt_;
  std::unique_ptr<History, EndHistory> history_;
  std::unique_ptr<EditLine, EndEditor> editor_;
};

}  // namespace

std::unique_ptr<LineSource> make_line_editor(const EditorOptions& options) {
  return std::make_unique<LineEditor>(options);
}

}  // namespace minfer::cli
