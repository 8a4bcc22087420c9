// Continues a text with the likeliest tokens, step by step: generate_cpp MODEL.gguf "Once upon a time"
#include <cstdio>
#include <minfer/minfer.hpp>

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: %s MODEL.gguf TEXT\n", argv[0]), 2;

  const minfer_cpp::Model model(argv[1]);
  minfer_cpp::Session session(model);
  minfer_cpp::Sampling greedy;
  greedy.temperature = 0;
  minfer_cpp::Sampler sampler(greedy);

  std::vector<int32_t> answer;
  session.decode(model.tokenize(argv[2], true, false));
  while (answer.size() < 40) {
    answer.push_back(sampler.sample(session));  // from session.logits(), which you may look at
    session.decode({&answer.back(), 1});
  }
  std::printf("%s\n", model.detokenize(answer, false).c_str());
} catch (const minfer_cpp::Error& error) {
  std::fprintf(stderr, "%s: %s\n%s\n", minfer_status_name(error.status), error.what(), error.hint.c_str());
  return 1;
}
