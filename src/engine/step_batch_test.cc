// Goal: what a step computes of a sequence does not depend on the other sequences, its place or the cuts. Method: the
// fake model's logits are a hash of what the cache holds, compared with == against each sequence alone.
#include "engine/step_batch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/fake_model.h"
#include "engine/test_support.h"

namespace ekvi::engine {
namespace {

using Tokens = std::vector<int32_t>;
using Logits = std::vector<double>;
constexpr int kVocabulary = 64;
const std::atomic<bool> kNeverCancelled = false;

std::unique_ptr<KvCache> NewCache(bool paged, int rows) {
  if (paged) {
    return std::make_unique<PagedCache>(
        FakeModel::Layout(), PagedShape{.rows = rows, .max_len = 128, .block_tokens = 16, .block_count = 8 * rows});
  }
  return std::make_unique<ContiguousCache>(FakeModel::Layout(), ContiguousShape{.rows = rows, .max_len = 128});
}

Tokens RandomTokens(base::Random& random, size_t count) {
  Tokens tokens;
  for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(random.Below(kVocabulary)));
  return tokens;
}

// Logits after every token, the sequence alone and in one step.
Logits Alone(const Tokens& tokens) {
  FakeModel model;
  const auto cache = NewCache(false, 1);
  Sequence sequence(*cache, 0);
  sequence.Append(tokens);
  Logits logits(tokens.size() * kVocabulary);
  EXPECT_EQ(ChunkedSteps(model, 128, kNeverCancelled).Run(sequence, 0, logits.data()), StepEnd::kDone);
  return logits;
}

TEST(ChunkedSteps, AnyChunk_GivesTheLogitsOfOnePass) {
  base::Random random(1);
  const Tokens tokens = RandomTokens(random, 37);
  const Logits wanted = Alone(tokens);
  for (const bool paged : {false, true}) {
    for (int64_t chunk = 1; chunk <= 38; ++chunk) {
      FakeModel model;
      const auto cache = NewCache(paged, 2);
      Sequence sequence(*cache, 1);
      sequence.Append(tokens);
      Logits logits(wanted.size());
      EXPECT_EQ(ChunkedSteps(model, chunk, kNeverCancelled).Run(sequence, 0, logits.data()), StepEnd::kDone);
      EXPECT_EQ(logits, wanted) << chunk;
      EXPECT_EQ(model.steps(), (37 + chunk - 1) / chunk);
      EXPECT_EQ(model.computed_tokens(), 37);
    }
  }
}

TEST(ChunkedSteps, LogitsFromAnyPosition_AreTheEndOfAllLogits) {
  base::Random random(2);
  const Tokens tokens = RandomTokens(random, 20);
  const Logits all = Alone(tokens);
  for (int64_t first = 0; first <= 20; ++first) {
    FakeModel model;
    const auto cache = NewCache(false, 1);
    Sequence sequence(*cache, 0);
    sequence.Append(tokens);
    Logits logits(static_cast<size_t>(20 - first) * kVocabulary);
    ChunkedSteps(model, 7, kNeverCancelled).Run(sequence, first, logits.data());
    EXPECT_EQ(logits, Logits(all.begin() + first * kVocabulary, all.end())) << first;
  }
}

TEST(ChunkedSteps, Cancelled_KeepsWholeStepsAndCanGoOn) {
  base::Random random(3);
  const Tokens tokens = RandomTokens(random, 20);
  const Logits wanted = Alone(tokens);
  for (int64_t steps_before = 0; steps_before <= 5; ++steps_before) {
    FakeModel model;
    std::atomic<bool> cancel = steps_before == 0;
    model.on_step = [&] { cancel = model.steps() + 1 == steps_before; };
    const auto cache = NewCache(true, 1);
    Sequence sequence(*cache, 0);
    sequence.Append(tokens);
    Logits logits(wanted.size());
    ChunkedSteps steps(model, 4, cancel);
    const StepEnd end = steps.Run(sequence, 0, logits.data());
    EXPECT_EQ(end, steps_before == 5 ? StepEnd::kDone : StepEnd::kCancelled);
    EXPECT_EQ(sequence.cached(), 4 * steps_before);
    cancel = false;
    const int64_t done = sequence.cached();
    EXPECT_EQ(steps.Run(sequence, 0, logits.data() + done * kVocabulary), StepEnd::kDone);
    EXPECT_EQ(logits, wanted);
  }
}

TEST(ChunkedSteps, NothingPending_MakesNoStep) {
  FakeModel model;
  const auto cache = NewCache(false, 1);
  Sequence sequence(*cache, 0);
  EXPECT_EQ(ChunkedSteps(model, 4, kNeverCancelled).Run(sequence, 0, nullptr), StepEnd::kDone);
  EXPECT_EQ(model.steps(), 0);
}

// One ragged step, then another: parts of 0 to 6 tokens of eight sequences, in the given order.
TEST(BR_66, RowsWithNeighbours_GetTheBitsTheyGetAlone) {
  base::Random random(66);
  for (const bool paged : {false, true}) {
    for (int trial = 0; trial < 30; ++trial) {
      FakeModel model;
      const auto cache = NewCache(paged, 8);
      std::vector<Sequence> sequences;
      std::vector<Logits> wanted, got(8);
      for (int row = 0; row < 8; ++row) {
        const Tokens tokens = RandomTokens(random, random.Below(40));
        sequences.emplace_back(*cache, row).Append(tokens);
        wanted.push_back(Alone(tokens));
      }
      StepBatch batch(model);
      for (bool left = true; left;) {
        left = false;
        std::vector<size_t> order = {0, 1, 2, 3, 4, 5, 6, 7};
        for (size_t i = 7; i > 0; --i) std::swap(order[i], order[random.Below(i + 1)]);
        std::vector<SequencePart> parts;
        int64_t rows = 0;
        for (const size_t i : order) {
          const auto pending = static_cast<int64_t>(sequences[i].pending().size());
          const int64_t count = std::min<int64_t>(pending, static_cast<int64_t>(random.Below(7)));
          parts.push_back({.sequence = &sequences[i], .count = count, .logits_count = count});
          rows += count;
          left |= pending > 0;
        }
        Logits logits(static_cast<size_t>(rows) * kVocabulary);
        batch.Run(parts, {.f64 = logits.data()});
        auto at = logits.begin();
        for (size_t p = 0; p < parts.size(); ++p) {
          const auto end = at + parts[p].count * kVocabulary;
          got[order[p]].insert(got[order[p]].end(), at, end);
          at = end;
        }
      }
      for (size_t i = 0; i < 8; ++i) EXPECT_EQ(got[i], wanted[i]) << "row " << i << ", trial " << trial << ", seed 66";
    }
  }
}

TEST(BR_66, OneRowAtEveryPlaceOfTheBatch_GetsTheSameBits) {
  base::Random random(67);
  const Tokens tokens = RandomTokens(random, 12);
  const Logits wanted = Alone(tokens);
  for (int rows : {1, 2, 4, 8}) {
    for (int place = 0; place < rows; ++place) {
      FakeModel model;
      const auto cache = NewCache(true, rows);
      std::vector<Sequence> sequences;
      std::vector<SequencePart> parts;
      sequences.reserve(static_cast<size_t>(rows));
      for (int row = 0; row < rows; ++row) {
        Sequence& sequence = sequences.emplace_back(*cache, row);
        sequence.Append(row == place ? tokens : RandomTokens(random, 9 + static_cast<size_t>(row)));
        parts.push_back({.sequence = &sequence, .count = sequence.size(), .logits_count = row == place ? 12 : 0});
      }
      Logits logits(wanted.size());
      StepBatch(model).Run(parts, {.f64 = logits.data()});
      EXPECT_EQ(logits, wanted) << place << " of " << rows;
    }
  }
}

TEST(StepBatch, FloatLogits_AreTheRoundedOnes) {
  FakeModel model;
  const auto cache = NewCache(false, 1);
  Sequence sequence(*cache, 0);
  sequence.Append(Tokens{1, 2, 3});
  const Logits wanted = Alone({1, 2, 3});
  std::vector<float> logits(wanted.size());
  const SequencePart part = {.sequence = &sequence, .count = 3, .logits_count = 3};
  StepBatch(model).Run({&part, 1}, {.f32 = logits.data()});
  EXPECT_EQ(Logits(logits.begin(), logits.end()), wanted);
}

TEST(StepBatch, EmptyParts_MakeNoStep) {
  FakeModel model;
  const auto cache = NewCache(false, 2);
  Sequence a(*cache, 0), b(*cache, 1);
  const std::vector<SequencePart> parts = {{.sequence = &a}, {.sequence = &b}};
  StepBatch batch(model);
  batch.Run(parts, {});
  batch.Run({}, {});
  EXPECT_EQ(model.steps(), 0);
}

TEST(StepBatch, RefusedStep_LeavesAllSequences) {
  FakeModel model;
  const auto cache = NewCache(false, 2);
  Sequence a(*cache, 0), b(*cache, 1);
  a.Append(Tokens{1, 2});
  b.Append(Tokens(129, 1));
  const std::vector<SequencePart> parts = {{.sequence = &a, .count = 2}, {.sequence = &b, .count = 129}};
  const auto error = Thrown([&] { StepBatch(model).Run(parts, {}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCapacity);
  EXPECT_EQ(a.cached(), 0);
  EXPECT_EQ(b.cached(), 0);
  EXPECT_EQ(a.pending().size(), 2u);
}

}  // namespace
}  // namespace ekvi::engine
