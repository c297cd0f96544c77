// Goal: a text is cut at special names as the rule says, longest names first, at no cost that a text can drive up.
// Method: a twin that searches the text once for each name in that order, on random names and texts that overlap in
// every way.
#include "text/vocabulary/special_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>

#include "text/test_vocabulary.h"

namespace ekvi::text {
namespace {

using Part = std::pair<std::string, int32_t>;  // -1: plain

std::vector<Part> PartsOf(const std::vector<TextPart>& split) {
  std::vector<Part> parts;
  for (const TextPart& part : split) parts.emplace_back(part.text, part.token.value_or(-1));
  return parts;
}

// A vocabulary without byte pieces (its own begin at 3), and its names: those found anywhere, and with control tokens.
struct Names {
  explicit Names(std::vector<TestPiece> names)
      : pieces(TestVocabulary{std::move(names), false}.Build()),
        anywhere(pieces, {PieceKind::kUserDefined}),
        all(pieces, {PieceKind::kUserDefined, PieceKind::kControl}) {}

  const Vocabulary pieces;
  const SpecialNames anywhere, all;
};

std::string RandomWord(base::Random& random, uint64_t length) {
  std::string text;
  for (uint64_t i = 0; i < length; ++i) text += "abc"[random.Below(3)];
  return text;
}

std::vector<Part> SplitBySearching(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<int32_t> order;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.Kind(id) == PieceKind::kUserDefined && !vocabulary.Piece(id).empty()) order.push_back(id);
  }
  std::ranges::stable_sort(order, std::greater(), [&](int32_t id) { return vocabulary.Piece(id).size(); });
  std::vector<Part> parts;
  if (!text.empty()) parts.emplace_back(text, -1);
  for (const int32_t id : order) {
    const std::string name(vocabulary.Piece(id));
    for (size_t i = 0; i < parts.size(); ++i) {
      const size_t at = parts[i].second < 0 ? parts[i].first.find(name) : std::string::npos;
      if (at == std::string::npos) continue;
      const std::string before = parts[i].first.substr(0, at), after = parts[i].first.substr(at + name.size());
      parts[i] = {name, id};
      if (!after.empty()) parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, {after, -1});
      if (!before.empty()) parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(i), {before, -1});
    }
  }
  return parts;
}

TEST(SpecialNames, RandomOverlappingNames_AgreeWithASearch) {
  constexpr uint64_t kSeed = 12;
  base::Random random(kSeed);
  for (int round = 0; round < 3000; ++round) {
    std::vector<TestPiece> pieces;
    for (uint64_t i = 0, n = random.Below(8); i < n; ++i)
      pieces.push_back(UserDefined(RandomWord(random, random.Below(6))));
    const Names names(std::move(pieces));
    const std::string text = RandomWord(random, random.Below(30));
    ASSERT_EQ(PartsOf(names.anywhere.Split(text)), SplitBySearching(names.pieces, text))
        << "seed " << kSeed << ", round " << round << ": " << text;
  }
}

TEST(SpecialNames, LongerNameThatBeginsLater_Wins) {
  const Names names({UserDefined("ab"), UserDefined("bcd")});
  EXPECT_EQ(PartsOf(names.anywhere.Split("abcd")), (std::vector<Part>{{"a", -1}, {"bcd", 4}}));
  EXPECT_EQ(PartsOf(names.anywhere.Split("abc")), (std::vector<Part>{{"ab", 3}, {"c", -1}}));
  EXPECT_EQ(PartsOf(names.anywhere.Split("")), (std::vector<Part>{}));
}

TEST(SpecialNames, KindsNotAskedFor_ArePlainText) {
  const Names names({Control("<c>"), UserDefined("<u>")});
  EXPECT_EQ(PartsOf(names.anywhere.Split("<c><u>")), (std::vector<Part>{{"<c>", -1}, {"<u>", 4}}));
  EXPECT_EQ(PartsOf(names.all.Split("<c><u>")), (std::vector<Part>{{"<c>", 3}, {"<u>", 4}}));
}

// The twin: what a name may cover is known byte by byte.
TEST(SpecialNames, ForeignParts_HaveNoNamesThatReachIntoThem) {
  constexpr uint64_t kSeed = 13;
  base::Random random(kSeed);
  for (int round = 0; round < 3000; ++round) {
    std::vector<TestPiece> pieces;
    for (uint64_t i = 0, n = random.Below(8); i < n; ++i) {
      const std::string name = RandomWord(random, 1 + random.Below(5));
      pieces.push_back(random.Below(2) == 0 ? UserDefined(name) : Control(name));
    }
    const Names names(std::move(pieces));
    const std::string text = RandomWord(random, random.Below(30));
    std::vector<std::string_view> foreign;
    std::vector<bool> is_foreign(text.size());
    for (size_t at = random.Below(6); at < text.size(); at += 1 + random.Below(8)) {
      const size_t bytes = std::min<size_t>(1 + random.Below(3), text.size() - at);
      foreign.push_back(std::string_view(text).substr(at, bytes));
      for (size_t i = 0; i < bytes; ++i) is_foreign[at + i] = true;
      at += bytes;
    }
    std::string joined;
    for (const TextPart& part : names.all.Split(text, {foreign, &names.anywhere})) {
      const auto touched = std::ranges::any_of(std::views::iota(size_t{0}, part.text.size()),
                                               [&](size_t i) { return is_foreign[joined.size() + i]; });
      const bool control = part.token && names.pieces.Kind(*part.token) == PieceKind::kControl;
      ASSERT_FALSE(control && touched) << "seed " << kSeed << ", round " << round << ": " << text;
      joined += part.text;
    }
    ASSERT_EQ(joined, text);
    const std::vector<std::string_view> whole = {text};
    ASSERT_EQ(names.all.Split(text, {whole, &names.anywhere}).size(), names.anywhere.Split(text).size())
        << "seed " << kSeed;
    ASSERT_EQ(names.all.Split(text, {{}, &names.anywhere}).size(), names.all.Split(text).size()) << "seed " << kSeed;
  }
}

TEST(SpecialNames, AShorterNameInFrontOfForeignTextIsFound) {
  const Names names({Control("<c>x"), UserDefined("xy")});
  const std::string text = "<s><c>xy";
  const std::vector<std::string_view> foreign = {std::string_view(text).substr(6)};
  EXPECT_EQ(PartsOf(names.all.Split(text, {foreign, &names.anywhere})),
            (std::vector<Part>{{"<s>", 1}, {"<c>", -1}, {"xy", 4}}));
}

// Runs of every length are names, as in vocabularies with runs of line ends.
TEST(SpecialNames, NestedNamesInALongRun_AreCutOnce) {
  std::vector<TestPiece> pieces;
  for (size_t length = 1; length <= 31; ++length) pieces.push_back(UserDefined(std::string(length, '\n')));
  const Names names(std::move(pieces));
  const auto parts = PartsOf(names.anywhere.Split(std::string(100'000, '\n')));
  EXPECT_EQ(parts.size(), 100'000u / 31 + 1);
  EXPECT_EQ(parts.back().first.size(), 100'000u % 31);
}

}  // namespace
}  // namespace ekvi::text
