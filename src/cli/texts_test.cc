// Goal: what commands say of a generation, a machine and a model is right, to the letter. Method: invented results
// against the text they must give.
#include <gtest/gtest.h>

#include "cli/doctor_text.h"
#include "cli/generate_summary.h"
#include "cli/input.h"
#include "cli/inspect_text.h"
#include "cli/progress.h"
#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

GenerateResult Result() {
  GenerateResult result;
  result.stats = {.prompt_tokens = 7,
                  .new_tokens = 64,
                  .prompt_ns = 38'000'000,
                  .first_token_ns = 41'000'000,
                  .decode_ns = 328'125'000,
                  .token_ns = std::vector<int64_t>(63, 5'600'000),
                  .kv_tokens = 70,
                  .kv_bytes = 1'845'494,
                  .kv_blocks = 3};
  return result;
}

TEST(GenerateSummary, Line_IsThatOfTheManual) {
  EXPECT_EQ(SummaryLine({.result = Result(), .max_tokens = 64}),
            "7 prompt tokens (0 cached) 38 ms | first token 41 ms | 64 tokens, 192 tok/s, p95 5.6 ms | "
            "KV 70 tokens, 1.76 MiB in 3 blocks");
}

TEST(GenerateSummary, WithoutCache_ShowsThePrice) {
  EXPECT_EQ(SummaryLine({.result = Result(), .reuse = false, .max_tokens = 64}),
            "7 prompt tokens (0 cached) 38 ms | first token 41 ms | 64 tokens, 192 tok/s, p95 5.6 ms | "
            "no cache: 2,464 tokens computed instead of 70");
}

TEST(GenerateSummary, EarlyEnds_AreNamed) {
  GenerateResult result = Result();
  EXPECT_TRUE(SummaryLine({.result = result, .max_tokens = 256}).ends_with("| the context is full"));
  result.finish = FinishReason::kCancelled;
  EXPECT_TRUE(SummaryLine({.result = result, .max_tokens = 256}).ends_with("| interrupted"));
  result.finish = FinishReason::kEnd;
  EXPECT_TRUE(SummaryLine({.result = result, .max_tokens = 256}).ends_with("blocks"));
}

TEST(GenerateSummary, NoTokens_GivesNoRates) {
  GenerateResult result;
  result.stats = {.prompt_tokens = 1, .prompt_ns = 1000, .kv_tokens = 1, .kv_bytes = 1280};
  EXPECT_EQ(SummaryLine({.result = result}), "1 prompt token (0 cached) 1.0 µs | 0 tokens | KV 1 token, 1.25 KiB");
}

TEST(GenerateSummary, ComputedTokens_CountEveryStep) {
  for (int64_t count = 1; count < 20; ++count) {
    int64_t all = 0;
    for (int64_t step = 0; step < count; ++step) all += 7 + step;
    EXPECT_EQ(ComputedTokens({.prompt_tokens = 7, .new_tokens = count}, false), all);
    EXPECT_EQ(ComputedTokens({.prompt_tokens = 7, .cached_tokens = 3, .new_tokens = count}, true), 4 + count - 1);
  }
  EXPECT_EQ(ComputedTokens({.prompt_tokens = 7}, false), 7) << "the prompt is computed even where nothing follows";
}

TEST(GenerateSummary, Percentile95_IsTheNearestRank) {
  std::vector<int64_t> times;
  EXPECT_EQ(Percentile95(times), 0);
  for (int64_t i = 100; i > 0; --i) times.push_back(i);
  EXPECT_EQ(Percentile95(times), 95);
  EXPECT_EQ(Percentile95(std::vector<int64_t>{3}), 3);
  EXPECT_EQ(Percentile95(std::vector<int64_t>{1, 9}), 9);
}

TEST(Doctor, ThreadsReason_NamesWhatLimits) {
  EXPECT_EQ(ThreadsReason({.cores_online = 8, .cores_affinity = 8, .threads = 8}), "all 8 cores");
  EXPECT_EQ(ThreadsReason({.cores_online = 8, .cores_affinity = 2, .threads = 2}), "affinity allows 2 of 8 cores");
  EXPECT_EQ(ThreadsReason({.cores_online = 8, .cores_affinity = 8, .cores_quota = 1.5, .threads = 1}),
            "the cgroup quota of 1.5 cores, rounded down");
  EXPECT_EQ(ThreadsReason({.cores_online = 8, .cores_affinity = 8, .cores_quota = 0.5, .threads = 1}),
            "the cgroup quota of 0.5 cores, rounded down but at least 1");
  EXPECT_EQ(ThreadsReason({.cores_online = 1, .cores_affinity = 1, .threads = 1}), "the only core");
}

TEST(Doctor, Text_SaysUnknownWhereNothingCouldBeRead) {
  const std::string text = DoctorText({.huge_pages = "never", .targets = {"scalar"}});
  EXPECT_NE(text.find("cpu         unknown\n"), std::string::npos) << text;
  EXPECT_NE(text.find("memory      unknown\n"), std::string::npos) << text;
  EXPECT_NE(text.find("note: no AVX2"), std::string::npos) << text;
  EXPECT_NE(text.find("note: transparent huge pages are off"), std::string::npos) << text;
}

ModelInfo Windowed() {
  ModelInfo info;
  info.name = "tiny\x1b";
  info.layers = {{8, 4, 8, 8, 0}, {8, 4, 8, 8, 0}, {8, 2, 16, 8, 128}};
  info.tensors = {{"a.weight", "F32", {2, 3}, 24}, {"b.weight", "F16", {4}, 8}};
  info.metadata = {{"general.name", "tiny\xff"}};
  return info;
}

TEST(BR_21, ModelInfo_PrintsTheWindowOfEachLayer) {
  const auto lines = LayerLines(Windowed());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "0-1: 8 query heads over 4 KV heads of 8");
  EXPECT_EQ(lines[1], "2: 8 query heads over 2 KV heads of 16 (K), 8 (V), window 128");
}

TEST(Inspect, CacheFigures_AreThoseOfTheAllocator) {
  const CacheLayout layout = CacheLayout::Uniform(5, {.kv_heads = 4, .head_dim_k = 8, .head_dim_v = 8}, DType::kF32);
  const CacheFigures figures = CacheFiguresOf(layout, 100, 32);
  EXPECT_EQ(figures.bytes_per_token, 1280u);
  EXPECT_EQ(figures.contiguous_bytes, ContiguousBytes(layout, {.rows = 1, .max_len = 100}));
  EXPECT_EQ(figures.paged_bytes, 4 * BlockBytes(layout, 32));
}

TEST(Inspect, Everything_ListsTensorsAndKeysWithoutControlCharacters) {
  const CacheLayout layout = CacheLayout::Uniform(1, {.kv_heads = 1, .head_dim_k = 8, .head_dim_v = 8}, DType::kF16);
  const std::string text = InspectText(Windowed(), {.name = "chat.jinja\x1b", .bytes = 20, .fault = {}},
                                       CacheFiguresOf(layout, 64, 16), Detail::kEverything);
  EXPECT_NE(text.find("a.weight  F32   [2, 3]     24\n"), std::string::npos) << text;
  EXPECT_NE(text.find("general.name  tiny\\xff\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 F16 (8 B), 1 F32 (24 B)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("20 B in chat.jinja\\x1b\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Progress, Line_HasABarWhereTheTotalIsKnown) {
  using std::chrono::milliseconds;
  EXPECT_EQ(ProgressLine("load", 0, 0, milliseconds(1200)), "load  1.2 s");
  EXPECT_EQ(ProgressLine("prefill", 5, 10, milliseconds(450)), "prefill  [##########          ]  50 %  450 ms");
  EXPECT_EQ(ProgressLine("prefill", 12, 10, milliseconds(450)), "prefill  [####################] 100 %  450 ms");
}

TEST(Input, ParseIds_TakesCommasBlanksAndLines) {
  EXPECT_EQ(ParseIds("1,2, 3\n4\t5,,6 ", "x"), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(ParseIds(" ,\n", "x").empty());
  for (const char* text : {"1,x", "1,-2", "1 2.5", "99999999999", "0x1"})
    EXPECT_THROW(ParseIds(text, "x"), Error) << text;
}

TEST(Input, CheckIds_NamesTheFirstOutside) {
  EXPECT_NO_THROW(CheckIds({0, 511}, 512, "--tokens"));
  try {
    CheckIds({0, 512}, 512, "--tokens");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.summary(), "--tokens: token id 512 is outside the vocabulary");
    EXPECT_EQ(error.numbers(), "entry 1 of the list; the model has ids 0 to 511");
  }
}

TEST(Input, ParseBias_TakesAnIdAndANumber) {
  EXPECT_EQ(ParseBias("13:-2.5"), std::make_pair(13, -2.5));
  EXPECT_EQ(ParseBias("2:-inf").second, -std::numeric_limits<double>::infinity());
  for (const char* text : {"", "13", "13:", ":1", "a:1", "-1:1", "1:nan", "1:2x"})
    EXPECT_THROW(ParseBias(text), Error) << text;
}

}  // namespace
}  // namespace ekvi::cli
