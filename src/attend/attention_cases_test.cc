// Goal: faults that others shipped in masks, windows, heads and numerics cannot happen here.
// Method: the one-hot probe of the case list: all scores equal, row j of V the unit vector of key j, so that the output
// spells out the visible set; special values planted in keys, values and queries.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/attention_ref.h"
#include "attend/attention_testing.h"
#include "ekvi/attention.h"

namespace ekvi::attend {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Queries zero, V one-hot over `length` keys.
Problem OneHot(int kv_heads, int group, int64_t length, AttentionLayer layer) {
  layer.q_heads = kv_heads * group;
  base::Random random(1);
  const int width = static_cast<int>(length);
  Problem problem = MakeProblem({kv_heads, 8, width}, layer, {length}, random);
  for (double& x : problem.q[0]) x = 0;
  for (int64_t t = 0; t < length; ++t) {
    for (int h = 0; h < kv_heads; ++h) {
      for (int64_t i = 0; i < length; ++i) problem.v[0][(t * kv_heads + h) * length + i] = i == t;
    }
  }
  return problem;
}

bool SeesRef(const AttentionLayer& layer, int64_t position, int64_t key) {
  return key <= position && (layer.window == 0 || key > position - layer.window || key < layer.sink_tokens);
}

void ExpectVisibleSets(int kv_heads, int group, int64_t length, const AttentionLayer& layer, const Path& path) {
  const Problem problem = OneHot(kv_heads, group, length, layer);
  const auto out = RunPath<double>(problem, DType::kF64, path);
  for (int64_t t = 0; t < length; ++t) {
    int64_t seen = 0;
    for (int64_t key = 0; key < length; ++key) seen += SeesRef(layer, t, key);
    for (int h = 0; h < kv_heads * group; ++h) {
      for (int64_t key = 0; key < length; ++key) {
        const double want = SeesRef(layer, t, key) ? 1.0 / static_cast<double>(seen) : 0.0;
        const double got = out[0][(t * kv_heads * group + h) * length + key];
        ASSERT_NEAR(got, want, want == 0 ? 0 : 1e-15) << path.name << " token " << t << " key " << key << " head " << h;
      }
    }
  }
}

TEST(BR_01, ChunksOnAWarmCache_SeeKeysFromTheBottomRight) {
  for (const int group : {1, 2, 4}) {
    for (const bool paged : {false, true}) {
      for (int64_t length = 1; length <= 8; ++length) {
        for (int64_t chunk = 1; chunk <= length; ++chunk) {
          ExpectVisibleSets(
              1, group, length, {},
              {.name = "br01", .paged = paged, .target = "", .chunk_max = chunk, .seed = static_cast<uint64_t>(chunk)});
        }
      }
    }
  }
}

TEST(BR_02, EveryChunkSizeOf37Tokens_GivesTheBitsOfOnePass) {
  base::Random random(2);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const Problem problem = MakeProblem({2, 16, 16}, {.q_heads = 4}, {37}, random);
    const auto want = RunPath<float>(problem, dtype, {.name = "whole", .target = ""});
    for (int64_t chunk = 1; chunk <= 37; ++chunk) {
      EXPECT_EQ(RunPath<float>(problem, dtype, {.name = "", .target = "", .chunk_max = chunk}), want) << chunk;
    }
  }
}

TEST(BR_18, WindowCountsTheOwnTokenInPrefillChunkAndDecode) {
  for (const int64_t window : {4, 128}) {
    for (int64_t length = window - 2; length <= window + 2; ++length) {
      for (const int64_t chunk : {0, 1, 3}) {
        ExpectVisibleSets(1, 1, length, {.window = window}, {.name = "br18", .target = "", .chunk_max = chunk});
      }
    }
  }
}

TEST(BR_19, PromptsLongerThanTheWindow_EqualAFullCacheWithAMask) {
  constexpr int64_t kWindow = 6;
  for (const int64_t length : {kWindow - 1, kWindow, kWindow + 1, 2 * kWindow, 2 * kWindow + 1, 5 * kWindow + 3}) {
    for (const int64_t chunk : {int64_t{1}, kWindow - 1, kWindow, kWindow + 1, 3 * kWindow}) {
      ExpectVisibleSets(1, 2, length, {.window = kWindow},
                        {.name = "br19", .target = "", .chunk_max = chunk, .seed = 4});
    }
  }
}

TEST(BR_21, WindowsArePerLayer_TheGlobalLayerStillSeesKey0) {
  const CacheLayout layout = CacheLayout::Uniform(2, {1, 4, 32}, DType::kF64);
  ContiguousCache cache(layout, {.rows = 1, .max_len = 32});
  Attention attention(layout, {{.window = 4}, {}}, {.threads = 1, .target = ""});
  std::vector<double> k(32 * 4, 0), v(32 * 32, 0), q(32 * 4, 0), out(32 * 32);
  for (int t = 0; t < 32; ++t) v[t * 32 + t] = 1;
  const int64_t counts[] = {32}, offset[] = {0};
  Append append = cache.BeginAppend(counts);
  for (int layer = 0; layer < 2; ++layer) append.Write<double>(layer, 0, {k.data(), v.data(), 4, 4, 32, 32});
  attention.Plan(append, offset, offset);
  for (int layer = 0; layer < 2; ++layer) {
    attention.Run(layer, HeadArray<const double>{q.data(), 4, 4}, HeadArray<double>{out.data(), 32, 32});
    EXPECT_EQ(out[31 * 32 + 0] > 0, layer == 1);
    EXPECT_NEAR(out[31 * 32 + 31], layer == 0 ? 0.25 : 1.0 / 32, 1e-15);
  }
  append.Commit();
}

TEST(BR_22, OneTokenSteps_KeepTheWindowBesideSinks) {
  for (const int64_t chunk : {0, 1, 2}) {
    ExpectVisibleSets(1, 2, 20, {.window = 4, .sink_tokens = 2}, {.name = "br22", .target = "", .chunk_max = chunk});
    ExpectVisibleSets(2, 1, 300, {.window = 9, .sink_tokens = 3},
                      {.name = "br22", .threads = 2, .target = "", .chunk_max = chunk * 60});
  }
}

TEST(BR_23, WindowedOutput_DependsOnTheLastTokensOnly) {
  constexpr int64_t kWindow = 16;
  base::Random random(9);
  const Problem tail = MakeProblem({1, 8, 8}, {.q_heads = 1, .window = kWindow}, {kWindow}, random);
  const std::vector<std::vector<double>> want = RunRef(tail, DType::kF64);
  for (const int64_t prefix : {0, 1, 15, 16, 17, 31, 48}) {
    Problem problem = MakeProblem({1, 8, 8}, {.q_heads = 1, .window = kWindow}, {prefix}, random);
    problem.lengths[0] = prefix + kWindow;
    for (auto [to, from] :
         {std::pair(&problem.q, &tail.q), std::pair(&problem.k, &tail.k), std::pair(&problem.v, &tail.v)}) {
      (*to)[0].insert((*to)[0].end(), (*from)[0].begin(), (*from)[0].end());
    }
    for (const int64_t chunk : {0, 1, 3, 7}) {
      const auto got = RunPath<double>(problem, DType::kF64, {.name = "", .target = "", .chunk_max = chunk});
      for (int i = 0; i < 8; ++i)
        EXPECT_NEAR(got[0][(prefix + kWindow - 1) * 8 + i], want[0][(kWindow - 1) * 8 + i], 1e-13);
    }
  }
}

TEST(BR_61, RowsWithoutVisibleKeys_DoNotExistAndEmptyRowsLeaveNeighboursAlone) {
  base::Random random(3);
  const Problem problem = MakeProblem({1, 4, 4}, {.q_heads = 2}, {0, 5, 0, 1}, random);
  const auto out = RunPath<double>(problem, DType::kF64, {.name = "", .threads = 2, .target = ""});
  const auto want = RunRef(problem, DType::kF64);
  for (size_t r = 0; r < want.size(); ++r) {
    for (size_t i = 0; i < want[r].size(); ++i) EXPECT_NEAR(out[r][i], want[r][i], 1e-14);
  }
}

TEST(BR_61, ScoresOfMinusInfinityEverywhere_GiveZeros) {
  base::Random random(3);
  Problem problem = MakeProblem({1, 1, 3}, {.q_heads = 1, .scale = 1}, {5}, random);
  for (double& x : problem.q[0]) x = 1;
  for (double& x : problem.k[0]) x = -std::numeric_limits<double>::infinity();
  const auto out = RunPath<double>(problem, DType::kF64, {.name = "", .target = ""});
  for (const double x : out[0]) EXPECT_EQ(x, 0);
}

TEST(BR_63, SoftmaxIsShiftInvariant_AndTailsOfTilesDoNotCount) {
  base::Random random(5);
  for (int64_t length = 1; length <= 2 * 16 + 1; ++length) {
    Problem mean = MakeProblem({1, 2, 1}, {.q_heads = 1, .scale = 1}, {length}, random);
    for (double& x : mean.q[0]) x = 0;
    const auto want = RunRef(mean, DType::kF64);
    const auto got = RunPath<float>(mean, DType::kF32, {.name = "", .target = ""});
    for (int64_t t = 0; t < length; ++t) EXPECT_NEAR(got[0][t], want[0][t], 1e-6);
  }
  Problem shifted = MakeProblem({1, 2, 1}, {.q_heads = 1, .scale = 1}, {40}, random);
  for (int64_t t = 0; t < 40; ++t) shifted.q[0][2 * t] = 1, shifted.k[0][2 * t] = 0;
  const auto want = RunRef(shifted, DType::kF64);
  for (const double shift : {1e2, -6e4, 3e4}) {
    for (int64_t t = 0; t < 40; ++t) shifted.k[0][2 * t] = shift;
    const auto got = RunPath<float>(shifted, DType::kF32, {.name = "", .target = ""});
    for (int64_t t = 0; t < 40; ++t) EXPECT_NEAR(got[0][t], want[0][t], 6e-8 * (16 + 8 * std::fabs(shift))) << shift;
  }
}

TEST(BR_65, QueryHeadsReadTheirOwnKvHead) {
  for (const auto& [q_heads, kv_heads] :
       std::vector<std::pair<int, int>>{{1, 1}, {4, 2}, {8, 8}, {14, 2}, {28, 4}, {32, 8}, {71, 1}, {12, 3}}) {
    base::Random random(6);
    Problem problem = MakeProblem({kv_heads, 4, 2}, {.q_heads = q_heads}, {9}, random);
    for (size_t i = 0; i < problem.v[0].size(); ++i) problem.v[0][i] = static_cast<double>(i / 2 % kv_heads);
    for (const int64_t chunk : {0, 1}) {
      const auto out = RunPath<double>(problem, DType::kF64, {.name = "", .target = "", .chunk_max = chunk});
      for (size_t i = 0; i < out[0].size(); ++i) {
        const int head = static_cast<int>(i / 2) % q_heads;
        EXPECT_NEAR(out[0][i], head / (q_heads / kv_heads), 1e-12) << q_heads << "/" << kv_heads << " head " << head;
      }
    }
  }
}

TEST(BR_71, LargeDots_AreSummedInFloatWhateverTheStorage) {
  base::Random random(7);
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    Problem problem = MakeProblem({1, 128, 16}, {.q_heads = 1, .scale = 1e-4}, {6}, random);
    for (double& x : problem.q[0]) x = 64;
    for (double& x : problem.k[0]) x = 64;
    const auto want = RunRef(problem, dtype);
    const auto got = RunPath<float>(problem, dtype, {.name = "", .target = ""});
    for (size_t i = 0; i < want[0].size(); ++i) EXPECT_NEAR(got[0][i], want[0][i], 1e-5);
  }
}

TEST(NotANumber, InALiveQueryKeyOrValue_ReachesThoseTokensOnlyAndStays) {
  base::Random random(8);
  for (const bool paged : {false, true}) {
    for (const int64_t chunk : {0, 1, 7}) {
      const Path path{.name = "", .paged = paged, .threads = 2, .target = "", .chunk_max = chunk};
      Problem clean = MakeProblem({1, 4, 4}, {.q_heads = 2}, {40, 12}, random);
      const auto want = RunPath<float>(clean, DType::kF32, path);
      Problem in_key = clean;
      in_key.k[0][20 * 4 + 1] = kNan;
      const auto got = RunPath<float>(in_key, DType::kF32, path);
      EXPECT_EQ(got[1], want[1]);
      for (size_t i = 0; i < got[0].size(); ++i) {
        EXPECT_TRUE(i / 8 < 20 ? got[0][i] == want[0][i] : std::isnan(got[0][i])) << i;
      }
      Problem in_value = clean;
      in_value.v[0][20 * 4 + 1] = kNan;
      const auto values = RunPath<float>(in_value, DType::kF32, path);
      for (size_t i = 0; i < values[0].size(); ++i) {
        EXPECT_TRUE(i / 8 < 20 || i % 4 != 1 ? values[0][i] == want[0][i] : std::isnan(values[0][i])) << i;
      }
      Problem in_query = clean;
      in_query.q[0][20 * 8] = kNan;
      const auto queries = RunPath<float>(in_query, DType::kF32, path);
      for (size_t i = 0; i < queries[0].size(); ++i) {
        EXPECT_TRUE(i / 4 != 40 ? queries[0][i] == want[0][i] : std::isnan(queries[0][i])) << i;
      }
    }
  }
}

}  // namespace
}  // namespace ekvi::attend
