// Goal: the append transaction is all or nothing, rows do not touch each other, and bad arguments are refused with
// their numbers. Method: each promise of ekvi/cache.h by hand on contiguous and paged storage, beside the twin of
// cache_twin.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <thread>

#include "cache/cache_twin.h"
#include "ekvi/cache.h"
#include "ekvi/error.h"

namespace ekvi::testing {
namespace {

constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

class EveryCache : public ::testing::TestWithParam<Storage> {
 protected:
  std::unique_ptr<KvCache> Make(int rows, int64_t max_len) const {
    return MakeCache(layout_, rows, max_len, GetParam());
  }
  std::vector<Token> Draw(int64_t count) { return DrawTokens(layout_, count, random_); }
  // Appends to cache and twin alike.
  void Grow(KvCache& cache, Twin& twin, int row, int64_t count) {
    const std::vector<Token> tokens = Draw(count);
    AppendTokens(cache, row, tokens);
    twin.Append(row, tokens);
  }

  const CacheLayout layout_ = UnevenLayout(DType::kF16, DType::kF32);
  base::Random random_{5};
};

// The other storages of the same kind are in the random test.
INSTANTIATE_TEST_SUITE_P(Storages, EveryCache, ::testing::Values(Storage{}, Storage{16, 24}),
                         [](const auto& info) { return info.param.block_tokens == 0 ? "Contiguous" : "Paged"; });

void ExpectRefused(ErrorCode code, const std::vector<std::string>& parts, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "nothing thrown; expected: " << parts[0];
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST_P(EveryCache, TokensAppear_OnlyWithCommit) {
  const auto cache = Make(2, 40);
  const std::vector<Token> tokens = Draw(20);
  Append append = BeginRow(*cache, 1, 20);
  EXPECT_EQ(append.rows(), 2);
  EXPECT_EQ(append.past(1), 0);
  EXPECT_EQ(append.count(1), 20);
  EXPECT_EQ(append.total(1), 20);
  EXPECT_EQ(append.count(0), 0);
  WriteTokens<float>(append, 1, tokens);
  EXPECT_EQ(cache->length(1), 0);
  append.Commit();
  EXPECT_EQ(cache->length(1), 20);
  EXPECT_EQ(cache->length(0), 0);
  Twin twin(layout_, 2);
  twin.Append(1, tokens);
  twin.ExpectEqual(*cache);
}

TEST_P(EveryCache, MovedAppend_CommitsOrGivesBackOnce) {
  const auto cache = Make(1, 40);
  {
    Append first = BeginRow(*cache, 0, 3);
    Append second = std::move(first);
    WriteTokens<float>(second, 0, Draw(3));
    second.Commit();
  }
  EXPECT_EQ(cache->length(0), 3);
  { const Append dropped = std::move(*std::make_unique<Append>(BeginRow(*cache, 0, 30))); }
  EXPECT_EQ(cache->length(0), 3);
  BeginRow(*cache, 0, 37).Commit();
  EXPECT_EQ(cache->length(0), 40);
}

TEST_P(EveryCache, OpenAppend_RefusesEverythingThatChangesRows) {
  const auto cache = Make(2, 40);
  const Append append = BeginRow(*cache, 0, 1);
  EXPECT_DEATH(BeginRow(*cache, 1, 1), "open_");
  EXPECT_DEATH(cache->Truncate(0, 0), "open_");
  EXPECT_DEATH(cache->Fork(0, 1), "open_");
  EXPECT_DEATH(cache->Permute(std::array{1, 0}), "open_");
}

TEST_P(EveryCache, WriteOutsideTheAppend_Aborts) {
  const auto cache = Make(1, 40);
  Append append = BeginRow(*cache, 0, 1);
  EXPECT_DEATH(append.Write<float>(4, 0, {}), "layer");
  EXPECT_DEATH(append.Write<float>(-1, 0, {}), "layer");
  EXPECT_DEATH(append.Write<float>(0, 1, {}), "row");
  append.Commit();
  EXPECT_DEATH(append.Write<float>(0, 0, {}), "cache_");
  EXPECT_DEATH(append.Commit(), "cache_");
}

TEST_P(EveryCache, EmptyAppend_IsLegalAndReadsNoSource) {
  const auto cache = Make(2, 40);
  Append append = cache->BeginAppend(std::vector<int64_t>{0, 0});
  append.Write<float>(0, 0, {});
  append.Commit();
  EXPECT_EQ(cache->bytes_written(), 0u);
}

TEST(KvCache, EmptyBatchOrLength_IsLegal) {
  const CacheLayout layout = CacheLayout::Uniform(1, {2, 4, 4}, DType::kF32);
  for (const Storage& storage : {Storage{}, Storage{16, 0}}) {
    const auto empty = MakeCache(layout, 0, 0, storage);
    empty->BeginAppend({}).Commit();
    empty->Permute({});
    EXPECT_EQ(empty->bytes(), 0u);
    const auto short_rows = MakeCache(layout, 2, 0, storage);
    short_rows->BeginAppend(std::vector<int64_t>{0, 0}).Commit();
    EXPECT_THROW(BeginRow(*short_rows, 0, 1), Error);
    short_rows->Tiles(0, 1, 0, {}, {});
  }
}

TEST(KvCache, MoreThanTheMachineHas_IsRefusedWithWhatHelps) {
  const CacheLayout layout = CacheLayout::Uniform(4, {8, 64, 64}, DType::kF16);
  const std::vector<std::string> parts = {"not enough memory for a key/value cache of", "GiB", "a smaller context"};
  ExpectRefused(ErrorCode::kCapacity, parts, [&] { ContiguousCache(layout, {.rows = 1 << 20, .max_len = 1 << 20}); });
  ExpectRefused(ErrorCode::kCapacity, parts,
                [&] { PagedCache(layout, {.rows = 1, .max_len = 64, .block_tokens = 256, .block_count = 1 << 30}); });
}

TEST_P(EveryCache, Truncate_RefusesLongerAndNegativeLengths) {
  const auto cache = Make(2, 40);
  AppendTokens(*cache, 1, Draw(5));
  ExpectRefused(ErrorCode::kInvalidArgument, {"row 1", "6 tokens", "it has 5"}, [&] { cache->Truncate(1, 6); });
  ExpectRefused(ErrorCode::kInvalidArgument, {"row 1", "-1"}, [&] { cache->Truncate(1, -1); });
  ExpectRefused(ErrorCode::kInvalidArgument, {"row 2", "has 2"}, [&] { cache->Truncate(2, 0); });
  cache->Truncate(1, 5);
  EXPECT_EQ(cache->length(1), 5);
}

TEST_P(EveryCache, RowsLayersAndHeadsThatDoNotExist_AreNamed) {
  const auto cache = Make(2, 40);
  AppendTokens(*cache, 0, Draw(1));
  std::array<double, 1> k{};
  std::array<double, 3> v{};
  using Code = ErrorCode;
  ExpectRefused(Code::kInvalidArgument, {"row -1"}, [&] { cache->length(-1); });
  ExpectRefused(Code::kInvalidArgument, {"row 2"}, [&] { cache->Fork(0, 2); });
  ExpectRefused(Code::kInvalidArgument, {"row -7"}, [&] { cache->Fork(-7, 0); });
  ExpectRefused(Code::kInvalidArgument, {"row 9"}, [&] { cache->Permute(std::array{0, 9}); });
  ExpectRefused(Code::kInvalidArgument, {"sources", "3"}, [&] { cache->Permute(std::array{0, 1, 1}); });
  ExpectRefused(Code::kInvalidArgument, {"layer 4"}, [&] { cache->Read(4, 0, 0, 0, k, v); });
  ExpectRefused(Code::kInvalidArgument, {"token 1"}, [&] { cache->Read(0, 0, 1, 0, k, v); });
  ExpectRefused(Code::kInvalidArgument, {"KV head 2"}, [&] { cache->Read(0, 0, 0, 2, k, v); });
  ExpectRefused(Code::kInvalidArgument, {"key"}, [&] { cache->Read(0, 0, 0, 0, v, v); });
  ExpectRefused(Code::kInvalidArgument, {"value"}, [&] { cache->Read(0, 0, 0, 0, k, k); });
  cache->Read(0, 0, 0, 1, k, v);
}

TEST_P(EveryCache, TilesOutsideARowsRoom_Abort) {
  const auto cache = Make(1, 40);
  AppendTokens(*cache, 0, Draw(40));
  std::array<const std::byte*, 4> k{}, v{};
  cache->Tiles(0, 0, 0, std::span(k).first(3), std::span(v).first(3));
  EXPECT_DEATH(cache->Tiles(0, 0, 0, k, v), "");
  EXPECT_DEATH(cache->Tiles(0, 0, -1, std::span(k).first(1), std::span(v).first(1)), "");
  EXPECT_DEATH(cache->Tiles(0, 0, 0, std::span(k).first(1), v), "k.size");
}

TEST_P(EveryCache, OverlappingWritesOfLayersAndRows_AreIndependent) {
  const auto cache = Make(4, 50);
  std::vector<std::vector<Token>> tokens;
  for (int row = 0; row < 4; ++row) tokens.push_back(Draw(50));
  Append append = cache->BeginAppend(std::vector<int64_t>(4, 50));
  std::vector<std::thread> threads;
  for (int row = 0; row < 4; ++row) {
    threads.emplace_back([&, row] { WriteTokens<float>(append, row, tokens[static_cast<size_t>(row)]); });
  }
  for (std::thread& thread : threads) thread.join();
  append.Commit();
  Twin twin(layout_, 4);
  for (int row = 0; row < 4; ++row) twin.Append(row, tokens[static_cast<size_t>(row)]);
  twin.ExpectEqual(*cache);
  EXPECT_EQ(cache->bytes_written(), 200 * BytesPerToken(layout_));
}

#if defined(__SSE2__)
// Hosts flush denormals or round another way; what is stored and read does not change.
TEST_P(EveryCache, CallersControlWord_ChangesNoBit) {
  const auto cache = Make(1, 40);
  std::vector<Token> tokens = Draw(2);
  std::ranges::fill(tokens[0], 0x1p-140);     // below the normal range of f32, and 0 in f16
  std::ranges::fill(tokens[1], 1 + 0x1p-12);  // rounds up in f16 only when rounding upwards
  const unsigned host = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(host | 0x8040 | 0x4000);  // flush results and operands to zero, round towards infinity
  AppendTokens(*cache, 0, tokens);
  const std::vector<Token> seen = ReadRow(*cache, 0);
  EXPECT_EQ(__builtin_ia32_stmxcsr() & 0xE040, 0xC040u) << "the caller's word is given back";
  __builtin_ia32_ldmxcsr(host);
  EXPECT_EQ(seen, (std::vector<Token>{Stored(layout_, tokens[0]), Stored(layout_, tokens[1])}));
}
#endif

// Beams: everything of a row moves together, twice in a row, and goes on growing apart.
TEST_P(EveryCache, BR_29_ReorderedBeams_ContinueFromTheirOwnHistory) {
  const auto cache = Make(3, 60);
  Twin twin(layout_, 3);
  for (int row = 0; row < 3; ++row) Grow(*cache, twin, row, 9 + 7 * row);
  for (const std::array<int, 3>& source : {std::array{2, 0, 0}, std::array{1, 1, 2}, std::array{1, 2, 0}}) {
    cache->Permute(source);
    twin.Permute(source);
    twin.ExpectEqual(*cache);
    for (int row = 0; row < 3; ++row) Grow(*cache, twin, row, 3);
    twin.ExpectEqual(*cache);
  }
}

TEST_P(EveryCache, BR_35_StoredPrefix_KeepsLengthAndContentOverEveryUse) {
  const auto cache = Make(2, 60);
  AppendTokens(*cache, 0, Draw(6));
  const std::vector<Token> stored = ReadRow(*cache, 0);
  for (int turn = 0; turn < 3; ++turn) {
    cache->Fork(0, 1);
    {
      Append dropped = BeginRow(*cache, 1, 13);
      WriteTokens<float>(dropped, 1, Draw(13));
    }
    EXPECT_EQ(cache->length(1), 6);
    AppendTokens(*cache, 1, Draw(13));
    EXPECT_EQ(cache->length(1), 19);
    EXPECT_EQ(cache->length(0), 6);
    EXPECT_EQ(ReadRow(*cache, 0), stored);
    cache->Reset(1);
    EXPECT_EQ(cache->length(1), 0);
    EXPECT_EQ(ReadRow(*cache, 0), stored);
  }
}

TEST_P(EveryCache, BR_62_SpareSlots_DoNotMatter) {
  for (const int64_t length : {13, 15, 16, 17, 31, 32, 33}) {
    const auto cache = Make(2, 50);
    Twin twin(layout_, 2);
    Grow(*cache, twin, 0, length);
    PoisonSpareSlots(*cache, 0);
    twin.ExpectEqual(*cache);
    cache->Fork(0, 1);  // what is copied on write or at once includes the poison
    Grow(*cache, twin, 0, 5);
    twin.Fork(0, 1);
    twin.Truncate(1, length);
    twin.ExpectEqual(*cache);
    cache->Reset(0);  // recycled blocks bring their bytes along
    twin.Truncate(0, 0);
    Grow(*cache, twin, 0, length);
    twin.ExpectEqual(*cache);
  }
}

// Rows of 3, 7, 12 and 20 tokens leave in every order while the others go on.
TEST_P(EveryCache, BR_78_RemovedRows_LeaveTheOthersBytes) {
  std::array<int, 4> order{0, 1, 2, 3};
  do {
    const auto cache = Make(4, 64);
    Twin twin(layout_, 4);
    const std::array<int64_t, 4> prompts{3, 7, 12, 20};
    for (int row = 0; row < 4; ++row) Grow(*cache, twin, row, prompts[static_cast<size_t>(row)]);
    for (const int removed : order) {
      cache->Reset(removed);
      twin.Truncate(removed, 0);
      for (int row = 0; row < 4; ++row) {
        if (twin.length(row) > 0) Grow(*cache, twin, row, 10);
      }
      twin.ExpectEqual(*cache);
    }
  } while (std::ranges::next_permutation(order).found && !HasFailure());
}

TEST_P(EveryCache, BR_81_CountsThatCannotBe_AreRefusedNamingRowAndLimit) {
  const auto cache = Make(3, 40);
  Twin twin(layout_, 3);
  Grow(*cache, twin, 1, 17);
  using Code = ErrorCode;
  const auto begin_all = [&](std::vector<int64_t> counts) {
    return [&, counts] { const Append append = cache->BeginAppend(counts); };
  };
  const auto begin = [&](int64_t count) { return begin_all({1, count, 1}); };
  ExpectRefused(Code::kInvalidArgument, {"row 1", "-1 tokens", "length 17", "limit 40"}, begin(-1));
  ExpectRefused(Code::kInvalidArgument, {"row 1", "limit 40"}, begin(-kInt64Max - 1));
  ExpectRefused(Code::kCapacity, {"row 1", "length 17 + count 24 > limit 40"}, begin(24));
  ExpectRefused(Code::kCapacity, {"row 1", "length 17", "count 2147483647", "limit 40"}, begin(kInt32Max));
  ExpectRefused(Code::kCapacity, {"row 1", "count 9223372036854775807", "limit 40"}, begin(kInt64Max));
  ExpectRefused(Code::kInvalidArgument, {"counts", "2", "3"}, begin_all({1, 1}));
  ExpectRefused(Code::kInvalidArgument, {"counts", "0", "3"}, begin_all({}));
  twin.ExpectEqual(*cache);
  Grow(*cache, twin, 1, 23);  // up to the limit is legal
  Grow(*cache, twin, 0, 40);
  Grow(*cache, twin, 0, 0);
  twin.ExpectEqual(*cache);
}

}  // namespace
}  // namespace ekvi::testing
