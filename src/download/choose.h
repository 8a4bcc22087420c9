#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace minfer::download {

/// One model among the files of a repository: a file, or all parts of a split one.
struct Candidate {
  std::string name;                ///< the path of the file, or of part 1
  std::vector<std::string> files;  ///< paths in the order of the parts
  bool complete = true;            ///< no part is missing from the list
};

/// The .gguf files among `paths` as models, in the order of their names.
std::vector<Candidate> gguf_candidates(const std::vector<std::string>& paths);

/// The candidate that `wanted` names: a path, a file name, one of these without .gguf, or a quantisation such
/// as Q4_K_M in any case. An empty `wanted` takes the only candidate, else the first of `preferred_quants`
/// that is there. Vision projectors and importance matrices are found by their full names only. Throws
/// Error{bad_request} with the candidates if none or several fit; `repository` stands in the messages.
const Candidate& choose(const std::vector<Candidate>& candidates, std::string_view wanted,
                        std::string_view repository);

/// What is taken where the user names no file, first choice first: 4 bits with little loss, then what is
/// nearest.
inline constexpr std::string_view preferred_quants[] = {"Q4_K_M", "Q4_K_S", "Q4_0", "Q4_1", "Q5_K_M",
                                                        "Q5_K_S", "Q5_0",   "Q5_1", "Q6_K", "Q8_0",
                                                        "BF16",   "F16",    "F32"};

}  // namespace minfer::download
