// Text from a model: text [PROMPT [FILE.gguf]]. Without a file the model inside the library tells a story.
#include <iostream>
#include <string_view>

#include "ekvi/error.h"
#include "ekvi/model.h"
#include "ekvi/session.h"

int main(int argc, char** argv) try {
  const std::string_view prompt = argc > 1 ? argv[1] : "Once upon a time";
  const auto model = argc > 2 ? ekvi::Model::Load(argv[2]) : ekvi::Model::Embedded();
  ekvi::Session session(model);
  const auto print = [](std::string_view text) { std::cout << text << std::flush; };
  const ekvi::GenerateResult result = session.Generate(prompt, {.temperature = 0}, {.max_tokens = 100}, print);
  std::cout << '\n';
  std::cerr << result.stats.new_tokens << " tokens, " << result.stats.kv_bytes << " bytes of keys and values\n";
} catch (const ekvi::Error& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
