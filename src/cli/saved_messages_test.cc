// Goal: a saved conversation reads back as it was, and nothing else is taken for one. Method: texts that JSON must
// escape, and files that almost are conversations.
#include "cli/saved_messages.h"

#include <gtest/gtest.h>

#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

const std::vector<ChatMessage> kMessages = {{"user", "One \"day\"\n"}, {"assistant", " a cat\tcame ☃"}};

TEST(SavedMessages, ReadBackAsTheyWere) {
  EXPECT_EQ(ParseMessages(SavedText(kMessages), "test"), kMessages);
  EXPECT_TRUE(ParseMessages(SavedText({}), "test").empty());
  EXPECT_NE(SavedText(std::vector<ChatMessage>{{"user", "\xFF"}}).find("\uFFFD"), std::string::npos);
}

TEST(SavedMessages, NothingElseIsAConversation) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  const std::vector<std::string> all_bad = {"",
                                            "[]",
                                            "{}",
                                            R"({"messages": [1]})",
                                            R"({"messages": [{"role": "user"}]})",
                                            SavedText(kMessages) + '\0',
                                            R"({"messages": [], "x": )" + deep + "}"};
  for (const std::string& bad : all_bad) {
    EXPECT_THROW(ParseMessages(bad, "test"), Error) << bad.substr(0, 50);
  }
}

}  // namespace
}  // namespace ekvi::cli
