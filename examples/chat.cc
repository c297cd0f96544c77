// A conversation: chat MODEL.gguf. Each line of stdin is a message; a name of a control token in it stays text, and a
// turn computes what is new.
#include <iostream>
#include <string>
#include <string_view>

#include "ekvi/conversation.h"
#include "ekvi/error.h"

int main(int argc, char** argv) try {
  const bool given = argc > 1;
  const auto model = given ? ekvi::Model::Load(argv[1]) : ekvi::Model::Embedded();
  ekvi::Session session(model);
  ekvi::Conversation conversation(session, given ? ekvi::FindChatTemplate(argv[1]) : ekvi::ModelTemplate{});
  const auto print = [](std::string_view text) { std::cout << text << std::flush; };
  for (std::string line; std::getline(std::cin, line);) {
    const ekvi::TurnPlan plan = conversation.Ask(line);
    conversation.Answered(session.Generate(plan.tokens, {.temperature = 0}, {.max_tokens = 100}, print).text);
    std::cout << '\n';
    std::cerr << plan.tokens.size() << " tokens computed, " << plan.kept << " from the cache\n";
  }
} catch (const ekvi::Error& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
