// Goal: text reaches the caller whole, once and as early as possible. Method: scripted sources of text.
#include "engine/text_delivery.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ekvi::engine {
namespace {

using Strings = std::vector<std::string>;

// Token t has the text pieces[t]; `rest` is what is left at the end.
TextSource Pieces(const Strings& pieces, std::string rest = "") {
  return {.push = [pieces](int32_t token) { return pieces[static_cast<size_t>(token)]; },
          .finish = [rest] { return rest; }};
}

TEST(TextDelivery, Pieces_ArriveAtOnceAndAddUp) {
  Strings seen;
  const TextSource source = Pieces({"Once", "", " upon"}, "?");
  const OnText on_text = [&](std::string_view text) { seen.emplace_back(text); };
  TextDelivery delivery(source, {}, on_text);
  for (const int32_t token : {0, 1, 2}) EXPECT_FALSE(delivery.Push(token));
  EXPECT_FALSE(delivery.Finish());
  EXPECT_EQ(seen, (Strings{"Once", " upon", "?"}));
  EXPECT_EQ(delivery.text(), "Once upon?");
}

TEST(TextDelivery, StopAcrossTokens_IsCutOff) {
  Strings seen;
  const TextSource source = Pieces({"ABC", "DEF", "GHIJ", "K"}, "rest");
  const OnText on_text = [&](std::string_view text) { seen.emplace_back(text); };
  const Strings stops = {"CDEFGHIJ"};
  TextDelivery delivery(source, stops, on_text);
  EXPECT_FALSE(delivery.Push(0));
  EXPECT_FALSE(delivery.Push(1));
  EXPECT_TRUE(delivery.Push(2));
  EXPECT_TRUE(delivery.Finish());
  EXPECT_EQ(seen, Strings{"AB"});
  EXPECT_EQ(delivery.text(), "AB");
}

TEST(TextDelivery, StopCompletedByTheRest_IsCutOff) {
  const TextSource source = Pieces({"ab"}, "c");
  const Strings stops = {"bc"};
  const OnText nobody;
  TextDelivery delivery(source, stops, nobody);
  EXPECT_FALSE(delivery.Push(0));
  EXPECT_TRUE(delivery.Finish());
  EXPECT_EQ(delivery.text(), "a");
}

TEST(TextDelivery, NoSource_GivesNoText) {
  const TextSource none;
  const OnText on_text = [](std::string_view) { FAIL(); };
  TextDelivery delivery(none, {}, on_text);
  EXPECT_FALSE(delivery.Push(5));
  EXPECT_FALSE(delivery.Finish());
  EXPECT_EQ(delivery.text(), "");
}

}  // namespace
}  // namespace ekvi::engine
