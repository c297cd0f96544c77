// Goal: attention equals the direct reference, for every grouping, head size, option, storage and element type.
// Method: random ragged problems in random cuts against the naive twin; small spaces enumerated; worst errors printed.
#include "ekvi/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/attention_ref.h"
#include "attend/attention_testing.h"
#include "ekvi/error.h"

namespace ekvi::attend {
namespace {

template <typename T>
double WorstError(const std::vector<std::vector<T>>& got, const std::vector<std::vector<double>>& want) {
  double worst = 0;
  for (size_t r = 0; r < want.size(); ++r) {
    EXPECT_EQ(got[r].size(), want[r].size());
    for (size_t i = 0; i < want[r].size(); ++i) {
      const double error = std::fabs(static_cast<double>(got[r][i]) - want[r][i]);
      worst = error <= worst ? worst : error;  // a NaN error sticks
    }
  }
  return worst;
}

AttentionLayer RandomOptions(int q_heads, base::Random& random) {
  AttentionLayer layer{.q_heads = q_heads};
  if (random.Below(2)) layer.scale = 0.2 + random.Unit();
  if (random.Below(2)) layer.window = static_cast<int64_t>(1 + random.Below(40));
  if (random.Below(2)) layer.sink_tokens = static_cast<int64_t>(random.Below(10));
  if (random.Below(3) == 0) layer.soft_cap = 1 + 20 * random.Unit();
  const bool alibi = random.Below(3) == 0, sinks = random.Below(3) == 0;
  for (int h = 0; h < q_heads; ++h) {
    if (alibi) layer.alibi_slopes.push_back(0.1 * random.Normal());
    if (sinks) layer.sink_logits.push_back(random.Normal());
  }
  return layer;
}

std::vector<int64_t> RandomLengths(int rows, int64_t longest, base::Random& random) {
  std::vector<int64_t> lengths;
  for (int r = 0; r < rows; ++r) lengths.push_back(static_cast<int64_t>(random.Below(longest + 1)));
  return lengths;
}

TEST(Attention, RandomTrials_EqualTheDirectReferenceInF64) {
  constexpr int kKvHeads[] = {1, 2, 4};
  base::Random random(20261129);
  double worst = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int kv_heads = kKvHeads[random.Below(3)], group = static_cast<int>(1 + random.Below(8));
    const LayerShape shape{kv_heads, static_cast<int>(1 + random.Below(24)), static_cast<int>(1 + random.Below(24))};
    const Problem problem = MakeProblem(shape, {.q_heads = kv_heads * group},
                                        RandomLengths(static_cast<int>(1 + random.Below(3)), 40, random), random);
    const Path path{.name = "trial",
                    .paged = random.Below(2) == 0,
                    .block_tokens = 16,
                    .target = "",
                    .chunk_max = 8,
                    .seed = random.Bits()};
    worst = std::max(worst, WorstError(RunPath<double>(problem, DType::kF64, path), RunRef(problem, DType::kF64)));
    ASSERT_LE(worst, 1e-10) << "trial " << trial;
  }
  std::printf("worst error of 200 trials: %.2e\n", worst);
}

TEST(Attention, EveryOption_EqualsTheDirectReferenceInF64) {
  base::Random random(7);
  double worst = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int kv_heads = static_cast<int>(1 + random.Below(3)), group = static_cast<int>(1 + random.Below(5));
    const LayerShape shape{kv_heads, static_cast<int>(1 + random.Below(40)), static_cast<int>(1 + random.Below(40))};
    const Problem problem =
        MakeProblem(shape, RandomOptions(kv_heads * group, random),
                    RandomLengths(static_cast<int>(1 + random.Below(3)), trial < 180 ? 70 : 600, random), random);
    const Path path{.name = "trial",
                    .paged = random.Below(2) == 0,
                    .threads = static_cast<int>(1 + random.Below(2)),
                    .target = "",
                    .chunk_max = static_cast<int64_t>(random.Below(3) * 33),
                    .seed = random.Bits()};
    const double error = WorstError(RunPath<double>(problem, DType::kF64, path), RunRef(problem, DType::kF64));
    ASSERT_LE(error, 1e-12) << "trial " << trial;
    worst = std::max(worst, error);
  }
  std::printf("worst error of 200 trials with options: %.2e\n", worst);
}

TEST(Attention, LargeGroupsAndTinyHeads_EqualTheReference) {
  base::Random random(3);
  for (const int group : {1, 3, 7, 64, 65, 71, 130, 300}) {
    for (const int head_dim : {1, 2, 15, 16, 17}) {
      const Problem problem = MakeProblem({1, head_dim, head_dim + 1}, {.q_heads = group}, {19, 0, 5}, random);
      const Path path{.name = "group", .target = "", .chunk_max = 6};
      ASSERT_LE(WorstError(RunPath<double>(problem, DType::kF64, path), RunRef(problem, DType::kF64)), 1e-12)
          << "group " << group << " head_dim " << head_dim;
    }
  }
}

// |error| ≤ vmax · 2^-24 · (16 + 8 · Smax), the bound of include/ekvi/attention.h.
struct BoundUse {
  double share = 0;  // of the bound
  double error = 0;
};

// The last of the problem's first `keys` tokens, attending to all of them.
BoundUse UseOfBound(const Problem& problem, DType dtype, int64_t keys) {
  const int64_t width = problem.shape.head_dim_k, heads = problem.layer.q_heads;
  const std::unique_ptr<KvCache> cache = MakeCache(problem, dtype, {.name = "", .block_tokens = 64, .target = ""});
  const std::vector<float> k(problem.k[0].begin(), problem.k[0].begin() + keys * width);
  const std::vector<float> v(problem.v[0].begin(), problem.v[0].begin() + keys * width);
  const std::vector<float> q(problem.q[0].begin() + (keys - 1) * heads * width,
                             problem.q[0].begin() + keys * heads * width);
  const auto append = [&](int64_t from, int64_t count) {
    const int64_t counts[] = {count};
    Append step = cache->BeginAppend(counts);
    step.Write<float>(0, 0, {k.data() + from * width, v.data() + from * width, width, width, width, width});
    return step;
  };
  append(0, keys - 1).Commit();
  Append last = append(keys - 1, 1);
  Attention attention(cache->layout(), {problem.layer}, {.threads = 2, .target = ""});
  std::vector<float> out(q.size());
  const int64_t first[] = {0};
  attention.Plan(last, first, first);
  attention.Run(0, HeadArray<const float>{q.data(), heads * width, width},
                HeadArray<float>{out.data(), heads * width, width});
  last.Commit();

  double vmax = 0;
  std::vector<double> stored_k(k.begin(), k.end()), stored_v(v.begin(), v.end());
  for (double& x : stored_k) x = Stored(x, dtype);
  for (double& x : stored_v) vmax = std::max(vmax, std::fabs(x = Stored(x, dtype)));
  BoundUse use;
  for (int h = 0; h < heads; ++h) {
    const std::vector<double> query(q.begin() + h * width, q.begin() + (h + 1) * width);
    const QueryRef ref{&problem.layer, problem.shape, h, keys - 1, query, stored_k, stored_v};
    std::vector<double> want(static_cast<size_t>(width));
    AttendRef(ref, want);
    const double bound = vmax * 0x1p-24 * (16 + 8 * LargestScoreRef(ref));
    for (int64_t i = 0; i < width; ++i) {
      const double error = std::fabs(out[h * width + i] - want[i]);
      use.error = std::max(use.error, error);
      use.share = std::max(use.share, error / bound);
    }
  }
  return use;
}

TEST(Attention, F32OnEveryCacheType_StaysWithinTheBoundUpTo131072Keys) {
  base::Random random(11);
  for (const double sigma : {0.05, 1.0, 6.0}) {
    const Problem problem = MakeProblem({1, 32, 32}, {.q_heads = 2}, {131072}, random, sigma);
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      BoundUse worst;
      for (const int64_t keys : {1, 17, 255, 256, 257, 4097, 131072}) {
        const BoundUse use = UseOfBound(problem, dtype, keys);
        worst = {std::max(worst.share, use.share), std::max(worst.error, use.error)};
      }
      std::printf("%-5s queries of sigma %-5g worst error %.2e, %.3f of the bound\n",
                  std::string(DTypeName(dtype)).c_str(), sigma, worst.error, worst.share);
      EXPECT_LE(worst.share, 1.0);
    }
  }
}

TEST(Attention, EmptyBatchCacheOrChunk_GivesNothingAndBreaksNothing) {
  base::Random random(5);
  const Problem empty = MakeProblem({2, 8, 8}, {.q_heads = 4}, {0, 0, 0}, random);
  const auto out = RunPath<double>(empty, DType::kF64, {.name = "empty", .target = ""});
  for (const auto& row : out) EXPECT_TRUE(row.empty());

  ContiguousCache cache(CacheLayout::Uniform(1, {2, 8, 8}, DType::kF32), {.rows = 2, .max_len = 4});
  Attention attention(cache.layout(), {{.q_heads = 4}}, {.threads = 2, .target = ""});
  const int64_t none[] = {0, 0};
  Append append = cache.BeginAppend(none);
  attention.Plan(append, none, none);
  attention.Run(0, HeadArray<const float>{nullptr, 32, 8}, HeadArray<float>{nullptr, 32, 8});
  append.Commit();
  EXPECT_EQ(cache.length(0), 0);
}

TEST(Attention, UnboundedRowsOverFewBlocks_NeedNoRoomForLengthsThatNeverCome) {
  const CacheLayout layout = CacheLayout::Uniform(1, {1, 8, 8}, DType::kF32);
  PagedCache cache(layout,
                   {.rows = 1, .max_len = std::numeric_limits<int64_t>::max(), .block_tokens = 16, .block_count = 2});
  Attention attention(layout, {{.q_heads = 1}}, {.threads = 4});
  const std::vector<float> ones(8, 1);
  std::vector<float> out(8);
  const int64_t one[] = {1}, first[] = {0};
  Append append = cache.BeginAppend(one);
  append.Write<float>(0, 0, {ones.data(), ones.data(), 8, 8, 8, 8});
  attention.Plan(append, first, first);
  attention.Run(0, HeadArray<const float>{ones.data(), 8, 8}, HeadArray<float>{out.data(), 8, 8});
  append.Commit();
  EXPECT_EQ(out, ones);
}

TEST(Attention, WrongUse_IsRefusedWithTheNumbers) {
  const CacheLayout layout = CacheLayout::Uniform(1, {2, 8, 8}, DType::kF32);
  const auto message = [&](const auto& act) -> std::string {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto make = [&](AttentionLayer layer) {
    Attention attention(layout, {std::move(layer)}, {.threads = 1, .target = ""});
  };
  EXPECT_NE(message([&] { make({.q_heads = 5}); }).find("5 query heads, 2 KV heads"), std::string::npos);
  EXPECT_NE(message([&] {
              make({.q_heads = 4, .alibi_slopes = {1, 2}, .sink_logits = {}});
            }).find("2 values for 4"),
            std::string::npos);
  EXPECT_NE(message([&] { make({.q_heads = 4, .window = -1}); }).find("window = -1"), std::string::npos);
  EXPECT_NE(message([&] { make({.q_heads = 4, .scale = NAN}); }).find("scale"), std::string::npos);

  ContiguousCache other(CacheLayout::Uniform(1, {2, 4, 8}, DType::kF32), {.rows = 1, .max_len = 4});
  Attention attention(layout, {{.q_heads = 4}}, {.threads = 1, .target = ""});
  const int64_t one[] = {1};
  Append append = other.BeginAppend(one);
  EXPECT_NE(message([&] { attention.Plan(append, one, one); }).find("another layout"), std::string::npos);
  EXPECT_NE(message([&] { attention.Run(0, HeadArray<const double>{}, HeadArray<double>{}); }).find("float64 queries"),
            std::string::npos);
}

}  // namespace
}  // namespace ekvi::attend
