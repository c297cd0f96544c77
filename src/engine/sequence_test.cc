// Goal: a sequence's tokens and its cache row never disagree. Method: the fake model stores each token's id in the row,
// so the row is read back after every operation, on both kinds of cache.
#include "engine/sequence.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "engine/fake_model.h"
#include "engine/step_batch.h"
#include "engine/test_support.h"

namespace ekvi::engine {
namespace {

using Tokens = std::vector<int32_t>;

std::vector<std::unique_ptr<KvCache>> Caches() {
  std::vector<std::unique_ptr<KvCache>> caches;
  caches.push_back(std::make_unique<ContiguousCache>(FakeModel::Layout(), ContiguousShape{.rows = 3, .max_len = 64}));
  caches.push_back(std::make_unique<PagedCache>(
      FakeModel::Layout(), PagedShape{.rows = 3, .max_len = 64, .block_tokens = 16, .block_count = 12}));
  return caches;
}

Tokens Stored(const Sequence& sequence) {
  Tokens tokens;
  for (int64_t i = 0; i < sequence.cached(); ++i) {
    double k[2], v[1];
    sequence.cache().Read(0, sequence.row(), i, 0, k, v);
    EXPECT_EQ(k[1], static_cast<double>(i));
    tokens.push_back(static_cast<int32_t>(k[0]));
  }
  return tokens;
}

Tokens Copy(std::span<const int32_t> tokens) { return {tokens.begin(), tokens.end()}; }

void Compute(FakeModel& model, Sequence& sequence) {
  const std::atomic<bool> cancel = false;
  ChunkedSteps(model, 5, cancel).Run(sequence, sequence.size(), nullptr);
}

void ExpectSplit(const Sequence& sequence, const Tokens& cached, const Tokens& pending) {
  EXPECT_EQ(Copy(sequence.cached_tokens()), cached);
  EXPECT_EQ(Copy(sequence.pending()), pending);
  EXPECT_EQ(sequence.cached(), static_cast<int64_t>(cached.size()));
  EXPECT_EQ(sequence.size(), static_cast<int64_t>(cached.size() + pending.size()));
  EXPECT_EQ(Stored(sequence), cached);
}

TEST(Sequence, Tokens_ArePendingUntilComputed) {
  for (const auto& cache : Caches()) {
    FakeModel model;
    Sequence sequence(*cache, 1);
    ExpectSplit(sequence, {}, {});
    sequence.Append(Tokens{0, 1, 2});
    sequence.Append(3);
    ExpectSplit(sequence, {}, {0, 1, 2, 3});
    Compute(model, sequence);
    ExpectSplit(sequence, {0, 1, 2, 3}, {});
    sequence.Append(9);
    ExpectSplit(sequence, {0, 1, 2, 3}, {9});
  }
}

TEST(Sequence, Truncate_CutsTokensAndRow) {
  for (const auto& cache : Caches()) {
    FakeModel model;
    Sequence sequence(*cache, 0);
    sequence.Append(Tokens{5, 6, 7, 8});
    Compute(model, sequence);
    sequence.Append(Tokens{1, 2});
    sequence.Truncate(5);
    ExpectSplit(sequence, {5, 6, 7, 8}, {1});
    sequence.Truncate(2);
    ExpectSplit(sequence, {5, 6}, {});
    sequence.Append(Tokens{9});
    Compute(model, sequence);
    ExpectSplit(sequence, {5, 6, 9}, {});
    sequence.Truncate(0);
    ExpectSplit(sequence, {}, {});
  }
}

TEST(Sequence, TruncateOutsideItsLength_IsRefusedAndChangesNothing) {
  for (const auto& cache : Caches()) {
    FakeModel model;
    Sequence sequence(*cache, 0);
    sequence.Append(Tokens{5, 6, 7});
    Compute(model, sequence);
    using Limits = std::numeric_limits<int64_t>;
    for (const int64_t length : {int64_t{-1}, int64_t{4}, Limits::max(), Limits::min()}) {
      const auto error = Thrown([&] { sequence.Truncate(length); });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(error->numbers().find(std::to_string(length)), std::string::npos);
      EXPECT_NE(error->numbers().find("holds 3 tokens"), std::string::npos);
      ExpectSplit(sequence, {5, 6, 7}, {});
    }
  }
}

TEST(Sequence, Uncache_KeepsTheTokensPending) {
  for (const auto& cache : Caches()) {
    FakeModel model;
    Sequence sequence(*cache, 2);
    sequence.Append(Tokens{5, 6, 7});
    Compute(model, sequence);
    sequence.Uncache(3);
    ExpectSplit(sequence, {5, 6, 7}, {});
    sequence.Uncache(1);
    ExpectSplit(sequence, {5}, {6, 7});
    sequence.Uncache(2);
    ExpectSplit(sequence, {5}, {6, 7});
    Compute(model, sequence);
    ExpectSplit(sequence, {5, 6, 7}, {});
    EXPECT_EQ(Thrown([&] { sequence.Uncache(-1); })->code(), ErrorCode::kInvalidArgument);
    ExpectSplit(sequence, {5, 6, 7}, {});
  }
}

TEST(Sequence, Fork_GoesItsOwnWay) {
  for (const auto& cache : Caches()) {
    FakeModel model;
    Sequence sequence(*cache, 0);
    sequence.Append(Tokens{5, 6, 7});
    Compute(model, sequence);
    sequence.Append(1);
    Sequence fork = sequence.ForkTo(2);
    ExpectSplit(fork, {5, 6, 7}, {1});
    fork.Append(2);
    Compute(model, fork);
    sequence.Truncate(2);
    sequence.Append(Tokens{3, 4});
    Compute(model, sequence);
    ExpectSplit(fork, {5, 6, 7, 1, 2}, {});
    ExpectSplit(sequence, {5, 6, 3, 4}, {});
  }
}

TEST(SequenceRollback, WithoutKeep_BringsBackTokensAndSplit) {
  for (const auto& cache : Caches()) {
    FakeModel model;
    Sequence sequence(*cache, 0);
    sequence.Append(Tokens{5, 6});
    Compute(model, sequence);
    sequence.Append(7);
    {
      SequenceRollback rollback(sequence);
      sequence.Append(Tokens{8, 9});
      Compute(model, sequence);
    }
    ExpectSplit(sequence, {5, 6}, {7});
    {
      SequenceRollback rollback(sequence);
      sequence.Uncache(0);
      sequence.Append(8);
    }
    ExpectSplit(sequence, {}, {5, 6, 7});
    {
      SequenceRollback rollback(sequence);
      sequence.Append(8);
      rollback.Keep();
    }
    ExpectSplit(sequence, {}, {5, 6, 7, 8});
  }
}

}  // namespace
}  // namespace ekvi::engine
