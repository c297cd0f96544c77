#include "law/path.h"

#include <fmt/format.h>

#include <algorithm>

#include "files/reader_error.h"
#include "law/greedy_walk.h"

namespace ekvi::law {
namespace {

std::string Grouped(int64_t number) { return files::Digits(static_cast<uint64_t>(number)); }

std::string ComparedText(int64_t positions, const Reference& reference) {
  return fmt::format("{} × {}", Grouped(positions), Grouped(reference.logits().vocabulary()));
}

PathResult ResultOf(const std::string& name, const Walk& walk, const Reference& reference) {
  return {.name = name,
          .compared = ComparedText(walk.positions(), reference),
          .identical = walk.difference().empty(),
          .difference = walk.difference()};
}

}  // namespace

Walk::Walk(const Subject& subject, const Reference& reference, const Crew& crew, const Storage& storage, int rows)
    : reference_(reference),
      model_(subject.make(crew)),
      cache_(MakeCache(subject.layout, storage, rows, static_cast<int64_t>(reference.tokens().size()))),
      logits_(subject.f64, model_->vocabulary()),
      random_(reference.seed()) {}

void Walk::Step(std::span<const Part> parts) {
  std::vector<StepRow> rows;
  for (const Part& part : parts) {
    const auto tokens = part.tokens.subspan(static_cast<size_t>(part.from), static_cast<size_t>(part.count));
    if (part.count > 0) rows.push_back({.row = part.row, .tokens = tokens, .logits_count = part.count});
  }
  logits_.Resize(CountTokens(rows));
  model_->Step(*cache_, rows, logits_.out());
  int64_t index = 0;
  for (const Part& part : parts) {
    for (int64_t i = 0; i < part.count; ++i, ++index) {
      if (part.from + i >= part.compare_end || !difference_.empty()) continue;
      difference_ = LogitsDifference(logits_, index, reference_.logits(), part.from + i);
      ++positions_;
    }
  }
}

int64_t Walk::Next(int64_t rest, Cut cut) {
  if (cut == Cut::kWhole) return rest;
  if (cut == Cut::kOneToken) return std::min<int64_t>(1, rest);
  return std::min<int64_t>(rest, static_cast<int64_t>(1 + random_.Below(97)));
}

void Walk::Feed(int row, int64_t from, int64_t to, Cut cut) {
  while (from < to && difference_.empty()) {
    const Part part{.row = row, .tokens = reference_.tokens(), .from = from, .count = Next(to - from, cut)};
    Step({&part, 1});
    from += part.count;
  }
}

void Walk::CompareCache(int row, int64_t length) {
  if (difference_.empty()) difference_ = CacheDifference(*cache_, row, reference_.cache(), length);
}

namespace {

// What one row of a path runs.
struct RowRun {
  std::span<const int32_t> tokens;
  int64_t end = 0;
  bool stranger = false;
  int64_t done = 0;
};

// Compared rows end at different places; the strangers among them (0, 2, …) are the longer, the earlier they stand.
std::vector<RowRun> RowsOf(const Path& path, std::span<const int32_t> tokens, std::span<const int32_t> other) {
  const auto all = static_cast<int64_t>(tokens.size());
  const int64_t length = path.tokens > 0 ? std::min(path.tokens, all) : all;
  std::vector<RowRun> rows;
  for (int r = 0; r < path.rows; ++r) {
    const bool stranger = path.rows > 1 && r % 2 == 0;
    rows.push_back({.tokens = stranger ? other : tokens,
                    .end = length * (stranger ? path.rows - r : r + 1) / path.rows,
                    .stranger = stranger});
  }
  return rows;
}

}  // namespace

PathResult RunPath(const Subject& subject, const Reference& reference, const Path& path) {
  Walk walk(subject, reference, path.crew, path.storage, path.rows);
  const std::vector<int32_t> other(reference.tokens().rbegin(), reference.tokens().rend());
  std::vector<RowRun> rows = RowsOf(path, reference.tokens(), other);
  for (bool more = true; more && walk.difference().empty();) {
    std::vector<Walk::Part> parts;
    more = false;
    for (int r = 0; r < path.rows; ++r) {
      RowRun& row = rows[r];
      // Strangers run ahead: their caches are long enough to be taken for a neighbour's.
      const int64_t rest = row.end - row.done;
      const int64_t count = row.stranger ? rest : walk.Next(rest, path.cut);
      parts.push_back({.row = r,
                       .tokens = row.tokens,
                       .from = row.done,
                       .count = count,
                       .compare_end = row.stranger ? 0 : row.end});
      row.done += count;
      more = more || count > 0;
    }
    if (more) walk.Step(parts);
  }
  for (int r = 0; r < path.rows; ++r) {
    if (!rows[r].stranger) walk.CompareCache(r, rows[r].end);
  }
  return ResultOf(path.name, walk, reference);
}

// Row 1 is forked from row 0, goes another way over what both held, is cut back behind the fork and comes home.
PathResult ForkedAndTruncated(const Subject& subject, const Reference& reference) {
  Walk walk(subject, reference, {}, {.paged = true, .block_tokens = 16}, 2);
  const auto tokens = static_cast<int64_t>(reference.tokens().size());
  const int64_t middle = std::max<int64_t>(0, tokens / 2 - 1), end = tokens - tokens / 8,
                back = std::max<int64_t>(0, middle - 7);
  const std::vector<int32_t> other(reference.tokens().rbegin(), reference.tokens().rend());
  const auto result = [&] { return ResultOf("forked and truncated", walk, reference); };
  walk.Feed(0, 0, middle, Cut::kRandom);
  if (!walk.difference().empty()) return result();
  walk.cache().Fork(0, 1);
  walk.Feed(0, middle, end, Cut::kRandom);
  const Walk::Part astray{
      .row = 1, .tokens = other, .from = middle, .count = std::min<int64_t>(40, end - middle), .compare_end = 0};
  walk.Step({&astray, 1});
  walk.CompareCache(0, end);
  walk.cache().Truncate(1, back);
  walk.Feed(1, back, tokens, Cut::kRandom);
  walk.CompareCache(1, tokens);
  walk.CompareCache(0, end);
  return result();
}

// One step over all tokens, so that what comes later is there while the earlier ones are computed.
PathResult FutureTokensChanged(const Subject& subject, const Reference& reference) {
  Walk walk(subject, reference, {}, {.paged = false}, 1);
  const auto tokens = static_cast<int64_t>(reference.tokens().size());
  const int64_t middle = tokens / 2;
  std::vector<int32_t> changed(reference.tokens().begin(), reference.tokens().end());
  for (int64_t i = middle; i < tokens; ++i) changed[i] = (changed[i] + 1) % reference.logits().vocabulary();
  const Walk::Part whole{.row = 0, .tokens = changed, .from = 0, .count = tokens, .compare_end = middle};
  walk.Step({&whole, 1});
  walk.cache().Truncate(0, middle);
  walk.CompareCache(0, middle);
  return ResultOf("future tokens changed", walk, reference);
}

PathResult NoCacheAtAll(const Subject& subject, const Reference& reference, int64_t greedy) {
  const int64_t first = std::min(kGreedyPrompt, static_cast<int64_t>(reference.tokens().size()));
  const GreedyWalk walk(subject, reference.tokens().first(static_cast<size_t>(first)), greedy);
  return {.name = fmt::format("no cache at all, {} steps", Grouped(walk.steps())),
          .compared = fmt::format("{} tokens", Grouped(walk.steps())),
          .identical = walk.difference().empty(),
          .difference = walk.difference()};
}

}  // namespace ekvi::law
