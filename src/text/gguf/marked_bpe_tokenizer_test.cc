// Goal: a GGUF file of the kind "gemma4" gives the ids of the tokenizer.json that has the same pieces and merges.
// Method: a small vocabulary written in both forms, random text.
#include "text/gguf/marked_bpe_tokenizer.h"

#include <gtest/gtest.h>

#include "files/reader_expect_error.h"
#include "text/hf/hf_tokenizer.h"
#include "text/tokenizer_testing.h"

namespace ekvi::text {
namespace {

struct Small {
  std::vector<std::string> pieces = {"<pad>", "<eos>", "<bos>", "<unk>"};
  std::vector<int32_t> types = {3, 3, 3, 2};
  std::vector<std::pair<std::string, std::string>> merges;

  Small() {
    static constexpr char kHex[] = "0123456789ABCDEF";
    for (int i = 0; i < 256; ++i) Add(std::string("<0x") + kHex[i >> 4] + kHex[i & 15] + ">", 6);
    for (const char* piece : {"▁", "a", "b", "c", "é", "\n", "1"}) Add(piece, 1);
    for (const auto& [left, right] : {std::pair{"a", "b"},
                                      {"▁", "ab"},
                                      {"▁", "▁"},
                                      {"c", "é"},
                                      {"▁▁", "▁"},
                                      {"ab", "cé"},
                                      {"é", "▁"},
                                      {"\n", "\n"}}) {
      merges.emplace_back(left, right);
      Add(std::string(left) + right, 1);
    }
  }

  void Add(const std::string& piece, int32_t type) {
    pieces.push_back(piece);
    types.push_back(type);
  }

  std::unique_ptr<Tokenizer> LoadGguf() const {
    std::vector<std::string> lines;
    for (const auto& [left, right] : merges) lines.push_back(left + " " + right);
    files::GgufBuilder builder;
    builder.String("tokenizer.ggml.model", "gemma4").Strings("tokenizer.ggml.tokens", pieces);
    builder.Strings("tokenizer.ggml.merges", lines).Items("tokenizer.ggml.token_type", 5, types);
    builder.U32("tokenizer.ggml.unknown_token_id", 3).U32("tokenizer.ggml.bos_token_id", 2);
    builder.Bool("tokenizer.ggml.add_bos_token", true);
    return LoadBuilt(builder);
  }

  static std::string Quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
    return quoted + "\"";
  }

  std::unique_ptr<Tokenizer> LoadJson() const {
    std::string vocab, list;
    for (size_t i = 0; i < pieces.size(); ++i) vocab += (i ? "," : "") + Quoted(pieces[i]) + ":" + std::to_string(i);
    for (const auto& [left, right] : merges)
      list += (list.empty() ? "[" : ",[") + Quoted(left) + "," + Quoted(right) + "]";
    return LoadTokenizerJson(
        R"({"version":"1.0","normalizer":{"type":"Replace","pattern":{"String":" "},"content":"▁"},)"
        R"("pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious"},)"
        R"("decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},)"
        R"({"type":"ByteFallback"},{"type":"Fuse"}]},)"
        R"("model":{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,"vocab":{)" +
            vocab + R"(},"merges":[)" + list + "]}}",
        "small.json");
  }
};

TEST(MarkedBpeTokenizer, RandomText_GetsTheIdsOfTokenizerJson) {
  constexpr uint64_t kSeed = 44;
  base::Random random(kSeed);
  const Small small;
  const auto gguf = small.LoadGguf(), json = small.LoadJson();
  EXPECT_EQ(gguf->Encode("a"), (Ids{2, gguf->Encode("a", {.begin = false})[0]}));
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    static const std::vector<std::string> kParts = {"a",  "b", "c", "é",  " ",  " ", "  ",
                                                    "\n", "1", "x", "好", "ab", "cé"};
    for (uint64_t i = 0, n = random.Below(30); i < n; ++i) text += kParts[random.Below(kParts.size())];
    const Ids ids = gguf->Encode(text, {.begin = false});
    ASSERT_EQ(ids, json->Encode(text, {.begin = false})) << "seed " << kSeed << ": " << text;
    ASSERT_EQ(gguf->Decode(ids), text);
  }
}

TEST(MarkedBpeTokenizer, LineEndsThatAreOneToken_NeedNoMerges) {
  Small small;
  small.Add("\n\n\n\n\n", 1);
  const auto tokenizer = small.LoadGguf();
  const Ids five = tokenizer->Encode("a\n\n\n\n\n", {.begin = false});
  EXPECT_EQ(five.back(), tokenizer->size() - 1);
  EXPECT_EQ(five.size(), 2u);
  EXPECT_EQ(tokenizer->Encode("\n\n\n\n", {.begin = false}).size(), 2u);
  EXPECT_EQ(tokenizer->Encode("\n\n\n\n\n\n", {.begin = false}).size(), 3u);
}

TEST(MarkedBpeTokenizer, MergeOfATextThatIsNoPiece_IsRefused) {
  Small small;
  small.merges.emplace_back("b", "b");
  files::ExpectError(ErrorCode::kCorrupt, {"tokenizer.ggml.merges", "'bb' is no piece"}, [&] { small.LoadGguf(); });
}

}  // namespace
}  // namespace ekvi::text
