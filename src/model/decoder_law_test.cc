// Goal: the law holds for the whole forward pass. Method: one pass over a text on a contiguous cache with one thread
// is the yardstick; every other path must give the same bytes of logits, keys and values.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>

#include "base/random.h"
#include "ekvi/machine.h"
#include "model/decoder.h"
#include "model/decoder_testing.h"

namespace ekvi::model::testing {
namespace {

constexpr uint64_t kSeed = 20240607;

// What a path leaves behind.
template <typename T>
struct Trace {
  std::vector<T> logits;
  std::vector<double> stored;
};

// A text, its model, and the yardstick.
template <typename T>
class Case {
 public:
  Case(const DecoderConfig& config, int tokens, DType cache_type)
      : weights_(RandomModel(config, kSeed, DType::kF32).Weights<T>()),
        tokens_(RandomTokens(tokens, config.vocabulary, kSeed + 1)),
        cache_type_(cache_type) {
    const std::unique_ptr<Decoder<T>> decoder = NewDecoder(1, "");
    ContiguousCache cache(decoder->layout(), {.rows = 1, .max_len = length()});
    expected_ = {FeedRow<T>(*decoder, cache, 0, tokens_), StoredRow(cache, 0)};
  }

  int64_t length() const { return static_cast<int64_t>(tokens_.size()); }
  std::span<const int32_t> tokens() const { return tokens_; }
  int vocabulary() const { return weights_->config.vocabulary; }

  std::unique_ptr<Decoder<T>> NewDecoder(int threads, std::string_view target) const {
    return std::make_unique<Decoder<T>>(
        weights_,
        DecoderSettings{.threads = threads, .target = target, .dtype_k = cache_type_, .dtype_v = cache_type_});
  }
  std::vector<int64_t> RandomCounts(uint64_t seed, int most) const {
    base::Random random(seed);
    std::vector<int64_t> counts;
    for (int64_t left = length(); left > 0; left -= counts.back()) {
      counts.push_back(std::min<int64_t>(left, static_cast<int64_t>(random.Below(most + 1))));
    }
    return counts;
  }

  void ExpectSame(const std::string& path, const std::vector<T>& logits, const std::vector<double>& stored) const {
    ASSERT_EQ(logits.size(), expected_.logits.size()) << path;
    EXPECT_EQ(std::memcmp(logits.data(), expected_.logits.data(), logits.size() * sizeof(T)), 0) << path << ": logits";
    EXPECT_EQ(stored, expected_.stored) << path << ": keys and values";
  }

  void ExpectSameFor(const std::string& path, Decoder<T>& decoder, KvCache& cache,
                     const std::vector<int64_t>& counts) const {
    const std::vector<T> logits = FeedRow<T>(decoder, cache, 0, tokens_, counts);
    ExpectSame(path, logits, StoredRow(cache, 0));
  }

 private:
  std::shared_ptr<const DecoderWeights<T>> weights_;
  std::vector<int32_t> tokens_;
  DType cache_type_;
  Trace<T> expected_;
};

template <typename T>
void ExpectCuts(const Case<T>& text) {
  const auto decoder = text.NewDecoder(1, "");
  ContiguousCache cache(decoder->layout(), {.rows = 1, .max_len = text.length() + 5});
  text.ExpectSameFor("token by token", *decoder, cache, std::vector<int64_t>(text.length(), 1));
  for (const uint64_t seed : {1, 2, 3}) {
    cache.Reset(0);
    text.ExpectSameFor("random chunks", *decoder, cache, text.RandomCounts(seed, 40));
  }
  cache.Truncate(0, text.length() / 2);
  const std::vector<T> tail = FeedRow<T>(*decoder, cache, 0, text.tokens().subspan(text.length() / 2));
  (void)tail;
  cache.Reset(0);
  text.ExpectSameFor("after reuse", *decoder, cache, {text.length()});
}

template <typename T>
void ExpectMachinery(const Case<T>& text) {
  for (const std::string& target : DescribeMachine().targets) {
    for (const int threads : {1, 3}) {
      const auto decoder = text.NewDecoder(threads, target);
      ContiguousCache cache(decoder->layout(), {.rows = 1, .max_len = text.length()});
      text.ExpectSameFor(target + " with " + std::to_string(threads), *decoder, cache, text.RandomCounts(4, 60));
    }
  }
}

template <typename T>
void ExpectPaged(const Case<T>& text) {
  for (const int block : {16, 32, 64}) {
    const auto decoder = text.NewDecoder(2, "");
    PagedCache cache(decoder->layout(),
                     {.rows = 2, .max_len = 2 * text.length(), .block_tokens = block, .block_count = 80});
    cache.ShuffleFreeBlocks(block);
    text.ExpectSameFor("paged " + std::to_string(block), *decoder, cache, text.RandomCounts(5, 30));
    cache.Fork(0, 1);
    cache.Truncate(0, text.length() / 3);
    const int64_t kept = text.length() / 3;
    std::vector<T> logits = FeedRow<T>(*decoder, cache, 0, text.tokens().subspan(kept));
    const std::vector<double> fork = StoredRow(cache, 1), again = StoredRow(cache, 0);
    EXPECT_EQ(fork, again) << "forked, cut and continued, blocks of " << block;
    cache.CheckInvariants();
  }
}

// The text in row 1 of a batch whose other rows come and go, start late and have chunks of their own.
template <typename T>
void ExpectMates(const Case<T>& text, KvCache& cache, Decoder<T>& decoder) {
  base::Random random(kSeed + 2);
  const std::vector<int32_t> other = RandomTokens(4 * static_cast<int>(text.length()), text.vocabulary(), kSeed + 3);
  std::vector<T> logits(text.length() * text.vocabulary()), step_logits;
  for (int64_t fed = 0; fed < text.length();) {
    const int64_t mine = std::min<int64_t>(text.length() - fed, static_cast<int64_t>(random.Below(20)));
    std::vector<StepRow> rows;
    int64_t before_mine = 0, total = 0;
    for (const int row : {3, 1, 0, 2}) {
      const int64_t room = cache.max_len() - cache.length(row);
      const int64_t count = row == 1 ? mine : std::min<int64_t>(room, static_cast<int64_t>(random.Below(12)));
      const auto tokens = row == 1 ? text.tokens().subspan(fed, count)
                                   : std::span<const int32_t>(other).subspan(random.Below(text.length()), count);
      const int64_t wanted = row == 1 ? count : static_cast<int64_t>(random.Below(count + 1));
      if (row == 1) before_mine = total;
      total += wanted;
      if (count > 0 || random.Below(2) == 0) rows.push_back({row, tokens, wanted});
    }
    step_logits.assign(total * text.vocabulary(), T(0));
    decoder.Step(cache, rows, OutTo(step_logits.data()));
    std::copy_n(step_logits.begin() + before_mine * text.vocabulary(), mine * text.vocabulary(),
                logits.begin() + fed * text.vocabulary());
    fed += mine;
  }
  text.ExpectSame("with other rows", logits, StoredRow(cache, 1));
}

template <typename T>
void ExpectBatches(const Case<T>& text) {
  const auto decoder = text.NewDecoder(2, "");
  ContiguousCache contiguous(decoder->layout(), {.rows = 4, .max_len = text.length()});
  ExpectMates(text, contiguous, *decoder);
  PagedCache paged(decoder->layout(), {.rows = 4, .max_len = text.length(), .block_tokens = 16, .block_count = 100});
  paged.ShuffleFreeBlocks(9);
  ExpectMates(text, paged, *decoder);
}

template <typename T>
void ExpectLaw(const DecoderConfig& config, int tokens, DType cache_type) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  const Case<T> text(config, tokens, cache_type);
  ExpectCuts(text);
  ExpectMachinery(text);
  ExpectPaged(text);
  ExpectBatches(text);
}

DecoderConfig Mixed() {
  DecoderConfig config = LlamaLike(6, 2, 3);
  config.layers[0].attention.window = 11;
  config.layers[0].attention.sink_tokens = 2;
  config.layers[1].attention.sink_logits = true;
  config.layers[1].attention.q_norm = config.layers[1].attention.k_norm = NormConfig{};
  config.layers[2].attention.rope = std::nullopt;
  config.layers[2].attention.alibi_slopes = {1, 0.5, 0.25, 0.125, 0.0625, 0.03125};
  config.layers[2].residual = Residual::kParallel;
  return config;
}

DecoderConfig Experts() {
  DecoderConfig config = LlamaLike(4, 2, 3);
  MakeMixture(config.layers[0], 8, 3);
  MakeMixture(config.layers[2], 5, 2, RouterWeights::kSoftmaxOfAll);
  config.layers[2].attention.window = 9;
  config.layers[2].ffn.activation = kernels::Activation::kClampedSwiglu;
  config.layers[2].ffn.limit = 0.8;
  config.layers[2].ffn.alpha = 1.7;
  return config;
}

TEST(DecoderLaw, Llama_F32) { ExpectLaw<float>(LlamaLike(4, 2), 290, DType::kF32); }
TEST(DecoderLaw, Llama_F64) { ExpectLaw<double>(LlamaLike(4, 2), 120, DType::kF64); }
TEST(DecoderLaw, Llama_F16Cache) { ExpectLaw<float>(LlamaLike(4, 1), 90, DType::kF16); }
TEST(DecoderLaw, Llama_BF16Cache) { ExpectLaw<float>(LlamaLike(4, 4), 90, DType::kBF16); }
TEST(DecoderLaw, LearnedPositions_F32) { ExpectLaw<float>(GptLike(), 60, DType::kF32); }
TEST(DecoderLaw, WindowsSinksAlibiParallel_F32) { ExpectLaw<float>(Mixed(), 130, DType::kF32); }
TEST(DecoderLaw, Experts_F32) { ExpectLaw<float>(Experts(), 140, DType::kF32); }
TEST(DecoderLaw, Experts_F64) { ExpectLaw<double>(Experts(), 70, DType::kF64); }
TEST(DecoderLaw, WindowsSinksAlibiParallel_F64) { ExpectLaw<double>(Mixed(), 70, DType::kF64); }

}  // namespace
}  // namespace ekvi::model::testing
