// A way through the engine that must give the reference's bits, and the machinery that walks it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "ekvi/cache.h"
#include "ekvi/verify.h"
#include "law/reference.h"
#include "law/subject.h"

namespace ekvi::law {

enum class Cut { kWhole, kOneToken, kRandom };

struct Path {
  std::string name;
  Crew crew;
  Storage storage;
  Cut cut = Cut::kRandom;
  int rows = 1;        // of several, every other one is a stranger: other tokens, not compared, in everybody's way
  int64_t tokens = 0;  // how many of the reference's; 0: all
};

// Rows of a cache that are fed with tokens step by step; what comes out is compared with the reference at once. Stops
// comparing at the first difference.
class Walk {
 public:
  Walk(const Subject& subject, const Reference& reference, const Crew& crew, const Storage& storage, int rows);

  KvCache& cache() { return *cache_; }
  // A row's share of a step: tokens [from, from + count) of `tokens`. Logits at positions below compare_end must be the
  // reference's.
  struct Part {
    int row;
    std::span<const int32_t> tokens;
    int64_t from, count;
    int64_t compare_end = std::numeric_limits<int64_t>::max();
  };
  void Step(std::span<const Part> parts);
  // Tokens [from, to) of the reference for one row, cut as said.
  void Feed(int row, int64_t from, int64_t to, Cut cut);
  // The row's keys and values against the reference's first `length` tokens.
  void CompareCache(int row, int64_t length);

  // Empty while all is the same.
  const std::string& difference() const { return difference_; }
  int64_t positions() const { return positions_; }
  // How many of `rest` tokens come next.
  int64_t Next(int64_t rest, Cut cut);

 private:
  const Reference& reference_;
  std::unique_ptr<engine::StepModel> model_;
  std::unique_ptr<KvCache> cache_;
  LogitsBlock logits_;
  base::Random random_;
  std::string difference_;
  int64_t positions_ = 0;  // compared
};

// Walks a path; a row's tokens are cut as it says.
PathResult RunPath(const Subject& subject, const Reference& reference, const Path& path);

// The paths that are not a matter of cutting and storing.
PathResult ForkedAndTruncated(const Subject& subject, const Reference& reference);
PathResult FutureTokensChanged(const Subject& subject, const Reference& reference);
PathResult NoCacheAtAll(const Subject& subject, const Reference& reference, int64_t greedy);

}  // namespace ekvi::law
