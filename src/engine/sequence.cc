#include "engine/sequence.h"

#include <fmt/format.h>

#include <string>

#include "base/check.h"
#include "ekvi/error.h"

namespace ekvi::engine {

Sequence::Sequence(KvCache& cache, int row) : cache_(&cache), row_(row) {
  EKVI_CHECK(row >= 0 && row < cache.rows());
  EKVI_CHECK_OP(==, cache.length(row), 0);
}

void Sequence::Truncate(int64_t size) {
  if (size < 0 || size > this->size()) {
    throw Error(ErrorCode::kInvalidArgument, "a sequence cannot be cut to that length",
                fmt::format("length {}, the sequence holds {} tokens", size, this->size()),
                "give a length between 0 and the sequence's");
  }
  if (size < cached()) cache_->Truncate(row_, size);
  tokens_.resize(static_cast<size_t>(size));
}

void Sequence::Uncache(int64_t cached) {
  if (cached < this->cached()) cache_->Truncate(row_, cached);
}

Sequence Sequence::ForkTo(int row) const {
  EKVI_CHECK(row >= 0 && row < cache_->rows());
  EKVI_CHECK(row != row_);
  cache_->Reset(row);
  Sequence fork(*cache_, row);
  fork.tokens_ = tokens_;
  cache_->Fork(row_, row);
  return fork;
}

SequenceRollback::~SequenceRollback() {
  if (sequence_ == nullptr) return;
  sequence_->Truncate(size_);
  sequence_->Uncache(cached_);
}

}  // namespace ekvi::engine
