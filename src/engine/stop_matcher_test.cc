// Goal: in any cutting of the text the output ends right before the first stop, and nothing is held back longer than
// needed. Method: a naive twin searches the whole text; texts of few letters, where overlaps are frequent, are cut at
// random.
#include "engine/stop_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"

namespace ekvi::engine {
namespace {

using Strings = std::vector<std::string>;

struct Outcome {
  std::string output;
  bool stopped = false;
  bool operator==(const Outcome&) const = default;
};

// For each end in turn: the longest stop that ends there.
Outcome Naive(const std::string& text, const Strings& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& stop : stops) {
      if (text.substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest > 0) return {text.substr(0, end - longest), true};
  }
  return {text, false};
}

// Bytes at the end of `text` that begin a stop.
size_t NaiveHeld(const std::string& text, const Strings& stops) {
  for (size_t from = 0; from < text.size(); ++from) {
    for (const std::string& stop : stops) {
      if (stop.starts_with(text.substr(from))) return text.size() - from;
    }
  }
  return 0;
}

// Pushes `text` in pieces of 0 to `most` bytes; checks after each that exactly the possible tail is held back.
Outcome InPieces(const std::string& text, const Strings& stops, size_t most, base::Random& random) {
  StopMatcher matcher(stops);
  std::string output;
  size_t at = 0;
  while (at < text.size() && !matcher.stopped()) {
    const size_t bytes = std::min<size_t>(text.size() - at, random.Below(most + 1));
    const bool stopped = matcher.Push(text.substr(at, bytes), &output);
    at += bytes;
    EXPECT_EQ(stopped, matcher.stopped());
    if (!stopped) {
      EXPECT_EQ(at - output.size(), NaiveHeld(text.substr(0, at), stops));
    }
  }
  if (matcher.stopped()) {
    const std::string before = output;
    EXPECT_TRUE(matcher.Push("more", &output));
    EXPECT_EQ(output, before);
  }
  matcher.Finish(&output);
  return {output, matcher.stopped()};
}

TEST(BR_53, EverySubstringAsStop_JoinedPiecesEqualTheWholeText) {
  base::Random random(53);
  const std::string text = "Once upon a time there was a  little  aaab, and the aaab said: aab!";
  for (size_t from = 0; from < text.size(); ++from) {
    for (size_t bytes = 1; bytes <= text.size() - from; ++bytes) {
      const Strings stops = {text.substr(from, bytes)};
      const Outcome whole = Naive(text, stops);
      ASSERT_TRUE(whole.stopped);
      ASSERT_EQ(whole.output, text.substr(0, text.find(stops[0])));
      ASSERT_EQ(InPieces(text, stops, 1 + random.Below(9), random), whole) << "stop '" << stops[0] << "', seed 53";
    }
  }
}

TEST(BR_53, SeveralRandomStops_EqualNaiveSearchInAnyPieces) {
  base::Random random(530);
  const auto letters = [&](size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += static_cast<char>('a' + random.Below(2));
    return text;
  };
  for (int trial = 0; trial < 20000; ++trial) {
    Strings stops(random.Below(4));
    for (std::string& stop : stops) stop = letters(1 + random.Below(7));
    const std::string text = letters(random.Below(30));
    const Outcome got = InPieces(text, stops, 1 + random.Below(5), random);
    ASSERT_EQ(got, Naive(text, stops)) << "trial " << trial << ", seed 530";
  }
}

TEST(BR_53, OverlappingStop_IsFoundInsideItsOwnBeginning) {
  StopMatcher matcher(Strings{"aab"});
  std::string output;
  for (const char* piece : {"a", "a", "a"}) EXPECT_FALSE(matcher.Push(piece, &output));
  EXPECT_EQ(output, "a");
  EXPECT_TRUE(matcher.Push("b", &output));
  EXPECT_EQ(output, "a");
}

TEST(BR_53, StopAtTheFirstByte_GivesNoText) {
  StopMatcher matcher(Strings{"O"});
  std::string output;
  EXPECT_TRUE(matcher.Push("Once", &output));
  matcher.Finish(&output);
  EXPECT_EQ(output, "");
}

TEST(BR_53, HeldTail_IsDeliveredAtTheEnd) {
  StopMatcher matcher(Strings{"DEFGHIJ"});
  std::string output;
  EXPECT_FALSE(matcher.Push("ABCDEFGHI", &output));
  EXPECT_EQ(output, "ABC");
  matcher.Finish(&output);
  EXPECT_EQ(output, "ABCDEFGHI");
}

TEST(StopMatcher, OfStopsCompleteAtOneByte_TheLongestCuts) {
  StopMatcher matcher(Strings{"b", "ab", "aab", "ab"});
  std::string output;
  EXPECT_EQ(matcher.stop(), -1);
  EXPECT_TRUE(matcher.Push("caab", &output));
  EXPECT_EQ(output, "c");
  EXPECT_EQ(matcher.stop(), 2);
}

TEST(StopMatcher, TheStopCompleteFirst_WinsOverALongerOneThatBeganEarlier) {
  StopMatcher matcher(Strings{"abcd", "bc"});
  std::string output;
  EXPECT_TRUE(matcher.Push("xabcd", &output));
  EXPECT_EQ(output, "xa");
  EXPECT_EQ(matcher.stop(), 1);
}

TEST(StopMatcher, NoStops_PassesEverythingAtOnce) {
  StopMatcher matcher(Strings{});
  std::string output;
  EXPECT_FALSE(matcher.Push("any", &output));
  EXPECT_EQ(output, "any");
}

TEST(StopMatcher, LongStop_CostsTimeInProportionToTheText) {
  const std::string stop = std::string(100000, 'a') + "b";
  StopMatcher matcher(Strings{stop});
  std::string output;
  for (int i = 0; i < 3000; ++i) EXPECT_FALSE(matcher.Push(std::string(100, 'a'), &output));
  EXPECT_EQ(output.size(), 200000u);
  EXPECT_TRUE(matcher.Push("b", &output));
  EXPECT_EQ(output.size(), 200000u);
}

}  // namespace
}  // namespace ekvi::engine
