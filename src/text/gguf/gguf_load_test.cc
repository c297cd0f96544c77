// Goal: a vocabulary whose parts do not fit together is refused by the key at fault, and missing keys have the
// documented defaults. Method: a sound file in memory, changed in one key at a time, and the shared broken files.
#include <gtest/gtest.h>

#include <cmath>

#include "files/reader_expect_error.h"
#include "text/tokenizer_testing.h"

namespace ekvi::text {
namespace {

// What is to be changed; every key can be left out.
struct Keys {
  std::optional<std::string> model = "llama";
  std::optional<std::vector<std::string>> tokens = {{"<unk>", "<s>", "</s>", "<0x41>", "▁", "a", "▁a"}};
  std::optional<std::vector<float>> scores = {{0, 0, 0, 0, -1, -2, -3}};
  std::optional<std::vector<int32_t>> types = {{2, 3, 3, 6, 1, 1, 1}};
  std::optional<uint32_t> begin = 1, end = 2, unknown = 0, end_of_turn;
  std::optional<bool> add_begin, add_space_prefix;

  std::unique_ptr<Tokenizer> Load() const {
    files::GgufBuilder builder;
    if (model) builder.String("tokenizer.ggml.model", *model);
    if (tokens) builder.Strings("tokenizer.ggml.tokens", *tokens);
    if (scores) builder.Items("tokenizer.ggml.scores", 6, *scores);
    if (types) builder.Items("tokenizer.ggml.token_type", 5, *types);
    if (begin) builder.U32("tokenizer.ggml.bos_token_id", *begin);
    if (end) builder.U32("tokenizer.ggml.eos_token_id", *end);
    if (unknown) builder.U32("tokenizer.ggml.unknown_token_id", *unknown);
    if (end_of_turn) builder.U32("tokenizer.ggml.eot_token_id", *end_of_turn);
    if (add_begin) builder.Bool("tokenizer.ggml.add_bos_token", *add_begin);
    if (add_space_prefix) builder.Bool("tokenizer.ggml.add_space_prefix", *add_space_prefix);
    return LoadBuilt(builder);
  }
};

TEST(LoadTokenizer, SoundFile_HasItsPiecesAndIds) {
  Keys keys;
  keys.end_of_turn = 1;
  const auto tokenizer = keys.Load();
  const Vocabulary& vocabulary = tokenizer->vocabulary();
  EXPECT_EQ(tokenizer->Description(), "llama (7 pieces)");
  EXPECT_EQ(vocabulary.Piece(6), "▁a");
  EXPECT_EQ(vocabulary.Score(6), -3.0f);
  EXPECT_EQ(vocabulary.Kind(3), PieceKind::kByte);
  EXPECT_EQ(vocabulary.byte_tokens()['A'], 3);
  EXPECT_EQ(vocabulary.byte_tokens()['B'], -1);
  EXPECT_EQ(vocabulary.begin(), 1);
  EXPECT_EQ(vocabulary.unknown(), 0);
  EXPECT_EQ(Ids(vocabulary.ends().begin(), vocabulary.ends().end()), (Ids{2, 1}));
  EXPECT_TRUE(vocabulary.add_begin());
  EXPECT_EQ(tokenizer->Encode("aA"), (Ids{1, 6, 3}));
}

TEST(LoadTokenizer, MissingKeys_HaveDefaults) {
  Keys keys;
  keys.begin = keys.end = keys.unknown = {};
  const auto with_types = keys.Load();
  EXPECT_EQ(with_types->vocabulary().begin(), 1);
  EXPECT_EQ(with_types->vocabulary().unknown(), 0);
  EXPECT_EQ(with_types->vocabulary().ends()[0], 2);

  keys.types = {{1, 1, 1, 6, 1, 1, 1}};
  const auto no_specials = keys.Load();
  EXPECT_EQ(no_specials->vocabulary().begin(), std::nullopt);
  EXPECT_TRUE(no_specials->vocabulary().ends().empty());
  EXPECT_FALSE(no_specials->vocabulary().add_begin());
  EXPECT_EQ(no_specials->Encode("a"), Ids{6});
}

// Without the kinds of pieces a user's "<s>" must still not become the begin token.
TEST(LoadTokenizer, MissingTypes_AreTakenFromFormAndIds) {
  Keys keys;
  keys.types = {};
  const auto tokenizer = keys.Load();
  EXPECT_EQ(tokenizer->vocabulary().Kind(0), PieceKind::kUnknown);
  EXPECT_EQ(tokenizer->vocabulary().Kind(1), PieceKind::kControl);
  EXPECT_EQ(tokenizer->vocabulary().Kind(2), PieceKind::kControl);
  EXPECT_EQ(tokenizer->vocabulary().Kind(3), PieceKind::kByte);
  EXPECT_EQ(tokenizer->vocabulary().Kind(5), PieceKind::kNormal);
}

TEST(LoadTokenizer, Switches_AreObeyed) {
  Keys keys;
  keys.add_begin = false;
  keys.add_space_prefix = false;
  const auto tokenizer = keys.Load();
  EXPECT_EQ(tokenizer->Encode("a a"), (Ids{5, 6}));
}

TEST(LoadTokenizer, PartsThatDoNotFit_NameTheKeyAndBothNumbers) {
  const auto expect = [](ErrorCode code, std::initializer_list<std::string_view> named, auto change) {
    Keys keys;
    change(keys);
    files::ExpectError(code, named, [&] { keys.Load(); });
  };
  const auto corrupt = ErrorCode::kCorrupt, unsupported = ErrorCode::kUnsupported;
  expect(corrupt, {"tokenizer.ggml.model", "missing"}, [](Keys& k) { k.model = {}; });
  expect(unsupported, {"tokenizer.ggml.model", "'rwkv'", "'llama'"}, [](Keys& k) { k.model = "rwkv"; });
  expect(corrupt, {"tokenizer.ggml.tokens", "missing"}, [](Keys& k) { k.tokens = {}; });
  expect(corrupt, {"tokenizer.ggml.tokens", "no pieces"}, [](Keys& k) { k.tokens = std::vector<std::string>(); });
  expect(corrupt, {"tokenizer.ggml.scores", "missing"}, [](Keys& k) { k.scores = {}; });
  expect(corrupt, {"tokenizer.ggml.scores", "6 items", "7"}, [](Keys& k) { k.scores->pop_back(); });
  expect(corrupt, {"tokenizer.ggml.scores", "not a number", "item 5"}, [](Keys& k) { (*k.scores)[5] = std::nanf(""); });
  expect(corrupt, {"tokenizer.ggml.token_type", "8 items", "7"}, [](Keys& k) { k.types->push_back(1); });
  expect(corrupt, {"tokenizer.ggml.token_type", "item 4 is 7"}, [](Keys& k) { (*k.types)[4] = 7; });
  expect(corrupt, {"tokenizer.ggml.token_type", "item 4 is -1"}, [](Keys& k) { (*k.types)[4] = -1; });
  expect(corrupt, {"tokenizer.ggml.tokens", "'a'", "piece 5"}, [](Keys& k) { (*k.types)[5] = 6; });
  expect(corrupt, {"tokenizer.ggml.bos_token_id", "id 7", "7 pieces"}, [](Keys& k) { k.begin = 7; });
  expect(corrupt, {"tokenizer.ggml.eos_token_id", "id 4,294,967,295", "7 pieces"}, [](Keys& k) { k.end = ~0u; });
  expect(corrupt, {"tokenizer.ggml.unknown_token_id", "id 9"}, [](Keys& k) { k.unknown = 9; });
  expect(corrupt, {"tokenizer.ggml.eot_token_id", "id 9"}, [](Keys& k) { k.end_of_turn = 9; });
  expect(unsupported, {"tokenizer.ggml.tokens", "piece 5 has 4,097 bytes", "4096"},
         [](Keys& k) { (*k.tokens)[5] = std::string(4097, 'a'); });
}

TEST(LoadTokenizer, SharedFiles_AreRefusedByName) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("models/bad"));
  const auto load = [](const char* name) {
    return LoadTokenizer(files::GgufFile::Open(testing::SharedPath("models/bad") / name));
  };
  EXPECT_EQ(load("good.gguf")->vocabulary().size(), 20);
  EXPECT_EQ(load("vocab_mismatch.gguf")->vocabulary().size(), 17);
  files::ExpectError(ErrorCode::kCorrupt, {"scores_mismatch.gguf", "tokenizer.ggml.scores", "19", "20"},
                     [&] { load("scores_mismatch.gguf"); });
  files::ExpectError(ErrorCode::kCorrupt, {"tokenizer.ggml.bos_token_id", "20"},
                     [&] { load("bos_out_of_range.gguf"); });
  files::ExpectError(ErrorCode::kCorrupt, {"tokenizer.ggml.tokens", "missing"},
                     [&] { load("missing_vocabulary.gguf"); });
}

TEST(ByteOfPiece, ReadsOnlyTheExactForm) {
  EXPECT_EQ(ByteOfPiece("<0x0A>"), 10);
  EXPECT_EQ(ByteOfPiece("<0xfF>"), 255);
  for (const char* piece : {"", "<0x0>", "<0x0A", "0x0A>", "<0xG0>", "<0x0AA>", "<0X0A>", "<0x A>"}) {
    EXPECT_EQ(ByteOfPiece(piece), std::nullopt) << piece;
  }
}

}  // namespace
}  // namespace ekvi::text
