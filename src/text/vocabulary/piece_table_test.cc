// Goal: texts are found by what they are, whatever the table's key. Method: many pieces, twins, the edges; random
// numbers beside std::multimap.
#include "text/vocabulary/piece_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "text/unicode/byte_alphabet.h"
#include "text/vocabulary/piece_trie.h"

namespace ekvi::text {
namespace {

Pieces PiecesOf(const std::vector<std::string>& texts) {
  return Pieces(std::vector<std::string_view>(texts.begin(), texts.end()));
}

TEST(PieceTable, ManyPieces_AreAllFound) {
  std::vector<std::string> texts;
  for (int i = 0; i < 20'000; ++i) texts.push_back("piece" + std::to_string(i * 7919));
  PieceTable table(PiecesOf(texts), Spelling::kPlain, texts.size());
  for (int i = 0; i < 20'000; ++i) table.Add(i);
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(table.Find(texts[static_cast<size_t>(i)]), i);
  EXPECT_EQ(table.Find("piece"), std::nullopt);
  EXPECT_EQ(table.Find(""), std::nullopt);
}

TEST(PieceTable, PieceThatStandsTwice_IsFoundAsTheLast) {
  PieceTable table(PiecesOf({"a", "b", "a", ""}), Spelling::kPlain, 0);
  for (int i = 0; i < 4; ++i) table.Add(i);
  EXPECT_EQ(table.Find("a"), 2);
  EXPECT_EQ(table.Find("b"), 1);
  EXPECT_EQ(table.Find(""), std::nullopt);
}

TEST(PieceTable, PiecesInTheByteAlphabet_AreFoundByTheirBytes) {
  constexpr uint64_t kSeed = 7;
  base::Random random(kSeed);
  std::vector<std::string> bytes, spelt;
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (uint64_t k = 0, n = 1 + random.Below(5); k < n; ++k) text += static_cast<char>(random.Bits());
    bytes.push_back(text);
    spelt.emplace_back();
    AppendAsAlphabet(text, spelt.back());
  }
  spelt.emplace_back("好");  // none of the alphabet
  PieceTable table(PiecesOf(spelt), Spelling::kByteAlphabet, spelt.size());
  std::map<std::string, int32_t> last;
  for (int32_t i = 0; i < 2000; ++i) table.Add(i), last[bytes[static_cast<size_t>(i)]] = i;
  table.Add(2000);
  for (const auto& [text, id] : last) ASSERT_EQ(table.Find(text), id) << "seed " << kSeed;
  EXPECT_EQ(table.Find("好"), std::nullopt);
}

TEST(KeyedTable, RandomEntries_AreThoseOfAMap) {
  constexpr uint64_t kSeed = 8;
  base::Random random(kSeed);
  for (const size_t room : {0, 10, 5000}) {
    KeyedTable<uint64_t, int32_t, -1> table(room);
    std::map<uint64_t, int32_t> map;
    for (int32_t i = 0; i < 5000; ++i) {
      const uint64_t key = random.Below(4) == 0 ? random.Bits() : random.Below(3000);
      table.Set(key, i);
      map[key] = i;
    }
    for (const auto& [key, value] : map) ASSERT_EQ(*table.Find(key), value) << "seed " << kSeed;
    for (uint64_t key = 3000; key < 4000; ++key) ASSERT_EQ(table.Find(key) == nullptr, !map.contains(key));
  }
}

TEST(PieceTrie, EveryPrefixLeadsSomewhere_OnlyWholeTextsAreTokens) {
  constexpr uint64_t kSeed = 9;
  base::Random random(kSeed);
  PieceTrie trie;
  std::map<std::string, int32_t> texts;
  for (int32_t i = 0; i < 3000; ++i) {
    std::string text;
    for (uint64_t k = 0, n = 1 + random.Below(8); k < n; ++k) text += static_cast<char>('a' + random.Below(5));
    trie.Add(text, i);
    texts[text] = i;
  }
  for (const auto& [text, id] : texts) {
    uint32_t node = PieceTrie::kRoot;
    for (size_t i = 0; i < text.size(); ++i) {
      node = trie.Step(node, static_cast<uint8_t>(text[i]));
      ASSERT_NE(node, PieceTrie::kNowhere);
      const auto prefix = texts.find(text.substr(0, i + 1));
      ASSERT_EQ(trie.Token(node), prefix == texts.end() ? -1 : prefix->second) << "seed " << kSeed;
    }
    EXPECT_EQ(trie.Step(node, 'z'), PieceTrie::kNowhere);
  }
}

}  // namespace
}  // namespace ekvi::text
