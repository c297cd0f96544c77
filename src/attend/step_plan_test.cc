// Goal: a plan's tasks compute every query row of every head over every chunk that it sees, once, in parts of a size
// that threads can share. Method: plans of many shapes, rows and thread counts are taken apart and counted.
#include "attend/step_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace ekvi::attend {
namespace {

std::vector<PlanRow> RowsOf(const std::vector<std::pair<int64_t, int64_t>>& past_and_count) {
  std::vector<PlanRow> rows;
  for (const auto& [past, count] : past_and_count) rows.push_back({static_cast<int>(rows.size()), past, count, 0, 0});
  return rows;
}

int64_t CostOf(const StepPlan& plan, const Task& task) {
  return plan.tiles()[task.tile].all_rows() * (task.chunk_end - task.chunk_begin);
}

using Place = std::tuple<int, int64_t, int64_t, int64_t>;  // row, KV head, query row of the head, chunk

std::map<Place, int> Computed(const StepPlan& plan) {
  std::map<Place, int> times;
  for (const Task& task : plan.tasks()) {
    const Tile& tile = plan.tiles()[task.tile];
    for (int64_t i = task.chunk_begin; i < task.chunk_end; ++i) {
      for (int64_t r = 0; r < tile.all_rows(); ++r)
        ++times[{tile.row, tile.kv_head + r / tile.rows, tile.first + r % tile.rows, tile.chunks.at(i)}];
    }
  }
  return times;
}

void ExpectWhole(const StepPlan& plan) {
  const auto times = Computed(plan);
  for (const auto& [place, count] : times) EXPECT_EQ(count, 1);
  for (size_t row = 0; row < plan.rows().size(); ++row) {
    const int64_t query_rows = plan.rows()[row].count * plan.geometry().group;
    for (int kv_head = 0; kv_head < plan.geometry().kv_heads; ++kv_head) {
      for (int64_t q = 0; q < query_rows; ++q) {
        Tile tile{.row = static_cast<int>(row), .kv_head = kv_head, .first = q, .rows = 1};
        const VisibleKeys keys = plan.SeenBy(tile, 0);
        const ChunkList chunks = ChunksOf(keys, keys);
        for (int64_t i = 0; i < chunks.count(); ++i)
          EXPECT_TRUE(times.contains({static_cast<int>(row), kv_head, q, chunks.at(i)}));
      }
    }
  }
}

const std::vector<std::vector<PlanRow>> kSteps = {
    RowsOf({{0, 1}}),
    RowsOf({{255, 1}}),
    RowsOf({{16384, 1}}),
    RowsOf({{100, 1}, {400, 1}, {8000, 1}}),
    RowsOf({{8000, 1}, {3, 1}, {3, 1}, {3, 1}, {3, 1}, {3, 1}}),
    RowsOf({{4000, 7}, {0, 0}, {17, 40}}),
    RowsOf({{0, 300}}),
};
const Geometry kGeometries[] = {
    {.kv_heads = 8, .group = 4},
    {.kv_heads = 3, .group = 3},
    {.kv_heads = 1, .group = 71},
    {.kv_heads = 32, .group = 1},
    {.kv_heads = 2, .group = 5, .window = 700, .sink_tokens = 4},
};

TEST(StepPlan, EveryRowHeadAndChunk_IsComputedOnce) {
  for (const Geometry& geometry : kGeometries) {
    for (const int threads : {1, 2, 5}) {
      for (const auto& rows : kSteps) {
        StepPlan plan(geometry);
        plan.Build(rows, threads, 20'000);
        ExpectWhole(plan);
      }
    }
  }
}

TEST(StepPlan, TilesStayInTheScratch_AndStatesInTheirBound) {
  for (const Geometry& geometry : kGeometries) {
    for (const int threads : {1, 2, 5}) {
      for (const auto& rows : kSteps) {
        StepPlan plan(geometry);
        plan.Build(rows, threads, 20'000);
        for (const Tile& tile : plan.tiles()) EXPECT_LE(tile.all_rows(), StepPlan::RowsMax(geometry));
        EXPECT_LE(plan.states(), plan.states_max());
        EXPECT_TRUE(threads > 1 || plan.states() == 0);
      }
    }
  }
}

// Rows grow without new memory: the bound is there from the first step on.
TEST(StepPlan, RoomForStates_IsThatOfTheLongestRowFromTheStart) {
  constexpr int64_t kMaxLen = 4096;
  for (const Geometry& geometry : kGeometries) {
    for (const int threads : {2, 3, 16}) {
      for (const int64_t rows : {1, 3, 9}) {
        StepPlan plan(geometry);
        int64_t room = -1;
        for (int64_t past = 0; past < kMaxLen; past += past < 600 ? 51 : 255) {
          std::vector<std::pair<int64_t, int64_t>> step(static_cast<size_t>(rows), {past, 1});
          step[0].first = past / 3;
          plan.Build(RowsOf(step), threads, kMaxLen);
          if (room < 0) room = plan.states_max();
          EXPECT_EQ(plan.states_max(), room) << "past " << past;
          EXPECT_LE(plan.states(), room) << "past " << past;
        }
      }
    }
  }
}

// What another thread can take over: no task is more than half of a thread's part, but for a chunk that it rounds up
// by.
TEST(StepPlan, TasksOfLongRows_CanBeShared) {
  for (const int threads : {2, 5}) {
    for (const auto& rows : {kSteps[2], kSteps[3], kSteps[4]}) {
      StepPlan plan({.kv_heads = 8, .group = 4});
      plan.Build(rows, threads, 20'000);
      int64_t total = 0, largest = 0, chunk = 0;
      for (const Task& task : plan.tasks()) {
        total += CostOf(plan, task);
        largest = std::max(largest, CostOf(plan, task));
        chunk = std::max(chunk, plan.tiles()[task.tile].all_rows());
      }
      EXPECT_LE(largest, total / (2 * threads) + chunk) << threads << " threads";
      EXPECT_EQ(CostOf(plan, plan.tasks()[0]), largest) << "the largest task comes first";
    }
  }
}

TEST(StepPlan, OneRowsHeads_AreReadTogether) {
  StepPlan plan({.kv_heads = 8, .group = 4});
  plan.Build(kSteps[2], 2, 20'000);
  ASSERT_EQ(plan.tiles().size(), 1u);
  EXPECT_EQ(plan.tiles()[0].kv_heads, 8);
  EXPECT_EQ(plan.tasks().size(), 4u);
}

// A single chunk cannot be cut: threads share its heads.
TEST(StepPlan, ShortRows_AreSharedByHeads) {
  StepPlan plan({.kv_heads = 8, .group = 4});
  plan.Build(kSteps[1], 2, 20'000);
  EXPECT_GE(plan.tasks().size(), 4u);
  EXPECT_EQ(plan.states(), 0);
}

}  // namespace
}  // namespace ekvi::attend
