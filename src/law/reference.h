// The reference of a proof: logits, keys and values of one run over the tokens, and the first difference from them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ekvi/cache.h"
#include "engine/step_model.h"
#include "law/subject.h"

namespace ekvi::law {

// Logits [positions, vocabulary] in the arithmetic's own type, so that a comparison is one of bytes.
class LogitsBlock {
 public:
  LogitsBlock(bool f64, int vocabulary) : f64_(f64), vocabulary_(vocabulary) {}

  // Room for `positions` rows; keeps its memory.
  void Resize(int64_t positions);
  // Where rows from `position` on are written.
  LogitsOut out(int64_t position = 0);
  int64_t positions() const { return positions_; }
  int vocabulary() const { return vocabulary_; }
  bool f64() const { return f64_; }
  std::span<const std::byte> row(int64_t position) const;
  std::span<const std::byte> bytes() const { return {bytes_.data(), static_cast<size_t>(positions_) * RowBytes()}; }
  double at(int64_t position, int column) const;

 private:
  size_t RowBytes() const { return static_cast<size_t>(vocabulary_) * (f64_ ? 8 : 4); }
  bool f64_;
  int vocabulary_;
  int64_t positions_ = 0;
  std::vector<std::byte> bytes_;
};

// "position 17: logit 203 is 1.5, reference 1.25"; empty where row `index` of `got` has the bytes of reference row
// `position`.
std::string LogitsDifference(const LogitsBlock& got, int64_t index, const LogitsBlock& want, int64_t position);

// The first K or V value of row `row` that differs from reference row 0 over the first `length` tokens, in words; else
// empty.
std::string CacheDifference(const KvCache& got, int row, const KvCache& want, int64_t length);

// How the reference is computed; by the law it does not matter.
struct ReferenceSetup {
  Crew crew;
  Storage storage = {.paged = false};
  int64_t chunk = std::numeric_limits<int64_t>::max();  // tokens a step
};

class Reference {
 public:
  // `count` tokens drawn from `seed`.
  Reference(const Subject& subject, int64_t count, uint64_t seed, const ReferenceSetup& setup = {});

  std::span<const int32_t> tokens() const { return tokens_; }
  uint64_t seed() const { return seed_; }
  const LogitsBlock& logits() const { return logits_; }
  const KvCache& cache() const { return *cache_; }
  // Of the logits' bytes, little-endian.
  std::string Sha256() const;

 private:
  uint64_t seed_;
  std::vector<int32_t> tokens_;
  std::unique_ptr<KvCache> cache_;
  LogitsBlock logits_;
};

// Tokens of a step's rows.
inline int64_t CountTokens(std::span<const StepRow> rows) {
  int64_t count = 0;
  for (const StepRow& row : rows) count += static_cast<int64_t>(row.tokens.size());
  return count;
}

}  // namespace ekvi::law
