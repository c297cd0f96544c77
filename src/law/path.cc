#include "law/path.h"

#include <fmt/format.h>

#include <algorithm>

#include "law/greedy_walk.h"

namespace ekvi::law {
namespace {

std::unique_ptr<KvCache> MakeCache(const CacheLayout& layout, const Storage& storage, int rows, int64_t max_len) {
  if (!storage.paged) return std::make_unique<ContiguousCache>(layout, ContiguousShape{rows, max_len});
  const int64_t blocks = rows * BlocksFor(max_len, storage.block_tokens);
  auto cache = std::make_unique<PagedCache>(layout, PagedShape{rows, max_len, storage.block_tokens, blocks});
  if (storage.shuffled) cache->ShuffleFreeBlocks(5);
  return cache;
}

std::string Grouped(int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string ComparedText(int64_t positions, const Reference& reference) {
  return fmt::format("{} × {}", Grouped(positions), Grouped(reference.logits().vocabulary()));
}

PathResult ResultOf(const std::string& name, const Walk& walk, const Reference& reference) {
  PathResult result{.name = name,
                    .compared = ComparedText(walk.positions(), reference),
                    .identical = walk.difference().empty(),
                    .difference = {}};
  if (!result.identical) result.difference = fmt::format("{}: {}", name, walk.difference());
  return result;
}

}  // namespace

Walk::Walk(const Subject& subject, const Reference& reference, const Crew& crew, const Storage& storage, int rows)
    : reference_(reference),
      model_(subject.make(crew)),
      cache_(MakeCache(subject.layout, storage, rows, static_cast<int64_t>(reference.tokens().size()))),
      logits_(subject.f64, model_->vocabulary()) {}

void Walk::Step(std::span<const Part> parts) {
  std::vector<engine::StepRow> rows;
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

PathResult RunPath(const Subject& subject, const Reference& reference, const Path& path) {
  Walk walk(subject, reference, path.crew, path.storage, path.rows);
  const auto all = static_cast<int64_t>(reference.tokens().size());
  const int64_t tokens = path.tokens > 0 ? std::min(path.tokens, all) : all;
  const auto end_of = [&](int row) { return tokens * (row + 1) / path.rows; };
  std::vector<int64_t> done(static_cast<size_t>(path.rows), 0);
  for (bool more = true; more && walk.difference().empty();) {
    std::vector<Walk::Part> parts;
    for (int row = 0; row < path.rows; ++row) {
      const int64_t count = walk.Next(end_of(row) - done[row], path.cut);
      parts.push_back({.row = row, .tokens = reference.tokens(), .from = done[row], .count = count});
      done[row] += count;
    }
    more = std::any_of(parts.begin(), parts.end(), [](const Walk::Part& part) { return part.count > 0; });
    if (more) walk.Step(parts);
  }
  for (int row = 0; row < path.rows; ++row) walk.CompareCache(row, end_of(row));
  return ResultOf(path.name, walk, reference);
}

PathResult ForkedAndTruncated(const Subject& subject, const Reference& reference) {
  Walk walk(subject, reference, {}, {.paged = true, .block_tokens = 16}, 2);
  const auto tokens = static_cast<int64_t>(reference.tokens().size());
  const int64_t middle = tokens / 2, end = tokens - tokens / 8;
  std::vector<int32_t> other(reference.tokens().begin(), reference.tokens().end());
  std::reverse(other.begin() + middle, other.end());

  walk.Feed(0, 0, middle, Cut::kRandom);
  walk.cache().Fork(0, 1);
  const Walk::Part astray{
      .row = 1, .tokens = other, .from = middle, .count = std::min<int64_t>(40, end - middle), .compare_end = 0};
  if (walk.difference().empty()) walk.Step({&astray, 1});
  walk.Feed(0, middle, end, Cut::kRandom);
  walk.CompareCache(0, end);
  const int64_t back = middle - std::min<int64_t>(7, middle);
  walk.cache().Truncate(1, back);
  walk.Feed(1, back, tokens, Cut::kRandom);
  walk.CompareCache(1, tokens);
  walk.CompareCache(0, end);
  return ResultOf("forked and truncated", walk, reference);
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
  const int64_t first = std::min<int64_t>(8, static_cast<int64_t>(reference.tokens().size()));
  const GreedyWalk walk(subject, reference.tokens().first(static_cast<size_t>(first)), greedy);
  PathResult result{.name = fmt::format("no cache at all, {} steps", walk.steps()),
                    .compared = fmt::format("{} tokens", walk.steps()),
                    .identical = walk.difference().empty(),
                    .difference = {}};
  if (!result.identical) result.difference = fmt::format("{}: {}", result.name, walk.difference());
  return result;
}

}  // namespace ekvi::law
