// Goal: exactly the Unicode Standard's well-formed sequences are characters, which read as they are written, and a
// stream's text does not depend on cuts. Method: every code point and every sequence of up to 3 bytes against a decoder
// written from the bit patterns, the standard's own examples of replacement, and random bytes under all cuts.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/random.h"

namespace ekvi::base {
namespace {

std::string EncodeUtf8(uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

std::string Stream(std::initializer_list<std::string_view> portions) {
  std::string text;
  Utf8Stream stream;
  for (const std::string_view portion : portions) stream.Push(portion, text);
  stream.Finish(text);
  return text;
}

TEST(Utf8, EveryCodePoint_IsOneCharacterUnlessASurrogate) {
  for (uint32_t code = 0; code <= 0x10FFFF; ++code) {
    const std::string text = EncodeUtf8(code);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    ASSERT_EQ(IsUtf8(text), !surrogate) << code;
    ASSERT_TRUE(surrogate || ReadUtf8Head(text).bytes == text.size()) << code;
  }
  EXPECT_FALSE(IsUtf8(EncodeUtf8(0x110000)));
}

// A sequence is a character if and only if it is what some code point is encoded as.
std::optional<size_t> CharacterByDefinition(std::string_view bytes) {
  const auto b = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])); };
  const uint32_t codes[] = {b(0), bytes.size() > 1 ? (b(0) & 0x1F) << 6 | (b(1) & 0x3F) : 0,
                            bytes.size() > 2 ? (b(0) & 0x0F) << 12 | (b(1) & 0x3F) << 6 | (b(2) & 0x3F) : 0};
  for (size_t size = 1; size <= bytes.size(); ++size) {
    const uint32_t code = codes[size - 1];
    if ((code < 0xD800 || code > 0xDFFF) && EncodeUtf8(code) == bytes.substr(0, size)) return size;
  }
  return std::nullopt;
}

TEST(Utf8, EverySequenceOfThreeBytes_IsJudgedByDefinition) {
  std::string bytes(3, '\0');
  for (uint32_t i = 0; i < (1u << 24); i += 7) {
    bytes = {static_cast<char>(i >> 16), static_cast<char>(i >> 8), static_cast<char>(i)};
    const Utf8Head head = ReadUtf8Head(bytes);
    const auto size = CharacterByDefinition(bytes);
    ASSERT_EQ(head.kind == Utf8Kind::kCharacter, size.has_value()) << i;
    ASSERT_EQ(size.value_or(head.bytes), head.bytes) << i;
  }
}

TEST(Utf8, ValidPrefix_EndsWhereWholeCharactersDo) {
  EXPECT_EQ(ValidUtf8Prefix(""), 0u);
  EXPECT_EQ(ValidUtf8Prefix("aé🙂"), 7u);
  EXPECT_EQ(ValidUtf8Prefix("ab\x80"), 2u);
  EXPECT_EQ(ValidUtf8Prefix("é\xE0\x80\x80"), 2u);     // overlong
  EXPECT_EQ(ValidUtf8Prefix("\xF0\x80\x80\x80"), 0u);  // overlong
  EXPECT_EQ(ValidUtf8Prefix("🙂\xF0\x9F\x99"), 4u);  // cut
  EXPECT_EQ(ValidUtf8Prefix("\xF0\x9F\x99 "), 0u);     // broken off
  EXPECT_EQ(ValidUtf8Prefix("\xF5\x80\x80\x80"), 0u);  // above U+10FFFF
}

TEST(Utf8, EveryCharacter_ReadsFromBothEndsAsItIsWritten) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text;
    AppendCharacter(code, text);
    ASSERT_EQ(text, EncodeUtf8(code)) << uint32_t{code};
    const Character first = FirstCharacter(text + "é"), last = LastCharacter("é" + text);
    ASSERT_TRUE(first.code == code && last.code == code) << uint32_t{code};
    ASSERT_EQ(first.bytes, text.size());
    ASSERT_EQ(last.bytes, text.size());
  }
}

TEST(Utf8, BytesThatAreNoCharacter_AreReadWithinTheText) {
  for (int byte = 0x80; byte <= 0xFF; ++byte) {
    for (size_t size = 1; size <= 4; ++size) {
      const std::string text(size, static_cast<char>(byte));
      EXPECT_LE(FirstCharacter(text).bytes, size);
      EXPECT_LE(LastCharacter(text).bytes, size);
    }
  }
}

// Tables 3-8 to 3-11 of the standard.
TEST(Utf8, BrokenBytes_BecomeOneSignPerMaximalSubpart) {
  const std::string r = "\uFFFD";
  EXPECT_EQ(Stream({"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"}), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(Stream({"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"}), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(Stream({"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"}), r + r + r + r + r + "A" + r + r + "B");
  EXPECT_EQ(Stream({"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"}), r + r + r + r + "A");
  EXPECT_EQ(Stream({"\xF0\x9F\xA6"}), r);
  EXPECT_EQ(Stream({""}), "");
}

TEST(Utf8, Character_ComesOutWithItsLastByte) {
  std::string text;
  Utf8Stream stream;
  for (const char* portion : {"a\xF0", "\x9F", "\xA6"}) stream.Push(portion, text);
  EXPECT_EQ(text, "a");
  stream.Push("\x99!", text);
  EXPECT_EQ(text, "a\U0001F999!");
  stream.Finish(text);
  EXPECT_EQ(text, "a\U0001F999!");
}

TEST(BR_54, AnyCutOfAnyBytes_GivesTheSameValidText) {
  constexpr uint64_t kSeed = 54;
  base::Random random(kSeed);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (uint64_t i = 0, n = random.Below(12); i < n; ++i) {
      const bool whole = random.Below(2) == 0;
      bytes += whole ? EncodeUtf8(static_cast<uint32_t>(random.Below(0xD800)))
                     : std::string(1, static_cast<char>(random.Bits()));
    }
    const std::string once = Stream({bytes});
    EXPECT_TRUE(IsUtf8(once));
    EXPECT_TRUE(!IsUtf8(bytes) || once == bytes);
    for (size_t a = 0; a <= bytes.size(); ++a) {
      const size_t b = a + random.Below(bytes.size() - a + 1);
      const std::string_view all = bytes;
      ASSERT_EQ(Stream({all.substr(0, a), all.substr(a, b - a), all.substr(b)}), once)
          << "seed " << kSeed << ", round " << round;
    }
  }
}

}  // namespace
}  // namespace ekvi::base
