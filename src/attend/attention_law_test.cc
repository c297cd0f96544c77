// Goal: the bits of an output depend on the query, its visible keys and values, and their positions, and on nothing
// else. Method: the same problem through every path (cuts, batches, storage, block sizes and orders, threads, targets),
// with ==.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "attend/attention_testing.h"
#include "base/cpu.h"
#include "ekvi/attention.h"

namespace ekvi::attend {
namespace {

std::vector<std::string> Targets() {
  std::vector<std::string> targets = {"scalar"};  // avx2_vnni and avx512_vnni have the float kernels of these
  if (base::CpuHasAvx2()) targets.push_back("avx2");
  if (base::CpuHasAvx512()) targets.push_back("avx512");
  return targets;
}

std::vector<Path> AllPaths() {
  std::vector<Path> paths;
  for (const std::string& target : Targets()) {
    paths.push_back({.name = "whole " + target, .target = target});
    paths.push_back({.name = "chunks " + target, .paged = false, .threads = 2, .target = target, .chunk_max = 37});
  }
  paths.push_back({.name = "contiguous", .paged = false, .target = ""});
  paths.push_back({.name = "token by token", .target = "", .chunk_max = 1});
  paths.push_back(
      {.name = "token by token, contiguous, 2 threads", .paged = false, .threads = 2, .target = "", .chunk_max = 1});
  for (const int block : {16, 48, 64, 256}) {
    paths.push_back({.name = "block " + std::to_string(block),
                     .block_tokens = block,
                     .shuffle = 9,
                     .threads = 2,
                     .target = "",
                     .chunk_max = 100,
                     .seed = 5});
  }
  for (const int threads : {3, 4, 7}) {
    paths.push_back({.name = std::to_string(threads) + " threads", .threads = threads, .target = "", .chunk_max = 5});
  }
  return paths;
}

template <typename T>
void ExpectSameBitsOnAllPaths(const Problem& problem, DType dtype) {
  const auto reference = RunPath<T>(problem, dtype, {.name = "reference", .paged = false, .target = "scalar"});
  for (const Path& path : AllPaths()) {
    const auto out = RunPath<T>(problem, dtype, path);
    for (size_t r = 0; r < out.size(); ++r) {
      ASSERT_EQ(out[r].size(), reference[r].size());
      if (out[r].empty()) continue;
      ASSERT_EQ(std::memcmp(out[r].data(), reference[r].data(), out[r].size() * sizeof(T)), 0)
          << path.name << ", row " << r << ", " << DTypeName(dtype);
    }
  }
}

AttentionLayer PlainLayer(int q_heads) { return {.q_heads = q_heads}; }

AttentionLayer LayerWithEverything(int q_heads) {
  AttentionLayer layer{.q_heads = q_heads, .scale = 0.3, .window = 70, .sink_tokens = 5, .soft_cap = 9};
  for (int h = 0; h < q_heads; ++h) {
    layer.alibi_slopes.push_back(0.01 * (h + 1));
    layer.sink_logits.push_back(0.5 * h - 1);
  }
  return layer;
}

TEST(AttentionLaw, EveryPath_GivesTheSameBits) {
  base::Random random(1);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    ExpectSameBitsOnAllPaths<float>(MakeProblem({2, 20, 33}, PlainLayer(6), {300, 1, 0, 257}, random), dtype);
    ExpectSameBitsOnAllPaths<float>(MakeProblem({1, 16, 16}, LayerWithEverything(5), {290, 64}, random), dtype);
  }
  ExpectSameBitsOnAllPaths<double>(MakeProblem({2, 7, 9}, PlainLayer(2), {130, 258}, random), DType::kF64);
  ExpectSameBitsOnAllPaths<double>(MakeProblem({1, 5, 16}, LayerWithEverything(3), {270}, random), DType::kF64);
}

TEST(AttentionLaw, EveryHeadSizeAndGroup_GivesTheSameBitsOnEveryTarget) {
  base::Random random(2);
  for (const int group : {1, 2, 3, 5, 7, 8, 9, 71}) {
    for (const int head_dim : {1, 15, 16, 17, 32, 64}) {
      const Problem problem = MakeProblem({1, head_dim, head_dim}, PlainLayer(group), {35, 3}, random);
      const auto reference = RunPath<float>(problem, DType::kF16, {.name = "", .target = "scalar", .chunk_max = 9});
      for (const std::string& target : Targets()) {
        EXPECT_EQ(RunPath<float>(problem, DType::kF16, {.name = "", .paged = false, .threads = 2, .target = target}),
                  reference)
            << "group " << group << " head_dim " << head_dim << " " << target;
      }
    }
  }
}

TEST(BR_66, NeighboursAndBatchPlace_DoNotChangeARow) {
  base::Random random(4);
  const Problem alone = MakeProblem({2, 16, 16}, PlainLayer(4), {130}, random);
  const auto want = RunPath<float>(alone, DType::kF32, {.name = "alone", .target = "", .chunk_max = 1});
  for (int place = 0; place < 4; ++place) {
    for (const int64_t mate : {0, 9, 10, 300}) {
      Problem batch = MakeProblem({2, 16, 16}, PlainLayer(4), {mate, mate, mate, mate}, random);
      batch.lengths[place] = 130;
      batch.q[place] = alone.q[0], batch.k[place] = alone.k[0], batch.v[place] = alone.v[0];
      for (const int64_t chunk : {0, 1, 50}) {
        const Path path{.name = "batch", .threads = 2, .target = "", .chunk_max = chunk, .seed = 3};
        EXPECT_EQ(RunPath<float>(batch, DType::kF32, path)[place], want[0]) << place << " " << mate << " " << chunk;
      }
    }
  }
}

// Slots that no token may see are poisoned before and between steps: they must not reach a bit.
TEST(BR_62, PoisonedSpareSlots_ChangeNoBit) {
  base::Random random(6);
  const LayerShape shape{2, 16, 24};
  for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30f}) {
    for (const int64_t length : {13, 15, 16, 17, 31, 32, 33, 64, 65}) {
      for (const bool paged : {true, false}) {
        const Problem problem = MakeProblem(shape, LayerWithEverything(4), {length}, random);
        const Path path{.name = "poison", .paged = paged, .block_tokens = 16, .target = ""};
        const auto want = RunPath<float>(problem, DType::kF32, path);
        // Row 1 fills the same storage with poison first, then gives it back.
        Problem stained = problem;
        stained.lengths = {length, length};
        stained.q.push_back(std::vector<double>(problem.q[0].size(), 1));
        stained.k.push_back(std::vector<double>(problem.k[0].size(), poison));
        stained.v.push_back(std::vector<double>(problem.v[0].size(), poison));
        const auto got = RunPath<float>(stained, DType::kF32, path);
        EXPECT_EQ(got[0], want[0]) << length << (paged ? " paged" : " contiguous");
      }
    }
  }
}

TEST(BR_62, PoisonBehindTheLength_ChangesNoBit) {
  const LayerShape shape{1, 16, 16};
  const CacheLayout layout = CacheLayout::Uniform(1, shape, DType::kF32);
  base::Random random(8);
  std::vector<float> rows(64 * 16), q(64 * 16), poison(64 * 16, std::numeric_limits<float>::quiet_NaN());
  for (float& x : rows) x = static_cast<float>(random.Normal());
  for (float& x : q) x = static_cast<float>(random.Normal());
  for (const int64_t length : {1, 15, 16, 17, 20, 31}) {
    std::vector<std::vector<float>> outs;
    for (const bool stain : {false, true}) {
      for (const bool paged : {false, true}) {
        std::unique_ptr<KvCache> cache;
        if (paged)
          cache = std::make_unique<PagedCache>(layout, PagedShape{1, 64, 16, 4});
        else
          cache = std::make_unique<ContiguousCache>(layout, ContiguousShape{1, 64});
        const auto append = [&](const std::vector<float>& from, int64_t count) {
          const int64_t counts[] = {count};
          Append step = cache->BeginAppend(counts);
          step.Write<float>(0, 0, {from.data(), from.data(), 16, 16, 16, 16});
          return step;
        };
        if (stain) {
          append(poison, 64).Commit();
          cache->Truncate(0, 0);
        }
        Append step = append(rows, length);
        Attention attention(layout, {PlainLayer(1)}, {.threads = 1, .target = ""});
        const int64_t offset[] = {0};
        std::vector<float> out(length * 16);
        attention.Plan(step, offset, offset);
        attention.Run(0, HeadArray<const float>{q.data(), 16, 16}, HeadArray<float>{out.data(), 16, 16});
        step.Commit();
        outs.push_back(out);
      }
    }
    for (const auto& out : outs) EXPECT_EQ(out, outs[0]) << length;
  }
}

TEST(AttentionLaw, HostsControlWord_ChangesNoBit) {
  base::Random random(10);
  const Problem problem = MakeProblem({1, 16, 16}, PlainLayer(2), {40}, random, 1e-20);
  const Path path{.name = "", .threads = 2, .target = ""};
  const auto want = RunPath<float>(problem, DType::kF32, path);
  const unsigned saved = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(saved | 0x8040u | 0x2000u);  // flush to zero, denormals are zero, round down
  const auto got = RunPath<float>(problem, DType::kF32, path);
  __builtin_ia32_ldmxcsr(saved);
  EXPECT_EQ(got, want);
}

}  // namespace
}  // namespace ekvi::attend
