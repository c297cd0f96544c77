// Goal: a tokenizer.json that is wrong or asks for what is not there is refused with its place; none is worse than
// that. Method: a sound one with one part replaced, and random bytes of it changed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "files/reader_expect_error.h"
#include "text/hf/hf_tokenizer.h"
#include "text/pipeline/regex.h"

namespace ekvi::text {
namespace {

struct Json {
  std::string normalizer = "null", pre_tokenizer = R"({"type":"Metaspace","replacement":"_"})", post = "null";
  std::string decoder = R"({"type":"Metaspace","replacement":"_"})";
  std::string added = R"([{"id":0,"content":"<u>","special":true}])";
  std::string model = R"({"type":"BPE","unk_token":"<u>","vocab":{"<u>":0,"a":1,"b":2,"ab":3,"_":4},"merges":["a b"]})";

  std::string Text() const {
    return fmt::format(R"({{"version":"1.0","added_tokens":{},"normalizer":{},"pre_tokenizer":{},)", added, normalizer,
                       pre_tokenizer) +
           fmt::format(R"("post_processor":{},"decoder":{},"model":{}}})", post, decoder, model);
  }
  std::unique_ptr<Tokenizer> Load() const { return LoadTokenizerJson(Text(), "t.json"); }
};

void ExpectRefused(ErrorCode code, std::initializer_list<std::string_view> named, const Json& json) {
  files::ExpectError(code, named, [&] { json.Load(); });
}

TEST(HfTokenizer, SoundFile_Loads) {
  const auto tokenizer = Json().Load();
  EXPECT_EQ(tokenizer->Encode("ab ba"), (std::vector<int32_t>{4, 3, 4, 2, 1}));
  EXPECT_EQ(tokenizer->Decode(std::vector<int32_t>{4, 3, 4, 2, 1}), "ab ba");
}

// Whether special tokens are looked for in the text or in the normalized text.
TEST(HfTokenizer, BR_86_PlainParts_HaveNoSpecialTokens) {
  for (const char* normalized : {"false", "true"}) {
    const auto tokenizer = Json{.normalizer = R"({"type":"Lowercase"})",
                                .added = R"([{"id":0,"content":"<u>","special":true,"normalized":)" +
                                         std::string(normalized) + R"(},{"id":5,"content":"ba","special":false}])"}
                               .Load();
    const std::string text = "<u>a<u>ba<u>";
    const auto encode = [&](std::vector<std::string_view> plain) {
      const auto ids = tokenizer->Encode(text, {.begin = false, .special = true, .plain = plain});
      return std::pair(std::ranges::count(ids, 0), std::ranges::count(ids, 5));
    };
    const std::string_view whole = text;
    EXPECT_EQ(encode({}), std::pair(3l, 1l)) << normalized;
    // What no piece writes is the unknown token, which is <u>: three characters of one name.
    EXPECT_EQ(encode({whole.substr(4, 1)}).first, 5) << normalized;
    EXPECT_EQ(encode({whole.substr(6, 1)}).first, 5) << normalized;
    EXPECT_EQ(encode({whole}), std::pair(9l, 1l)) << normalized;
  }
}

TEST(HfTokenizer, WhatIsNotSupported_IsRefusedByNameAndPlace) {
  constexpr ErrorCode kCode = ErrorCode::kUnsupported;
  ExpectRefused(kCode, {"t.json", "normalizer", "'Odd'"}, {.normalizer = R"({"type":"Odd"})"});
  ExpectRefused(kCode, {"normalizer.normalizers[1]", "'Odd'"},
                {.normalizer = R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Odd"}]})"});
  ExpectRefused(kCode, {"pre_tokenizer", "'UnicodeScripts'"}, {.pre_tokenizer = R"({"type":"UnicodeScripts"})"});
  ExpectRefused(kCode, {"pre_tokenizer.behavior", "'Odd'"},
                {.pre_tokenizer = R"({"type":"Split","pattern":{"String":"x"},"behavior":"Odd"})"});
  ExpectRefused(kCode, {"pre_tokenizer.pattern.Regex", "(a"},
                {.pre_tokenizer = R"({"type":"Split","pattern":{"Regex":"(a"},"behavior":"Isolated"})"});
  ExpectRefused(kCode, {"an intersection of classes", "at byte"},
                {.pre_tokenizer = R"({"type":"Split","pattern":{"Regex":"[a&&b]"},"behavior":"Isolated"})"});
  ExpectRefused(kCode, {"decoder", "'CTC'"}, {.decoder = R"({"type":"CTC"})"});
  ExpectRefused(kCode, {"post_processor", "'Odd'"}, {.post = R"({"type":"Odd"})"});
  ExpectRefused(kCode, {"model", "'Odd'"}, {.model = R"({"type":"Odd","vocab":{"<u>":0},"merges":[]})"});
  ExpectRefused(kCode, {"model.dropout", "0.1"},
                {.model = R"({"type":"BPE","dropout":0.1,"vocab":{"<u>":0},"merges":[]})"});
}

TEST(HfTokenizer, VocabulariesThatDoNotFit_AreRefusedWithNumbers) {
  constexpr ErrorCode kCode = ErrorCode::kCorrupt;
  const auto bpe = [](std::string vocab, std::string merges) {
    return Json{.model = R"({"type":"BPE","vocab":)" + vocab + R"(,"merges":)" + merges + "}"};
  };
  ExpectRefused(kCode, {"model.vocab", "id 1 twice", "'a'", "'b'"}, bpe(R"({"<u>":0,"a":1,"b":1})", "[]"));
  ExpectRefused(kCode, {"model.vocab", "'a' twice"}, bpe(R"({"<u>":0,"a":1,"a":2})", "[]"));
  ExpectRefused(ErrorCode::kUnsupported, {"model.vocab", "4,000,000"}, bpe(R"({"<u>":0,"a":4000000})", "[]"));
  ExpectRefused(kCode, {"model.vocab.'a'", "a whole number"}, bpe(R"({"<u>":0,"a":-1})", "[]"));
  ExpectRefused(kCode, {"model.vocab.'a'", "99,999,999"}, bpe(R"({"<u>":0,"a":99999999})", "[]"));
  ExpectRefused(kCode, {"model.merges[0]", "'x'"}, bpe(R"({"<u>":0,"a":1})", R"(["a x"])"));
  ExpectRefused(kCode, {"model.merges[0]", "'aa'"}, bpe(R"({"<u>":0,"a":1})", R"([["a","a"]])"));
  ExpectRefused(kCode, {"model.merges[0]", "no pair"}, bpe(R"({"<u>":0,"a":1})", R"(["a a a"])"));
  ExpectRefused(kCode, {"model.merges[0]", "no pair"}, bpe(R"({"<u>":0,"a":1})", "[7]"));
  ExpectRefused(kCode, {"model", "'merges' missing"}, {.model = R"({"type":"BPE","vocab":{"<u>":0}})"});
  ExpectRefused(kCode, {"model.unk_token", "'z'"},
                {.model = R"({"type":"BPE","unk_token":"z","vocab":{"<u>":0},"merges":[]})"});
  ExpectRefused(kCode, {"model.unk_id", "id 9", "1 pieces"},
                {.model = R"({"type":"Unigram","unk_id":9,"vocab":[["<u>",0]]})"});
  ExpectRefused(kCode, {"model.vocab[0]", "3 items"}, {.model = R"({"type":"Unigram","vocab":[["<u>",0,1]]})"});
  ExpectRefused(kCode, {"added_tokens[1]", "id 1 twice", "'a'", "'q'"},
                {.added = R"([{"id":0,"content":"<u>"},{"id":1,"content":"q"}])"});
  ExpectRefused(kCode, {"added_tokens[0]", "'a' twice", "1 and 7"}, {.added = R"([{"id":7,"content":"a"}])"});
  ExpectRefused(kCode, {"added_tokens[0].content", "a number"}, {.added = R"([{"id":7,"content":5}])"});
  ExpectRefused(kCode, {"special_tokens.q.ids[0]", "id 77"},
                {.post = R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"q"}}],)"
                         R"("special_tokens":{"q":{"ids":[77]}}})"});
  ExpectRefused(kCode, {"normalizer.precompiled_charsmap", "base64"},
                {.normalizer = R"({"type":"Precompiled","precompiled_charsmap":"?"})"});
  ExpectRefused(kCode, {"normalizer.precompiled_charsmap", "trie"},
                {.normalizer = R"({"type":"Precompiled","precompiled_charsmap":"/////w=="})"});
  ExpectRefused(kCode, {"decoder", "'type' twice"}, {.decoder = R"({"type":"Fuse","type":"Fuse"})"});
}

TEST(HfTokenizer, NoJsonOrTooDeep_IsRefused) {
  files::ExpectError(ErrorCode::kCorrupt, {"t.json", "JSON"}, [] { LoadTokenizerJson("", "t.json"); });
  files::ExpectError(ErrorCode::kCorrupt, {"t.json", "JSON"}, [] { LoadTokenizerJson("{\"a\":", "t.json"); });
  files::ExpectError(ErrorCode::kCorrupt, {"t.json", "an object"}, [] { LoadTokenizerJson("[]", "t.json"); });
  files::ExpectError(ErrorCode::kUnsupported, {"t.json", "levels"}, [] {
    LoadTokenizerJson("{\"a\":" + std::string(1 << 20, '[') + std::string(1 << 20, ']') + "}", "t.json");
  });
}

TEST(HfTokenizer, ChangedBytes_AreRefusedOrWork) {
  constexpr uint64_t kSeed = 77;
  base::Random random(kSeed);
  const std::string sound =
      Json{.normalizer = R"({"type":"Replace","pattern":{"Regex":"[^a-z]+"},"content":"b"})",
           .pre_tokenizer = R"({"type":"Split","pattern":{"Regex":"\\s?\\w{1,3}|."},"behavior":"Isolated"})"}
          .Text();
  int loaded = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = sound;
    for (uint64_t i = 0, n = 1 + random.Below(3); i < n; ++i) {
      text[random.Below(text.size())] = static_cast<char>(round % 2 == 0 ? random.Bits() : 0x20 + random.Below(95));
    }
    if (random.Below(8) == 0) text.resize(random.Below(text.size()));
    try {
      const auto tokenizer = LoadTokenizerJson(text, "t.json");
      ++loaded;
      tokenizer->Decode(tokenizer->Encode("ab ba <u> \xFF é"));
    } catch (const Error& error) {
      EXPECT_FALSE(error.summary().empty());
    }
  }
  EXPECT_GT(loaded, 100) << "seed " << kSeed;
}

// One kind of hostile file: a pattern whose tries double with every character.
TEST(HostileTokenizerJson, PatternThatBacktracksWithoutEnd_GivesUp) {
  const Regex regex("(?:a+)+$");
  const std::string text = std::string(60, 'a') + "!";
  files::ExpectError(ErrorCode::kUnsupported, {"gives up"}, [&] { regex.Find(text, 0); });
  EXPECT_TRUE(Regex("a+").Find(std::string(1 << 20, 'a'), 0).has_value());
}

}  // namespace
}  // namespace ekvi::text
