// Goal: no text is expensive, for any kind of tokenizer. Method: texts made to be slow, four times as long: the work
// must not grow by ten, and would by sixteen if it were quadratic. Work is counted in instructions where the system
// lets a program count its own, else in the time of its thread, the best of several tries.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <functional>
#include <map>

#include "shared_path.h"
#include "text/gguf/pre_tokenizer_names.h"
#include "text/gguf/unigram_tokenizer.h"
#include "text/hf/hf_json.h"
#include "text/hf/hf_tokenizer.h"
#include "text/test_vocabulary.h"

namespace ekvi::text {
namespace {

class WorkMeter {
 public:
  WorkMeter() {
    perf_event_attr wanted{};
    wanted.type = PERF_TYPE_HARDWARE;
    wanted.size = sizeof(wanted);
    wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
    wanted.exclude_kernel = 1;
    counter_ = static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
  }
  WorkMeter(const WorkMeter&) = delete;
  WorkMeter& operator=(const WorkMeter&) = delete;
  ~WorkMeter() {
    if (counter_ >= 0) ::close(counter_);
  }

  double Of(const std::function<void()>& work) const {
    const double before = Read();
    work();
    return Read() - before;
  }

 private:
  double Read() const {
    uint64_t instructions = 0;
    if (counter_ >= 0 && ::read(counter_, &instructions, sizeof(instructions)) == sizeof(instructions)) {
      return static_cast<double>(instructions);
    }
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  }

  int counter_ = -1;
};

std::string Repeat(std::string_view part, size_t bytes) {
  std::string text;
  text.reserve(bytes + part.size());
  while (text.size() < bytes) text += part;
  return text;
}

// What is repeated: letters, blanks, line ends, digits, signs, marks in and out of order, characters of every length,
// beginnings of names, bytes that are no characters.
const std::vector<std::string>& HostileParts() {
  static const std::vector<std::string> parts = {"a",
                                                 "A",
                                                 "ab",
                                                 " ",
                                                 "\n",
                                                 "\t \n",
                                                 "\r\n",
                                                 "7",
                                                 "1 ",
                                                 "!",
                                                 "a ",
                                                 "  a",
                                                 "'s",
                                                 "<",
                                                 "<s",
                                                 "<|en",
                                                 "<|im_start",
                                                 "[L] ",
                                                 " [B",
                                                 "word",
                                                 "▁",
                                                 "\u0301",
                                                 "\u0323\u0301",
                                                 "e\u0301",
                                                 "\u0F71\u0F72",
                                                 "好",
                                                 "한",
                                                 "\u1100\u1161",
                                                 "\uFDFA",
                                                 "👩‍👩‍👧",
                                                 "\u00A0",
                                                 "\u180E",
                                                 "İ",
                                                 "\xFF",
                                                 "\xE2\x96",
                                                 "a\xFF",
                                                 " \xF0\x9F"};
  return parts;
}

// Whether `work`, given texts of a part repeated, grows as texts do.
void ExpectLinear(std::string_view name, std::string_view part, size_t bytes,
                  const std::function<void(const std::string&)>& work) {
  static const WorkMeter meter;
  constexpr int kTries = 6;
  const std::string small = Repeat(part, bytes), large = Repeat(part, 4 * bytes);
  double least_small = 1e300, least_large = 1e300;
  for (int i = 0; i < kTries; ++i) {
    least_small = std::min(least_small, meter.Of([&] { work(small); }));
    least_large = std::min(least_large, meter.Of([&] { work(large); }));
    if (least_large < 10 * least_small) return;
  }
  ADD_FAILURE() << name << ", " << ::testing::PrintToString(std::string(part)) << ": " << least_small << " for "
                << bytes << " bytes, " << least_large << " for four times as many";
}

void ExpectLinearWays(std::string_view name, const ekvi::Tokenizer& tokenizer, size_t bytes,
                      const std::vector<std::string>& parts = HostileParts()) {
  for (const std::string& part : parts) {
    ExpectLinear(name, part, bytes, [&](const std::string& text) {
      try {
        tokenizer.Decode(tokenizer.Encode(text, {.special = true}));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << name << ": " << error.what();
      }
    });
  }
}

std::unique_ptr<Tokenizer> SpmOfRuns() {
  TestVocabulary vocabulary;
  for (size_t length = 2; length <= 32; length *= 2) vocabulary.pieces.push_back({std::string(length, 'a'), -1});
  vocabulary.pieces.push_back({"▁▁", -2});
  vocabulary.pieces.push_back({"a▁a", -3});  // words are not apart
  vocabulary.pieces.push_back(UserDefined("<|im_start|>"));
  return vocabulary.Make();
}

std::unique_ptr<Tokenizer> UnigramOfRuns(UnigramSpaces spaces) {
  TestVocabulary vocabulary;
  for (size_t length = 1; length <= 32; ++length) vocabulary.pieces.push_back({std::string(length, 'a'), -1.5f});
  vocabulary.pieces.push_back({"▁", -2});
  return std::make_unique<UnigramTokenizer>(vocabulary.Build(), std::nullopt, spaces);
}

TEST(BR_87, TextOfAMegabyte_CostsFourTimesThatOfAQuarter) {
  constexpr size_t kBytes = size_t{256} << 10;
  const std::vector<std::string> parts = {"a", " ", "\n", "7", "\u0323\u0301", "\xFF"};
  for (const char* name : {"llama-spm", "qwen2"}) {
    const auto file = testing::SharedPath("tokenizers/" + std::string(name) + ".gguf");
    EKVI_SKIP_WITHOUT(file);
    ExpectLinearWays(name, *OpenTokenizer(file), kBytes, parts);
  }
}

TEST(LinearTime, EveryKindOfGgufVocabulary) {
  constexpr size_t kBytes = size_t{16} << 10;
  ExpectLinearWays("SentencePiece", *SpmOfRuns(), kBytes);
  ExpectLinearWays("Unigram", *UnigramOfRuns(UnigramSpaces::kAll), kBytes);
  ExpectLinearWays("Unigram, one space", *UnigramOfRuns(UnigramSpaces::kOneBetweenWords), kBytes);
  for (const char* name : {"llama-spm", "qwen2", "gpt-2", "llama-bpe", "starcoder"}) {
    const auto file = testing::SharedPath("tokenizers/" + std::string(name) + ".gguf");
    EKVI_SKIP_WITHOUT(file);
    ExpectLinearWays(name, *OpenTokenizer(file), kBytes);
  }
}

TEST(LinearTime, EveryKindOfTokenizerJson) {
  std::ifstream stream(std::filesystem::path(EKVI_SOURCE_DIR) / "tests/data/tokenizers.json", std::ios::binary);
  const JsonDocument document(std::string(std::istreambuf_iterator<char>(stream), {}), "tokenizers.json");
  size_t count = 0;
  for (const auto element : document.root().Array()) {
    const JsonValue kind = document.root().Item(element, count++);
    simdjson::dom::element json;
    ASSERT_FALSE(element["tokenizer"].get(json));
    const std::string name(kind.Require("name").String());
    ExpectLinearWays(name, *LoadTokenizerJson(simdjson::minify(json), name), size_t{8} << 10);
  }
  EXPECT_GT(count, 30u);
}

class CountingSink : public PieceSink {
 public:
  void Take(Piece piece) override { bytes += piece.text.size(); }
  size_t bytes = 0;
};

TEST(LinearTime, EveryPreTokenizerByName) {
  std::map<const void*, bool> seen;
  for (const std::string_view name : PreTokenizerNames()) {
    const NamedPreTokenizer named = FindPreTokenizer(name);
    for (const std::string& part : HostileParts()) {
      if (!base::IsUtf8(part)) continue;
      ExpectLinear(name, part, size_t{16} << 10, [&](const std::string& text) {
        CountingSink sink;
        named.splitter->Split({text, true}, sink);
        EXPECT_EQ(sink.bytes, text.size()) << name;
      });
    }
  }
}

// Steps of decoders see a token each; one token's text may be long.
TEST(LinearTime, DecodeStepsOnOneLongToken) {
  const StripStep strip(" ", UINT32_MAX, UINT32_MAX);
  const StripTextStep strip_text(" ", UINT32_MAX);
  const MetaspaceStep metaspace("▁", MetaspaceStep::First::kKeepsMarks);
  const WordPieceStep word_piece("##", WordPieceStep::Tidy::kYes);
  const WordEndStep word_end("</w>");
  const ByteLevelStep byte_level;
  const std::pair<const char*, const DecodeStep*> steps[] = {{"Strip", &strip},         {"Strip, fused", &strip_text},
                                                             {"Metaspace", &metaspace}, {"WordPiece", &word_piece},
                                                             {"BPEDecoder", &word_end}, {"ByteLevel", &byte_level}};
  for (const auto& [name, step] : steps) {
    for (const char* part : {" ", "a", "▁", " .", " n't", "</w>", "Ġ", " '", " do not"}) {
      ExpectLinear(name, part, size_t{256} << 10, [step = step](const std::string& text) {
        std::string changed = text;
        TextPlace place;
        step->Apply(changed, place);
      });
    }
  }
}

}  // namespace
}  // namespace ekvi::text
