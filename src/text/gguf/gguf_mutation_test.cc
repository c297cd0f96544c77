// Goal: no bytes, however damaged, make the reader or the tokenizer's loader crash, hang or read outside the file.
// Method: seeded flips, overwrites with tempting numbers, cuts and insertions in the headers of real files; each mutant
// is parsed and whatever parses is used.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "files/gguf.h"
#include "files/gguf_test_builder.h"
#include "shared_path.h"
#include "temporary_folder.h"
#include "text/tokenizer.h"

namespace ekvi::text {
namespace {

constexpr uint64_t kSeed = 20'240'817;

void Overwrite(std::string& bytes, size_t at, uint64_t value, size_t size) {
  for (size_t i = 0; i < size && at + i < bytes.size(); ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
}

// One change in the first `header` bytes.
void Mutate(std::string& bytes, size_t header, base::Random& random) {
  static constexpr uint64_t kTempting[] = {0,
                                           1,
                                           2,
                                           4,
                                           7,
                                           8,
                                           9,
                                           12,
                                           13,
                                           31,
                                           255,
                                           65'535,
                                           65'537,
                                           0x7FFFFFFF,
                                           0x80000000,
                                           0xFFFFFFFF,
                                           uint64_t{1} << 40,
                                           uint64_t{1} << 62,
                                           uint64_t{1} << 63,
                                           ~uint64_t{0},
                                           ~uint64_t{0} - 31};
  const size_t at = random.Below(std::min(header, bytes.size()));
  const uint64_t value = kTempting[random.Below(std::size(kTempting))];
  switch (random.Below(5)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(random.Bits());
      break;
    case 2:
      Overwrite(bytes, at, value, 4);
      break;
    case 3:
      Overwrite(bytes, at, value, 8);
      break;
    default:
      bytes.erase(at, 1 + random.Below(9));
      break;
  }
}

// Touches everything that a parsed file offers.
uint64_t Use(const files::GgufFile& file) {
  uint64_t sum = 0;
  for (const auto& [key, text] : file.MetadataText()) sum += key.size() + text.size();
  for (const files::GgufTensor& tensor : file.tensors()) {
    const auto data = file.Data(tensor);
    if (!data.empty()) sum += static_cast<uint64_t>(data.front()) + static_cast<uint64_t>(data.back());
    sum += tensor.type->format ? static_cast<uint64_t>(file.ComputedFormat(tensor)) : 0;
  }
  const auto tokenizer = LoadTokenizer(file);
  const auto ids = tokenizer->Encode("Once upon a time, 7 \xF0\x9F\xA6\x99s.");
  return sum + tokenizer->Decode(ids).size();
}

void MutateAndParse(const std::string& original, size_t header, int rounds) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  ASSERT_GT(original.size(), header);
  base::Random random(kSeed);
  int refused = 0, parsed = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string bytes = original;
    for (uint64_t i = 0, changes = 1 + random.Below(3); i < changes; ++i) Mutate(bytes, header, random);
    if (random.Below(8) == 0) bytes.resize(random.Below(bytes.size()));
    bytes.shrink_to_fit();
    try {
      Use(files::GgufFile::Borrow(files::AsBytes(bytes), "mutant.gguf"));
      ++parsed;
    } catch (const Error& error) {
      ++refused;
      EXPECT_FALSE(error.summary().empty());
    }
  }
  std::printf("%d mutants refused, %d parsed\n", refused, parsed);
  EXPECT_GT(refused, 0);
}

TEST(GgufMutation, SmallModel_IsRefusedOrWorks) {
  const auto path = testing::SharedPath("models/bad/good.gguf");
  EKVI_SKIP_WITHOUT(path);
  MutateAndParse(testing::ContentOf(path), 1781, 4000);
}

TEST(GgufMutation, Stories260K_IsRefusedOrWorks) {
  const auto path = testing::SharedPath("models/stories260K.gguf");
  EKVI_SKIP_WITHOUT(path);
  MutateAndParse(testing::ContentOf(path), 14003, 400);
}

// A vocabulary without tensors: damage reaches the tokenizer's loader more often.
TEST(GgufMutation, VocabularyAlone_IsRefusedOrWorks) {
  const std::string bytes =
      files::GgufBuilder()
          .String("general.architecture", "llama")
          .String("tokenizer.ggml.model", "llama")
          .Strings("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "<0x41>", "▁", "a", "▁a", "<hey>"})
          .Items<float>("tokenizer.ggml.scores", 6, {0, 0, 0, 0, -1, -2, -3, 0})
          .Items<int32_t>("tokenizer.ggml.token_type", 5, {2, 3, 3, 6, 1, 1, 1, 4})
          .U32("tokenizer.ggml.bos_token_id", 1)
          .U32("tokenizer.ggml.eos_token_id", 2)
          .Build();
  MutateAndParse(bytes, bytes.size() - 1, 4000);
}

}  // namespace
}  // namespace ekvi::text
