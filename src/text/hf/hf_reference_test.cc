// Goal: tokenizer.json gives the ids of Hugging Face tokenizers, and the same as the GGUF file of the same model.
// Method: ids that tools/tokenizer_reference.py wrote for small tokenizers of many kinds, and the shared models.
#include <gtest/gtest.h>

#include "text/hf/hf_json.h"
#include "text/hf/hf_tokenizer.h"
#include "text/tokenizer_testing.h"

namespace ekvi::text {
namespace {

void ExpectCases(const Tokenizer& tokenizer, const JsonValue& kind, std::string_view name) {
  const JsonValue cases = kind.Require("cases");
  size_t index = 0;
  for (const auto element : cases.Array()) {
    const JsonValue item = cases.Item(element, index++);
    const std::string text(item.Require("text").String());
    const bool special = item.Bool("special", false);
    Ids wanted;
    for (const auto id : item.Require("ids").Array()) wanted.push_back(static_cast<int32_t>(int64_t{id}));
    EXPECT_EQ(tokenizer.Encode(text, {.begin = false, .special = special}), wanted) << name << ": " << text;
  }
}

TEST(HfTokenizer, EveryKind_GivesTheReferenceIds) {
  const JsonDocument document(testing::ContentOf(std::filesystem::path(EKVI_SOURCE_DIR) / "tests/data/tokenizers.json"),
                              "tokenizers.json");
  size_t count = 0;
  for (const auto element : document.root().Array()) {
    const JsonValue kind = document.root().Item(element, count++);
    const std::string_view name = kind.Require("name").String();
    simdjson::dom::element json;
    ASSERT_FALSE(element["tokenizer"].get(json));
    const auto tokenizer = LoadTokenizerJson(simdjson::minify(json), std::string(name));
    ExpectCases(*tokenizer, kind, name);
  }
  EXPECT_GT(count, 30u);
}

TEST(HfTokenizer, FoldersAndTheirGgufFiles_GiveTheSameIds) {
  const auto root = testing::SharedPath("models/tiny");
  EKVI_SKIP_WITHOUT(root);
  constexpr uint64_t kSeed = 94;
  base::Random random(kSeed);
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (!std::filesystem::exists(entry.path() / "tokenizer.json")) continue;
    const auto folder = ekvi::Tokenizer::Load(entry.path()), file = ekvi::Tokenizer::Load(entry.path() / "model.gguf");
    EXPECT_EQ(folder->size(), file->size());
    EXPECT_EQ(folder->begin_token(), file->begin_token());
    for (int round = 0; round < 40; ++round) {
      const std::string text = (round % 4 == 0 ? "<s></s><|endoftext|> the" : "") + RandomText(random, 30);
      for (const bool special : {false, true}) {
        ASSERT_EQ(folder->Encode(text, {.special = special}), file->Encode(text, {.special = special}))
            << entry.path() << ", seed " << kSeed << ": " << text;
      }
      ASSERT_EQ(folder->Decode(folder->Encode(text)), text) << entry.path() << ", seed " << kSeed;
    }
  }
}

}  // namespace
}  // namespace ekvi::text
