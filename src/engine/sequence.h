// The tokens of one row of a cache: those whose keys and values are stored, and those still to be computed.
//
//   tokens    t0 t1 t2 t3 t4 t5 t6
//             \_ cached ___/ \_ pending: the next step computes them
//
// The count of cached tokens is the cache's own row length, so positions continue from it and the two cannot disagree.
// A token that was just sampled is pending; so is a prompt, the text of a row whose blocks were taken away, or what a
// prefix found elsewhere did not cover.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ekvi/cache.h"

namespace ekvi::engine {

// Sole user of its row while it lives; the cache must outlive it. One thread at a time.
class Sequence {
 public:
  // Precondition (checked): `row` is a row of the cache and empty.
  Sequence(KvCache& cache, int row);
  Sequence(Sequence&&) = default;
  Sequence& operator=(Sequence&&) = default;
  Sequence(const Sequence&) = delete;

  KvCache& cache() const { return *cache_; }
  int row() const { return row_; }

  int64_t size() const { return static_cast<int64_t>(tokens_.size()); }
  // The row's length; a cache that is broken on purpose (base/fault.h) may hold more than it should.
  int64_t cached() const { return std::min(cache_->length(row_), size()); }
  std::span<const int32_t> tokens() const { return tokens_; }
  std::span<const int32_t> cached_tokens() const { return tokens().first(static_cast<size_t>(cached())); }
  std::span<const int32_t> pending() const { return tokens().subspan(static_cast<size_t>(cached())); }

  // Adds pending tokens. Allocates only past what Reserve made room for.
  void Append(std::span<const int32_t> tokens) { tokens_.insert(tokens_.end(), tokens.begin(), tokens.end()); }
  void Append(int32_t token) { tokens_.push_back(token); }
  void Reserve(int64_t tokens) { tokens_.reserve(static_cast<size_t>(tokens)); }

  // Forgets the tokens from `size` on, in the cache too. kInvalidArgument, nothing changed, outside 0 … size().
  void Truncate(int64_t size);
  // Keeps all tokens but drops keys and values from `cached` on: those tokens are pending again. Nothing happens where
  // no more than `cached` are stored. kInvalidArgument for a negative count.
  void Uncache(int64_t cached);
  // The same tokens in row `row` of the same cache, sharing what is stored (KvCache::Fork drops what that row held).
  // Precondition (checked): another row, inside the cache.
  Sequence ForkTo(int row) const;

 private:
  KvCache* cache_;
  int row_;
  std::vector<int32_t> tokens_;
};

// Puts a sequence back to the tokens it had, unless told that all went well: what failed has changed nothing. Tokens
// that became cached meanwhile are pending again. Tokens that were cached before and were dropped meanwhile (to be
// computed again) are not brought back into the cache: they stay in the sequence, pending.
class SequenceRollback {
 public:
  explicit SequenceRollback(Sequence& sequence)
      : sequence_(&sequence), size_(sequence.size()), cached_(sequence.cached()) {}
  ~SequenceRollback();
  SequenceRollback(const SequenceRollback&) = delete;
  SequenceRollback& operator=(const SequenceRollback&) = delete;

  void Keep() { sequence_ = nullptr; }

 private:
  Sequence* sequence_;
  int64_t size_, cached_;
};

}  // namespace ekvi::engine
