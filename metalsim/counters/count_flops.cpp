/// Puts a count of floating-point operations into every block of kernel code, in LLVM's text form:
///
///   metalsim_count_flops kernels.ll > counted.ll
///
/// Plain C++ operators leave no trace that a program could count while it runs, so the compiler's own list of
/// operations is taken. A block of code that executes has executed all of them, hence the count is exact for
/// the code as compiled. Only functions with the sanitizer's attribute are counted: the others are the
/// library's (matrix products, reductions), which have counters of their own.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace {

struct Flops {
  unsigned f32 = 0, f16 = 0, bf16 = 0;
  bool any() const { return f32 || f16 || bf16; }
};

/// Adds `each` operations of the type: "float", "half", "bfloat", or "<4 x float>".
void add(Flops& flops, const std::string& type, unsigned each) {
  unsigned width = 1;
  std::string element = type;
  if (type[0] == '<') {
    width = unsigned(std::stoul(type.substr(1)));
    element = type.substr(type.find("x ") + 2);
    element.pop_back();
  }
  if (element == "float")
    flops.f32 += each * width;
  else if (element == "half")
    flops.f16 += each * width;
  else if (element == "bfloat")
    flops.bf16 += each * width;
}

/// The words of a line; a vector's type, "<4 x float>", is one.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (size_t at = line.find_first_not_of(' '); at != line.npos;) {
    size_t end = line.find(' ', at);
    if (line[at] == '<' && end != line.npos) end = line.find(' ', line.find('>', at));
    end = std::min(end, line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(' ', end);
  }
  return words;
}

/// What may stand between an operation or a call and its type.
bool is_flag(const std::string& word) {
  static const std::set<std::string> flags = {"fast",     "nnan", "ninf",    "nsz",    "arcp",
                                              "contract", "afn",  "reassoc", "noundef"};
  return flags.count(word) != 0;
}

void count_instruction(Flops& flops, const std::string& line) {
  static const std::set<std::string> operations = {"fadd", "fsub", "fmul", "fdiv", "frem"};
  const std::vector<std::string> words = words_of(line);
  if (words.size() < 4 || words[1] != "=") return;  // "%sum = fadd fast float %x, %y"
  size_t at = 2;
  const bool operation = operations.count(words[at]) != 0;
  if (!operation) at = size_t(std::find(words.begin(), words.end(), "call") - words.begin());
  for (++at; at < words.size() && is_flag(words[at]);) ++at;
  if (at + 1 >= words.size()) return;
  const std::string &type = words[at], &next = words[at + 1];
  if (operation) return add(flops, type, 1);
  if (next.rfind("@llvm.fmuladd.", 0) == 0 || next.rfind("@llvm.fma.", 0) == 0)
    add(flops, type, 2);
  else if (next.rfind("@llvm.sqrt.", 0) == 0)
    add(flops, type, 1);
}

/// Attribute groups ("#5") of functions whose memory accesses are checked: kernel code.
std::set<std::string> checked_groups(const std::vector<std::string>& lines) {
  std::set<std::string> groups;
  for (const std::string& line : lines)
    if (line.rfind("attributes #", 0) == 0 && line.find("sanitize_thread") != std::string::npos)
      groups.insert(line.substr(11, line.find(' ', 11) - 11));
  return groups;
}

bool is_checked(const std::string& definition, const std::set<std::string>& groups) {
  for (const std::string& word : words_of(definition))
    if (word[0] == '#') return groups.count(word) != 0;
  return false;
}

/// Adds to one of the three counts that the runtime keeps for each core.
void print_count(unsigned type, unsigned flops) {
  static unsigned names = 0;
  if (!flops) return;
  const unsigned n = names++;
  std::printf("  %%metalsim.place%u = getelementptr [3 x i64], ptr @metalsim_flops, i64 0, i64 %u\n", n,
              type);
  std::printf("  %%metalsim.count%u = load i64, ptr %%metalsim.place%u\n", n, n);
  std::printf("  %%metalsim.sum%u = add i64 %%metalsim.count%u, %u\n", n, n, flops);
  std::printf("  store i64 %%metalsim.sum%u, ptr %%metalsim.place%u\n", n, n);
}

/// One basic block, without its label.
void print_block(const std::vector<std::string>& block, bool counted) {
  Flops flops;
  if (counted)
    for (const std::string& line : block) count_instruction(flops, line);
  bool pending = flops.any();
  for (const std::string& line : block) {
    if (pending && line.find(" = phi ") == std::string::npos) {
      print_count(0, flops.f32);
      print_count(1, flops.f16);
      print_count(2, flops.bf16);
      pending = false;
    }
    std::puts(line.c_str());
  }
}

bool is_label(const std::string& line) {
  const size_t colon = line.find(':');
  if (colon == line.npos || (colon + 1 < line.size() && line[colon + 1] != ' ')) return false;
  const auto in_name = [](unsigned char c) { return std::isalnum(c) || std::strchr("-_.$\"", c); };
  return colon > 0 && std::all_of(line.begin(), line.begin() + colon, in_name);
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream in(argc == 2 ? argv[1] : "");
  if (!in) {
    std::fprintf(stderr, "usage: metalsim_count_flops FILE.ll > COUNTED.ll\n");
    return 2;
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const std::set<std::string> groups = checked_groups(lines);

  std::vector<std::string> block;
  bool inside = false, counted = false;
  const auto flush = [&] {
    print_block(block, counted);
    block.clear();
  };
  for (const std::string& line : lines) {
    if (line.rfind("define ", 0) == 0) {
      inside = true;
      counted = is_checked(line, groups);
      std::puts(line.c_str());
    } else if (inside && (line == "}" || line.empty() || is_label(line))) {
      flush();
      inside = line != "}";
      std::puts(line.c_str());
    } else if (inside) {
      block.push_back(line);
    } else {
      std::puts(line.c_str());
    }
  }
  std::puts("\n@metalsim_flops = external thread_local(initialexec) global [3 x i64]");
  return 0;
}
